package consolidate

import (
	"context"

	"memoir"
	"memoir/model"
	"memoir/prompts"
)

// LLM is how a language model consolidates.
type LLM struct {
	Model       model.Model  // tries again by itself where that helps
	Prompts     *prompts.Set // nil: the program's own
	InputTokens int          // of one question; 0: what the model's window leaves
	MaxOutput   int          // tokens of an answer, as the model is configured; 0: nobody said

	// Report is told what became of the lines of each answer that was used; nil:
	// nobody. It must be safe for concurrent use.
	Report func(Report)
}

// Report counts the lines of MEMORY.md in an answer that was used.
type Report struct {
	Project string // its id
	Kept    int    // those that cite a session
	Uncited int    // those that cite none, and were dropped
	Foreign int    // lines and skills that were dropped: wishes of nobody, steps that nobody took
}

type llm struct{ o LLM }

var _ Consolidator = (*llm)(nil)

// NewLLM returns a consolidator that asks a language model. It shows the memory
// that is there and the sessions that are new or changed, in as many questions as
// their size takes, so that the cost follows what is new: without such sessions it
// asks nothing, unless Forced. What is withdrawn is taken out before the model sees it, what
// people wrote by hand is put back after it answered. An answer that breaks a rule
// is sent back once; then Consolidate fails with a *memoir.AnswerError. What was made before a
// failure, question by question, comes in a *Partly. The usage
// counts also beside an error.
func NewLLM(o LLM) Consolidator { return &llm{o} }

// Name is that of the model: provider/model.
func (m *llm) Name() string { return m.o.Model.Name() }

// Consolidate asks as NewLLM says. Its error is of memoir.CodeInvalid where there are no
// extractions, else a *memoir.AnswerError, the model's, that of the
// prompts or of the context, in a *Partly where something had been done by then.
func (m *llm) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error) {
	var usage memoir.Usage
	in.Extractions = without(in.Extractions, in.Withdrawn)
	sessions := arrange(in.Extractions)
	if len(sessions) == 0 {
		return memoir.Consolidation{}, usage, memoir.Errorf(memoir.CodeInvalid, "", "nothing to consolidate: the project has no extractions")
	}
	var r *renewal
	failed := func(err error) (memoir.Consolidation, memoir.Usage, error) {
		if r != nil {
			err = r.partly(err)
		}
		return memoir.Consolidation{}, usage, err
	}
	if err := ctx.Err(); err != nil {
		return failed(err)
	}
	set := m.o.Prompts
	if set == nil {
		var err error
		if set, err = prompts.Default(); err != nil {
			return failed(err)
		}
	}
	r = newRenewal(in, sessions)
	if len(r.due) == 0 {
		out, err := r.asIs()
		if err != nil {
			return failed(err)
		}
		return out, usage, nil
	}
	for len(r.due) > 0 {
		q := question{llm: m, prompts: set, renewal: r}
		out, used, err := q.settle(ctx)
		usage = usage.Add(used)
		if err != nil {
			return failed(err)
		}
		r.took(q.batch, out)
		r.steps++
		if m.o.Report != nil {
			m.o.Report(Report{Project: in.Project.ID, Kept: r.cited, Uncited: r.uncited, Foreign: r.foreignTold})
		}
	}
	return r.present, usage, nil
}
