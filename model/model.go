// Package model calls language models. It resolves names of models, has the known providers and their APIs, measures
// the cost of calls and classifies failures. It does not depend on prompts, memory or the built-in model.
//
// Start with Model and Open in this file. remote.go makes a call over HTTP and repeats it if it fails, with one file
// per wire format (openai_chat.go, anthropic.go). exec.go runs a command instead.
package model

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"memoir"
)

const callTimeout = 10 * time.Minute

// Model is one language model. Its methods are safe for concurrent use.
type Model interface {
	// Name is provider/model, as a person writes it.
	Name() string
	// Window is the configured limit of tokens in a call, input and output together; 0 if unknown.
	Window() int
	// Call asks once, without a retry. It fails with an *Error.
	Call(ctx context.Context, q Request) (Answer, error)
}

// Open returns the model of a spec without calling it. If its program can't be run, the error has memoir.CodeConfig.
func Open(spec Spec, o Options) (Model, error) {
	o.Key = strings.TrimSpace(o.Key)
	o.Timeout = cmp.Or(o.Timeout, callTimeout)
	m := &opened{spec: spec, o: o}
	var err error
	switch o.API {
	case APIExec:
		m.caller, err = newProgram(spec, o)
	case APIAnthropic:
		m.caller = newRemote(spec, o, anthropicAPI{})
	default:
		m.caller = newRemote(spec, o, chatAPI{})
	}
	return m, err
}

// opened is a model with the common parts of servers and programs: the time limit of a call, its usage and its error.
type opened struct {
	caller
	spec Spec
	o    Options
}

var _ Model = (*opened)(nil)

type caller interface {
	// call makes a call, until ctx ends. It also returns the data received before an error.
	call(ctx context.Context, q Request) (received, *Error)
}

type received struct {
	text  string
	stop  Stop          // empty: it is complete
	begun bool          // the model had started, so the call has a cost
	usage *memoir.Usage // nil: not reported
}

// Name is provider/model.
func (m *opened) Name() string { return m.spec.String() }

// Window is in tokens, as configured; 0: unknown.
func (m *opened) Window() int { return m.o.Window }

// Call makes a call within the model's time limit.
func (m *opened) Call(ctx context.Context, q Request) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	r, e := received{}, &Error{Class: ClassUnreachable}
	if ctx.Err() == nil {
		r, e = m.call(limited, q)
	}
	if e == nil {
		a := Answer{Text: withoutThoughts(strings.ToValidUTF8(r.text, "\uFFFD")), Stop: cmp.Or(r.stop, StopEnd)}
		a.Usage, a.Estimated = m.usage(q, r)
		if a.Text == "" && a.Stop == StopEnd {
			a.Stop = StopEmpty
		}
		return a, nil
	}
	e.Model = m.Name()
	if r.begun {
		e.Usage, e.Estimated = m.usage(q, r)
	} else if e.Class != ClassUnreachable {
		e.Usage.Calls = 1
	}
	switch {
	case ctx.Err() != nil:
		e.Class, e.Err, e.Message = ClassTemporary, ctx.Err(), "the call was interrupted"
	case limited.Err() != nil:
		e.timedOut(m.o.Timeout)
	}
	e.Message = m.o.words(e.Message, e.Program != "")
	return Answer{}, e
}

// usage returns the reported usage, else an estimate from the texts.
func (m *opened) usage(q Request, r received) (u memoir.Usage, estimated bool) {
	if r.usage != nil {
		u = *r.usage
	} else {
		u = memoir.Usage{InputTokens: int64(memoir.Tokens(prompt(q, true, true))), OutputTokens: int64(memoir.Tokens(r.text))}
	}
	u.Calls = 1
	if m.o.Price != (Price{}) {
		u.Cost = m.o.Price.Cost(u)
	}
	return u, r.usage == nil
}

// withoutThoughts removes the reasoning that some local models leave in front of an answer.
func withoutThoughts(text string) string {
	text = strings.TrimSpace(text)
	if thoughts, answer, ok := strings.Cut(text, "</think>"); ok && strings.HasPrefix(thoughts, "<think>") {
		return strings.TrimSpace(answer)
	}
	return text
}

// Request is one question to a model.
type Request struct {
	System    string          // the part that every call of a kind shares: cached if the provider can
	Input     string          // the part that differs
	Earlier   []Exchange      // rejected answers with the reason, in order
	Schema    json.RawMessage // JSON Schema of the answer; nil: free text
	MaxOutput int             // tokens; 0: as the model is configured
	Output    int             // tokens that the answer may need; a lower configured cap is raised to it; 0: unknown
}

// Changed returns the request with each text that may be of a session changed.
func (q Request) Changed(change func(string) string) Request {
	q.Input, q.Earlier = change(q.Input), slices.Clone(q.Earlier)
	for i, e := range q.Earlier {
		q.Earlier[i] = Exchange{change(e.Answer), change(e.Objection)}
	}
	return q
}

// Bytes is the size of a request's texts.
func (q Request) Bytes() int {
	n := len(q.System) + len(q.Input) + len(q.Schema)
	for _, e := range q.Earlier {
		n += len(e.Answer) + len(e.Objection)
	}
	return n
}

// Exchange is an invalid answer with the objection to it.
type Exchange struct{ Answer, Objection string }

// Answer is a model's answer.
type Answer struct {
	Text      string
	Stop      Stop
	Usage     memoir.Usage // of this call; Calls is 1
	Estimated bool         // the provider reported no tokens: Usage is computed from the texts
}

// Stop is the reason why an answer ended.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "end"     // it is complete
	StopLength  Stop = "length"  // the cap on the output cut it
	StopRefusal Stop = "refusal" // the model or a filter declined
	StopEmpty   Stop = "empty"   // it has no text
)

// API is the interface of a provider.
type API string

// The APIs.
const (
	APIChat      API = "openai-chat"
	APIAnthropic API = "anthropic"
	APIExec      API = "exec"
)

// Options are the options of a model's calls.
type Options struct {
	API         API
	BaseURL     string
	Key         string   // never logged, never part of an error; empty: none is sent
	Command     []string // of APIExec: program and arguments
	Preset      string   // of APIExec: whose switches are added; empty: none
	Effort      string   // of reasoning: none, minimal, low, medium, high or xhigh; empty: the model's own
	Temperature *float64 // nil: the model's own
	MaxOutput   int      // tokens of an answer; 0: the model's own
	Window      int      // tokens of a call; 0: unknown
	Timeout     time.Duration
	Price       Price

	// Redact removes secrets from the message of a failure, before it is shortened: a part of
	// a secret is not recognised. It may be nil and must be safe for concurrent use.
	Redact func(text string) string
}

// Price is in US dollars per million tokens; 0 is unknown.
type Price struct{ Input, Cached, Output float64 }

// Cost returns the price of a usage in US dollars. Cached tokens are part of the input and
// have its price unless their own is known.
func (p Price) Cost(u memoir.Usage) float64 {
	input := float64(u.InputTokens-u.CachedTokens)*p.Input + float64(u.CachedTokens)*cmp.Or(p.Cached, p.Input)
	return (input + float64(u.OutputTokens)*p.Output) / 1e6
}
