// Package model calls language models. It knows how a person names a model, which
// providers there are, how each is called, what a call cost and what its failure
// means. It knows nothing of prompts and memory, and nothing of the built-in model.
//
// Start with Model and Open in this file. remote.go makes a call over HTTP, with one
// file per wire format (openai_chat.go, anthropic.go). exec.go
// runs a command instead. retry.go repeats calls that failed.
package model

import (
	"context"
	"encoding/json"

	"memoir"
)

// Model is one language model. Its methods are safe for concurrent use.
type Model interface {
	// Name is provider/model, as a person writes it.
	Name() string
	// Window is how many tokens a call may hold, input and output together, as
	// configured; 0 if unknown.
	Window() int
	// Call asks once, without a retry. It fails with an *Error.
	Call(ctx context.Context, q Request) (Answer, error)
}

// Open returns the model of a spec without calling it. An unknown API is an error
// with memoir.CodeConfig.
func Open(spec Spec, o Options) (Model, error) {
	switch o.API {
	case APIChat:
		return newRemote(spec, o, chatAPI{base: o.BaseURL}), nil
	case APIAnthropic:
		return newRemote(spec, o, anthropicAPI{}), nil
	case APIExec:
		return newProgram(spec, o)
	}
	return nil, memoir.Errorf(memoir.CodeConfig, "use openai-chat, anthropic or exec",
		"provider %s has the unknown API %q", spec.Provider, o.API)
}

// Request is one question to a model.
type Request struct {
	System     string          // the part that every call of a kind shares: cached where the provider can
	Input      string          // the part that differs
	Earlier    []Exchange      // rejected answers with the reason, in order
	Schema     json.RawMessage // JSON Schema of the answer; nil: free text
	SchemaName string          // letters, digits and underscores; empty: "answer"
	MaxOutput  int             // tokens; 0: as the model is configured
	Output     int             // tokens that the answer may need: a lower configured cap is raised to it; 0: unknown
}

// name is the schema's name.
func (q Request) name() string {
	if q.SchemaName == "" {
		return "answer"
	}
	return q.SchemaName
}

// tokens estimates the size of a request in tokens, the schema not included.
func (q Request) tokens() int {
	n := memoir.Tokens(q.System) + memoir.Tokens(q.Input)
	for _, e := range q.Earlier {
		n += memoir.Tokens(e.Answer) + memoir.Tokens(e.Objection)
	}
	return n
}

// Exchange is an answer that could not be used, and why.
type Exchange struct{ Answer, Objection string }

// Answer is what a model said.
type Answer struct {
	Text      string
	Stop      Stop
	Usage     memoir.Usage // of this call; Calls is 1
	Estimated bool         // the provider reported no tokens: Usage is computed from the texts
}

// Stop is why an answer ended.
type Stop string

// The ways in which an answer ends.
const (
	StopEnd     Stop = "end"     // it is complete
	StopLength  Stop = "length"  // the cap on the output cut it
	StopRefusal Stop = "refusal" // the model or a filter declined
	StopEmpty   Stop = "empty"   // it has no text
)
