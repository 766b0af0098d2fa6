package config

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// providerFields are the settings of one provider.
var providerFields = []struct {
	name, doc string
	check     func(string) string // what is wrong with a value, or ""
	field     func(*Provider) *string
}{
	{"baseURL", "where the provider is reached", checkBaseURL, func(p *Provider) *string { return &p.BaseURL }},
	{"keyEnv", "environment variable that holds the key", checkKeyEnv, func(p *Provider) *string { return &p.KeyEnv }},
}

var (
	providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

func checkBaseURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return "must be an http or https URL"
	case u.User != nil:
		return "must not hold a password; name a variable with keyEnv"
	}
	return ""
}

func checkKeyEnv(text string) string {
	if !variableName.MatchString(text) {
		// A likely mistake is the key itself, which must not be repeated here.
		return "must be the name of an environment variable, not the key itself"
	}
	return ""
}

// applyProviders reads providers: {name: {baseURL: …, keyEnv: …}}.
func (s *Settings) applyProviders(e entry) error {
	providers := make(map[string]Provider)
	err := e.pairs(e.node, func(key, value *yaml.Node) error {
		name := key.Value
		sub := entry{name: nameProviders + "." + name, file: e.file, line: key.Line, node: value}
		if !providerName.MatchString(name) {
			return e.errorf("use lower-case letters, digits, dashes", "has a provider named %s", printable(name))
		}
		var p Provider
		err := sub.pairs(value, func(key, value *yaml.Node) error {
			at := entry{name: sub.name + "." + key.Value, file: e.file, line: key.Line}
			for _, f := range providerFields {
				if f.name != key.Value {
					continue
				}
				value = resolve(value)
				if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
					return at.errorf(f.doc, "must be a text")
				}
				if wrong := f.check(value.Value); wrong != "" {
					return at.errorf(f.doc, "%s", wrong)
				}
				*f.field(&p) = value.Value
				s.setOrigin(at.name, at.origin())
				return nil
			}
			return at.errorf("a provider has baseURL and keyEnv", "is an unknown setting")
		})
		providers[name] = p
		return err
	})
	s.Providers = providers
	return err
}

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
			return at.errorf("write the path in full, or from ~", "names the directory %s, which is relative", printable(key.Value))
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
