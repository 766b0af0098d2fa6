package prompts

import (
	"strconv"
	"time"
)

// StageOneVars is one session as Phase 1 shows it to a model.
type StageOneVars struct {
	ThreadID          string
	Agent             string
	CWD               string
	Branch            string
	StartedAt         time.Time
	EndedAt           time.Time
	ItemCount         int    // of the session, or of what is new of it
	OmittedCount      int    // of them left out
	ResponseItemsJSON string // a JSON array of items, redacted

	// What an earlier extraction says of the items up to a number; no memory: there is none.
	EarlierItems   int
	EarlierMemory  string
	EarlierSummary string
}

// StageOne renders the prompts of Phase 1: the system part, which is the same for
// every session, and the input, which is another where there is an earlier extraction.
func (s *Set) StageOne(v StageOneVars) (system, input string, err error) {
	if system, err = s.render(fileStageOneSystem, nil); err != nil {
		return "", "", err
	}
	file := fileStageOneInput
	if v.EarlierMemory != "" {
		file = fileStageOneGrown
	}
	input, err = s.render(file, map[string]string{
		"thread_id":           inline(v.ThreadID),
		"agent":               inline(v.Agent),
		"cwd":                 inline(v.CWD),
		"branch":              inline(v.Branch),
		"started_at":          instant(v.StartedAt),
		"ended_at":            instant(v.EndedAt),
		"item_count":          strconv.Itoa(v.ItemCount),
		"omitted_count":       strconv.Itoa(v.OmittedCount),
		"response_items_json": block(v.ResponseItemsJSON),
		"earlier_items":       strconv.Itoa(v.EarlierItems),
		"earlier_memory":      block(v.EarlierMemory),
		"earlier_summary":     block(v.EarlierSummary),
	})
	return system, input, err
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.RFC3339)
}
