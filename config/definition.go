package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Tighten says which change of a setting an untrusted project file may make.
type Tighten int

// The directions. Where 0 means "no limit", it counts as the largest value.
const (
	TightenNever  Tighten = iota // needs trust
	TightenOff                   // only to false
	TightenLower                 // only to a smaller value
	TightenHigher                // only to a larger value
)

// rule is what holds for a value, whatever it is a setting of.
type rule struct {
	Name     string              // as in config.yml, sections joined by dots
	Doc      string              // one line
	Min, Max float64             // of numbers, both included
	choices  []string            // of a text; nil: any
	check    func(string) string // what is wrong with a text, or ""; may be nil
}

// Definition is everything about one setting.
type Definition struct {
	rule
	Default  string
	ZeroNone bool // 0 switches the limit off
	Tighten  Tighten
	Flag     string // a command-line flag with its own form, if there is one
	Days     bool   // the flag is a duration, the setting a number of days
	Hours    bool   // the flag is a duration, the setting a number of hours
	Own      bool   // no project's file may set it, trusted or not

	field func(*Settings) any // a pointer to a bool, int, int64, float64, string or []string
}

// builtin is the model that needs no provider.
const builtin = "builtin"

const unlimited = 1e15 // for counts that need a bound only against nonsense

// Definitions is the table of all settings, in the order in which they are
// documented and printed. Projects, providers and models, which are maps, stand
// beside it in projects.go and provider.go. It is not to be changed.
var Definitions = []Definition{
	{rule: rule{Name: "memories.enabled",
		Doc: "master switch of what runs by itself; a command typed by hand works regardless"},
		Default: "false", Tighten: TightenOff, field: func(s *Settings) any { return &s.Memories.Enabled }},
	{rule: rule{Name: "memories.maxRolloutAgeDays", Max: 36500,
		Doc: "sessions older than this many days are skipped; 0: no limit"},
		Default: "30", ZeroNone: true, Tighten: TightenLower, Flag: "max-age", Days: true,
		field: func(s *Settings) any { return &s.Memories.MaxRolloutAgeDays }},
	{rule: rule{Name: "memories.minRolloutIdleHours", Max: 87600,
		Doc: "sessions active within this many hours are skipped; 0: none is, not even one being written"},
		Default: "12", Tighten: TightenHigher, Flag: "min-idle", Hours: true,
		field: func(s *Settings) any { return &s.Memories.MinRolloutIdleHours }},
	{rule: rule{Name: "memories.activeRolloutMinutes", Max: 1440,
		Doc: "a session written to within this many minutes counts as active"},
		Default: "10", Tighten: TightenHigher, field: func(s *Settings) any { return &s.Memories.ActiveRolloutMinutes }},
	{rule: rule{Name: "memories.maxRolloutsPerStartup", Min: 1, Max: 1e6,
		Doc: "cap on the sessions claimed by one run"},
		Default: "64", Tighten: TightenLower, field: func(s *Settings) any { return &s.Memories.MaxRolloutsPerStartup }},
	{rule: rule{Name: "memories.summaryInjectionTokenLimit", Min: 1, Max: 1e6,
		Doc: "cap on the tokens that are injected into a session"},
		Default: "5000", Tighten: TightenLower,
		field: func(s *Settings) any { return &s.Memories.SummaryInjectionTokenLimit }},
	{rule: rule{Name: "memories.includeAutomation", Doc: "extract from sessions that a script drove as well"},
		Default: "false", Tighten: TightenOff, field: func(s *Settings) any { return &s.Memories.IncludeAutomation }},
	{rule: rule{Name: "memories.concurrency", Doc: "sessions extracted at the same time", Min: 1, Max: 64},
		Default: "8", Tighten: TightenLower, field: func(s *Settings) any { return &s.Memories.Concurrency }},
	{rule: rule{Name: "memories.maxAttempts", Min: 1, Max: 100,
		Doc: "failed attempts after which a job is dead until its session changes"},
		Default: "3", Tighten: TightenLower, field: func(s *Settings) any { return &s.Memories.MaxAttempts }},
	{rule: rule{Name: "memories.stage1LeaseSeconds", Min: 2, Max: 86400,
		Doc: "how long a session's claim holds without a heartbeat"},
		Default: "120", field: func(s *Settings) any { return &s.Memories.Stage1LeaseSeconds }},
	{rule: rule{Name: "memories.stage1RetryDelaySeconds", Max: 86400,
		Doc: "first delay before a failed session is tried again; it doubles each time"},
		Default: "120", field: func(s *Settings) any { return &s.Memories.Stage1RetryDelaySeconds }},
	{rule: rule{Name: "memories.phase2LeaseSeconds", Min: 2, Max: 86400,
		Doc: "how long a project's lease holds without a heartbeat"},
		Default: "180", field: func(s *Settings) any { return &s.Memories.Phase2LeaseSeconds }},
	{rule: rule{Name: "memories.phase2RetryDelaySeconds", Max: 86400,
		Doc: "first delay before a failed consolidation is tried again; it doubles each time"},
		Default: "180", field: func(s *Settings) any { return &s.Memories.Phase2RetryDelaySeconds }},
	{rule: rule{Name: "memories.heartbeatSeconds", Min: 1, Max: 3600,
		Doc: "how often a lease is renewed; at most half of each lease"},
		Default: "30", field: func(s *Settings) any { return &s.Memories.HeartbeatSeconds }},
	{rule: rule{Name: "memories.rolloutPayloadPercent", Min: 0.01, Max: 1,
		Doc: "share of the model's window that a session may fill, from 0.01 to 1"},
		Default: "0.7", Tighten: TightenLower, field: func(s *Settings) any { return &s.Memories.RolloutPayloadPercent }},
	{rule: rule{Name: "memories.phase1InputTokenLimit", Min: 500, Max: 1e7,
		Doc: "cap on the tokens of a session that an extraction reads"},
		Default: "16000", Tighten: TightenLower,
		field: func(s *Settings) any { return &s.Memories.Phase1InputTokenLimit }},
	{rule: rule{Name: "memories.maxRawMemoriesForGlobal", Min: 1, Max: 1e5,
		Doc: "cap on the extractions that one consolidation reads"},
		Default: "200", Tighten: TightenLower,
		field: func(s *Settings) any { return &s.Memories.MaxRawMemoriesForGlobal }},
	{rule: rule{Name: "memories.maxMemorySize", Doc: "cap on the bytes of MEMORY.md", Min: 1024, Max: 1 << 24},
		Default: "65536", Tighten: TightenLower, field: func(s *Settings) any { return &s.Memories.MaxMemorySize }},
	{rule: rule{Name: "memories.generationsKept", Min: 1, Max: 1e5,
		Doc: "published generations that are kept as archives"},
		Default: "20", field: func(s *Settings) any { return &s.Memories.GenerationsKept }},
	{rule: rule{Name: "memories.generationsMaxAgeDays", Max: 36500,
		Doc: "archived generations older than this many days are removed, the live one never; 0: no limit"},
		Default: "0", ZeroNone: true, field: func(s *Settings) any { return &s.Memories.GenerationsMaxAgeDays }},
	{rule: rule{Name: "memories.busyTimeoutSeconds", Max: 3600,
		Doc: "how long work waits for a locked database; reading waits 10 seconds at most"},
		Default: "120", field: func(s *Settings) any { return &s.Memories.BusyTimeoutSeconds }},
	{rule: rule{Name: "modelRoles.default",
		Doc: "model of Phase 1, as provider/model; builtin needs no network and no key"},
		Default: builtin, field: func(s *Settings) any { return &s.ModelRoles.Default }},
	{rule: rule{Name: "modelRoles.smol", Doc: "model of Phase 2; unset: modelRoles.default"},
		field: func(s *Settings) any { return &s.ModelRoles.Smol }},
	{rule: rule{Name: "modelRoles.phase1", Doc: "model of Phase 1 alone; unset: modelRoles.default"},
		field: func(s *Settings) any { return &s.ModelRoles.Phase1 }},
	{rule: rule{Name: "modelRoles.phase2",
		Doc: "model of Phase 2 alone; unset: modelRoles.smol, else modelRoles.default"},
		field: func(s *Settings) any { return &s.ModelRoles.Phase2 }},
	{rule: rule{Name: "limits.tokensPerRun", Doc: "tokens that one run may spend; 0: no limit", Max: unlimited},
		Default: "0", ZeroNone: true, Own: true, field: func(s *Settings) any { return &s.Limits.TokensPerRun }},
	{rule: rule{Name: "limits.tokensPerDay", Max: unlimited,
		Doc: "tokens that all runs of a day, of UTC, may spend; 0: no limit"},
		Default: "0", ZeroNone: true, Own: true, field: func(s *Settings) any { return &s.Limits.TokensPerDay }},
	{rule: rule{Name: "limits.costPerRun", Doc: "US dollars that one run may spend; 0: no limit", Max: 1e6},
		Default: "0", ZeroNone: true, Own: true, field: func(s *Settings) any { return &s.Limits.CostPerRun }},
	{rule: rule{Name: "limits.costPerDay", Max: 1e6,
		Doc: "US dollars that all runs of a day, of UTC, may spend; 0: no limit"},
		Default: "0", ZeroNone: true, Own: true, field: func(s *Settings) any { return &s.Limits.CostPerDay }},
	{rule: rule{Name: "exclude",
		Doc: "globs of directories whose sessions are left alone, with what is below them"},
		Own: true, field: func(s *Settings) any { return &s.Exclude }},
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

// set parses text as the kind of what p points to, checks it and stores it. Its errors do not
// repeat the text: it may be a key, put in the wrong place.
func (r rule) set(p any, text string) error {
	switch p := p.(type) {
	case *bool:
		v, err := parseBool(text)
		if err != nil {
			return err
		}
		*p = v
	case *int:
		v, err := r.whole(text)
		if err != nil {
			return err
		}
		*p = int(v)
	case *int64:
		v, err := r.whole(text)
		if err != nil {
			return err
		}
		*p = v
	case *float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(r.Min <= v && v <= r.Max) { // not a number is neither
			return fmt.Errorf("must be a number from %s to %s", plain(r.Min), plain(r.Max))
		}
		*p = v
	case **float64:
		*p = new(float64)
		return r.set(*p, text)
	case *string:
		text = strings.TrimSpace(text)
		switch {
		case strings.ContainsFunc(text, isControl):
			return errors.New("must be one line of text")
		case r.choices != nil && !slices.Contains(r.choices, text):
			return fmt.Errorf("must be one of %s", strings.Join(r.choices, ", "))
		}
		if r.check != nil {
			if wrong := r.check(text); wrong != "" {
				return errors.New(wrong)
			}
		}
		*p = text
	default:
		panic(fmt.Sprintf("config: setting %s has a field of type %T", r.Name, p))
	}
	return nil
}

func (r rule) whole(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || float64(v) < r.Min || float64(v) > r.Max {
		return 0, fmt.Errorf("must be a whole number from %s to %s", plain(r.Min), plain(r.Max))
	}
	return v, nil
}

// textOf is a value as a person writes it, "" if it is not set: the inverse of set.
func textOf(p any) string {
	switch p := p.(type) {
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *int64:
		return strconv.FormatInt(*p, 10)
	case *float64:
		return plain(*p)
	case **float64:
		if *p == nil {
			return ""
		}
		return plain(**p)
	case *[]string:
		return strings.Join(*p, string(os.PathListSeparator))
	}
	return *p.(*string)
}

// text is the value of a setting.
func (d Definition) text(s Settings) string { return textOf(d.field(&s)) }

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true, nil
	case "false", "0", "no", "off":
		return false, nil
	}
	return false, errors.New("must be true or false")
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }
