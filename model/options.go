package model

import (
	"time"

	"memoir"
)

// API is how a provider is spoken to.
type API string

// The APIs.
const (
	APIResponses API = "openai-responses"
	APIChat      API = "openai-chat"
	APIAnthropic API = "anthropic"
	APIExec      API = "exec"
)

// Options are what a model is called with.
type Options struct {
	API         API
	BaseURL     string   // empty: the API's own
	Key         string   // never logged, never part of an error; empty: none is sent
	Command     []string // of APIExec: program and arguments
	Preset      string   // of APIExec: whose switches are added; empty: none
	Effort      string   // of reasoning: none, minimal, low, medium, high or xhigh; empty: the model's own
	Temperature *float64 // nil: the model's own
	MaxOutput   int      // tokens of an answer; 0: the model's own
	Window      int      // tokens of a call; 0: unknown
	Timeout     time.Duration
	Price       Price

	// Warn is told, once a kind, what is wrong with answers that came all the same, and what
	// to do about it; nil: nobody. It must be safe for concurrent use.
	Warn func(message, hint string)

	// Redact takes secrets out of what a server or a program says of a failure, before that
	// is folded into a line and cut: half a secret is not recognised. Nil: nobody does. It
	// must be safe for concurrent use.
	Redact func(text string) string
}

// plain makes one short line of what a server says. The key goes before secrets do, since a
// rule may see only a part of it.
func (o Options) plain(text string) string {
	return plain(o.redact(maskKey(text, o.Key)), o.Key)
}

// redact takes secrets out of a text, if it was said how.
func (o Options) redact(text string) string {
	if o.Redact == nil {
		return text
	}
	return o.Redact(text)
}

// Price is in US dollars for a million tokens; zero is unknown.
type Price struct{ Input, Cached, Output float64 }

// Cost is what tokens cost: cached ones are part of the input, and cost as the rest
// of it where no price of their own is known.
func (p Price) Cost(u memoir.Usage) float64 {
	cached := p.Cached
	if cached == 0 {
		cached = p.Input
	}
	input := float64(u.InputTokens-u.CachedTokens)*p.Input + float64(u.CachedTokens)*cached
	return (input + float64(u.OutputTokens)*p.Output) / 1e6
}
