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

// WithOrigins sets the origins and anchors of a memory's lines. A line of MEMORY.md comes from the statements that the
// built-in model made it from, else from those of its sessions that it repeats to the letter, else only from the
// sessions that it cites. A line of the summary has the origin of the line of MEMORY.md that it repeats or cuts. Lines
// that people wrote are marked. An unchanged line keeps its origin.
//
// Anchors are those of the newest session's statements, of these only the ones whose text the line contains. The
// result depends only on the input and has nothing of withdrawn sessions.
func WithOrigins(c memoir.Consolidation, in Input) memoir.Consolidation {
	sessions := arrange(append(in.baseSessions(), without(in.Extractions, in.Withdrawn)...))
	o := origins{register: in.register(), by: byKey(sessions), hand: handLines(in), made: c.Lines, lists: c.Citations}
	before := memoir.Consolidation{}
	if in.Current != nil {
		before = *in.Current
	}
	c.Lines, c.Anchors = map[string]memoir.LineOrigin{}, map[string][]memoir.Anchor{}
	for line := range strings.Lines(c.MemoryMD) {
		line = strings.TrimSpace(line)
		key := memoir.LineKey(line)
		if !isEntry(line) {
			continue
		}
		if o.hand[line] {
			c.Lines[key] = memoir.LineOrigin{Hand: true}
			continue
		}
		l := originLine{text: Words(line), words: memoir.WordsOf(Words(line))}
		has := o.of(line, &l)
		if strings.Contains(before.MemoryMD, line+"\n") {
			if !has {
				l.anchors = before.Anchors[key]
			}
			if len(l.ids) == 0 {
				l.ids = before.Lines[key].Statements
			}
		}
		o.lines = append(o.lines, l)
		c.Lines[key] = memoir.LineOrigin{Statements: l.ids, Kept: l.kept}
		if len(l.anchors) > 0 {
			c.Anchors[key] = l.anchors
		}
	}
	o.summary(&c)
	return c
}

type origins struct {
	register register
	by       map[string]*session
	hand     map[string]bool
	made     map[string]memoir.LineOrigin // by the built-in model
	lists    map[string][]string
	lines    []originLine // of MEMORY.md
}

type originLine struct {
	text    string
	words   memoir.Words
	kept    bool
	ids     []string
	anchors []memoir.Anchor
}

// of finds the statements of a line of MEMORY.md, the newest session's first, and their anchors. has reports whether
// a session of the input has one.
func (o *origins) of(line string, l *originLine) (has bool) {
	ids := o.made[memoir.LineKey(line)].Statements
	made := len(ids) > 0
	all := Cited(line, o.lists)
	if len(all) == 0 { // ids of some agents do not have the form of one
		all = idsIn(lastBracket.FindString(line))
	}
	for _, cited := range all {
		s := cmp.Or(o.by[cited], o.by[o.register.inputs.key(cited)])
		if s == nil {
			continue
		}
		first := !has
		var found []memoir.Anchor
		for _, st := range s.statements {
			if st.Kind == memoir.StatementClaim || !l.words.Repeats(memoir.WordsOf(st.Text)) {
				continue
			}
			has, l.kept = true, l.kept || st.Kind == memoir.StatementFailure || memoir.IsEntry(s.SessionKey)
			found = append(found, st.Anchors...)
			if !made && LineOf(st) == memoir.WithoutTeam(memoir.LineText(line)) {
				ids = append(ids, st.ID)
			}
		}
		if first && has {
			l.anchors = namedIn(line, found)
		}
	}
	l.ids = distinct(ids)
	return has
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

// summary adds the lines of the summary above its map, with the same bound of anchors for each.
func (o *origins) summary(c *memoir.Consolidation) {
	var keys []string
	found := map[string][]memoir.Anchor{}
	text, _, _ := strings.Cut(c.MemorySummary, "\n"+headMap)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key := memoir.LineKey(line)
		if !isEntry(line) || found[key] != nil {
			continue
		}
		if o.hand[line] || c.Lines[key].Hand { // it repeats a line of MEMORY.md, marked as said once
			c.Lines[key] = memoir.LineOrigin{Hand: true}
			continue
		}
		again, same := o.again(Words(line))
		origin := memoir.LineOrigin{Kept: again.kept}
		if same {
			origin.Statements = again.ids
		}
		c.Lines[key] = origin
		if found[key] = namedIn(line, again.anchors); len(found[key]) > 0 {
			keys = append(keys, key)
		}
	}
	keys = keys[:min(len(keys), maxSummaryAnchors)]
	for _, key := range keys {
		c.Anchors[key] = found[key][:min(len(found[key]), maxSummaryAnchors/len(keys))]
	}
}

// again returns the line of MEMORY.md that a line of the summary repeats or cuts, else the one with most of its words.
func (o *origins) again(line string) (best originLine, same bool) {
	head, cut := strings.CutSuffix(strings.TrimSuffix(line, "”"), "…")
	words, share := memoir.WordsOf(line), 0.0
	for _, l := range o.lines {
		if l.text == line || cut && head != "" && strings.HasPrefix(l.text, head) {
			return l, true
		}
		if now := words.Alike(l.words); now > share && words.Repeats(l.words) {
			share, best = now, l
		}
	}
	return best, false
}
