package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
)

// maxSummaryAnchors bounds the anchors of the summary, which are checked at the start of each session.
const maxSummaryAnchors = 40

// Anchors returns the anchors of the lines of a memory, by memoir.LineKey. A line of MEMORY.md gets those of the
// matching statement of its newest session, a line of the summary those of the line of MEMORY.md that it
// repeats; of these, only anchors whose text the line contains. Lines that people wrote have none. If no session
// has a matching statement, for instance because it was not selected, an unchanged line keeps its anchors. The
// result depends only on the input and has no anchors of withdrawn sessions.
func Anchors(c memoir.Consolidation, in Input) map[string][]memoir.Anchor {
	a := anchoring{register: in.register(), by: map[string]*session{}, hand: handLines(in), lists: c.Citations}
	for _, s := range arrange(without(in.Extractions, in.Withdrawn)) {
		a.by[s.SessionKey] = s
	}
	before := memoir.Consolidation{}
	if in.Current != nil {
		before = *in.Current
	}
	out := map[string][]memoir.Anchor{}
	for line := range strings.Lines(c.MemoryMD) {
		line = strings.TrimSpace(line)
		if !isEntry(line) || a.hand[line] {
			continue
		}
		have := words(Words(line))
		found := a.of(line, have)
		if len(found) == 0 && strings.Contains(before.MemoryMD, line+"\n") {
			found = before.Anchors[memoir.LineKey(line)]
		}
		a.lines = append(a.lines, anchoredLine{have, found})
		if len(found) > 0 {
			out[memoir.LineKey(line)] = found
		}
	}
	a.summary(c.MemorySummary, out)
	return out
}

// An anchoring finds the anchors of lines.
type anchoring struct {
	register register
	by       map[string]*session
	hand     map[string]bool
	lists    map[string][]string
	lines    []anchoredLine // of MEMORY.md
}

// An anchoredLine is a line's words with its anchors.
type anchoredLine struct {
	words   []string
	anchors []memoir.Anchor
}

// of finds the anchors of a line of MEMORY.md by its words.
func (a *anchoring) of(line string, have []string) []memoir.Anchor {
	for _, cited := range Cited(line, a.lists) {
		s := cmp.Or(a.by[cited], a.by[a.register.inputs.key(cited)])
		if s == nil {
			continue
		}
		states := false
		var found []memoir.Anchor
		for _, st := range s.statements {
			if st.Kind != memoir.StatementClaim && sayTheLike(have, words(st.Text)) {
				states = true
				found = append(found, s.Anchors[memoir.LineKey(st.Text)]...)
			}
		}
		if states {
			return namedIn(line, found)
		}
	}
	return nil
}

// sayTheLike reports whether one of two sets of words contains nearly all of the other.
func sayTheLike(a, b []string) bool {
	least := min(len(a), len(b))
	return least > 0 && (common(a, b)*5 >= least*4 || jaccard(a, b) >= 0.5)
}

// namedIn returns the anchors whose text a line contains, each once, at most memoir.MaxAnchors.
func namedIn(line string, anchors []memoir.Anchor) (out []memoir.Anchor) {
	for _, one := range anchors {
		name := strings.Trim(one.Text, `":`)
		if name == "" {
			name = path.Base(one.Path)
		}
		if strings.Contains(line, name) && !slices.Contains(out, one) && len(out) < memoir.MaxAnchors {
			out = append(out, one)
		}
	}
	return out
}

// summary adds the anchors of the lines of a summary above its map, with the same bound for each line.
func (a *anchoring) summary(text string, out map[string][]memoir.Anchor) {
	var keys []string
	found := map[string][]memoir.Anchor{}
	text, _, _ = strings.Cut(text, "\n"+headMap)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if key := memoir.LineKey(line); isEntry(line) && !a.hand[line] && found[key] == nil {
			if found[key] = namedIn(line, a.again(words(withoutMark(line)))); len(found[key]) > 0 {
				keys = append(keys, key)
			}
		}
	}
	keys = keys[:min(len(keys), maxSummaryAnchors)]
	for _, key := range keys {
		out[key] = found[key][:min(len(found[key]), maxSummaryAnchors/len(keys))]
	}
}

// again returns the anchors of the line of MEMORY.md that a line of the summary repeats.
func (a *anchoring) again(line []string) (anchors []memoir.Anchor) {
	best := 0.0
	for _, t := range a.lines {
		if share := jaccard(line, t.words); share > best && sayTheLike(line, t.words) {
			best, anchors = share, t.anchors
		}
	}
	return anchors
}
