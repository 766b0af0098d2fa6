package project

import (
	"path/filepath"
	"strings"
)

// maxIncludes bounds how deep configuration files may include one another.
const maxIncludes = 10

// remotes reads the remotes of a git configuration file in the order in which
// they stand there, each with its first URL. Files named by [include] are read
// where they stand; conditional includes and insteadOf are not applied. A file
// that is missing or broken gives what could be read of it.
func remotes(file, home string) []remote {
	var c gitConfig
	c.home = home
	c.read(file, 0)
	return c.remotes
}

type remote struct{ name, url string }

type gitConfig struct {
	home    string
	remotes []remote
}

func (c *gitConfig) read(file string, depth int) {
	if depth > maxIncludes {
		return
	}
	section, subsection := "", ""
	for line := range configLines(readSmall(file)) {
		if rest, ok := strings.CutPrefix(line, "["); ok {
			var after string
			section, subsection, after = parseSection(rest)
			line = strings.TrimSpace(after) // a key may follow on the same line
		}
		key, value, ok := parseKey(line)
		if !ok {
			continue
		}
		switch {
		case section == "remote" && subsection != "" && key == "url" && value != "":
			c.add(subsection, value)
		case section == "include" && subsection == "" && key == "path" && value != "":
			c.read(c.includePath(file, value), depth+1)
		}
	}
}

// add keeps the first URL of a remote, the one that git fetches from.
func (c *gitConfig) add(name, url string) {
	for _, r := range c.remotes {
		if r.name == name {
			return
		}
	}
	c.remotes = append(c.remotes, remote{name, url})
}

func (c *gitConfig) includePath(file, value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && c.home != "" {
		return filepath.Join(c.home, rest)
	}
	if filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(filepath.Dir(file), value)
}

// configLines yields the logical lines: a backslash at the end of a line joins
// the next one to it.
func configLines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		joined := ""
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			line = joined + strings.TrimRight(line, "\r\n")
			if backslashes := len(line) - len(strings.TrimRight(line, `\`)); backslashes%2 == 1 {
				joined = line[:len(line)-1]
				continue
			}
			joined = ""
			if !yield(strings.TrimSpace(line)) {
				return
			}
		}
		if joined != "" {
			yield(strings.TrimSpace(joined))
		}
	}
}

// parseSection reads what follows "[": a name, perhaps a quoted subsection, "]".
func parseSection(text string) (section, subsection, after string) {
	end := strings.IndexAny(text, "]\"")
	if end < 0 {
		return "", "", ""
	}
	section = strings.ToLower(strings.TrimSpace(text[:end]))
	if text[end] == ']' {
		// The older form, [remote.origin], in which case does not count.
		section, subsection, _ = strings.Cut(section, ".")
		return section, subsection, text[end+1:]
	}
	var b strings.Builder
	for i := end + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		case '"':
			_, after, _ = strings.Cut(text[i:], "]")
			return section, b.String(), after
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", ""
}

// parseKey reads "key = value" with git's quotes, escapes and comments.
func parseKey(line string) (key, value string, ok bool) {
	key, rest, ok := strings.Cut(line, "=")
	key = strings.ToLower(strings.TrimSpace(key))
	if !ok || key == "" || key[0] == '#' || key[0] == ';' {
		return "", "", false
	}
	rest = strings.TrimSpace(rest)
	var b strings.Builder
	quoted, kept := false, 0 // kept: up to where spaces are part of the value
scan:
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '"':
			quoted = !quoted
			kept = b.Len()
			continue
		case c == '\\' && i+1 < len(rest):
			i++
			c = map[byte]byte{'n': '\n', 't': '\t', 'b': '\b'}[rest[i]]
			if c == 0 {
				c = rest[i]
			}
		case !quoted && (c == '#' || c == ';'):
			break scan
		case !quoted && (c == ' ' || c == '\t'):
			b.WriteByte(c)
			continue
		}
		b.WriteByte(c)
		kept = b.Len()
	}
	return key, b.String()[:kept], true
}
