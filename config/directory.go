package config

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Home returns the directory of memoir's data: the flag --home, else $MEMOIR_HOME, else $XDG_DATA_HOME/memoir, else
// ~/.local/share/memoir. The path is absolute and need not exist, except for HOME. Environ is as os.Environ returns it.
func Home(flag string, environ []string) (string, error) {
	env := Lookup(environ)
	name, dir := "--home", flag
	if dir == "" {
		name, dir = "MEMOIR_HOME", env("MEMOIR_HOME")
	}
	if dir == "" {
		const hint = "set HOME, --home DIR or MEMOIR_HOME"
		dir, err := userDir(env, "XDG_DATA_HOME", ".local/share", hint)
		if err == nil && !filepath.IsAbs(env("XDG_DATA_HOME")) {
			if _, err = os.Stat(homeDir(env)); err != nil {
				err = memoir.Errorf(memoir.CodeConfig, hint, "HOME: %w", err)
			}
		}
		return dir, err
	}
	dir, err := expandHome(dir, homeDir(env))
	if err == nil && name == "MEMOIR_HOME" && !filepath.IsAbs(dir) { // each session has a directory of its own
		err = fmt.Errorf("%q is not an absolute path", dir)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", memoir.Errorf(memoir.CodeConfig, "give an absolute path", "%s: %w", name, err)
	}
	return dir, nil
}

// ConfigDir returns the directory of config.yml: $XDG_CONFIG_HOME/memoir, else ~/.config/memoir. It need not exist.
func ConfigDir(environ []string) (string, error) {
	return userDir(Lookup(environ), "XDG_CONFIG_HOME", ".config", "set HOME or XDG_CONFIG_HOME")
}

// userDir applies the XDG base directory rules: a variable with a relative path is ignored.
func userDir(env func(string) string, variable, below, hint string) (string, error) {
	base := env(variable)
	if home := homeDir(env); !filepath.IsAbs(base) && home != "" {
		base = filepath.Join(home, filepath.FromSlash(below))
	}
	if !filepath.IsAbs(base) {
		return "", memoir.Errorf(memoir.CodeConfig, hint,
			"no home directory: neither HOME nor %s is an absolute path", variable)
	}
	return filepath.Join(base, "memoir"), nil
}

// UserHome returns the person's home directory as the environment names it, or "".
func UserHome(environ []string) string { return homeDir(Lookup(environ)) }

func homeDir(env func(string) string) string {
	home := env("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = env("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Clean(home)
}

func expandHome(path, home string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || (rest != "" && rest[0] != '/' && !os.IsPathSeparator(rest[0])) {
		return path, nil
	}
	if home == "" {
		return "", memoir.Errorf(memoir.CodeConfig, "set HOME, or write an absolute path",
			"%q needs a home directory, and HOME is not set", path)
	}
	return home + rest, nil
}

// Lookup returns a function that returns the first value of a variable that is not empty.
func Lookup(environ []string) func(string) string {
	return func(name string) string {
		for _, entry := range environ {
			if value, ok := strings.CutPrefix(entry, name+"="); ok && value != "" {
				return value
			}
		}
		return ""
	}
}

// RulesFile returns the path of a person's own secret rules, in gitleaks' format. The file need not
// exist. It is "" without a configuration directory.
func RulesFile(configDir string) string {
	if configDir == "" {
		return ""
	}
	return filepath.Join(configDir, ".gitleaks.toml")
}

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
			return nil, fmt.Errorf("has the glob %s, whose brackets or braces do not match", strconv.Quote(glob))
		case !strings.HasPrefix(expanded, "/") && !strings.HasPrefix(expanded, "**/"):
			return nil, fmt.Errorf("has the glob %s, which is relative: begin it with /, ~/ or **/", strconv.Quote(glob))
		}
		out = append(out, expanded)
	}
	return out, nil
}

// Excluded reports whether a glob of Exclude matches a directory or one above it. Links are
// followed as far as they exist, so that another path to an excluded directory is excluded, too.
func (s Settings) Excluded(dir string) bool {
	if len(s.Exclude) == 0 {
		return false
	}
	for dir := range above(dir) {
		if slices.ContainsFunc(s.Exclude, func(glob string) bool { return matches(glob, filepath.ToSlash(dir)) }) {
			return true
		}
	}
	return false
}

// matches reports whether a glob matches a directory, also after the links in the glob's fixed first part are followed.
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

// projectName is the definition of projects.DIR, the name of a directory's project.
var projectName = definition{name: nameProjects, own: true, doc: "project of this directory and of those below it"}

// applyProject sets the project of a directory. A project's name is one line of at most 100 bytes.
func (s *Settings) applyProject(dir, name, home, origin string) error {
	full, err := expandHome(dir, home)
	switch full = filepath.Clean(full); {
	case err != nil:
		return err
	case !filepath.IsAbs(full):
		return errors.New("must be an absolute path, or begin with ~")
	case s.Projects[full] != "":
		return errors.New("is listed twice")
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

// above yields a directory and its parents: of the path as given, then with links followed. For a
// relative path it yields nothing.
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

// FollowLinks resolves the links in the part of a path that exists.
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

func escapeGlob(p string) string { return globMark.ReplaceAllString(p, `\$0`) }

var globMark = lazyregexp.New(`[*?\[\]{}]`)
