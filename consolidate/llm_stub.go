package consolidate

import (
	"context"

	"memoir"
	"memoir/model"
	"memoir/prompts"
)

// LLM says what a language model is asked with.
type LLM struct {
	Model       model.Model // already retrying and metered
	Prompts     *prompts.Set
	InputTokens int // of the input; 0: what the window leaves
}

// NewLLM returns a consolidator that asks the model, and takes no answer yet.
func NewLLM(o LLM) Consolidator { return llm{o} }

type llm struct{ LLM }

func (l llm) Name() string { return l.Model.Name() }

func (l llm) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error) {
	answer, err := l.Model.Call(ctx, model.Request{Input: in.Project.ID})
	if err != nil {
		return memoir.Consolidation{}, memoir.Usage{}, err
	}
	return memoir.Consolidation{}, answer.Usage, memoir.Errorf(memoir.CodeInvalid, "", "no answer of a language model can be used yet")
}
