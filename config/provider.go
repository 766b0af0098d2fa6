package config

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Provider is where and how a language model is reached. What is not set is as the
// provider is known, or as its API has it. A key is never among the settings.
type Provider struct {
	API        string   // openai-responses, openai-chat, anthropic or exec; empty: as known
	BaseURL    string   // http or https, without credentials; empty: the provider's own
	KeyEnv     string   // the environment variable that holds the key
	KeyCommand []string // program and arguments; prints the key
	Command    []string // of exec: program and arguments
	Preset     string   // of exec: the agent whose switches the command takes
	Call
}

// Call is how a model is called. The zero value leaves all to the model.
type Call struct {
	Effort          string   // of reasoning
	Temperature     *float64 // from 0 to 2
	MaxOutputTokens int      // of an answer; 0: not set
	TimeoutSeconds  int      // of a call; 0: not set
	Window          int      // tokens of a call, input and output together; 0: not known
	InputPrice      *float64 // US dollars per million tokens
	CachedPrice     *float64
	OutputPrice     *float64
}

// CallOf returns how a model is called: as models says of it, and for the rest as
// its provider says. The name is provider/model.
func (s Settings) CallOf(provider, name string) Call {
	call := s.Providers[provider].Call
	own, ok := s.Models[name]
	if !ok {
		return call
	}
	both := Provider{Call: call}
	for _, f := range providerFields {
		if f.call && f.text(Provider{Call: own}) != "" {
			f.copy(&both, &Provider{Call: own})
		}
	}
	return both.Call
}

// providerField is one setting of a provider.
type providerField struct {
	name, doc string
	call      bool                // models have it too
	choices   []string            // of a text; nil: any
	check     func(string) string // what is wrong with a text, or ""; may be nil
	min, max  float64             // of numbers, both included

	field func(*Provider) any // a pointer to a string, int, *float64 or []string
}

// maxPrice bounds a price against nonsense, in US dollars.
const maxPrice = 1e5

// providerFields is the table of what can be set of a provider, in the order in
// which it is printed.
var providerFields = []providerField{
	{name: "api", doc: "how the provider is spoken to: openai-responses, openai-chat, anthropic or exec",
		choices: []string{"openai-responses", "openai-chat", "anthropic", "exec"},
		field:   func(p *Provider) any { return &p.API }},
	{name: "baseURL", doc: "where the provider is reached", check: checkBaseURL,
		field: func(p *Provider) any { return &p.BaseURL }},
	{name: "keyEnv", doc: "environment variable that holds the key", check: checkKeyEnv,
		field: func(p *Provider) any { return &p.KeyEnv }},
	{name: "keyCommand", doc: "program and arguments that print the key, where keyEnv is not set",
		field: func(p *Provider) any { return &p.KeyCommand }},
	{
		name:  "command",
		doc:   "of exec: program and arguments; the question is its standard input, the answer what it prints",
		field: func(p *Provider) any { return &p.Command },
	},
	{name: "preset", doc: "of exec: the agent whose switches are added to command", check: checkPreset,
		field: func(p *Provider) any { return &p.Preset }},
	{name: "effort", doc: "reasoning effort: none, minimal, low, medium, high or xhigh", call: true,
		choices: []string{"none", "minimal", "low", "medium", "high", "xhigh"},
		field:   func(p *Provider) any { return &p.Effort }},
	{name: "temperature", doc: "from 0 to 2; unset: the model's own", call: true, max: 2,
		field: func(p *Provider) any { return &p.Temperature }},
	{
		name:  "maxOutputTokens",
		doc:   "cap on the tokens of an answer; unset: the model's own",
		call:  true,
		min:   1,
		max:   1e7,
		field: func(p *Provider) any { return &p.MaxOutputTokens },
	},
	{name: "timeoutSeconds", doc: "time limit of one call; unset: 600", call: true, min: 1, max: 86400,
		field: func(p *Provider) any { return &p.TimeoutSeconds }},
	{name: "window", doc: "tokens that a call may hold, input and output together", call: true, min: 1000, max: 1e9,
		field: func(p *Provider) any { return &p.Window }},
	{name: "inputPrice", doc: "US dollars per million tokens of input", call: true, max: maxPrice,
		field: func(p *Provider) any { return &p.InputPrice }},
	{
		name:  "cachedPrice",
		doc:   "US dollars per million tokens of input that the provider had cached; unset: inputPrice",
		call:  true,
		max:   maxPrice,
		field: func(p *Provider) any { return &p.CachedPrice },
	},
	{name: "outputPrice", doc: "US dollars per million tokens of output", call: true, max: maxPrice,
		field: func(p *Provider) any { return &p.OutputPrice }},
}

// text is a field's value as a person reads it, "" if it is not set. Of a command
// that prints a key only its length is told: it may hold one.
func (f providerField) text(p Provider) string {
	switch v := f.field(&p).(type) {
	case *string:
		return *v
	case *int:
		if *v != 0 {
			return strconv.Itoa(*v)
		}
	case **float64:
		if *v != nil {
			return plain(**v)
		}
	case *[]string:
		switch {
		case len(*v) == 0:
		case f.name == "keyCommand":
			return "a command of " + strconv.Itoa(len(*v)) + " words"
		default:
			return strings.Join(*v, " ")
		}
	}
	return ""
}

// copy sets a field to what it is in another provider.
func (f providerField) copy(to, from *Provider) {
	switch v := f.field(from).(type) {
	case *string:
		*f.field(to).(*string) = *v
	case *int:
		*f.field(to).(*int) = *v
	case **float64:
		*f.field(to).(**float64) = *v
	}
}

// fieldValue is one field as `memoir config` prints it.
func (s Settings) fieldValue(prefix string, f providerField, p Provider) Value {
	name := prefix + "." + f.name
	return Value{Name: name, Value: f.text(p), Origin: s.Origin(name), Doc: f.doc}
}

// ProviderDocs lists what can be set of a provider: name and meaning.
func ProviderDocs() [][2]string {
	var out [][2]string
	for _, f := range providerFields {
		out = append(out, [2]string{f.name, f.doc})
	}
	return out
}

// fieldNames lists the fields of a provider, or of a model.
func fieldNames(callOnly bool) []string {
	var out []string
	for _, f := range providerFields {
		if f.call || !callOnly {
			out = append(out, f.name)
		}
	}
	return out
}

// program checks the first word of a command. A path that is not full would name
// another file in every directory, also in those of a cloned repository.
func program(word, home string) (string, string) {
	word, err := expandHome(word, home)
	switch {
	case err != nil:
		return "", "needs a home directory, and HOME is not set"
	case strings.TrimSpace(word) == "":
		return "", "must begin with a program"
	case strings.ContainsAny(word, `/\`) && !filepath.IsAbs(word):
		return "", "must begin with a program's name, or its path in full or from ~"
	}
	return word, ""
}
