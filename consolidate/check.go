package consolidate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/prompts"
)

// Bounds of what a sane answer holds.
const (
	maxLine    = 4000 // bytes of a line
	leastLines = 6    // of a summary, below which it may lose any number of them
	tolerated  = 1.25 // of a limit: models cannot count, so the program cuts so much itself
)

// read makes a memory of an answer, or tells every rule that it breaks: form, size,
// citations that exist, no frames or control characters, legal skills, and that it is not
// a wipe. It does not judge single lines.
func (r *renewal) read(text string, b batch) (memoir.Consolidation, []string) {
	a, faults := parseAnswer(text)
	if len(faults) > 0 {
		return memoir.Consolidation{}, faults
	}
	faults = append(r.suspicious("memory_md", a.memory), r.suspicious("memory_summary", a.summary)...)
	skills, wrong := r.answeredSkills(a)
	faults = append(faults, wrong...)
	for name, text := range map[string]string{"memory_md": a.memory, "memory_summary": a.summary} {
		if !fencesClose(text) {
			faults = append(faults, name+" opens a code fence that nothing closes")
		}
	}
	if len(faults) > 0 {
		slices.Sort(faults)
		return memoir.Consolidation{}, faults
	}
	memory, lists := r.layOut(readPage(a.memory))
	summary := r.layOutSummary(readPage(a.summary))
	bytes, tokens := r.in.limits()
	if n := len(memory.String()); float64(n) > tolerated*float64(bytes) {
		faults = append(faults, fmt.Sprintf("memory_md has %d bytes, and may have %d", n, bytes))
	}
	if n := memoir.Tokens(summary.String()); float64(n) > tolerated*float64(tokens) {
		faults = append(faults, fmt.Sprintf("memory_summary has %d tokens of 4 characters, and may have %d", n, tokens))
	}
	if r.uncited > r.kept {
		faults = append(faults,
			fmt.Sprintf("%d lines of memory_md cite no session, and %d do: each must end with the sessions it rests on",
				r.uncited, r.kept))
	}
	if r.kept == 0 {
		faults = append(faults, "memory_md holds no line that cites a session")
	}
	if len(summary.sections) < 2 {
		faults = append(faults, "memory_summary holds no line below a heading")
	}
	if len(faults) > 0 {
		return memoir.Consolidation{}, faults
	}
	out := r.finish(memory, summary, skills, lists)
	faults = r.wiped(out, b)
	was, told := countEntries(r.present.MemorySummary), countEntries(out.MemorySummary)
	if told*3 < was && was >= leastLines {
		faults = append(faults, fmt.Sprintf("memory_summary has %d lines, and had %d: it is a briefing on all of memory_md",
			told, was))
	}
	if err := Verify(out, r.in); err != nil && len(faults) == 0 {
		faults = append(faults, err.Error())
	}
	return out, faults
}

// answeredSkills are the skills of an answer.
func (r *renewal) answeredSkills(a answer) (skills []memoir.Skill, faults []string) {
	if a.keepSkills {
		skills = slices.Clone(r.present.Skills)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(skills, func(s memoir.Skill) bool { return s.Name == name })
	}
	for _, given := range a.skills {
		for _, text := range given.texts() {
			faults = append(faults, r.suspicious(text[0], text[1])...)
		}
		switch s, fault := r.skillOf(given); {
		case fault != "":
			faults = append(faults, fault)
		case has(s.Name):
			faults = append(faults, "the skill "+s.Name+" is there twice")
		case r.strangeStep(s) != "": // the present one stays
			if present, there := r.skill(s.Name); there {
				skills = append(skills, present)
			}
		default:
			skills = append(skills, s)
		}
	}
	gone := 0
	for _, s := range r.present.Skills {
		if !has(s.Name) {
			gone++
		}
	}
	if gone > 2 && 2*gone > len(r.present.Skills) {
		faults = append(faults,
			fmt.Sprintf("%d of %d present skills are gone: name those that shall stay, with an empty content",
				gone, len(r.present.Skills)))
	}
	slices.SortFunc(skills, func(a, b memoir.Skill) int { return strings.Compare(a.Name, b.Name) })
	return skills, faults
}

// texts are a skill's names and texts.
func (a answeredSkill) texts() [][2]string {
	out := [][2]string{{"skill " + a.Name, a.Content}, {"description of skill " + a.Name, a.Description}}
	for _, f := range slices.Concat(a.Scripts, a.Templates, a.Examples) {
		out = append(out, [2]string{"file " + f.Path + " of skill " + a.Name, f.Content})
	}
	return out
}

// suspicious tells what no text of an answer may hold, whatever it says: control
// characters, memoir's own frames, citations of sessions that are no inputs, and withdrawn
// sessions.
func (r *renewal) suspicious(name, text string) (faults []string) {
	name = cut(oneLine(name), 120)
	fault := func(n int, what string) { faults = append(faults, fmt.Sprintf("%s, line %d: %s", name, n, what)) }
	n := 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimRight(l, " \t\r\n")
		if _, kept := r.lines[asShown(l)]; kept {
			continue
		}
		if strings.ContainsFunc(l, func(c rune) bool { return c != '\t' && unicode.Is(unicode.Cc, c) }) {
			fault(n, "it holds a control character")
		}
		if len(l) > maxLine {
			fault(n, fmt.Sprintf("it has more than %d bytes", maxLine))
		}
		if prompts.Framed(l) || unframe(l) != l || strings.Contains(l, memoir.OwnRunMarker) {
			fault(n, "it holds a tag of the message's own frames; write it without the angle bracket")
		}
		for _, id := range idsIn(l) {
			if !r.register.cited(id) && (r.register.withdrawn(id) || looksOwn(id)) {
				fault(n, "it cites session "+id+", which is not among the input")
			}
		}
	}
	if whole := r.register.names(text); whole != "" {
		faults = append(faults, fmt.Sprintf("%s names session %s, which was withdrawn", name, whole))
	}
	return faults
}

// countEntries counts the list entries of a text.
func countEntries(text string) (n int) {
	for l := range strings.Lines(text) {
		if isEntry(strings.TrimSpace(l)) {
			n++
		}
	}
	return n
}

// wiped tells if an answer loses more than half of the present memory, in lines or in
// sessions behind them, though those sessions did not change. Recent work makes room for
// what is worked on next, and a memory over its budget may shrink to it.
func (r *renewal) wiped(out memoir.Consolidation, b batch) (faults []string) {
	changed := map[string]bool{}
	for _, s := range b.sessions {
		changed[s.SessionKey] = true
	}
	count := func(c memoir.Consolidation, firm bool) (lines int, sessions map[string]bool) {
		sessions = map[string]bool{}
		recent := false
		for l := range strings.Lines(c.MemoryMD) {
			if isHeading(l) && level(l) == 2 {
				recent = strings.TrimSpace(l) == headRecent
			}
			if firm && recent {
				continue
			}
			cites := false
			for _, e := range r.entries(l, c.Citations) {
				if e.key != "" && !(firm && changed[e.key]) {
					cites, sessions[e.key] = true, true
				}
			}
			if cites {
				lines++
			}
		}
		return lines, sessions
	}
	lines, sessions := count(r.present, true)
	left, cited := count(out, false)
	still := 0
	for key := range sessions {
		if cited[key] {
			still++
		}
	}
	budget, _ := r.in.budgets()
	share := float64(budget) / float64(max(budget, len(r.present.MemoryMD)))
	for _, part := range []struct {
		what      string
		all, kept int
	}{
		{"lines of the present memory_md", lines, min(left, lines)},
		{"sessions that the present memory_md cites", len(sessions), still},
	} {
		gone := part.all - part.kept
		if part.all > 1 && (gone > 2 || part.kept == 0) && float64(part.kept) < share*float64(part.all)/2 {
			faults = append(faults,
				fmt.Sprintf("%d of %d %s are gone, though nothing that they rest on was withdrawn or changed: keep them",
					gone, part.all, part.what))
		}
	}
	return faults
}
