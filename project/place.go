package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir/config"
	"memoir/internal/lazyregexp"
)

// DefaultTempDirs lists the directories for temporary files of this machine and
// of others whose sessions may be read here.
func DefaultTempDirs() []string {
	return []string{os.TempDir(), "/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp",
		"/var/folders", "/private/var/folders"}
}

// places knows the directories that are never projects, as they are given and with links followed.
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

// never reports whether a directory itself can be no project, whatever it
// contains: the home directory, a root, a directory for temporary files.
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

// plain reports whether a directory that is in no repository can be no project:
// one below a directory for temporary files, or a home directory of someone else,
// whose sessions were brought here.
func (p places) plain(dir string) Status {
	for _, temp := range p.temps {
		// What a person keeps in a home that is itself in temp is no more temporary than that.
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
