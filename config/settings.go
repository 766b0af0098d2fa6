// Package config defines the settings: their names, defaults, bounds and meaning,
// the layers they come from (defaults, config.yml, MEMOIR_* variables, flags),
// what a project's own .memoir.yml may change, and which such files are trusted.
// It also finds memoir's home and configuration directories. It does not use the
// settings.
//
// Read definition.go first (the table), then load.go (the layers), edit.go (changes
// of config.yml), provider.go (language models) and projectfile.go (.memoir.yml).
package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Settings are the effective values. The table of definitions has the default, bounds
// and meaning of each field.
type Settings struct {
	Memories   Memories
	ModelRoles ModelRoles
	Limits     Limits
	MCP        MCP

	MemConsolidate MemConsolidate
	ShadowJournal  ShadowJournal

	// Exclude lists globs of directories whose sessions are skipped. A glob is absolute
	// or begins with "**/"; Excluded matches them.
	Exclude []string

	// Projects maps an absolute directory to the project of the directory and those
	// below it; ProjectFor looks it up.
	Projects map[string]string

	// Providers are the language model providers by name.
	Providers map[string]Provider

	// Off is set if a project's own file switches memory off. Unlike Memories.Enabled,
	// it applies to commands typed by hand, too: the project's sessions are not read,
	// and nothing is injected into them.
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

// put sets a key of a map, which may be nil.
func put[V any](to *map[string]V, key string, value V) {
	if *to == nil {
		*to = make(map[string]V)
	}
	(*to)[key] = value
}

// Origin says where a setting's value comes from: "default", "file:line",
// "$VARIABLE" or "--flag".
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
	var values []Value
	for _, d := range definitions {
		values = append(values, d.value(&s, d.name, s.Origin(d.name)))
	}
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
