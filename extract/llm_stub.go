package extract

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
	InputTokens int     // memories.phase1InputTokenLimit
	Payload     float64 // memories.rolloutPayloadPercent: share of Model.Window() that the input may fill, where the window is known
}

// NewLLM returns an extractor that asks the model, and takes no answer yet.
func NewLLM(o LLM) Extractor { return llm{o} }

type llm struct{ LLM }

func (l llm) Name() string { return l.Model.Name() }

func (l llm) Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error) {
	answer, err := l.Model.Call(ctx, model.Request{Input: in.Session.ID})
	if err != nil {
		return memoir.Extraction{}, memoir.Usage{}, err
	}
	return memoir.Extraction{}, answer.Usage, memoir.Errorf(memoir.CodeInvalid, "", "no answer of a language model can be used yet")
}
