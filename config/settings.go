// Package config defines the settings: their names, defaults, bounds and meaning, the layers they come from (defaults,
// config.yml, MEMOIR_* variables, flags), what a project's own .memoir.yml may change, and which such files are
// trusted. It also finds memoir's home and configuration directories. It does not use the settings.
//
// Read definition.go first (the table), then load.go (the layers), edit.go (changes
// of config.yml) and projectfile.go (.memoir.yml).
package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Settings are the effective values. The table of definitions has the default, bounds and meaning of each field.
type Settings struct {
	Memories   Memories
	ModelRoles ModelRoles
	Limits     Limits
	MCP        MCP

	MemConsolidate MemConsolidate
	ShadowJournal  ShadowJournal
	Deliver        Deliver
	Team           Team

	// Exclude lists globs of directories whose sessions are skipped. A glob is absolute
	// or begins with "**/"; Excluded matches them.
	Exclude []string

	// Projects maps an absolute directory to the project of the directory and those below it; ProjectFor looks it up.
	Projects map[string]string

	// Providers are the language model providers by name.
	Providers map[string]Provider

	// Off is set if a project's own file switches memory off. Unlike Memories.Enabled, it applies to commands typed by
	// hand, too: the project's sessions are not read, and nothing is injected into them.
	Off bool

	origins map[string]string // by setting name; no entry: the default
}

// Memories are the settings of runs and injection, with their limits.
type Memories struct {
	Enabled                    bool
	IncludeAutomation          bool
	MaxRolloutAgeDays          float64
	MinRolloutIdleHours        float64
	ActiveRolloutMinutes       float64
	MaxRolloutsPerStartup      int
	SummaryInjectionTokenLimit int
	Concurrency                int
	MaxRawMemoriesForGlobal    int
	Phase1LeaseSeconds         int
	Phase1RetryDelaySeconds    int
	Phase2LeaseSeconds         int
	Phase2RetryDelaySeconds    int
	HeartbeatSeconds           int
	MaxAttempts                int
	RolloutPayloadPercent      float64
	Phase1InputTokenLimit      int
	MaxMemorySize              int // bytes
	GenerationsKept            int
	GenerationsMaxAgeDays      float64 // 0: no limit
	BusyTimeoutSeconds         int
	MaxResidentMegabytes       int
	RunAtSessionEnd            bool
	SessionEndSeconds          int
	MemoryWindow               int // messages
}

// Heap returns the share of MaxResidentMegabytes that the heap may use, in bytes. The rest is for the
// pages of the program and of SQLite, and for garbage.
func (m Memories) Heap() int64 { return int64(m.MaxResidentMegabytes) * 1e6 * 9 / 16 }

// ModelRoles name the models, as "provider/model" or "builtin".
type ModelRoles struct {
	Default string
	Smol    string // empty: as Default
	Phase1  string // empty: as Default
	Phase2  string // empty: as Smol
}

// MemConsolidate says whether, and how often, journals are consolidated.
type MemConsolidate struct {
	Enabled       bool
	IntervalHours float64
}

// ShadowJournal says whether what is new in a turn is added to the journal, and by which model.
type ShadowJournal struct {
	Enabled bool
	Model   string // empty: that of Phase 1
}

// Deliver says at which events agents are told something.
type Deliver struct {
	AtStart, AfterFailure, OnEdit, AtPrompt bool
}

// Team says what may be shared with other machines.
type Team struct {
	Share bool // what is shared may leave; false keeps it waiting
}

// MCP are the settings of the MCP server.
type MCP struct {
	AllProjects bool
}

// Limits are spending limits; 0 means no limit.
type Limits struct {
	TokensPerRun int64
	TokensPerDay int64
	CostPerRun   float64 // US dollars
	CostPerDay   float64 // US dollars
}

// Default returns the settings with nothing configured.
func Default() Settings {
	var s Settings
	for _, d := range definitions {
		if d.usual == "" {
			continue
		}
		if err := d.set(&s, []string{d.usual}, ""); err != nil {
			panic("config: default of " + d.name + ": " + err.Error())
		}
	}
	return s
}

// clone returns a copy of s. Changes that a project's file may make to it do not change s.
func (s Settings) clone() Settings {
	s.origins = maps.Clone(s.origins)
	return s
}

func (s *Settings) setOrigin(name, origin string) { put(&s.origins, name, origin) }

func put[V any](to *map[string]V, key string, value V) {
	if *to == nil {
		*to = make(map[string]V)
	}
	(*to)[key] = value
}

// Origin says where a setting's value comes from: "default", "file:line", "$VARIABLE" or "--flag".
func (s Settings) Origin(name string) string {
	return cmp.Or(s.origins[name], originDefault)
}

const originDefault = "default"

// Value is one effective setting, as a person reads it.
type Value struct {
	Name   string   `json:"name"`
	Value  string   `json:"value"`
	Origin string   `json:"origin"` // default, file:line, $VARIABLE or --flag
	Doc    string   `json:"doc"`
	List   []string `json:"list,omitempty"` // the elements, where the value is a list
}

func (d definition) value(of any, name, origin string) Value {
	v := Value{Name: name, Value: d.text(of), Origin: origin, Doc: d.doc}
	if list, ok := d.field(of).(*[]string); ok {
		v.List = *list
	}
	return v
}

// Values lists every effective value in the order of the table, then the settings of projects and
// providers, by name. A command that prints a key may contain one, so only its length is given.
func (s Settings) Values() []Value {
	values := memoir.Map(definitions, func(d definition) Value { return d.value(&s, d.name, s.Origin(d.name)) })
	for _, dir := range slices.Sorted(maps.Keys(s.Projects)) {
		name := nameProjects + "." + dir
		values = append(values, Value{Name: name, Value: s.Projects[dir], Origin: s.Origin(name), Doc: projectName.doc})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		p := s.Providers[name]
		for _, d := range providerFields {
			full := nameProviders + "." + name + "." + d.name
			v := d.value(&p, full, s.Origin(full))
			if d.name == "keyCommand" {
				v.Value, v.List = fmt.Sprintf("a command of %d words", len(p.KeyCommand)), nil
			}
			if v.Origin != originDefault {
				values = append(values, v)
			}
		}
	}
	return values
}

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
