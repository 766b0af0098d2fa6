package prompts

import (
	"strconv"
	"time"
)

// ConsolidateVars is what Phase 2 shows to a model. Empty texts are shown as
// none. Sessions are named as they are to be cited: short id and date.
type ConsolidateVars struct {
	Project           string
	Date              time.Time // of the newest session: the same input gives the same question
	MemoryBytes       int       // limit of memory_md
	SummaryTokens     int       // limit of memory_summary
	CurrentMemory     string
	CurrentSummary    string
	CurrentSkills     string
	HandEdits         string
	NewSessions       []string
	ChangedSessions   []string
	WithdrawnSessions []string
	RawMemories       string
	RolloutSummaries  string
}

// Consolidate renders the prompts of Phase 2: the system part, which is the same
// for every project, and the input.
func Consolidate(v ConsolidateVars) (system, input string) {
	system = render(fileConsolidationSystem, nil)
	date := "unknown"
	if !v.Date.IsZero() {
		date = v.Date.UTC().Format(time.DateOnly)
	}
	input = render(fileConsolidation, map[string]string{
		"project":            inline(v.Project),
		"date":               date,
		"memory_bytes":       strconv.Itoa(v.MemoryBytes),
		"summary_tokens":     strconv.Itoa(v.SummaryTokens),
		"current_memory":     block(v.CurrentMemory),
		"current_summary":    block(v.CurrentSummary),
		"current_skills":     block(v.CurrentSkills),
		"hand_edits":         block(v.HandEdits),
		"new_sessions":       block(bullets(v.NewSessions)),
		"changed_sessions":   block(bullets(v.ChangedSessions)),
		"withdrawn_sessions": block(bullets(v.WithdrawnSessions)),
		"raw_memories":       block(v.RawMemories),
		"rollout_summaries":  block(v.RolloutSummaries),
	})
	return system, input
}
