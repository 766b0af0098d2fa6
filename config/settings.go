// Package config knows the settings: their names, defaults, bounds and meaning,
// the layers they come from (defaults, config.yml, MEMOIR_* variables, flags),
// what a project's own .memoir.yml may change, and which such files are trusted.
// It also knows where memoir's home and configuration directories are. It knows
// nothing of what the settings are for.
//
// Read definition.go first (the table), then load.go (the layers), provider.go
// (language models) and projectfile.go (what a repository may say about itself).
package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Settings are the effective values. The table of definitions says for each field its
// default, its bounds and its meaning.
type Settings struct {
	Memories   Memories
	ModelRoles ModelRoles
	Limits     Limits
	MCP        MCP

	MemConsolidate MemConsolidate
	ShadowJournal  ShadowJournal

	// Exclude lists globs of directories that are kept out, absolute or
	// beginning with "**/"; Excluded matches them.
	Exclude []string

	// Projects maps absolute directories to the project that they and what is
	// below them belong to; ProjectFor looks it up.
	Projects map[string]string

	// Providers are the language model providers by name.
	Providers map[string]Provider

	// Off is set when a project's own file switched memory off. Unlike
	// Memories.Enabled, which a command typed by hand overrides, it holds for
	// every command: the project is neither mined nor injected into.
	Off bool

	// Renamed names what is set by an earlier name, for people.
	Renamed []string

	origins map[string]string // by setting name; no entry: the default
}

// Memories are the settings of what runs and within which limits.
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

// Heap is how many bytes of MaxResidentMegabytes are for the heap. The rest is for the pages of the
// program and of SQLite, and for what the collector has not found yet.
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

// ShadowJournal says whether a turn's news are written into the journal, and by which model.
type ShadowJournal struct {
	Enabled bool
	Model   string // empty: that of Phase 1
}

// MCP are the settings of the server that agents ask.
type MCP struct {
	AllProjects bool
}

// Limits are spending limits; 0 is none.
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

// clone returns settings of which those that a project's file may set are independent of s.
func (s Settings) clone() Settings {
	s.origins = maps.Clone(s.origins)
	return s
}

// setOrigin records where a setting's value comes from.
func (s *Settings) setOrigin(name, origin string) { put(&s.origins, name, origin) }

// put adds to a map, which may be nil.
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
	Name   string
	Value  string
	Origin string // default, file:line, $VARIABLE or --flag
	Doc    string
	List   []string // the elements, where the value is a list
}

// Values lists every effective value in the order of the table, then what is set of projects
// and providers, by name. Of a command that prints a key only its length is told: it
// may hold one.
func (s Settings) Values() []Value {
	var values []Value
	for _, d := range definitions {
		v := Value{Name: d.name, Value: d.text(&s), Origin: s.Origin(d.name), Doc: d.doc}
		if list, ok := d.field(&s).(*[]string); ok {
			v.List = *list
		}
		values = append(values, v)
	}
	for _, dir := range slices.Sorted(maps.Keys(s.Projects)) {
		name := nameProjects + "." + dir
		values = append(values, Value{Name: name, Value: s.Projects[dir], Origin: s.Origin(name), Doc: projectName.doc})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		p := s.Providers[name]
		for _, d := range providerFields {
			v := Value{Name: nameProviders + "." + name + "." + d.name, Value: d.text(&p), Doc: d.doc}
			if d.name == "keyCommand" {
				v.Value = fmt.Sprintf("a command of %d words", len(p.KeyCommand))
			}
			if v.Origin = s.Origin(v.Name); v.Origin != originDefault {
				values = append(values, v)
			}
		}
	}
	return values
}
