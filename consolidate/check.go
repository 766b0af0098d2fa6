package consolidate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/prompts"
)

// Verify holds a consolidation to the rules that every model must keep: neither
// file is empty, citations name sessions of the input, what was withdrawn is
// named nowhere, the files keep their limits, skills have legal paths,
// and nothing looks like one of memoir's own frames. Its errors have the code
// CodeInvalid and name the line.
func Verify(c memoir.Consolidation, in Input) error {
	bytes, tokens := in.limits()
	kept := noteBytes(in.Notes, "")
	for _, name := range []string{memoir.MemoryFile, memoir.SummaryFile} {
		if strings.TrimSpace(open(c)[name]) == "" {
			return invalid("%s is empty", name)
		}
	}
	if limit := bytes + kept; len(c.MemoryMD) > limit {
		return invalid("%s has %d bytes, more than %d", memoir.MemoryFile, len(c.MemoryMD), limit)
	}
	if memoir.Tokens(c.MemorySummary) > tokens+kept/4 {
		return invalid("%s has %d tokens, more than %d", memoir.SummaryFile, memoir.Tokens(c.MemorySummary), tokens)
	}
	for _, s := range c.Skills {
		if strings.TrimSpace(s.Content) == "" {
			return invalid("the skill %s is empty", s.Name)
		}
	}
	files := open(c)
	if err := memoir.CheckPaths(sortedKeys(files)); err != nil {
		return invalid("%w", err)
	}
	register, byHand := in.register(), handLines(in)
	for _, name := range sortedKeys(files) {
		if faults := register.faults(name, files[name], byHand); len(faults) > 0 {
			return invalid("%s", faults[0])
		}
	}
	return nil
}

// invalid is the error of a rule that a consolidation breaks.
func invalid(format string, args ...any) error {
	return memoir.Errorf(memoir.CodeInvalid, "", "the consolidation breaks a rule: "+format, args...)
}

// handLines are the lines that people wrote: what stands in brackets there is theirs.
func handLines(in Input) map[string]bool {
	out := map[string]bool{}
	for _, n := range LiveNotes(in.Notes, in) {
		if n.Action == memoir.NoteAdded || n.Action == memoir.NoteFile {
			for line := range strings.Lines(tame(n.Text)) {
				out[strings.TrimSpace(line)] = true
			}
		}
	}
	return out
}

// faults tells what no text of a memory may hold, whatever it says: citations of sessions that are
// no inputs, names of withdrawn ones, memoir's own frames and control characters. What looks like a
// citation of a session that nobody knows is a person's own in a line that they wrote.
func (r register) faults(name, text string, byHand map[string]bool) (faults []string) {
	n := 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimSpace(l)
		fault := func(what string) { faults = append(faults, fmt.Sprintf("%s:%d %s", name, n, what)) }
		for _, id := range idsIn(l) {
			if !r.cited(id) && (r.withdrawn(id) || looksOwn(id) && !byHand[l]) {
				fault("cites session " + id + ", which is not among the input")
			}
		}
		if id := r.names(l); id != "" {
			fault("names session " + id + ", which was withdrawn")
		}
		if unframe(l) != l || strings.Contains(l, memoir.OwnRunMarker) {
			fault("contains a tag of memoir's own frames; write it without the angle bracket")
		}
		if strings.ContainsFunc(l, func(c rune) bool { return c != '\t' && unicode.Is(unicode.Cc, c) }) {
			fault("contains a control character")
		}
	}
	return faults
}

// Bounds of what a sane answer holds.
const (
	leastLines = 6    // of a summary, below which it may lose any number of them
	tolerated  = 1.25 // of a limit: models cannot count, so the program cuts so much itself
)

// read makes a memory of an answer, or tells the rules that it breaks: form, size, citations
// that exist, no frames or control characters, legal skills, and that it is not a wipe.
func (r *renewal) read(text string, folded []*session) (memoir.Consolidation, []string) {
	a, faults := parseAnswer(text)
	if len(faults) > 0 {
		slices.Sort(faults)
		return memoir.Consolidation{}, faults
	}
	skills, faults := r.skillsOf(a)
	faults = append(faults, r.register.faults("memory_md", a.Memory, r.hand)...)
	faults = append(faults, r.register.faults("memory_summary", a.Summary, r.hand)...)
	r.kept, r.uncited = 0, 0
	memory, summary := readPage(a.Memory), readPage(a.Summary)
	lists := r.layOut(memory, true)
	r.layOut(summary, false)
	bytes, tokens := r.in.limits()
	told := readPage(r.present.MemorySummary).lines()
	for _, rule := range []struct {
		broken bool
		fault  string
	}{
		{float64(len(memory.String())) > tolerated*float64(bytes), fmt.Sprintf("memory_md may have %d bytes", bytes)},
		{float64(memoir.Tokens(summary.String())) > tolerated*float64(tokens),
			fmt.Sprintf("memory_summary may have %d tokens of 4 characters", tokens)},
		{r.uncited > r.kept, fmt.Sprintf("%d lines of memory_md cite no session, and %d do: "+
			"each must end with the sessions that support it", r.uncited, r.kept)},
		{r.kept == 0, "memory_md has no line that cites a session"},
		{summary.lines() == 0, "memory_summary has no line below a heading"},
		{r.wiped(memory, folded), "most lines of the present memory_md are gone, though no session behind them " +
			"was withdrawn or changed: keep them"},
		{3*summary.lines() < told && told >= leastLines,
			"memory_summary lost most of its lines: it is a briefing on all of memory_md"},
	} {
		if rule.broken {
			faults = append(faults, rule.fault)
		}
	}
	if len(faults) > 0 {
		return memoir.Consolidation{}, faults
	}
	out := r.finish(memory, summary, skills, lists)
	if err := Verify(out, r.in); err != nil {
		return out, []string{err.Error()}
	}
	return out, nil
}

// wiped reports whether a new MEMORY.md loses more than half of the present one: lines of which
// no new line has half of the words, though one of their sessions did not change. Recent work
// makes room for what is worked on next, and a memory over its budget may shrink to it.
func (r *renewal) wiped(memory *page, folded []*session) bool {
	var now [][]string
	for _, s := range memory.sections {
		for _, l := range s.lines {
			now = append(now, words(uncited(l)))
		}
	}
	firm := func(e entry) bool {
		return e.key != "" && !slices.ContainsFunc(folded, func(s *session) bool { return s.SessionKey == e.key })
	}
	all, kept := 0, 0
	for _, s := range readPage(r.present.MemoryMD).sections {
		for _, l := range s.lines {
			if s.heading == headRecent || !slices.ContainsFunc(r.entries(l, r.present.Citations), firm) {
				continue
			}
			all++
			want := words(uncited(l))
			if slices.ContainsFunc(now, func(have []string) bool { return 2*common(want, have) >= len(want) }) {
				kept++
			}
		}
	}
	budget, _ := r.in.budgets()
	share := float64(budget) / float64(max(budget, len(r.present.MemoryMD)))
	return all > 1 && (all-kept > 2 || kept == 0) && float64(kept) < share*float64(all)/2
}

// unordered reports whether a model's new line gives an order that no person gave: it tells
// under a heading of wishes what no session says of one, or it reads as an instruction to an
// agent. A model may have obeyed what a tool printed.
func (r *renewal) unordered(heading, line string) bool {
	wishes := heading == headPreferences || heading == headWants
	return (wishes || prompts.Instructs(line)) && !r.wanted(line)
}

// wanted reports whether at least half of a line's words stand in what people wanted or
// asked for in one of the sessions.
func (r *renewal) wanted(line string) bool {
	want := words(withoutMark(uncited(line)))
	for _, s := range r.sessions {
		var said []string
		for _, st := range s.statements {
			if st.Kind == memoir.StatementPreference || st.Kind == memoir.StatementTask {
				said = append(said, words(st.Text)...)
			}
		}
		slices.Sort(said)
		if 2*common(want, slices.Compact(said)) >= len(want) {
			return true
		}
	}
	return false
}
