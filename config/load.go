package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

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

// loadFile applies the user's configuration file, if there is one.
func (s *Settings) loadFile(path, home string) error {
	data, err := readFile(path)
	if err != nil {
		return err
	}
	if data == nil {
		// A file that is never read would be worse than none.
		other := filepath.Join(filepath.Dir(path), "config.yaml")
		if _, err := os.Stat(other); err == nil {
			return memoir.Errorf(memoir.CodeConfig, "rename it to "+FileName, "%s is not read", other)
		}
		return nil
	}
	entries, err := parseYAML(path, data)
	if err != nil {
		return err
	}
	for _, models := range []bool{false, true} { // a model is called as its provider says, but for what it says itself
		for _, e := range entries {
			if (e.name == nameModels) != models {
				continue
			}
			if err := s.applyEntry(e, home); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyEntry applies one setting of a file whatever its value.
func (s *Settings) applyEntry(e entry, home string) error {
	switch e.name {
	case nameProjects:
		return s.applyProjects(e, home)
	case nameProviders:
		return s.applyProviders(e, home)
	case nameModels:
		return s.applyModels(e)
	}
	d, _ := definition(e.name)
	var values []string
	var err error
	if _, list := d.field(s).(*[]string); list {
		values, err = e.list()
	} else {
		values = []string{""}
		values[0], err = e.text()
	}
	if err != nil {
		return err
	}
	if err := s.apply(d, values, home, e.origin()); err != nil {
		return e.errorf(d.Doc, "%w", err)
	}
	return nil
}

// apply sets one value, or the elements of a list, and records its origin.
func (s *Settings) apply(d Definition, values []string, home, origin string) error {
	switch p := d.field(s).(type) {
	case *[]string:
		globs := []string{}
		for _, glob := range values {
			glob, err := expandGlob(glob, home)
			if err != nil {
				return err
			}
			globs = append(globs, glob)
		}
		*p = globs
	case *string:
		if err := d.set(p, values[0]); err != nil {
			return err
		}
		if *p == "" && d.Default != "" {
			return errors.New("must not be empty")
		}
	default:
		if err := d.set(p, values[0]); err != nil {
			return err
		}
	}
	s.setOrigin(d.Name, origin)
	return nil
}

// applyText applies a value that is written as one text: lists as in PATH.
func (s *Settings) applyText(d Definition, text, home, origin string) error {
	values := []string{text}
	if _, list := d.field(s).(*[]string); list {
		values = slices.DeleteFunc(filepath.SplitList(text), func(element string) bool { return element == "" })
	}
	if err := s.apply(d, values, home, origin); err != nil {
		return memoir.Errorf(memoir.CodeConfig, d.Doc, "%s: %s %w", origin, d.Name, err)
	}
	return nil
}

// loadFlags applies the values given on the command line, in the order of the table.
func (s *Settings) loadFlags(flags map[string]string, home string) error {
	known := make(map[string]bool)
	for _, d := range Definitions {
		for _, flag := range []string{d.Name, d.Flag} {
			known[flag] = true
			text, ok := flags[flag]
			if !ok {
				continue
			}
			if flag == d.Flag && (d.Days || d.Hours) {
				duration, err := ParseDuration(text)
				if err != nil {
					return memoir.Errorf(memoir.CodeConfig, d.Doc, "--%s: %w", flag, err)
				}
				if text = plain(duration.Hours()); d.Days {
					text = plain(duration.Hours() / 24)
				}
			}
			if err := s.applyText(d, text, home, "--"+flag); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if !known[name] {
			return memoir.Errorf(memoir.CodeConfig, didYouMean(name, names()), "unknown setting --%s", name)
		}
	}
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

// Values lists every effective value in the order of the table, then what is set of projects,
// providers and models, by name.
func (s Settings) Values() []Value {
	var values []Value
	for _, d := range Definitions {
		values = append(values, Value{Name: d.Name, Value: d.text(s), Origin: s.Origin(d.Name), Doc: d.Doc})
	}
	for _, dir := range slices.Sorted(maps.Keys(s.Projects)) {
		name := nameProjects + "." + dir
		values = append(values, Value{Name: name, Value: s.Projects[dir], Origin: s.Origin(name),
			Doc: "project of this directory and what is below it"})
	}
	for _, provider := range slices.Sorted(maps.Keys(s.Providers)) {
		values = append(values, s.fieldValues(nameProviders+"."+provider, s.Providers[provider])...)
	}
	for _, model := range slices.Sorted(maps.Keys(s.Models)) {
		values = append(values, s.fieldValues(nameModels+"."+model, Provider{Call: s.Models[model]})...)
	}
	return values
}

// names lists the names of all settings of the table, sorted.
func names() []string {
	var out []string
	for _, d := range Definitions {
		out = append(out, d.Name)
	}
	slices.Sort(out)
	return out
}
