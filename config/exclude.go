package config

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// expandGlob checks a glob of directories and replaces a leading "~".
func expandGlob(glob, home string) (string, error) {
	glob = strings.TrimSpace(glob)
	expanded, err := expandHome(glob, escapeGlob(home))
	if err != nil {
		return "", err
	}
	expanded = strings.TrimRight(filepath.ToSlash(expanded), "/")
	switch {
	case !doublestar.ValidatePattern(expanded):
		return "", fmt.Errorf("has the glob %s, whose brackets or braces do not match", printable(glob))
	case !strings.HasPrefix(expanded, "/") && !strings.HasPrefix(expanded, "**/"):
		return "", fmt.Errorf("has the glob %s, which is relative: begin it with /, ~/ or **/", printable(glob))
	}
	return expanded, nil
}

// Excluded reports whether a directory is kept out: a glob of Exclude matches it
// or a directory above it. Links are followed as far as they exist, so that no
// other spelling of an excluded directory lets it in.
func (s Settings) Excluded(dir string) bool {
	if len(s.Exclude) == 0 || dir == "" {
		return false
	}
	for _, dir := range spellings(dir) {
		for dir = filepath.ToSlash(dir); ; {
			for _, glob := range s.Exclude {
				if matches(glob, dir) {
					return true
				}
			}
			parent := path.Dir(dir)
			if parent == dir || parent == "." {
				break
			}
			dir = parent
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

// spellings lists a directory as given and, where it differs, with its links
// followed.
func spellings(dir string) []string {
	out := []string{filepath.Clean(dir)}
	for existing, rest := out[0], ""; ; {
		if resolved, err := filepath.EvalSymlinks(existing); err == nil {
			out = append(out, filepath.Join(resolved, rest))
			break
		}
		parent := filepath.Dir(existing)
		if parent == existing {
			break
		}
		existing, rest = parent, filepath.Join(filepath.Base(existing), rest)
	}
	return slices.Compact(out)
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
