package config

import (
	"os"
	"path/filepath"

	"memoir"
)

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
	for _, e := range entries {
		if e.name == nameProject {
			return e.errorf("write projects: {/the/directory: name}", "belongs into a project's own file")
		}
		if err := s.applyEntry(e, home); err != nil {
			return err
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
	case nameProject:
		name, err := e.projectName(e.node)
		if err != nil {
			return err
		}
		s.Project = name
		s.setOrigin(e.name, e.origin())
		return nil
	}
	d, _ := definition(e.name)
	if d.Kind == List {
		globs, err := e.list()
		if err != nil {
			return err
		}
		for i, glob := range globs {
			if globs[i], err = expandGlob(glob, home); err != nil {
				return e.errorf("", "%w", err)
			}
		}
		*d.field(s).(*[]string) = globs
		s.setOrigin(e.name, e.origin())
		return nil
	}
	text, err := e.text(d)
	if err != nil {
		return err
	}
	if err := s.apply(d, text, home, e.origin()); err != nil {
		return e.errorf(d.Doc, "%w", err)
	}
	return nil
}
