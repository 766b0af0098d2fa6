package consolidate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memoir"
)

// Verify checks the rules for a consolidation of any model: neither file is empty, citations name sessions of the
// input, no withdrawn session is named, the files are within their limits, skills have legal paths, and no text
// looks like one of memoir's frames. Its errors have the code CodeInvalid and name the line.
func Verify(c memoir.Consolidation, in Input) error {
	bytes, tokens := in.limits()
	kept := editBytes(in.HandEdits, "")
	files := open(c)
	for _, name := range sortedKeys(files) {
		if _, folder, _, _ := memoir.SkillPath(name); folder == "" && strings.TrimSpace(files[name]) == "" {
			return invalid("%s is empty", name)
		}
	}
	if limit := bytes + kept; len(c.MemoryMD) > limit {
		return invalid("%s has %d bytes, more than %d", memoir.MemoryFile, len(c.MemoryMD), limit)
	}
	if memoir.Tokens(c.MemorySummary) > tokens+kept/4 {
		return invalid("%s has %d tokens, more than %d", memoir.SummaryFile, memoir.Tokens(c.MemorySummary), tokens)
	}
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

func invalid(format string, args ...any) error {
	return memoir.Errorf(memoir.CodeInvalid, "", "the consolidation breaks a rule: "+format, args...)
}

// handLines returns the lines that people wrote. Brackets in them need not be citations.
func handLines(in Input) map[string]bool {
	out := map[string]bool{}
	for _, n := range LiveHandEdits(in.HandEdits, in) {
		if n.Action == memoir.EditAdded || n.Action == memoir.EditFile {
			for line := range strings.Lines(sanitise(n.Text)) {
				out[strings.TrimSpace(line)] = true
			}
		}
	}
	return out
}

// faults lists what a text of a memory must not have: citations of sessions that are not inputs, names of
// withdrawn ones, memoir's frames and control characters. In a line that a person wrote, the apparent citation of
// an unknown session is permitted.
func (r register) faults(name, text string, byHand map[string]bool) (faults []string) {
	n := 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimSpace(l)
		fault := func(what string) { faults = append(faults, fmt.Sprintf("%s:%d %s", name, n, what)) }
		for _, id := range idsIn(l) {
			if !r.cited(id) && (r.withdrawn(id) || memoir.IsCitedID(id) && !byHand[l]) {
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

// Tolerances for answers.
const (
	readable  = 8    // multiple of the limit above which an answer is not read: it would take too much memory
	tolerated = 1.25 // multiple of the limit that the program cuts itself, since models cannot count
)

// read makes a memory from an answer, or returns the rules that the answer breaks: its form and size, existing
// citations, no frames or control characters, legal skills, and most of the memory still there.
func (r *renewal) read(text string, folded []*session) (memoir.Consolidation, []string) {
	a, faults := parseAnswer(text)
	bytes, _ := r.in.limits()
	tooLong := fmt.Sprintf("memory_md may have %d bytes", bytes)
	if len(faults) == 0 && len(a.Memory) > readable*bytes+editBytes(r.edits, "") {
		faults = []string{tooLong}
	}
	if len(faults) > 0 {
		slices.Sort(faults)
		return memoir.Consolidation{}, faults
	}
	faults = r.register.faults("memory_md", a.Memory, r.hand)
	r.kept, r.uncited, r.unsupported = 0, 0, 0
	memory := readPage(a.Memory)
	lists := r.layOut(memory)
	skills, wrong := r.skillsOf(a, r.cites(memory.String(), lists))
	faults = append(faults, wrong...)
	for _, rule := range []struct {
		broken bool
		fault  string
	}{
		{float64(len(memory.String())) > tolerated*float64(bytes), tooLong},
		{r.uncited > r.kept, fmt.Sprintf("%d lines of memory_md cite no session, and %d do: "+
			"each must end with the sessions that support it", r.uncited, r.kept)},
		{r.kept == 0, "memory_md has no line that cites a session"},
		{r.wiped(memory, folded), "most lines of the present memory_md are gone, though no session behind them " +
			"was withdrawn or changed: keep them"},
	} {
		if rule.broken {
			faults = append(faults, rule.fault)
		}
	}
	if len(faults) > 0 {
		return memoir.Consolidation{}, faults
	}
	out := r.finish(memory, skills, lists)
	if err := Verify(out, r.in); err != nil {
		return out, []string{err.Error()}
	}
	return out, nil
}

// told reports whether the project's own files say a line that is neither a person's wish nor of a failure or a note.
func (r *renewal) told(entries []entry, heading, line string) bool {
	return heading != headPreferences && heading != headOnce && heading != headFailures && r.in.Own.Says(line) != "" &&
		!slices.ContainsFunc(entries, func(e entry) bool { return memoir.IsEntry(e.key) })
}

// wiped reports whether a new MEMORY.md loses more than half of the present one. A line is lost if no new line
// has half of its words although one of its sessions did not change. Recent work is not counted, since newer
// work replaces it. A memory over its budget may shrink to it.
func (r *renewal) wiped(memory *page, folded []*session) bool {
	var now []memoir.Words
	for _, s := range memory.sections {
		for _, l := range s.lines {
			now = append(now, memoir.WordsOf(Uncited(l)))
		}
	}
	firm := func(e entry) bool {
		return e.key != "" && !slices.ContainsFunc(folded, func(s *session) bool { return s.SessionKey == e.key })
	}
	all, kept := 0, 0
	for _, s := range readPage(r.present.MemoryMD).sections {
		for _, l := range s.lines {
			entries := r.entries(l, r.present.Citations)
			if s.heading == headRecent || !slices.ContainsFunc(entries, firm) ||
				r.unbacked(entries, s.heading, l, true) || r.told(entries, s.heading, l) { // it is dropped
				continue
			}
			all++
			want := memoir.WordsOf(Uncited(l))
			if slices.ContainsFunc(now, func(have memoir.Words) bool { return 2*want.Shared(have) >= len(want) }) {
				kept++
			}
		}
	}
	budget, _ := r.in.budgets(modelBudget)
	share := float64(budget) / float64(max(budget, len(r.present.MemoryMD)))
	return all > 1 && (all-kept > 2 || kept == 0) && float64(kept) < share*float64(all)/2
}
