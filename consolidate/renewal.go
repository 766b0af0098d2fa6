package consolidate

import (
	"maps"
	"slices"
	"strings"

	"memoir"
)

// A renewal is the state of a memory while a language model folds sessions into
// it, batch by batch.
type renewal struct {
	in       Input
	register register
	notes    []memoir.Note // live ones
	hand     map[string]bool
	title    string              // of the project, as the built-in model writes it
	sessions []*session          // oldest first
	by       map[string]*session // short id -> session
	texts    map[*session][]memoir.Statement

	present        memoir.Consolidation // the memory so far; without files if there is none
	index          []*line              // of earlier generations: sessions that were not selected this time
	pruned         bool                 // something of it was withdrawn
	gone           []*saying            // what went with the withdrawn sessions
	forgot         map[string]bool      // ids of those, as they were cited
	due            []*session           // to be folded in, oldest first
	known          map[*session]bool    // sessions that the memory cited at the beginning
	lines          map[string]string    // lines of the memory, by what a model makes of them
	times          map[string]int       // how often a line without its citations stands in it
	steps          int                  // answers that were taken over
	cited, uncited int                  // lines of MEMORY.md in the last answer that cite a session, and that do not
	stated         []*saying            // what the sessions state, for comparison; nil until asked for
	commands       string               // what may be a skill's step, for comparison; empty until asked for
	foreignTold    int                  // lines and skills in the last answer that were dropped as nobody's wish and no step
}

func newRenewal(in Input, sessions []*session) *renewal {
	r := &renewal{
		in: in, register: in.register(), notes: LiveNotes(in.Notes, in), hand: handLines(in), sessions: sessions,
		title: titleAmong(in.Project, sessions), by: map[string]*session{}, texts: map[*session][]memoir.Statement{}, known: map[*session]bool{}, forgot: map[string]bool{},
	}
	for _, s := range sessions {
		r.by[s.short] = s
		r.texts[s] = allStatements(s.Extraction)
	}
	due := map[*session]bool{}
	if in.Current == nil || strings.TrimSpace(in.Current.MemoryMD) == "" {
		for _, s := range sessions {
			due[s] = true
		}
	} else {
		for _, s := range sessions {
			due[s] = in.Forced || in.Changed[s.SessionKey]
		}
		current := tamed(*in.Current)
		for _, id := range allCited(current) {
			if s := r.session(id); s != nil {
				r.known[s] = true
			}
		}
		pruned, beside := r.prune(current)
		for s := range beside {
			due[s] = true
		}
		r.index = r.unselected(current.MemoryMD)
		r.setPresent(ApplyNotes(pruned, r.notes))
	}
	for _, s := range sessions {
		if due[s] {
			r.due = append(r.due, s)
		}
	}
	return r
}

// allStatements reads what a session states; what has not the form of statements
// counts as known, line by line.
func allStatements(e memoir.Extraction) []memoir.Statement {
	out := memoir.ParseStatements(e.RawMemory)
	if len(out) == 0 {
		out = loose(e.RawMemory)
	}
	if len(out) == 0 { // prose
		for l := range strings.Lines(e.RawMemory) {
			if l = strings.TrimSpace(l); !isHeading(l) {
				out = append(out, memoir.Statement{Kind: memoir.StatementDecision, Text: l})
			}
		}
	}
	return slices.DeleteFunc(out, func(st memoir.Statement) bool { return strings.TrimSpace(st.Text) == "" })
}

// tamed is a memory with what people wrote made safe, and without the draft.
func tamed(c memoir.Consolidation) memoir.Consolidation {
	a := open(c)
	for name, text := range a.text {
		a.text[name] = tame(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	return a.close()
}

// allCited lists the ids that a memory cites.
func allCited(c memoir.Consolidation) []string {
	var out []string
	for _, text := range open(c).text {
		for _, bracket := range brackets.FindAllString(text, -1) {
			out = append(out, bracketIDs(bracket)...)
		}
	}
	return out
}

// session is the one that an id means, nil if it is none that was selected.
func (r *renewal) session(id string) *session {
	if s := r.by[id]; s != nil {
		return s
	}
	for _, s := range r.sessions {
		source, whole := memoir.SplitKey(s.SessionKey)
		if among([]thread{{source, citable(whole), whole}}, id) {
			return s
		}
	}
	return nil
}

func (r *renewal) setPresent(c memoir.Consolidation) {
	r.present, r.commands = c, ""
	r.lines, r.times = map[string]string{}, map[string]int{}
	for _, text := range open(c).text {
		for l := range strings.Lines(text) {
			if l = strings.TrimRight(l, " \t\r\n"); l != "" {
				r.lines[asShown(l)] = l
				r.times[uncited(l, looksOwn)]++
			}
		}
	}
}

// asShown is a line as it may come back: a question shows tags with an entity.
func asShown(line string) string {
	return strings.ReplaceAll(strings.TrimRight(line, " \t\r\n"), "&lt;", "<")
}

// asIs is the memory where there is nothing to ask a model: as it was published, with
// what people changed, and without what was withdrawn.
func (r *renewal) asIs() (memoir.Consolidation, error) {
	limit, tokens := r.limits()
	if r.pruned || len(r.present.MemoryMD) > limit+notesBytes(r.in.Notes) || memoir.Tokens(r.present.MemorySummary) > tokens+notesBytes(r.in.Notes)/4 {
		d := r.layOut(readPage(r.present.MemoryMD), readPage(r.present.MemorySummary), r.present.Skills)
		r.setPresent(d.cut(limit, tokens))
	}
	return r.present, Verify(r.present, r.in)
}

func (r *renewal) limits() (bytes, tokens int) {
	return orDefault(r.in.MaxMemoryBytes, DefaultMemoryBytes), orDefault(r.in.SummaryTokens, DefaultSummaryTokens)
}

// took takes over what an answer made of the memory and a batch of sessions.
func (r *renewal) took(b batch, c memoir.Consolidation) {
	r.setPresent(c)
	folded := map[*session]bool{}
	for _, s := range b.sessions {
		folded[s] = true
	}
	r.due = slices.DeleteFunc(slices.Clone(r.due), func(s *session) bool { return folded[s] })
}

// says reports whether a session states what a line says.
func (r *renewal) says(want *saying) bool {
	if r.stated == nil {
		for _, s := range r.sessions {
			for _, st := range r.texts[s] {
				r.stated = append(r.stated, newSaying(oneLine(st.Text)))
			}
		}
	}
	return slices.ContainsFunc(r.stated, func(have *saying) bool { return likeLine(want, have) })
}

// alike reports whether two lines say the same, as far as words tell.
func likeLine(a, b *saying) bool {
	if a.text == b.text {
		return true
	}
	return len(a.words) > 0 && a.negative == b.negative && (holdsLine(a.words, b.words) >= 0.8 || holdsLine(b.words, a.words) >= 0.8 || jaccard(a.words, b.words) >= 0.5)
}

// within is the share of the words of a that b has too; texts of few words are in
// none.
func holdsLine(a, b []string) float64 {
	if len(a) < 4 {
		return 0
	}
	n := 0
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

// sayingOf is what a line of a memory says: without list mark and citations.
func (r *renewal) sayingOf(line string) *saying {
	text := uncited(line, func(id string) bool { return looksOwn(id) || r.register.cited(id) || r.register.withdrawn(id) })
	return newSaying(listMark.ReplaceAllString(text, ""))
}

// skill returns the present skill of a name.
func (r *renewal) skill(name string) (memoir.Skill, bool) {
	i := slices.IndexFunc(r.present.Skills, func(s memoir.Skill) bool { return s.Name == name })
	if i < 0 {
		return memoir.Skill{}, false
	}
	return r.present.Skills[i], true
}

// handSkills are the present skills that people wrote lines into.
func (r *renewal) handSkills() []string {
	names := map[string]bool{}
	for _, n := range r.notes {
		if skill, _, ok := skillPath(n.File); ok && n.Action == memoir.NoteAdded {
			if _, there := r.skill(skill); there {
				names[skill] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
