package config

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// applyProjects reads projects: {directory: name}.
func (s *Settings) applyProjects(e entry, home string) error {
	projects := make(map[string]string)
	err := e.pairs(e.node, func(key, value *yaml.Node) error {
		at := entry{name: e.name, file: e.file, line: key.Line}
		dir, err := expandHome(key.Value, home)
		if err != nil {
			return at.errorf("", "%w", err)
		}
		if !filepath.IsAbs(dir) {
			return at.errorf(
				"write the path in full, or from ~",
				"names the directory %s, which is relative",
				printable(key.Value),
			)
		}
		dir = filepath.Clean(dir)
		if _, ok := projects[dir]; ok {
			return at.errorf("keep one of them", "names %s twice", dir)
		}
		if projects[dir], err = at.projectName(value); err != nil {
			return err
		}
		s.setOrigin(nameProjects+"."+dir, at.origin())
		return nil
	})
	s.Projects = projects
	return err
}

// projectName reads a project's name: one line of at most 100 bytes.
func (e entry) projectName(node *yaml.Node) (string, error) {
	node = resolve(node)
	name := strings.TrimSpace(node.Value)
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" || name == "" || len(name) > 100 ||
		strings.ContainsFunc(name, isControl) {
		return "", e.errorf("", "must be a project's name, a text of at most 100 bytes, not %s", describe(node))
	}
	return name, nil
}

// pairs calls fn for each pair of a mapping with distinct text keys; nothing at
// all is an empty mapping.
func (e entry) pairs(node *yaml.Node, fn func(key, value *yaml.Node) error) error {
	node = resolve(node)
	if isNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return e.errorf("write it as name: value", "must be a section, not %s", describe(node))
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := *resolve(node.Content[i])
		key.Line = node.Content[i].Line
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return e.errorf("", "has a name that is not a text")
		}
		if seen[key.Value] {
			at := entry{name: e.name, file: e.file, line: key.Line}
			return at.errorf("keep one of them", "names %s twice", printable(key.Value))
		}
		seen[key.Value] = true
		if err := fn(&key, node.Content[i+1]); err != nil {
			return err
		}
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

// ProjectName returns the name that a person gave the project of a directory: the
// one of ProjectFor, else that of a trusted project file in the directory; "" if
// neither names it. A project file that cannot be understood names none; who asks
// for its other settings learns why.
func (s Settings) ProjectName(dir string, trusted TrustStore) string {
	if name := s.ProjectFor(dir); name != "" {
		return name
	}
	settings, _, err := s.ForProject(dir, trusted)
	if err != nil {
		return ""
	}
	return settings.Project
}
