package config

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"memoir/internal/lazyregexp"
)

// Provider is where and how a language model is reached. What is not set is as the
// provider is known, or as its API has it. A key is never among the settings.
type Provider struct {
	API        string   // openai-chat, anthropic or exec; empty: as known
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
	InputPrice      float64  // US dollars per million tokens; 0: not known
	CachedPrice     float64
	OutputPrice     float64
}

// CallOf returns how a model is called: as models says of it, and for the rest as
// its provider says. The name is provider/model.
func (s Settings) CallOf(provider, name string) Call {
	if own, ok := s.Models[name]; ok {
		return own
	}
	return s.Providers[provider].Call
}

// providerField is one setting of a provider.
type providerField struct {
	rule
	call  bool                // models have it too
	field func(*Provider) any // a pointer to a string, int, float64, *float64 or []string
}

// maxPrice bounds a price against nonsense, in US dollars.
const maxPrice = 1e5

// providerFields is the table of what can be set of a provider, in the order in
// which it is printed.
var providerFields = []providerField{
	{rule: rule{Name: "api", Doc: "how the provider is spoken to: openai-chat, anthropic or exec",
		choices: []string{"openai-chat", "anthropic", "exec"}},
		field: func(p *Provider) any { return &p.API }},
	{rule: rule{Name: "baseURL", Doc: "where the provider is reached", check: checkBaseURL},
		field: func(p *Provider) any { return &p.BaseURL }},
	{rule: rule{Name: "keyEnv", Doc: "environment variable that holds the key", check: checkKeyEnv},
		field: func(p *Provider) any { return &p.KeyEnv }},
	{rule: rule{Name: "keyCommand", Doc: "program and arguments that print the key, where keyEnv is not set"},
		field: func(p *Provider) any { return &p.KeyCommand }},
	{rule: rule{Name: "command",
		Doc: "of exec: program and arguments; the question is its standard input, the answer what it prints"},
		field: func(p *Provider) any { return &p.Command }},
	{rule: rule{Name: "preset", Doc: "of exec: the agent whose switches are added to command", check: checkPreset},
		field: func(p *Provider) any { return &p.Preset }},
	{rule: rule{Name: "effort", Doc: "reasoning effort: none, minimal, low, medium, high or xhigh",
		choices: []string{"none", "minimal", "low", "medium", "high", "xhigh"}}, call: true,
		field: func(p *Provider) any { return &p.Effort }},
	{rule: rule{Name: "temperature", Doc: "from 0 to 2; unset: the model's own", Max: 2}, call: true,
		field: func(p *Provider) any { return &p.Temperature }},
	{rule: rule{Name: "maxOutputTokens", Doc: "cap on the tokens of an answer; unset: the model's own", Min: 1, Max: 1e7},
		call: true, field: func(p *Provider) any { return &p.MaxOutputTokens }},
	{rule: rule{Name: "timeoutSeconds", Doc: "time limit of one call; unset: 600", Min: 1, Max: 86400},
		call: true, field: func(p *Provider) any { return &p.TimeoutSeconds }},
	{rule: rule{Name: "window", Doc: "tokens that a call may hold, input and output together", Min: 1000, Max: 1e9},
		call: true, field: func(p *Provider) any { return &p.Window }},
	{rule: rule{Name: "inputPrice", Doc: "US dollars per million tokens of input", Max: maxPrice},
		call: true, field: func(p *Provider) any { return &p.InputPrice }},
	{rule: rule{Name: "cachedPrice", Max: maxPrice,
		Doc: "US dollars per million tokens of input that the provider had cached; unset: inputPrice"},
		call: true, field: func(p *Provider) any { return &p.CachedPrice }},
	{rule: rule{Name: "outputPrice", Doc: "US dollars per million tokens of output", Max: maxPrice},
		call: true, field: func(p *Provider) any { return &p.OutputPrice }},
}

// fieldValues are the fields that are set of a provider, or of a model, as `memoir config`
// prints them. Of a command that prints a key only its length is told: it may hold one.
func (s Settings) fieldValues(prefix string, p Provider) []Value {
	var out []Value
	for _, f := range providerFields {
		v := Value{Name: prefix + "." + f.Name, Doc: f.Doc}
		if v.Origin = s.Origin(v.Name); v.Origin == originDefault {
			continue
		}
		switch words, ok := f.field(&p).(*[]string); {
		case ok && f.Name == "keyCommand":
			v.Value = "a command of " + strconv.Itoa(len(*words)) + " words"
		case ok:
			v.Value = strings.Join(*words, " ")
		default:
			v.Value = textOf(f.field(&p))
		}
		out = append(out, v)
	}
	return out
}

// ProviderDocs lists what can be set of a provider: name and meaning.
func ProviderDocs() [][2]string {
	var out [][2]string
	for _, f := range providerFields {
		out = append(out, [2]string{f.Name, f.Doc})
	}
	return out
}

// fieldNames lists the fields of a provider, or of a model.
func fieldNames(callOnly bool) []string {
	var out []string
	for _, f := range providerFields {
		if f.call || !callOnly {
			out = append(out, f.Name)
		}
	}
	return out
}

var (
	providerName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	presetName   = lazyregexp.New(`^[a-z]{1,20}$`)
)

func checkBaseURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.ContainsAny(text, " \t\r\n"):
		return "must be an http or https URL"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "must not hold a password or a query; name a variable with keyEnv"
	}
	return ""
}

func checkKeyEnv(text string) string {
	if !variableName.MatchString(text) {
		return "must be the name of an environment variable, not the key itself"
	}
	return ""
}

func checkPreset(text string) string {
	if !presetName.MatchString(text) {
		return "must be the name of an agent"
	}
	return ""
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
