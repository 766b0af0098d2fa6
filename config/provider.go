package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Provider says where and how language models are called. Fields that are not set have the known
// provider's values, or the defaults of the API. Keys are never settings.
type Provider struct {
	API        string   // openai-chat, anthropic or exec; empty: exec with a command, else the known provider's
	BaseURL    string   // http or https, without credentials; empty: the provider's own
	KeyEnv     string   // the environment variable that holds the key
	KeyCommand []string // program and arguments; prints the key
	Command    []string // for exec: program and arguments
	Preset     string   // for exec: the agent whose flags the command takes

	// Parameters of calls; the zero value leaves the choice to the model.
	Effort          string   // of reasoning
	Temperature     *float64 // from 0 to 2
	MaxOutputTokens int      // of an answer; 0: not set
	TimeoutSeconds  int      // of a call; 0: not set
	Window          int      // tokens of a call, input and output together; 0: not known
	InputPrice      float64  // US dollars per million tokens; 0: not known
	CachedPrice     float64
	OutputPrice     float64
}

// providerFields is the table of a provider's settings, in the order in which they are printed.
var providerFields = []definition{
	{name: "api", doc: "API of the provider: openai-chat, anthropic or exec; unset, with a command or preset: exec",
		choices: []string{"openai-chat", "anthropic", "exec"}},
	{name: "baseURL", doc: "address of the provider",
		form:   lazyregexp.New(`^https?://([^\s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^\s?#@]*)?$`),
		wanted: "an http or https URL without a password or a query; a key is named with keyEnv"},
	{name: "keyEnv", doc: "environment variable that holds the key",
		form: lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`), wanted: "the name of a variable, not the key itself"},
	{name: "keyCommand", words: true, list: expandProgram,
		doc: "program and arguments that print the key; used without keyEnv, or if its variable is not set"},
	{name: "command", words: true, list: expandProgram,
		doc: "for exec: program and arguments; it reads the prompt from standard input and prints the answer"},
	{name: "preset", doc: "for exec: the agent whose flags command gets: claude, codex, pi, omp or opencode",
		choices: []string{"claude", "codex", "pi", "omp", "opencode"}},
	{name: "effort", doc: "reasoning effort: none, minimal, low, medium, high or xhigh",
		choices: []string{"none", "minimal", "low", "medium", "high", "xhigh"}},
	{name: "temperature", doc: "from 0 to 2; unset: the model's own", max: 2},
	{name: "maxOutputTokens", doc: "cap on the tokens of an answer; unset: the model's own", min: 1, max: 1e7},
	{name: "timeoutSeconds", doc: "time limit of one call; unset: 600", min: 1, max: 86400},
	{name: "window", doc: "context window in tokens, input and output together", min: 1000, max: 1e9},
	{name: "inputPrice", doc: "US dollars per million tokens of input", max: maxPrice},
	{name: "cachedPrice", max: maxPrice,
		doc: "US dollars per million tokens of input that the provider had cached; unset: inputPrice"},
	{name: "outputPrice", doc: "US dollars per million tokens of output", max: maxPrice},
}

// ProviderHelp returns a line of help for each setting of a provider.
func ProviderHelp() string {
	var b strings.Builder
	for _, d := range providerFields {
		fmt.Fprintf(&b, "  %-16s %s\n", d.name, d.doc)
	}
	return b.String()
}

func (s Settings) checkProvider(name string) error {
	p := s.Providers[name]
	exec := p.API == "exec" || p.API == "" && name == "exec"
	wrong := func(hint, what string) error {
		return memoir.Errorf(memoir.CodeConfig, hint, "%s: providers.%s %s", s.Origin(nameProviders+"."+name),
			strings.Trim(strconv.Quote(name), `"`), what)
	}
	switch {
	case !providerName.MatchString(name) || name == builtin:
		return wrong("use lower-case letters, digits, dashes, and not "+builtin, "is not a valid name for a provider")
	case !exec && (len(p.Command) > 0 || p.Preset != ""):
		return wrong("remove api, or command and preset", "has a command, but its api is not exec")
	case exec && (p.BaseURL != "" || p.KeyEnv != "" || len(p.KeyCommand) > 0):
		return wrong("log in with the program, or give it its key in the environment",
			"runs a command, which takes no URL and no key")
	case exec && len(p.Command) == 0 && p.Preset == "" && name != "exec":
		return wrong("set command to a program and its arguments, or name a preset", "has no command")
	}
	return nil
}

var providerName = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// expandProgram checks a program with its arguments. A relative path is refused: it would name
// another file in each directory, such as one of a cloned repository.
func expandProgram(words []string, home string) ([]string, error) {
	if len(words) == 0 || strings.TrimSpace(words[0]) == "" {
		return nil, errors.New("must begin with a program")
	}
	program, err := expandHome(words[0], home)
	switch {
	case err != nil:
		return nil, errors.New("needs a home directory, and HOME is not set")
	case strings.ContainsAny(program, `/\`) && !filepath.IsAbs(program):
		return nil, errors.New("must begin with a program's name, or with its path, absolute or from ~")
	}
	return append([]string{program}, words[1:]...), nil
}
