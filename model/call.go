package model

import (
	"context"
	"encoding/json"

	"memoir"
)

// Model is one language model. Its methods are safe for concurrent use.
type Model interface {
	// Name is what a person calls it: provider/model.
	Name() string
	// Window is how many tokens a call may hold, input and output together; 0 if
	// nobody said so, neither a person nor the server when it refused a call.
	Window() int
	// Call asks once, without a second try. It fails with an *Error.
	Call(ctx context.Context, q Request) (Answer, error)
}

// Request is one question to a model.
type Request struct {
	System     string          // the part that is the same for each call of its kind: cached where the provider can
	Input      string          // the part that differs
	Earlier    []Exchange      // answers that were refused and what was said of them, in order
	Schema     json.RawMessage // JSON Schema of the answer; nil: free text
	SchemaName string          // letters, digits and underscores
	MaxOutput  int             // tokens; 0: as the model is configured
	Output     int             // tokens that the answer may need: a configured cap below is raised to it; 0: unknown
}

// Exchange is an answer that could not be used, and why.
type Exchange struct{ Answer, Objection string }

// Answer is what a model said.
type Answer struct {
	Text  string
	Stop  Stop
	Usage memoir.Usage // of this call: Calls is 1, or 2 where the API had to be asked in another way
	// Estimated says that nobody told the tokens of Usage: it is what the texts come to.
	Estimated bool
	// Accepted is called when the answer is used; nil: nobody wants to know.
	Accepted func()
}

// Accept says that the answer is used: it was neither refused nor asked for again.
func (a Answer) Accept() {
	if a.Accepted != nil {
		a.Accepted()
	}
}

// Stop is why an answer ended.
type Stop string

// The ways in which an answer ends.
const (
	StopEnd     Stop = "end"     // it is whole
	StopLength  Stop = "length"  // the cap on the output cut it
	StopRefusal Stop = "refusal" // the model or a filter declined
	StopEmpty   Stop = "empty"   // it ended without a word
)
