package config

import (
	"maps"
	"slices"
)

// Settings are the effective values. Definitions says for each field its
// default, its bounds and its meaning.
type Settings struct {
	Memories   Memories
	ModelRoles ModelRoles
	Limits     Limits

	// Exclude lists globs of directories that are kept out, absolute or
	// beginning with "**/"; Excluded matches them.
	Exclude []string

	// Projects maps absolute directories to the project that they and what is
	// below them belong to; ProjectFor looks it up.
	Projects map[string]string

	// Providers are the language model providers by name, Models how one of their models is
	// called where that differs, by provider/model.
	Providers map[string]Provider
	Models    map[string]Call

	// Off is set when a project's own file switched memory off. Unlike
	// Memories.Enabled, which a command typed by hand overrides, it holds for
	// every command: the project is neither mined nor injected into.
	Off bool

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
	Stage1LeaseSeconds         int
	Stage1RetryDelaySeconds    int
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
}

// ModelRoles name the models, as "provider/model" or "builtin".
type ModelRoles struct {
	Default string
	Smol    string // empty: as Default
	Phase1  string // empty: as Default
	Phase2  string // empty: as Smol
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
	for _, d := range Definitions {
		if d.Default == "" {
			continue
		}
		if err := d.set(d.field(&s), d.Default); err != nil {
			panic("config: default of " + d.Name + ": " + err.Error())
		}
	}
	return s
}

// clone returns settings that share no memory with s.
func (s Settings) clone() Settings {
	s.Exclude = slices.Clone(s.Exclude)
	s.Projects = maps.Clone(s.Projects)
	s.Providers = maps.Clone(s.Providers)
	s.Models = maps.Clone(s.Models)
	s.origins = maps.Clone(s.origins)
	return s
}

// setOrigin records where a setting's value comes from.
func (s *Settings) setOrigin(name, origin string) {
	if s.origins == nil {
		s.origins = make(map[string]string)
	}
	s.origins[name] = origin
}

// Origin says where a setting's value comes from: "default", "file:line",
// "$VARIABLE" or "--flag".
func (s Settings) Origin(name string) string {
	if origin, ok := s.origins[name]; ok {
		return origin
	}
	return originDefault
}

const originDefault = "default"
