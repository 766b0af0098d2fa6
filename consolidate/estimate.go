package consolidate

import (
	"fmt"

	"memoir"
	"memoir/prompts"
)

// An Estimator says what a consolidation would ask, without asking.
type Estimator interface {
	// Estimate returns how many questions would be asked, and their bytes in all. Beside
	// the extractions of the input there will be fresh others, of so many bytes each.
	Estimate(in Input, fresh, bytes int) (questions int, asked int64, err error)
}

var _ Estimator = (*llm)(nil)

// Estimate divides what is new by the room that the window leaves beside the memory.
func (m *llm) Estimate(in Input, fresh, bytes int) (questions int, asked int64, err error) {
	set := m.o.Prompts
	if set == nil {
		if set, err = prompts.Default(); err != nil {
			return 0, 0, fmt.Errorf("estimating %s: %w", in.Project.Name, err)
		}
	}
	in.Extractions = without(in.Extractions, in.Withdrawn)
	r := newRenewal(in, arrange(in.Extractions))
	if len(r.due)+fresh == 0 {
		return 0, 0, nil
	}
	limit, tokens := r.limits()
	sizes := sizeOf(m.o, r, limit, tokens)
	system, input, err := set.Consolidate(prompts.ConsolidateVars{
		Project: in.Project.Name, CurrentMemory: r.shownMemory(), CurrentSummary: r.shownSummary(),
		CurrentSkills: r.shownSkills(sizes.input), HandEdits: edits(r.notes), WithdrawnSessions: r.withdrawn(),
	})
	if err != nil {
		return 0, 0, fmt.Errorf("estimating %s: %w", in.Project.Name, err)
	}
	fixed := memoir.Tokens(system) + memoir.Tokens(input)
	room := max(sizes.input-fixed, leastRoom)
	due, left := fresh*(bytes/4+listEntry), 0
	for _, s := range r.due {
		size := memoir.Tokens(r.block(s, r.texts[s])) + memoir.Tokens(summaryBlock(s)) + listEntry
		due += min(size, room)
	}
	if len(r.sessions) > len(r.due) { // shown beside the new ones for comparison
		left = min(due/2, 200*(len(r.sessions)-len(r.due)))
	}
	// Sessions are whole, so a question is seldom full.
	questions = (due + room - 1) / room
	return questions, 4 * (int64(questions)*int64(fixed) + int64(due) + int64(left)), nil
}
