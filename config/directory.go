package config

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// expandGlobs checks globs of directories and replaces a leading "~".
func expandGlobs(globs []string, home string) ([]string, error) {
	out := []string{}
	for _, glob := range globs {
		glob = strings.TrimSpace(glob)
		expanded, err := expandHome(glob, escapeGlob(home))
		if err != nil {
			return nil, err
		}
		expanded = strings.TrimRight(filepath.ToSlash(expanded), "/")
		switch {
		case !doublestar.ValidatePattern(expanded):
			return nil, fmt.Errorf("has the glob %s, whose brackets or braces do not match", printable(glob))
		case !strings.HasPrefix(expanded, "/") && !strings.HasPrefix(expanded, "**/"):
			return nil, fmt.Errorf("has the glob %s, which is relative: begin it with /, ~/ or **/", printable(glob))
		}
		out = append(out, expanded)
	}
	return out, nil
}

// Excluded reports whether a directory is kept out: a glob of Exclude matches it
// or a directory above it. Links are followed as far as they exist, so that no
// other spelling of an excluded directory lets it in.
func (s Settings) Excluded(dir string) bool {
	if len(s.Exclude) == 0 {
		return false
	}
	for dir := range above(dir) {
		for _, glob := range s.Exclude {
			if matches(glob, filepath.ToSlash(dir)) {
				return true
			}
		}
	}
	return false
}

// matches compares one directory with a glob and with what the fixed first part
// of the glob links to.
func matches(glob, dir string) bool {
	if doublestar.MatchUnvalidated(glob, dir) {
		return true
	}
	base, rest := doublestar.SplitPattern(glob)
	if !strings.ContainsAny(rest, `*?[{\`) {
		base, rest = glob, ""
	}
	resolved, err := filepath.EvalSymlinks(filepath.FromSlash(base))
	if err != nil || resolved == filepath.FromSlash(base) {
		return false
	}
	return doublestar.MatchUnvalidated(path.Join(escapeGlob(filepath.ToSlash(resolved)), rest), dir)
}

// projectName is the setting of a project's name.
var projectName = definition{name: nameProjects, own: true,
	doc: "project of this directory and what is below it"}

// applyProject sets the project of a directory. A name is one line of at most 100 bytes.
func (s *Settings) applyProject(dir, name, home, origin string) error {
	full, err := expandHome(dir, home)
	switch full = filepath.Clean(full); {
	case err != nil:
		return err
	case !filepath.IsAbs(full):
		return errors.New("must be a path in full, or from ~")
	case s.Projects[full] != "":
		return errors.New("is named twice")
	}
	if name = strings.TrimSpace(name); name == "" || len(name) > 100 || strings.ContainsFunc(name, isControl) {
		return errors.New("must be a project's name, a text of at most 100 bytes")
	}
	put(&s.Projects, full, name)
	s.setOrigin(nameProjects+"."+full, origin)
	return nil
}

// ProjectFor returns the project that the user's configuration gives a
// directory: that of the nearest configured directory at or above it, or "".
func (s Settings) ProjectFor(dir string) string {
	if len(s.Projects) > 0 {
		for dir := range above(dir) {
			if name, ok := s.Projects[dir]; ok {
				return name
			}
		}
	}
	return ""
}

// above yields a directory and those above it, as the path is given and with links followed.
// A path that is not absolute has none.
func above(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !filepath.IsAbs(dir) {
			return
		}
		for _, at := range []string{filepath.Clean(dir), FollowLinks(dir)} {
			for below := ""; at != below; below, at = at, filepath.Dir(at) {
				if !yield(at) {
					return
				}
			}
		}
	}
}

// FollowLinks resolves the links of as much of a path as exists.
func FollowLinks(path string) string {
	path = filepath.Clean(path)
	for existing, rest := path, ""; ; {
		if resolved, err := filepath.EvalSymlinks(existing); err == nil {
			return filepath.Join(resolved, rest)
		}
		parent := filepath.Dir(existing)
		if parent == existing {
			return path
		}
		existing, rest = parent, filepath.Join(filepath.Base(existing), rest)
	}
}

// escapeGlob makes a path match itself.
func escapeGlob(p string) string {
	var b strings.Builder
	for _, r := range p {
		if strings.ContainsRune(`*?[]{}`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
