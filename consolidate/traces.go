package consolidate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoir"
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

// Places lists the lines of a file, from 1, that tell of what is to be forgotten: those that
// rest on it alone, and would go, and those that cite other sessions, too.
func (f Forgotten) Places(content []byte, in Input) (alone, shared []int) {
	g := f.in(in)
	g.learn(string(content))
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		if g.trace(line) == "" {
			continue
		}
		if _, stays := g.line(line); stays && g.told(line) != "" {
			shared = append(shared, n)
		} else {
			alone = append(alone, n)
		}
	}
	return alone, shared
}

// Silenced lists the lines of files, without space around them, and the paths, of which
// citations alone do not tell that they may not come back: they hold a forgotten text, say
// word for word what only forgotten sessions said, or cite such a session together with
// others none of which says it. No line is among them twice.
func (f Forgotten) Silenced(files map[string][]byte, in Input) []string {
	g := f.in(in)
	out := map[string]bool{}
	for path, content := range files {
		g.learn(string(content))
		if g.holds(path) {
			out[path] = true
		}
		for line := range strings.Lines(string(content)) {
			_, _, isSkill := skillPath(path)
			if g.holds(line) || g.uncited(line) || !isSkill && g.unsupported(line, in) {
				out[strings.TrimSpace(line)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// unsupported reports whether a line that cites withdrawn sessions and others, and that no
// person wrote, says what none of the others said.
func (g *forgetting) unsupported(line string, in Input) bool {
	text := strings.TrimSpace(line)
	if g.hand[text] {
		return false
	}
	var others []string
	gone := false
	for _, bracket := range brackets.FindAllString(line, -1) {
		for _, id := range bracketIDs(bracket) {
			gone = gone || g.register.withdrawn(id)
			if g.register.cited(id) {
				others = append(others, id)
			}
		}
	}
	if !gone || len(others) == 0 {
		return false
	}
	own := func(id string) bool { return looksOwn(id) || g.register.cited(id) || g.register.withdrawn(id) }
	want := newSaying(listMark.ReplaceAllString(uncited(line, own), ""))
	for _, e := range in.Extractions {
		source, id := memoir.SplitKey(e.SessionKey)
		if !slices.ContainsFunc(others, func(short string) bool { return among([]thread{{source, citable(id), id}}, short) }) {
			continue
		}
		for _, st := range allStatements(e) {
			if likeLine(want, newSaying(oneLine(st.Text))) {
				return false
			}
		}
	}
	return true
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
