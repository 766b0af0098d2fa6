package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Kind is the type of a setting's value.
type Kind string

// The kinds.
const (
	Bool  Kind = "true or false"
	Int   Kind = "a whole number"
	Float Kind = "a number"
	Text  Kind = "a text"
	List  Kind = "a list of texts" // in a variable or flag separated as in PATH
)

// Tighten says which change of a setting an untrusted project file may make.
type Tighten int

// The directions. Where 0 means "no limit", it counts as the largest value.
const (
	TightenNever  Tighten = iota // needs trust
	TightenOff                   // only to false
	TightenLower                 // only to a smaller value
	TightenHigher                // only to a larger value
	TightenMore                  // only by additions, which apply below the project's directory
)

// Definition is everything about one setting.
type Definition struct {
	Name     string // as in config.yml, sections joined by dots
	Kind     Kind
	Default  string
	Min, Max float64 // of numbers, both included
	ZeroNone bool    // 0 switches the limit off
	Tighten  Tighten
	Flag     string // a command-line flag with its own form, if there is one
	Days     bool   // the flag is a duration, the setting a number of days
	Hours    bool   // the flag is a duration, the setting a number of hours
	Own      bool   // no project's file may set it, trusted or not
	Doc      string // one line

	field func(*Settings) any // a pointer to a bool, int, int64, float64, string or []string
}

// builtin is the model that needs no provider.
const builtin = "builtin"

const unlimited = 1e15 // for counts that need a bound only against nonsense

// Definitions is the table of all settings, in the order in which they are
// documented and printed. Projects, providers and models, which are maps, stand
// beside it in maps.go and provider.go. It is not to be changed.
var Definitions = []Definition{
	{Name: "memories.enabled", Kind: Bool, Default: "false", Tighten: TightenOff,
		Doc:   "master switch of what runs by itself; a command typed by hand works regardless",
		field: func(s *Settings) any { return &s.Memories.Enabled }},
	{Name: "memories.maxRolloutAgeDays", Kind: Float, Default: "30", Min: 0, Max: 36500, ZeroNone: true,
		Tighten: TightenLower, Flag: "max-age", Days: true,
		Doc:   "sessions older than this many days are skipped; 0: no limit",
		field: func(s *Settings) any { return &s.Memories.MaxRolloutAgeDays }},
	{Name: "memories.minRolloutIdleHours", Kind: Float, Default: "12", Min: 0, Max: 87600,
		Tighten: TightenHigher, Flag: "min-idle", Hours: true,
		Doc:   "sessions active within this many hours are skipped; 0: none is, not even one being written",
		field: func(s *Settings) any { return &s.Memories.MinRolloutIdleHours }},
	{Name: "memories.activeRolloutMinutes", Kind: Float, Default: "10", Min: 0, Max: 1440,
		Tighten: TightenHigher,
		Doc:     "a session written to within this many minutes counts as active",
		field:   func(s *Settings) any { return &s.Memories.ActiveRolloutMinutes }},
	{Name: "memories.maxRolloutsPerStartup", Kind: Int, Default: "64", Min: 1, Max: 1e6,
		Tighten: TightenLower,
		Doc:     "cap on the sessions claimed by one run",
		field:   func(s *Settings) any { return &s.Memories.MaxRolloutsPerStartup }},
	{Name: "memories.summaryInjectionTokenLimit", Kind: Int, Default: "5000", Min: 1, Max: 1e6,
		Tighten: TightenLower,
		Doc:     "cap on the tokens that are injected into a session",
		field:   func(s *Settings) any { return &s.Memories.SummaryInjectionTokenLimit }},
	{Name: "memories.includeAutomation", Kind: Bool, Default: "false", Tighten: TightenOff,
		Doc:   "extract from sessions that a script drove as well",
		field: func(s *Settings) any { return &s.Memories.IncludeAutomation }},
	{Name: "memories.concurrency", Kind: Int, Default: "8", Min: 1, Max: 64,
		Tighten: TightenLower,
		Doc:     "sessions extracted at the same time",
		field:   func(s *Settings) any { return &s.Memories.Concurrency }},
	{Name: "memories.maxAttempts", Kind: Int, Default: "3", Min: 1, Max: 100,
		Tighten: TightenLower,
		Doc:     "failed attempts after which a job is dead until its session changes",
		field:   func(s *Settings) any { return &s.Memories.MaxAttempts }},
	{Name: "memories.stage1LeaseSeconds", Kind: Int, Default: "120", Min: 2, Max: 86400,
		Doc:   "how long a session's claim holds without a heartbeat",
		field: func(s *Settings) any { return &s.Memories.Stage1LeaseSeconds }},
	{Name: "memories.stage1RetryDelaySeconds", Kind: Int, Default: "120", Min: 0, Max: 86400,
		Doc:   "first delay before a failed session is tried again; it doubles each time",
		field: func(s *Settings) any { return &s.Memories.Stage1RetryDelaySeconds }},
	{Name: "memories.phase2LeaseSeconds", Kind: Int, Default: "180", Min: 2, Max: 86400,
		Doc:   "how long a project's lease holds without a heartbeat",
		field: func(s *Settings) any { return &s.Memories.Phase2LeaseSeconds }},
	{Name: "memories.phase2RetryDelaySeconds", Kind: Int, Default: "180", Min: 0, Max: 86400,
		Doc:   "first delay before a failed consolidation is tried again; it doubles each time",
		field: func(s *Settings) any { return &s.Memories.Phase2RetryDelaySeconds }},
	{Name: "memories.heartbeatSeconds", Kind: Int, Default: "30", Min: 1, Max: 3600,
		Doc:   "how often a lease is renewed; at most half of each lease",
		field: func(s *Settings) any { return &s.Memories.HeartbeatSeconds }},
	{Name: "memories.rolloutPayloadPercent", Kind: Float, Default: "0.7", Min: 0.01, Max: 1,
		Tighten: TightenLower,
		Doc:     "share of the model's window that a session may fill, from 0.01 to 1",
		field:   func(s *Settings) any { return &s.Memories.RolloutPayloadPercent }},
	{Name: "memories.phase1InputTokenLimit", Kind: Int, Default: "16000", Min: 500, Max: 1e7,
		Tighten: TightenLower,
		Doc:     "cap on the tokens of a session that an extraction reads",
		field:   func(s *Settings) any { return &s.Memories.Phase1InputTokenLimit }},
	{Name: "memories.maxRawMemoriesForGlobal", Kind: Int, Default: "200", Min: 1, Max: 1e5,
		Tighten: TightenLower,
		Doc:     "cap on the extractions that one consolidation reads",
		field:   func(s *Settings) any { return &s.Memories.MaxRawMemoriesForGlobal }},
	{Name: "memories.maxMemorySize", Kind: Int, Default: "65536", Min: 1024, Max: 1 << 24,
		Tighten: TightenLower,
		Doc:     "cap on the bytes of MEMORY.md",
		field:   func(s *Settings) any { return &s.Memories.MaxMemorySize }},
	{Name: "memories.generationsKept", Kind: Int, Default: "20", Min: 1, Max: 1e5,
		Doc:   "published generations that are kept as archives",
		field: func(s *Settings) any { return &s.Memories.GenerationsKept }},
	{Name: "memories.generationsMaxAgeDays", Kind: Float, Default: "0", Min: 0, Max: 36500, ZeroNone: true,
		Doc:   "archived generations older than this many days are removed, the live one never; 0: no limit",
		field: func(s *Settings) any { return &s.Memories.GenerationsMaxAgeDays }},
	{Name: "memories.busyTimeoutSeconds", Kind: Int, Default: "120", Min: 0, Max: 3600,
		Doc:   "how long work waits for a locked database; reading waits 10 seconds at most",
		field: func(s *Settings) any { return &s.Memories.BusyTimeoutSeconds }},
	{Name: "modelRoles.default", Kind: Text, Default: builtin,
		Doc:   "model of Phase 1, as provider/model; builtin needs no network and no key",
		field: func(s *Settings) any { return &s.ModelRoles.Default }},
	{Name: "modelRoles.smol", Kind: Text, Default: "",
		Doc:   "model of Phase 2; unset: modelRoles.default",
		field: func(s *Settings) any { return &s.ModelRoles.Smol }},
	{Name: "modelRoles.phase1", Kind: Text, Default: "",
		Doc:   "model of Phase 1 alone; unset: modelRoles.default",
		field: func(s *Settings) any { return &s.ModelRoles.Phase1 }},
	{Name: "modelRoles.phase2", Kind: Text, Default: "",
		Doc:   "model of Phase 2 alone; unset: modelRoles.smol, else modelRoles.default",
		field: func(s *Settings) any { return &s.ModelRoles.Phase2 }},
	{Name: "limits.tokensPerRun", Kind: Int, Default: "0", Min: 0, Max: unlimited, ZeroNone: true,
		Own:   true,
		Doc:   "tokens that one run may spend; 0: no limit",
		field: func(s *Settings) any { return &s.Limits.TokensPerRun }},
	{Name: "limits.tokensPerDay", Kind: Int, Default: "0", Min: 0, Max: unlimited, ZeroNone: true,
		Own:   true,
		Doc:   "tokens that all runs of a day, of UTC, may spend; 0: no limit",
		field: func(s *Settings) any { return &s.Limits.TokensPerDay }},
	{Name: "limits.costPerRun", Kind: Float, Default: "0", Min: 0, Max: 1e6, ZeroNone: true,
		Own:   true,
		Doc:   "US dollars that one run may spend; 0: no limit",
		field: func(s *Settings) any { return &s.Limits.CostPerRun }},
	{Name: "limits.costPerDay", Kind: Float, Default: "0", Min: 0, Max: 1e6, ZeroNone: true,
		Own:   true,
		Doc:   "US dollars that all runs of a day, of UTC, may spend; 0: no limit",
		field: func(s *Settings) any { return &s.Limits.CostPerDay }},
	{Name: "exclude", Kind: List, Default: "", Tighten: TightenMore,
		Doc:   "globs of directories whose sessions are left alone, with what is below them",
		field: func(s *Settings) any { return &s.Exclude }},
}

// definition finds a setting by its exact name.
func definition(name string) (Definition, bool) {
	for _, d := range Definitions {
		if d.Name == name {
			return d, true
		}
	}
	return Definition{}, false
}

// set parses text as the setting's kind, checks its bounds and stores it. Its
// errors say what is wanted and what was found, for a caller that adds where.
func (d Definition) set(s *Settings, text string) error {
	switch p := d.field(s).(type) {
	case *bool:
		v, err := parseBool(text)
		if err != nil {
			return err
		}
		*p = v
	case *int:
		v, err := d.parseInt(text)
		if err != nil {
			return err
		}
		*p = int(v)
	case *int64:
		v, err := d.parseInt(text)
		if err != nil {
			return err
		}
		*p = v
	case *float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) {
			return fmt.Errorf("must be a number, not %q", text)
		}
		if err := d.inRange(v); err != nil {
			return err
		}
		*p = v
	case *string:
		if d.Default != "" && strings.TrimSpace(text) == "" {
			return fmt.Errorf("must not be empty")
		}
		if strings.ContainsFunc(text, isControl) {
			return fmt.Errorf("must be one line of text")
		}
		*p = strings.TrimSpace(text)
	case *[]string:
		*p = nil
		for _, element := range filepath.SplitList(text) {
			if element != "" {
				*p = append(*p, element)
			}
		}
	default:
		panic(fmt.Sprintf("config: setting %s has a field of type %T", d.Name, p))
	}
	return nil
}

// text is the inverse of set.
func (d Definition) text(s Settings) string {
	switch p := d.field(&s).(type) {
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *int64:
		return strconv.FormatInt(*p, 10)
	case *float64:
		return strconv.FormatFloat(*p, 'f', -1, 64)
	case *string:
		return *p
	case *[]string:
		return strings.Join(*p, string(os.PathListSeparator))
	default:
		panic(fmt.Sprintf("config: setting %s has a field of type %T", d.Name, p))
	}
}

func (d Definition) parseInt(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		if _, ferr := strconv.ParseFloat(text, 64); ferr != nil {
			return 0, fmt.Errorf("must be a whole number, not %q", text)
		}
		return 0, fmt.Errorf("must be a whole number from %s to %s, not %s", plain(d.Min), plain(d.Max), text)
	}
	return v, d.inRange(float64(v))
}

func (d Definition) inRange(v float64) error {
	if v < d.Min || v > d.Max {
		return fmt.Errorf("must be from %s to %s, not %s", plain(d.Min), plain(d.Max), plain(v))
	}
	return nil
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("must be true or false, not %q", text)
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }
