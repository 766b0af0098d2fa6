package consolidate

import (
	"context"

	"memoir"
	"memoir/model"
)

// LLM is how a language model consolidates.
type LLM struct {
	Model       model.Model // tries again by itself where that helps
	InputTokens int         // of one question; 0: what the model's window leaves
	MaxOutput   int         // tokens of an answer, as the model is configured; 0: not configured

	// Report is told what became of the lines of each answer that was used; nil:
	// nobody. It must be safe for concurrent use.
	Report func(Report)
}

// Report counts the lines of MEMORY.md in an answer that was used.
type Report struct {
	Project string // its id
	Kept    int    // those that cite a session
	Uncited int    // those that cite none, and were dropped
}

type llm struct{ o LLM }

var _ Consolidator = (*llm)(nil)

// NewLLM returns a consolidator that asks a language model. It shows the present memory
// and the sessions that are new or changed, oldest first, as many as one question holds;
// the others are Open in what it returns. Without such sessions it asks nothing, unless
// Forced. What is withdrawn is taken out before the model sees it; hand edits are applied
// after it answered. An answer that breaks a rule is sent back once; then Consolidate fails
// with a *memoir.AnswerError. The usage counts also beside an error.
func NewLLM(o LLM) Consolidator { return &llm{o} }

// Name is that of the model: provider/model.
func (m *llm) Name() string { return m.o.Model.Name() }

// Consolidate asks as NewLLM says. Its error is of memoir.CodeInvalid where there are no
// extractions, else a *memoir.AnswerError, the model's, or that of the context.
func (m *llm) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error) {
	var usage memoir.Usage
	if err := ctx.Err(); err != nil {
		return memoir.Consolidation{}, usage, err
	}
	in.Extractions = without(in.Extractions, in.Withdrawn)
	sessions := arrange(in.Extractions)
	if len(sessions) == 0 {
		return memoir.Consolidation{}, usage, errNothing()
	}
	r := newRenewal(in, sessions, nil)
	if len(r.due) == 0 {
		out, err := r.asIs()
		return out, usage, err
	}
	q := newQuestion(m, r)
	out, usage, err := q.settle(ctx)
	if err != nil {
		return memoir.Consolidation{}, usage, err
	}
	out.Open = r.stillDue(q.batch.sessions)
	if m.o.Report != nil {
		m.o.Report(Report{Project: in.Project.ID, Kept: r.kept, Uncited: r.uncited})
	}
	return out, usage, nil
}
