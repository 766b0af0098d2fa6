package config

import (
	"path/filepath"
	"strings"
)

// applyProjects reads projects: {directory: name}. A name is one line of at most 100 bytes.
func (s *Settings) applyProjects(e entry, home string) error {
	pairs, err := e.pairs()
	if err != nil {
		return err
	}
	s.Projects = make(map[string]string)
	for _, sub := range pairs {
		dir, err := expandHome(sub.key, home)
		if err == nil && !filepath.IsAbs(dir) {
			err = sub.errorf("", "must be a path in full, or from ~")
		}
		if err != nil {
			return err
		}
		dir = filepath.Clean(dir)
		if _, ok := s.Projects[dir]; ok {
			return sub.errorf("keep one of them", "is named twice")
		}
		name, err := sub.text()
		if err != nil {
			return err
		}
		if name = strings.TrimSpace(name); name == "" || len(name) > 100 || strings.ContainsFunc(name, isControl) {
			return sub.errorf("", "must be a project's name, a text of at most 100 bytes")
		}
		s.Projects[dir] = name
		s.setOrigin(nameProjects+"."+dir, sub.origin())
	}
	return nil
}

// ProjectFor returns the project that the user's configuration gives a
// directory: that of the nearest configured directory at or above it, or "".
func (s Settings) ProjectFor(dir string) string {
	if len(s.Projects) == 0 || !filepath.IsAbs(dir) {
		return ""
	}
	for _, dir := range spellings(dir) {
		for {
			if name, ok := s.Projects[dir]; ok {
				return name
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return ""
}
