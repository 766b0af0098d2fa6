package model

import (
	"maps"
	"slices"
)

// provider is what is known of a provider without anybody saying it.
type provider struct {
	api     API
	baseURL string
	keyEnv  string // the variable that the provider's own documentation names; empty: no key is needed
}

// providers are those that need no settings but, where they take one, a key. The
// addresses of local servers are the ones that they listen at unless told otherwise.
var providers = map[string]provider{
	"openai":     {APIResponses, "https://api.openai.com/v1", "OPENAI_API_KEY"},
	"anthropic":  {APIAnthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"},
	"openrouter": {APIChat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	"gemini":     {APIChat, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
	"ollama":     {APIChat, "http://127.0.0.1:11434/v1", ""},
	"lmstudio":   {APIChat, "http://127.0.0.1:1234/v1", ""},
	"llamacpp":   {APIChat, "http://127.0.0.1:8080/v1", ""},
	"vllm":       {APIChat, "http://127.0.0.1:8000/v1", ""},
}

// Known returns the options that reach a provider of this name, and the environment
// variable that holds its key, empty if it needs none. A provider is known if
// it has a base URL of its own; external commands are not among them.
func Known(name string) (o Options, keyEnv string, ok bool) {
	p, ok := providers[name]
	return Options{API: p.api, BaseURL: p.baseURL}, p.keyEnv, ok
}

// KnownProviders returns the names that Known knows, sorted.
func KnownProviders() []string { return slices.Sorted(maps.Keys(providers)) }
