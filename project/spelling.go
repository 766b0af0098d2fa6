package project

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// spelling writes a path in the one way that identifies it: in lower case where
// upper and lower case name the same file. That is so for Windows' paths and, on
// this machine, where the file system says so; of a path of another machine it is
// assumed below the directories that macOS keeps people's files in.
func (r *Resolver) spelling(path string) string {
	path = filepath.ToSlash(path)
	if hasDrive(path) {
		return path[:2] + strings.ToLower(path[2:])
	}
	if strings.HasPrefix(path, "//") || r.anyCase(filepath.FromSlash(path)) {
		return strings.ToLower(path)
	}
	return path
}

// anyCase reports whether the file system that a path is on, or would be on, takes
// names in any case. The nearest directory that exists, and whose name has letters,
// is asked for by another spelling of its name.
func (r *Resolver) anyCase(path string) bool {
	for existing := path; ; existing = filepath.Dir(existing) {
		parent, name := filepath.Dir(existing), filepath.Base(existing)
		if parent == existing {
			lower := strings.ToLower(filepath.ToSlash(path)) + "/"
			return strings.HasPrefix(lower, "/users/") || strings.HasPrefix(lower, "/volumes/")
		}
		other := otherCase(name)
		if other == name {
			continue
		}
		info, err := r.lstat(existing)
		if err != nil {
			continue
		}
		same, err := r.lstat(filepath.Join(parent, other))
		return err == nil && os.SameFile(info, same)
	}
}

// otherCase turns upper case into lower and lower into upper.
func otherCase(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsUpper(c) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, name)
}
