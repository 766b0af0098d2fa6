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
	ItemCount         int
	OmittedCount      int    // of them left out
	ResponseItemsJSON string // a JSON array of items, redacted
}

// StageOne renders the prompts of Phase 1: the system part, which is the same for
// every session, and the input.
func StageOne(v StageOneVars) (system, input string) {
	system = render(fileStageOneSystem, nil)
	input = render(fileStageOneInput, map[string]string{
		"thread_id":           inline(v.ThreadID),
		"agent":               inline(v.Agent),
		"cwd":                 inline(v.CWD),
		"branch":              inline(v.Branch),
		"started_at":          instant(v.StartedAt),
		"ended_at":            instant(v.EndedAt),
		"item_count":          strconv.Itoa(v.ItemCount),
		"omitted_count":       strconv.Itoa(v.OmittedCount),
		"response_items_json": block(v.ResponseItemsJSON),
	})
	return system, input
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.RFC3339)
}
