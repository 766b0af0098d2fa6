package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

// FileName is the name of the user's configuration file in the configuration directory.
const FileName = "config.yml"

// Options say where settings come from.
type Options struct {
	// ConfigDir is the directory of config.yml; "" means none. The file need not exist.
	ConfigDir string

	// Environ is the environment, as os.Environ returns it.
	Environ []string

	Lenient bool // ignore unknown variables

	// Flags are values of the command line, by the flag's name without dashes or by the setting's name.
	Flags map[string]string
}

// Load returns the effective settings: defaults, then config.yml, then MEMOIR_* variables, then flags; later layers
// override earlier ones. The error of an unknown name or a value that is not allowed has memoir.CodeConfig and names
// the setting and its place.
func Load(o Options) (Settings, error) {
	s := Default()
	home := homeDir(Lookup(o.Environ))
	var err error
	if path := filepath.Join(o.ConfigDir, FileName); o.ConfigDir != "" {
		var data []byte
		if data, err = readUserFile(path); err == nil {
			err = s.applyFile(path, data, home)
		}
	}
	if err == nil {
		err = s.loadEnviron(o, home)
	}
	if err == nil {
		err = s.loadFlags(o.Flags, home)
	}
	if err == nil {
		err = s.check()
	}
	return s, err
}

func (s *Settings) applyFile(path string, data []byte, home string) error {
	entries, err := parseYAML(path, data)
	for _, e := range entries {
		if err == nil {
			err = s.applyEntry(e, home)
		}
	}
	return err
}

// readUserFile reads config.yml. If only config.yaml exists, it is an error: that file would be ignored.
func readUserFile(path string) ([]byte, error) {
	data, err := readFile(path)
	if other := filepath.Join(filepath.Dir(path), "config.yaml"); err == nil && data == nil {
		if _, err := os.Stat(other); err == nil {
			return nil, memoir.Errorf(memoir.CodeConfig, "rename it to "+FileName, "%s is not read", other)
		}
	}
	return data, err
}

func (s *Settings) applyEntry(e entry, home string) error {
	d, known := find(e.path)
	if !known {
		return e.unknown()
	}
	values, err := e.values(d)
	if err != nil {
		return err
	}
	switch e.path[0] {
	case nameProjects:
		err = s.applyProject(e.path[1], values[0], home, e.origin())
	case nameProviders:
		p := s.Providers[e.path[1]]
		err = d.set(&p, values, home)
		put(&s.Providers, e.path[1], p)
		s.setOrigin(nameProviders+"."+e.path[1], e.origin())
	default:
		err = d.set(s, values, home)
	}
	if err != nil {
		for i, element := range e.node.Content { // the line of the element at fault
			if d.own && d.list != nil && i < len(values) && d.set(&Settings{}, values[i:i+1], home) != nil {
				e.line = element.Line
			}
		}
		return e.errorf(d.doc, "%w", err)
	}
	s.setOrigin(e.name(), e.origin())
	return nil
}

// applyText applies a value that is written as one text. The elements of a list are separated as in PATH.
func (s *Settings) applyText(d definition, text, home, origin string) error {
	values := []string{text}
	if d.list != nil {
		values = slices.DeleteFunc(filepath.SplitList(text), func(element string) bool { return element == "" })
	}
	if err := d.set(s, values, home); err != nil {
		return memoir.Errorf(memoir.CodeConfig, d.doc, "%s: %s %w", origin, d.name, err)
	}
	s.setOrigin(d.name, origin)
	return nil
}

// loadFlags applies the values of the command line, in the order of the table.
func (s *Settings) loadFlags(flags map[string]string, home string) error {
	for _, d := range definitions {
		for _, flag := range []string{d.name, d.flag} {
			text, ok := flags[flag]
			if !ok {
				continue
			}
			if flag == d.flag && d.unit > 0 {
				duration, err := ParseDuration(text)
				if err != nil {
					return memoir.Errorf(memoir.CodeConfig, "for example --"+flag+" 7d; 0 is no limit", "--%s: %w", flag, err)
				}
				text = plain(float64(duration) / float64(d.unit))
			}
			if err := s.applyText(d, text, home, "--"+flag); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Settings) check() error {
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		if p := s.Providers[name]; p.API == "" && (len(p.Command) > 0 || p.Preset != "") {
			p.API = "exec"
			s.Providers[name] = p
		}
		if err := s.checkProvider(name); err != nil {
			return err
		}
	}
	m, heartbeat := s.Memories, "memories.heartbeatSeconds"
	for i, seconds := range []int{m.Phase1LeaseSeconds, m.Phase2LeaseSeconds} {
		name := []string{"memories.phase1LeaseSeconds", "memories.phase2LeaseSeconds"}[i]
		if 2*m.HeartbeatSeconds > seconds {
			return memoir.Errorf(memoir.CodeConfig, "a lease must outlast two heartbeats",
				"%s (%d, from %s) must be at most half of %s (%d, from %s)",
				heartbeat, m.HeartbeatSeconds, s.Origin(heartbeat), name, seconds, s.Origin(name))
		}
	}
	return nil
}

var reservedVariables = []string{
	"MEMOIR_HOME",        // where the data is
	memoir.ChildVariable, // set for processes that memoir starts
	"MEMOIR_CORPUS",      // where the tests find their sessions
}

// variableOf returns the environment variable of a setting: memories.maxRolloutAgeDays is
// MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS. Underscores between the words of a name may be left out.
func variableOf(setting string) string {
	words := capital.ReplaceAllString(strings.ReplaceAll(setting, ".", "_"), "_$0")
	return "MEMOIR_" + strings.ToUpper(words)
}

// VariableHelp describes the names and values of the variables.
const VariableHelp = `A setting's variable is MEMOIR_ and its name in capitals, with _ for each dot and before each
inner capital: MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS. A list is separated as PATH is, by colons
or on Windows semicolons. Projects and providers have no variables. MEMOIR_HOME, MEMOIR_CHILD
(docs/exec.md), MEMOIR_HUB_* and MEMOIR_TOKEN, or a name that ends with _TOKEN, are no settings. Any
other variable that begins with MEMOIR_ is an error, which doctor names: commands that read
settings stop, and runs do not start. inject ignores it.
`

var capital = lazyregexp.New(`[A-Z]`)

// loadEnviron applies the MEMOIR_* variables. An empty variable counts as not set, but its name must be known, too.
// Those of an operator of a hub, and tokens, are no settings.
func (s *Settings) loadEnviron(o Options, home string) error {
	for _, entry := range slices.Sorted(slices.Values(o.Environ)) {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, "MEMOIR_") || slices.Contains(reservedVariables, variable) ||
			strings.HasPrefix(variable, "MEMOIR_HUB_") || strings.HasSuffix(variable, "_TOKEN") {
			continue
		}
		i := slices.IndexFunc(definitions, func(d definition) bool {
			return strings.ReplaceAll(variableOf(d.name), "_", "") == strings.ReplaceAll(variable, "_", "")
		})
		if i < 0 && !o.Lenient {
			hint := "unset " + variable
			if near, ok := Nearest(variable, variables()); ok {
				hint = "did you mean " + near + "? otherwise " + hint
			}
			return memoir.Errorf(memoir.CodeConfig, hint, "unknown environment variable %s", variable)
		}
		if text == "" || i < 0 {
			continue
		}
		if err := s.applyText(definitions[i], text, home, "$"+variable); err != nil {
			return err
		}
	}
	return nil
}

func variables() []string {
	return append(memoir.Map(names(definitions), variableOf), reservedVariables...)
}

// longUnits matches weeks and days, which time.ParseDuration does not accept.
var longUnits = lazyregexp.New(`[0-9.]+[wd]`)

// ParseDuration parses a duration: numbers with the units w, d, h, m, s, or Go's smaller ones, such as 12h, 30d, 90m,
// 2w, 1d12h or 500ms. A bare 0 needs no unit. Negative durations and those above a hundred years are errors.
func ParseDuration(text string) (time.Duration, error) {
	hours := longUnits.ReplaceAllStringFunc(strings.TrimSpace(text), func(long string) string {
		unit := len(long) - 1
		n, err := strconv.ParseFloat(long[:unit], 64)
		if err != nil {
			return long
		}
		return plain(n*map[byte]float64{'w': 7 * 24, 'd': 24}[long[unit]]) + "h"
	})
	d, err := time.ParseDuration(hours)
	if err != nil || d < 0 || d > maxDelay || strings.HasPrefix(hours, "+") {
		return 0, fmt.Errorf("%q is not a duration; write it like 90s, 30m, 12h, 30d or 2w", text)
	}
	return d, nil
}
