package project

import (
	"os"
	"path/filepath"
	"strings"
)

// DefaultTempDirs lists the directories for temporary files of this machine and
// of others whose sessions may be read here.
func DefaultTempDirs() []string {
	return []string{os.TempDir(), "/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"}
}

// places knows the directories that are never projects.
type places struct {
	homes []string
	temps []string
}

func newPlaces(home string, temps []string) places {
	var p places
	if filepath.IsAbs(home) {
		p.homes = both(home)
	}
	if temps == nil {
		temps = DefaultTempDirs()
	}
	for _, temp := range temps {
		if filepath.IsAbs(temp) && !isRoot(filepath.Clean(temp)) {
			p.temps = append(p.temps, both(temp)...)
		}
	}
	return p
}

// both returns a path as given and with its links followed.
func both(path string) []string {
	clean := filepath.Clean(path)
	if followed := followLinks(clean); followed != clean {
		return []string{clean, followed}
	}
	return []string{clean}
}

// never reports whether a directory itself can be no project, whatever it
// contains: the home directory, a root, a directory for temporary files.
func (p places) never(dir string) Status {
	for _, home := range p.homes {
		if dir == home {
			return Home
		}
	}
	if isRoot(dir) {
		return Root
	}
	for _, temp := range p.temps {
		if dir == temp {
			return Temporary
		}
	}
	if rest, ok := belowUserTemp(dir); ok && rest == "" {
		return Temporary
	}
	return ""
}

// plain reports whether a directory that is in no repository can be no project:
// one below a directory for temporary files, or a home directory of someone else,
// whose sessions were brought here.
func (p places) plain(dir string) Status {
	for _, temp := range p.temps {
		if within(dir, temp) && !p.homeWithin(temp, dir) {
			return Temporary
		}
	}
	if _, ok := belowUserTemp(dir); ok && !p.homeWithin("/", dir) {
		return Temporary
	}
	slashed := filepath.ToSlash(dir)
	for _, above := range []string{"/home/", "/Users/", "/var/home/"} {
		if name, ok := strings.CutPrefix(slashed, above); ok && !strings.Contains(name, "/") {
			return Home
		}
	}
	if slashed == "/root" {
		return Home
	}
	return ""
}

// homeWithin reports whether dir lies in a home directory that itself lies in
// temp: what a person keeps there is no more temporary than their home.
func (p places) homeWithin(temp, dir string) bool {
	for _, home := range p.homes {
		if within(home, temp) && within(dir, home) {
			return true
		}
	}
	return false
}

// belowUserTemp recognises macOS's directory for a user's temporary files,
// /var/folders/xx/yyyy/T, and returns what follows it.
func belowUserTemp(dir string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(dir, "/private"), "/var/folders/")
	if !ok {
		return "", false
	}
	parts := strings.SplitN(rest, "/", 4)
	if len(parts) < 3 || parts[2] != "T" {
		return "", false
	}
	if len(parts) == 3 {
		return "", true
	}
	return parts[3], true
}

// isRoot reports whether a cleaned path is the root of a file system.
func isRoot(dir string) bool { return filepath.Dir(dir) == dir }

// within reports whether a cleaned path is dir or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

// followLinks resolves the links of as much of a path as exists.
func followLinks(path string) string {
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
