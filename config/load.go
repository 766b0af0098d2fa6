package config

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
)

// FileName is the name of the user's configuration file in the configuration
// directory.
const FileName = "config.yml"

// Options say where settings come from.
type Options struct {
	// ConfigDir holds config.yml; empty, or without that file: there is none.
	ConfigDir string

	// Environ is the environment, as os.Environ returns it.
	Environ []string

	// Flags are values given on the command line, by the flag's name without
	// dashes (Definition.Flag) or by the name of a setting.
	Flags map[string]string
}

// Load returns the effective settings: defaults, then config.yml, then MEMOIR_*
// variables, then flags, each layer over the one before. The error of an unknown
// name or a value that is not allowed has memoir.CodeConfig and names the
// setting and where it stands.
func Load(o Options) (Settings, error) {
	s := Default()
	home := homeDir(lookup(o.Environ))
	if o.ConfigDir != "" {
		if err := s.loadFile(filepath.Join(o.ConfigDir, FileName), home); err != nil {
			return Settings{}, err
		}
	}
	if err := s.loadEnviron(o.Environ, home); err != nil {
		return Settings{}, err
	}
	if err := s.loadFlags(o.Flags, home); err != nil {
		return Settings{}, err
	}
	if err := s.check(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// loadFlags applies the values given on the command line, in the order of the table.
func (s *Settings) loadFlags(flags map[string]string, home string) error {
	known := make(map[string]bool)
	for _, d := range Definitions {
		known[d.Name] = true
		if text, ok := flags[d.Name]; ok {
			if err := s.apply(d, text, home, "--"+d.Name); err != nil {
				return memoir.Errorf(memoir.CodeConfig, d.Doc, "--%s %w", d.Name, err)
			}
		}
		if d.Flag == "" {
			continue
		}
		known[d.Flag] = true
		text, ok := flags[d.Flag]
		if !ok {
			continue
		}
		text, err := d.fromFlag(text)
		if err == nil {
			err = s.apply(d, text, home, "--"+d.Flag)
		}
		if err != nil {
			return memoir.Errorf(memoir.CodeConfig, d.Doc, "--%s: %w", d.Flag, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if !known[name] {
			return memoir.Errorf(memoir.CodeConfig, didYouMean(name, names()), "unknown setting --%s", name)
		}
	}
	return nil
}

// fromFlag turns a flag's own form into the text of its setting.
func (d Definition) fromFlag(text string) (string, error) {
	if !d.Days && !d.Hours {
		return text, nil
	}
	duration, err := ParseDuration(text)
	if err != nil {
		return "", err
	}
	hours := duration.Hours()
	if d.Days {
		hours /= 24
	}
	return plain(hours), nil
}

// apply sets one value and records its origin.
func (s *Settings) apply(d Definition, text, home, origin string) error {
	if err := d.set(s, text); err != nil {
		return err
	}
	if list, ok := d.field(s).(*[]string); ok {
		for i, glob := range *list {
			glob, err := expandGlob(glob, home)
			if err != nil {
				return err
			}
			(*list)[i] = glob
		}
	}
	s.setOrigin(d.Name, origin)
	return nil
}

// check holds the rules that concern more than one setting.
func (s Settings) check() error {
	m := s.Memories
	for _, lease := range []struct {
		name    string
		seconds int
	}{
		{"memories.stage1LeaseSeconds", m.Stage1LeaseSeconds},
		{"memories.phase2LeaseSeconds", m.Phase2LeaseSeconds},
	} {
		if 2*m.HeartbeatSeconds <= lease.seconds {
			continue
		}
		// Name the one that was set; a default is nobody's mistake.
		name := "memories.heartbeatSeconds"
		if s.Origin(name) == originDefault {
			name = lease.name
		}
		return memoir.Errorf(memoir.CodeConfig, "a lease must outlast two heartbeats",
			"%s: %s: memories.heartbeatSeconds (%d) must be at most half of %s (%d)",
			s.Origin(name), name, m.HeartbeatSeconds, lease.name, lease.seconds)
	}
	return nil
}

// Value is one effective setting, as a person reads it.
type Value struct {
	Name   string
	Value  string
	Origin string // default, file:line, $VARIABLE or --flag
	Doc    string
}

// Values lists every effective value in the order of the table, then projects,
// providers and models by name.
func (s Settings) Values() []Value {
	var values []Value
	for _, d := range Definitions {
		values = append(values, Value{Name: d.Name, Value: d.text(s), Origin: s.Origin(d.Name), Doc: d.Doc})
	}
	for _, dir := range slices.Sorted(maps.Keys(s.Projects)) {
		name := "projects." + dir
		values = append(values, Value{Name: name, Value: s.Projects[dir], Origin: s.Origin(name),
			Doc: "project of this directory and what is below it"})
	}
	for _, provider := range slices.Sorted(maps.Keys(s.Providers)) {
		for _, f := range providerFields {
			values = append(values, s.fieldValue(nameProviders+"."+provider, f, s.Providers[provider]))
		}
	}
	for _, model := range slices.Sorted(maps.Keys(s.Models)) {
		for _, f := range providerFields {
			if f.call {
				values = append(values, s.fieldValue(nameModels+"."+model, f, Provider{Call: s.Models[model]}))
			}
		}
	}
	if s.Project != "" {
		values = append(values, Value{Name: "project", Value: s.Project, Origin: s.Origin("project"),
			Doc: "name that the project's file gives its project"})
	}
	return values
}

// names lists the names of all settings of the table, sorted.
func names() []string {
	var out []string
	for _, d := range Definitions {
		out = append(out, d.Name)
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

// ReservedVariables are the MEMOIR_* variables that are no settings.
var ReservedVariables = []string{
	"MEMOIR_HOME",        // where the data is
	memoir.ChildVariable, // set for processes that memoir starts
	"MEMOIR_CORPUS",      // where the tests find their sessions
}

// Variable returns the environment variable of a setting:
// memories.maxRolloutAgeDays is MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS. Underscores
// between the words of a name may be left out.
func Variable(setting string) string {
	var b strings.Builder
	b.WriteString("MEMOIR_")
	for _, r := range setting {
		switch {
		case r == '.':
			b.WriteByte('_')
		case r >= 'A' && r <= 'Z':
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ToUpper(b.String())
}

// loadEnviron applies the MEMOIR_* variables. An empty one counts as not set, as
// with other programs, but its name must be right all the same.
func (s *Settings) loadEnviron(environ []string, home string) error {
	seen := make(map[string]string)
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, "MEMOIR_") || slices.Contains(ReservedVariables, variable) {
			continue
		}
		i := slices.IndexFunc(Definitions, func(d Definition) bool {
			return foldVariable(Variable(d.Name)) == foldVariable(variable)
		})
		if i < 0 || variable != strings.ToUpper(variable) {
			return memoir.Errorf(memoir.CodeConfig, didYouMean(variable, variables()),
				"unknown environment variable %s", variable)
		}
		if text == "" {
			continue
		}
		d := Definitions[i]
		if other, ok := seen[d.Name]; ok && other != variable {
			return memoir.Errorf(memoir.CodeConfig, "unset one of them",
				"%s and %s both set %s", other, variable, d.Name)
		}
		seen[d.Name] = variable
		if err := s.apply(d, text, home, "$"+variable); err != nil {
			return memoir.Errorf(memoir.CodeConfig, d.Doc, "$%s: %s %w", variable, d.Name, err)
		}
	}
	return nil
}

func foldVariable(name string) string { return strings.ReplaceAll(name, "_", "") }

// variables lists every variable that means something.
func variables() []string {
	out := slices.Clone(ReservedVariables)
	for _, d := range Definitions {
		out = append(out, Variable(d.Name))
	}
	return out
}
