package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// tightening says which change of a setting an untrusted project file may make.
type tightening int

// The directions. Where 0 means "no limit", it counts as the largest value.
const (
	tightenNever  tightening = iota // needs trust
	tightenOff                      // only to false
	tightenLower                    // only to a smaller value
	tightenHigher                   // only to a larger value
)

// definition describes one setting: of Settings, or of a Provider. The name of its field is the same except for case.
type definition struct {
	name     string // as in config.yml, sections joined by dots
	doc      string // one line
	usual    string // the default
	min, max float64
	zeroNone bool // 0 switches the limit off
	tighten  tightening
	own      bool               // no project's file may set it, trusted or not
	strict   bool               // trust in a project's file does not loosen it
	flag     string             // the command-line flag that overrides it; "": none
	unit     time.Duration      // of the setting, if the flag is a duration
	choices  []string           // the allowed texts; nil: any
	form     *lazyregexp.Regexp // that a text must match; nil: any
	wanted   string             // describes form in errors
	words    bool               // a list that may also be written as words in one text
	list     func(elements []string, home string) ([]string, error)
}

const (
	builtin   = "builtin" // the model that needs no provider
	unlimited = 1e15      // upper bound of limits in tokens
	maxPrice  = 1e5       // in US dollars
	day       = 24 * time.Hour
	maxDelay  = 100 * 365 * day // the longest duration that is accepted
)

// definitions is the table of all settings, in the order in which they are documented and
// printed. Settings of projects and providers are not in it: see projectName and providerFields.
var definitions = []definition{
	{name: "memories.enabled", usual: "false", tighten: tightenOff,
		doc: "master switch: false stops `run --startup`, `inject` and hooks; other commands work"},
	{name: "memories.maxRolloutAgeDays", usual: "30", zeroNone: true, tighten: tightenLower, max: 36500,
		flag: "max-age", unit: day, doc: "sessions older than this many days are skipped; 0: no limit"},
	{name: "memories.minRolloutIdleHours", usual: "12", tighten: tightenHigher, max: 87600,
		flag: "min-idle", unit: time.Hour,
		doc: "sessions changed within this many hours are skipped; 0: no limit, active sessions included"},
	{name: "memories.activeRolloutMinutes", usual: "10", tighten: tightenHigher, max: 1440,
		doc: "a session written to within this many minutes counts as active"},
	{name: "memories.maxRolloutsPerStartup", usual: "64", tighten: tightenLower, min: 1, max: 1e6,
		doc: "cap on the sessions claimed by one run"},
	{name: "memories.summaryInjectionTokenLimit", usual: "5000", tighten: tightenLower, min: 1, max: 1e6,
		doc: "cap on the tokens that are injected into a session"},
	{name: "memories.includeAutomation", usual: "false", tighten: tightenOff,
		doc: "also extract from sessions that a script drove"},
	{name: "memories.concurrency", usual: "8", tighten: tightenLower, min: 1, max: 64,
		doc: "sessions extracted from at the same time"},
	{name: "memories.maxAttempts", usual: "3", tighten: tightenLower, min: 1, max: 100,
		doc: "failed attempts after which a job is dead, until its session changes or `memoir retry`"},
	{name: "memories.phase1LeaseSeconds", usual: "120", min: 2, max: 86400,
		doc: "how long a session's lease lasts without a heartbeat"},
	{name: "memories.phase1RetryDelaySeconds", usual: "120", max: 86400,
		doc: "first delay before a failed session is tried again; it doubles each time"},
	{name: "memories.phase2LeaseSeconds", usual: "180", min: 2, max: 86400,
		doc: "how long a project's lease lasts without a heartbeat"},
	{name: "memories.phase2RetryDelaySeconds", usual: "180", max: 86400,
		doc: "first delay before a failed consolidation is tried again; it doubles each time"},
	{name: "memories.heartbeatSeconds", usual: "30", min: 1, max: 3600,
		doc: "how often a lease is renewed; at most half of each lease"},
	{name: "memories.rolloutPayloadPercent", usual: "0.7", tighten: tightenLower, min: 0.01, max: 1,
		doc: "share of the model's window that a session may fill, from 0.01 to 1"},
	{name: "memories.phase1InputTokenLimit", usual: "16000", tighten: tightenLower, min: 500, max: 1e7,
		doc: "cap on the tokens of a session that an extraction reads"},
	{name: "memories.maxRawMemoriesForGlobal", usual: "200", tighten: tightenLower, min: 1, max: 1e5,
		doc: "cap on the extractions that one consolidation reads"},
	{name: "memories.maxMemorySize", usual: "32768", tighten: tightenLower, min: 1024, max: 1 << 24,
		doc: "cap on the bytes of MEMORY.md"},
	{name: "memories.generationsKept", usual: "20", min: 1, max: 1e5,
		doc: "published generations that are kept as archives"},
	{name: "memories.generationsMaxAgeDays", usual: "0", zeroNone: true, max: 36500,
		doc: "archived generations older than this many days are removed, the live one never; 0: no limit"},
	{name: "memories.busyTimeoutSeconds", usual: "120", max: 3600,
		doc: "how long work waits for a locked database; reading waits 10 seconds at most"},
	{name: "memories.maxResidentMegabytes", usual: "128", own: true, min: 96, max: 1e6,
		doc: "memory limit of one process, in MB; large sessions wait until enough is free"},
	{name: "memories.runAtSessionEnd", usual: "false", tighten: tightenOff,
		doc: "extract from a session as soon as it ends, where its agent has a hook for that"},
	{name: "memories.sessionEndSeconds", usual: "30", tighten: tightenLower, min: 1, max: 3600,
		doc: "time limit of the run at a session's end"},
	{name: "memories.memoryWindow", usual: "50", zeroNone: true, own: true, max: 1e6,
		doc: "messages after which a session is extracted from when it is compacted or resumed, and gets its last 10 " +
			"again; 0: never"},
	{name: "modelRoles.default", usual: builtin,
		doc: "model of both phases unless another role names one, as provider/model; builtin needs no network and no key"},
	{name: "modelRoles.smol", doc: "model of Phase 2; unset: modelRoles.default"},
	{name: "modelRoles.phase1", doc: "model of Phase 1 alone; unset: modelRoles.default"},
	{name: "modelRoles.phase2", doc: "model of Phase 2 alone; unset: modelRoles.smol, else modelRoles.default"},
	{name: "memConsolidate.enabled", usual: "false", tighten: tightenOff,
		doc: "include the journals of the last 7 days in consolidations, 4,000 characters of each"},
	{name: "memConsolidate.intervalHours", usual: "24", tighten: tightenHigher, max: 87600,
		doc: "hours between two consolidations that include journals"},
	{name: "shadowJournal.enabled", usual: "false", tighten: tightenOff,
		doc: "after a turn, add what is new to today's journal, where the agent has a hook for that"},
	{name: "shadowJournal.model", doc: "model of the shadow journal; unset: modelRoles.phase1, else modelRoles.default"},
	{name: "deliver.atStart", usual: "true", tighten: tightenOff,
		doc: "give each session the memory at its start"},
	{name: "deliver.afterFailure", usual: "true", tighten: tightenOff,
		doc: "after a failed command, tell what passed after the same failure in an earlier session"},
	{name: "deliver.onEdit", usual: "true", tighten: tightenOff,
		doc: "after an edit, tell what earlier sessions decided, refuted or saw fail that names this file"},
	{name: "deliver.atPrompt", usual: "false", tighten: tightenOff,
		doc: "at a prompt, tell the lines of memory that have most of its words; install again to add the hook"},
	{name: "team.share", usual: "true", tighten: tightenOff, strict: true,
		doc: "send what `memoir team share` names to the hub; false keeps it waiting on this machine"},
	{name: "limits.tokensPerRun", usual: "0", zeroNone: true, own: true, max: unlimited,
		doc: "tokens that one run may spend; 0: no limit"},
	{name: "limits.tokensPerDay", usual: "0", zeroNone: true, own: true, max: unlimited,
		doc: "tokens that all runs of a UTC day may spend; 0: no limit"},
	{name: "limits.costPerRun", usual: "0", zeroNone: true, own: true, max: 1e6,
		doc: "US dollars that one run may spend; 0: no limit"},
	{name: "limits.costPerDay", usual: "0", zeroNone: true, own: true, max: 1e6,
		doc: "US dollars that all runs of a UTC day may spend; 0: no limit"},
	{name: "mcp.allProjects", usual: "false", own: true,
		doc: "let agents ask `memoir mcp` for the memory of other projects"},
	{name: "exclude", own: true, list: expandGlobs,
		doc: "globs of directories, with those below them, whose sessions are kept out of memory"},
}

// find returns the definition of a setting, or of a project's or provider's, by the keys that lead to it.
func find(path []string) (definition, bool) {
	table, name := definitions, strings.Join(path, ".")
	switch {
	case path[0] == nameProjects:
		return projectName, len(path) == 2
	case path[0] == nameProviders && len(path) == 3:
		table, name = providerFields, path[2]
	}
	i := slices.IndexFunc(table, func(d definition) bool { return d.name == name })
	if i < 0 {
		return definition{}, false
	}
	d := table[i]
	d.own = d.own || len(path) == 3
	return d, true
}

func names(table []definition) []string {
	return memoir.Map(table, func(d definition) string { return d.name })
}

// field returns a pointer to the setting's value in a Settings or Provider: to a bool, int, int64,
// float64, *float64, string or []string.
func (d definition) field(of any) any {
	v := reflect.ValueOf(of).Elem()
	for name := range strings.SplitSeq(d.name, ".") {
		v = v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
	}
	return v.Addr().Interface()
}

// set parses, checks and stores a value, or the elements of a list. Its errors do not quote the value,
// which may be a key in the wrong place.
func (d definition) set(of any, values []string, home string) error {
	p := d.field(of)
	if list, ok := p.(*[]string); ok {
		elements, err := d.list(values, home)
		if err == nil {
			*list = elements
		}
		return err
	}
	if optional, ok := p.(**float64); ok {
		*optional = new(float64)
		p = *optional
	}
	text := strings.TrimSpace(values[0])
	switch p := p.(type) {
	case *bool:
		v, ok := truths[strings.ToLower(text)]
		if !ok {
			return errors.New("must be true or false")
		}
		*p = v
	case *int, *int64:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || float64(v) < d.min || float64(v) > d.max {
			return fmt.Errorf("must be a whole number from %s to %s", plain(d.min), plain(d.max))
		}
		reflect.ValueOf(p).Elem().SetInt(v)
	case *float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(d.min <= v && v <= d.max) { // also refuses NaN
			return fmt.Errorf("must be a number from %s to %s", plain(d.min), plain(d.max))
		}
		*p = v
	case *string:
		if err := d.checkText(text); err != nil {
			return err
		}
		*p = text
	default:
		panic(fmt.Sprintf("config: setting %s has a field of type %T", d.name, p))
	}
	return nil
}

func (d definition) checkText(text string) error {
	switch {
	case strings.ContainsFunc(text, isControl):
		return errors.New("must be one line of text")
	case text == "" && d.usual != "":
		return errors.New("must not be empty")
	case d.choices != nil && !slices.Contains(d.choices, text):
		return fmt.Errorf("must be one of %s", strings.Join(d.choices, ", "))
	case d.form != nil && !d.form.MatchString(text):
		return errors.New("must be " + d.wanted)
	}
	return nil
}

// text returns the value as a person writes it, the inverse of set; "" if it is not set.
func (d definition) text(of any) string {
	switch p := d.field(of).(type) {
	case *[]string:
		if d.words {
			return strings.Join(*p, " ")
		}
		return strings.Join(*p, string(os.PathListSeparator))
	case *float64:
		return plain(*p)
	case **float64:
		if *p == nil {
			return ""
		}
		return plain(**p)
	default:
		return fmt.Sprint(reflect.ValueOf(p).Elem())
	}
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

var truths = map[string]bool{
	"true": true, "1": true, "yes": true, "on": true, "false": false, "0": false, "no": false, "off": false,
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }
