package consolidate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Trace is a place where files still tell of what was forgotten.
type Trace struct {
	Path string
	Line int    // from 1; 0 means the path itself
	What string // as in "cites session X"
}

// String is path:line and what stands there.
func (t Trace) String() string {
	if t.Line == 0 {
		return t.Path + " " + t.What
	}
	return fmt.Sprintf("%s:%d %s", t.Path, t.Line, t.What)
}

// Traces lists where files, all those of a root, still cite or name a session that
// the input says was withdrawn, hold a forgotten text, or say word for word what only
// forgotten sessions said. What people wrote by hand is theirs, as long as it cites
// none of those. In the order of paths and lines.
func (f Forgotten) Traces(files map[string][]byte, in Input) []Trace {
	g := f.in(in)
	var out []Trace
	for _, path := range slices.Sorted(maps.Keys(files)) {
		g.learn(string(files[path]))
		if what := g.told(path); what != "" {
			out = append(out, Trace{path, 0, what})
		}
		n := 0
		for line := range strings.Lines(string(files[path])) {
			n++
			if what := g.trace(line); what != "" {
				out = append(out, Trace{path, n, what})
			}
		}
	}
	return out
}

// Silenced lists the lines of files, without space around them, and the paths, that
// hold a forgotten text or say word for word what only forgotten sessions said, and by
// whose citations that is not told. No line is among them twice.
func (f Forgotten) Silenced(files map[string][]byte, in Input) []string {
	g := f.in(in)
	out := map[string]bool{}
	for path, content := range files {
		g.learn(string(content))
		if g.holds(path) {
			out[path] = true
		}
		for line := range strings.Lines(string(content)) {
			if g.holds(line) || g.uncited(line) {
				out[strings.TrimSpace(line)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// told says how a line tells of what was forgotten whoever wrote it; empty if it does not.
func (g *forgetting) told(line string) string {
	for _, bracket := range brackets.FindAllString(line, -1) {
		for _, id := range bracketIDs(bracket) {
			if g.register.withdrawn(id) {
				return "cites session " + id
			}
		}
	}
	if id := g.register.names(line); id != "" {
		return "names session " + id
	}
	if g.holds(line) {
		return "holds the text"
	}
	return ""
}

func (g *forgetting) trace(line string) string {
	if what := g.told(line); what != "" {
		return what
	}
	if g.uncited(line) {
		return "says what only a forgotten session said"
	}
	return ""
}

// uncited reports whether a line that cites nobody else, and that no person wrote, says
// word for word what only forgotten sessions said.
func (g *forgetting) uncited(line string) bool {
	cites := slices.ContainsFunc(brackets.FindAllString(line, -1), func(b string) bool { return slices.ContainsFunc(bracketIDs(b), g.register.cited) })
	text := strings.TrimSpace(line)
	return !cites && !g.hand[text] && g.quotes(text)
}
