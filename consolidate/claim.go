package consolidate

import (
	"cmp"
	"math/bits"
	"path"
	"slices"
	"strings"

	"memoir"
)

// A claim is a statement of one or more sessions, in the newest one's words.
type claim struct {
	memoir.Statement          // the newest session's
	text             string   // its line
	ids              []string // of all statements, the newest session's first
	words            memoir.Words
	sessions         []*session // oldest first, each once
}

func (c *claim) newest() *session { return c.sessions[len(c.sessions)-1] }

// add adds a session's statement; sessions are added oldest first.
func (c *claim) add(s *session, st memoir.Statement) {
	c.Statement, c.text = st, st.Text
	c.ids = distinct(append([]string{st.ID}, c.ids...))
	if len(c.sessions) == 0 || c.newest() != s {
		c.sessions = append(c.sessions, s)
	}
}

// join adds the sessions of another claim, and takes its words if they are newer.
func (c *claim) join(other *claim) {
	if other.newest().rank > c.newest().rank {
		c.Statement, c.text, c.words = other.Statement, other.text, other.words
		c.ids = distinct(append(slices.Clone(other.ids), c.ids...))
	} else {
		c.ids = distinct(append(c.ids, other.ids...))
	}
	c.sessions = append(slices.Clone(c.sessions), other.sessions...)
	slices.SortFunc(c.sessions, func(a, b *session) int { return a.rank - b.rank })
	c.sessions = slices.Compact(c.sessions)
}

// distinct drops repetitions and empty texts from a list.
func distinct(list []string) []string {
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// merge joins the statements of a kind that have the same key; statements with an
// empty key are left out. The result is in the order of first appearance.
func merge(sessions []*session, kind memoir.StatementKind, key func(memoir.Statement) string) []*claim {
	by := map[string]*claim{}
	var out []*claim
	for _, s := range sessions {
		for _, st := range s.statements {
			k := ""
			if st.Kind == kind {
				k = key(st)
			}
			if k == "" {
				continue
			}
			c := by[k]
			if c == nil {
				c = &claim{}
				by[k] = c
				out = append(out, c)
			}
			c.add(s, st)
		}
	}
	return out
}

// byWords is a key of a statement that does not depend on endings, fillers and the order of words.
func byWords(st memoir.Statement) string { return strings.Join(wordsOf(st), " ") }

// wordsOf returns the words of a statement, of a person's those that they said, without the context.
func wordsOf(st memoir.Statement) memoir.Words { return memoir.WordsOf(cmp.Or(st.Quote, st.Text)) }

// maxCompared bounds the claims of a kind that are compared in pairs, so that the time is linear in the number of
// sessions.
const maxCompared = 300

// gather merges the statements of a kind by their words, orders them, and joins the first ones that have nearly
// the same words.
func gather(sessions []*session, kind memoir.StatementKind) []*claim {
	all := merge(sessions, kind, byWords)
	bySupport(all)
	all = all[:min(len(all), maxCompared)]
	var out []*claim
	for _, c := range all {
		c.words = wordsOf(c.Statement)
		if i := slices.IndexFunc(out, func(o *claim) bool { return o.words.Alike(c.words) >= 0.7 }); i >= 0 {
			out[i].join(c)
			continue
		}
		out = append(out, c)
	}
	bySupport(out)
	return out
}

// bySupport orders claims: those of notes first, then those of more sessions, then the newest, then by text. Numbers of
// sessions are compared in powers of two, so that a newer claim comes before one of a few more sessions.
func bySupport(claims []*claim) {
	slices.SortStableFunc(claims, func(a, b *claim) int {
		return cmp.Or(b.written()-a.written(), bits.Len(uint(len(b.sessions)))-bits.Len(uint(len(a.sessions))), byAge(a, b))
	})
}

// written returns the number of notes that support a claim.
func (c *claim) written() (n int) {
	for _, s := range c.sessions {
		if memoir.IsEntry(s.SessionKey) {
			n++
		}
	}
	return n
}

// byAge orders claims, the newest first.
func byAge(a, b *claim) int {
	return cmp.Or(b.newest().rank-a.newest().rank, strings.Compare(a.text, b.text))
}

// settled removes rules that a later one contradicts, except those of notes. A rule contradicts another if it has
// nearly the same subject, and wants what the other rejects, or rejects what it wants.
func settled(rules []*claim) []*claim {
	return slices.DeleteFunc(slices.Clone(rules), func(c *claim) bool {
		return c.written() == 0 && slices.ContainsFunc(rules, func(later *claim) bool {
			opposite := slices.ContainsFunc(later.words, func(w string) bool {
				return slices.Contains(c.words, "!"+w) || w[0] == '!' && slices.Contains(c.words, w[1:])
			})
			return opposite && later.newest().rank > c.newest().rank && subjects(c.words).Alike(subjects(later.words)) >= 0.6
		})
	})
}

// subjects returns words without the marks of rejection.
func subjects(words memoir.Words) memoir.Words {
	var out memoir.Words
	for _, w := range words {
		out = append(out, strings.TrimPrefix(w, "!"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxSummaryAnchors bounds the anchors of the summary, which are checked at the start of each session.
const maxSummaryAnchors = 40

// WithOrigins sets the origins and anchors of a memory's lines. A line of MEMORY.md comes from the statements that the
// built-in model made it from, else from those of its sessions with nearly its words, else from the nearest one. A line
// of the summary has the origin of the line of MEMORY.md that it repeats. Lines that people wrote are marked. If no
// session has a matching statement, for instance because it was not selected, an unchanged line keeps its origin.
//
// Anchors are those of the newest session's statements, of these only the ones whose text the line contains. The
// result depends only on the input and has nothing of withdrawn sessions.
func WithOrigins(c memoir.Consolidation, in Input) memoir.Consolidation {
	o := origins{register: in.register(), by: map[string]*session{}, hand: handLines(in), made: c.Lines,
		lists: c.Citations}
	for _, s := range arrange(without(in.Extractions, in.Withdrawn)) {
		o.by[s.SessionKey] = s
	}
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
		l := originLine{words: memoir.WordsOf(Words(line))}
		stated := false
		l.ids, l.anchors, stated = o.of(line, l.words)
		if !stated && strings.Contains(before.MemoryMD, line+"\n") {
			l.anchors = before.Anchors[key]
			if len(l.ids) == 0 {
				l.ids = before.Lines[key].Statements
			}
		}
		o.lines = append(o.lines, l)
		if len(l.ids) > 0 {
			c.Lines[key] = memoir.LineOrigin{Statements: l.ids}
		}
		if len(l.anchors) > 0 {
			c.Anchors[key] = l.anchors
		}
	}
	o.summary(&c)
	return c
}

// origins finds the origins of lines.
type origins struct {
	register register
	by       map[string]*session
	hand     map[string]bool
	made     map[string]memoir.LineOrigin // by the built-in model
	lists    map[string][]string
	lines    []originLine // of MEMORY.md
}

// An originLine is a line's words with its origin.
type originLine struct {
	words   memoir.Words
	ids     []string
	anchors []memoir.Anchor
}

// of finds the statements of a line of MEMORY.md, the newest session's first, and their anchors. stated reports whether
// a session of the input has one.
func (o *origins) of(line string, have memoir.Words) (ids []string, anchors []memoir.Anchor, stated bool) {
	ids = o.made[memoir.LineKey(line)].Statements
	made := len(ids) > 0
	near, nearest := "", 0.0 // of a line in a model's own words
	all := Cited(line, o.lists)
	if len(all) == 0 { // ids of some agents do not have the form of one
		all = idsIn(lastBracket.FindString(line))
	}
	for _, cited := range all {
		s := cmp.Or(o.by[cited], o.by[o.register.inputs.key(cited)])
		if s == nil {
			continue
		}
		first := !stated
		var found []memoir.Anchor
		for _, st := range s.statements {
			want := memoir.WordsOf(st.Text)
			if share := have.Alike(want); share > nearest {
				near, nearest = st.ID, share
			}
			if st.Kind == memoir.StatementClaim || !have.Repeats(want) {
				continue
			}
			stated = true
			found = append(found, st.Anchors...)
			if !made {
				ids = append(ids, st.ID)
			}
		}
		if first && stated {
			anchors = namedIn(line, found)
		}
	}
	if len(ids) == 0 {
		ids = append(ids, near)
	}
	return distinct(ids), anchors, stated
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
		if o.hand[line] {
			c.Lines[key] = memoir.LineOrigin{Hand: true}
			continue
		}
		again := o.again(memoir.WordsOf(withoutMark(line)))
		if len(again.ids) > 0 {
			c.Lines[key] = memoir.LineOrigin{Statements: again.ids}
		}
		if found[key] = namedIn(line, again.anchors); len(found[key]) > 0 {
			keys = append(keys, key)
		}
	}
	keys = keys[:min(len(keys), maxSummaryAnchors)]
	for _, key := range keys {
		c.Anchors[key] = found[key][:min(len(found[key]), maxSummaryAnchors/len(keys))]
	}
}

// again returns the origin of the line of MEMORY.md that a line of the summary repeats.
func (o *origins) again(line memoir.Words) (best originLine) {
	share := 0.0
	for _, l := range o.lines {
		if now := line.Alike(l.words); now > share && line.Repeats(l.words) {
			share, best = now, l
		}
	}
	return best
}
