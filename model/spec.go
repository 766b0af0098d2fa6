package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
)

// Builtin is the name of the model that is part of the program: no network, no
// key, no cost.
const Builtin = "builtin"

// Spec names a model: a provider and what the provider calls the model. The
// built-in model has the provider Builtin and no model name.
type Spec struct {
	Provider string
	Model    string
}

// Builtin reports whether the spec names the built-in model.
func (s Spec) Builtin() bool { return s.Provider == Builtin }

// String is the form that ParseSpec reads.
func (s Spec) String() string {
	if s.Model == "" {
		return s.Provider
	}
	return s.Provider + "/" + s.Model
}

// ParseSpec reads "provider/model", "exec/preset", "exec/preset/model" or "builtin".
// The model's name may itself contain slashes. The provider is one that is known, or
// one of those that the caller says are configured. A name that has not this form,
// or whose provider is neither, is an error with memoir.CodeConfig.
func ParseSpec(text string, configured ...string) (Spec, error) {
	const write = "write provider/model, or builtin"
	text = strings.TrimSpace(text)
	if text == Builtin {
		return Spec{Provider: Builtin}, nil
	}
	provider, name, _ := strings.Cut(text, "/")
	switch {
	case strings.EqualFold(provider, Builtin):
		return Spec{}, memoir.Errorf(memoir.CodeConfig, "write builtin", "the built-in model is %s, not %q", Builtin, text)
	case provider == "" || name == "" || strings.HasSuffix(name, "/") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return Spec{}, memoir.Errorf(memoir.CodeConfig, write, "%q is not the name of a model", text)
	}
	spec := Spec{Provider: provider, Model: name}
	if slices.Contains(configured, provider) {
		return spec, nil
	}
	if _, _, ok := Known(provider); ok {
		return spec, nil
	}
	if provider == string(APIExec) {
		preset, _, _ := strings.Cut(name, "/")
		if slices.Contains(Presets(), preset) {
			return spec, nil
		}
		return Spec{}, memoir.Errorf(memoir.CodeConfig,
			"use one of "+strings.Join(Presets(), ", ")+", or name your own command in providers",
			"no command is known by the name exec/%s", preset)
	}
	known := append(KnownProviders(), string(APIExec))
	hint := fmt.Sprintf("use %s, %s, or say in providers.%s where it is reached",
		Builtin, strings.Join(known, ", "), provider)
	if near, ok := config.Nearest(provider, slices.Concat(known, configured)); ok && len(provider) > 2 {
		hint = "did you mean " + near + "/" + name + "?"
	}
	return Spec{}, memoir.Errorf(memoir.CodeConfig, hint, "provider %q is neither known nor configured", provider)
}

// provider is a provider that is known by name.
type provider struct {
	api     API
	baseURL string
	keyEnv  string // the variable that the provider's documentation names; empty: no key is needed
}

// providers need no settings but a key, where they take one. Local servers have the
// addresses at which they listen by default.
var providers = map[string]provider{
	"openai":     {APIChat, openAIBase, "OPENAI_API_KEY"},
	"anthropic":  {APIAnthropic, anthropicBase, "ANTHROPIC_API_KEY"},
	"openrouter": {APIChat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"gemini":     {APIChat, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
	"ollama":     {APIChat, "http://127.0.0.1:11434/v1", ""},
	"lmstudio":   {APIChat, "http://127.0.0.1:1234/v1", ""},
	"llamacpp":   {APIChat, "http://127.0.0.1:8080/v1", ""},
	"vllm":       {APIChat, "http://127.0.0.1:8000/v1", ""},
}

// Known returns the options that reach a provider of this name, and the environment
// variable that holds its key, empty if it needs none. External commands are not known
// by name.
func Known(name string) (o Options, keyEnv string, ok bool) {
	p, ok := providers[name]
	return Options{API: p.api, BaseURL: p.baseURL}, p.keyEnv, ok
}

// KnownProviders returns the names that Known knows, sorted.
func KnownProviders() []string { return slices.Sorted(maps.Keys(providers)) }

// API is how a provider is spoken to.
type API string

// The APIs.
const (
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

	// Redact takes secrets out of what a server or a program says of a failure, before that
	// is folded into a line and cut: half a secret is not recognised. Nil: nobody does. It
	// must be safe for concurrent use.
	Redact func(text string) string
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
