package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir/config"
	"memoir/internal/lazyregexp"
)

// DefaultTempDirs lists the directories for temporary files on this machine, and on others whose sessions may be
// read here.
func DefaultTempDirs() []string {
	return []string{os.TempDir(), "/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp",
		"/var/folders", "/private/var/folders"}
}

// places are the directories that are never projects, each as configured and with links followed.
type places struct{ homes, temps []string }

func newPlaces(home string, temps []string) places {
	var p places
	if temps == nil {
		temps = DefaultTempDirs()
	}
	for _, dir := range append([]string{home}, temps...) {
		if !filepath.IsAbs(dir) || isRoot(filepath.Clean(dir)) {
			continue
		}
		both := []string{filepath.Clean(dir), config.FollowLinks(dir)}
		if dir == home {
			p.homes = both
		} else {
			p.temps = append(p.temps, both...)
		}
	}
	return p
}

// never returns why a directory is never a project, "" if it can be one. A home, a root and a directory for
// temporary files are never projects, whatever they contain.
func (p places) never(dir string) Status {
	switch {
	case slices.Contains(p.homes, dir):
		return Home
	case isRoot(dir):
		return Root
	case slices.Contains(p.temps, dir):
		return Temporary
	}
	return ""
}

// plain returns why a directory outside of a repository is not a project, "" if it is one. It is not if it is
// below a directory for temporary files, or is the home of another user, whose sessions were copied here.
func (p places) plain(dir string) Status {
	for _, temp := range p.temps {
		// A directory in the user's home is not temporary, even if the home is below temp.
		kept := func(home string) bool { return within(home, temp) && within(dir, home) }
		if within(dir, temp) && !slices.ContainsFunc(p.homes, kept) {
			return Temporary
		}
	}
	if otherHome.MatchString(filepath.ToSlash(dir)) {
		return Home
	}
	return ""
}

var otherHome = lazyregexp.New(`^(?:(?:/var)?/home|/Users)/[^/]*$|^/root$`)

// isRoot reports whether a cleaned path is the root of a file system.
func isRoot(dir string) bool { return filepath.Dir(dir) == dir }

// within reports whether a cleaned path is dir or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}
