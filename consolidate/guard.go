package consolidate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/prompts"
)

// Bounds of what a sane answer holds.
const (
	maxLine    = 4000 // bytes of a line
	maxRepeats = 4    // times that a line may stand in a file, where it did not before
	leastTold  = 12   // bytes of a line, below which it may stand any number of times
	leastLines = 6    // lines of a briefing, below which it may lose any number of them
)

func inOrder(texts []string) []string {
	slices.Sort(texts)
	return texts
}

// read makes a memory of an answer, or tells every rule that it breaks.
func (r *renewal) read(text string, b batch) (memoir.Consolidation, []string) {
	r.foreignTold = 0
	a, faults := parseAnswer(text)
	if len(faults) > 0 {
		return memoir.Consolidation{}, faults
	}
	var skills []memoir.Skill
	if a.keepSkills {
		skills = slices.Clone(r.present.Skills)
	}
	faults = append(faults, r.suspicious("memory_md", a.memory)...)
	faults = append(faults, r.suspicious("memory_summary", a.summary)...)
	for _, given := range a.skills {
		for name, text := range given.texts() {
			faults = append(faults, r.suspicious(name, text)...)
		}
		s, fault := r.skillOf(given)
		switch {
		case fault != "":
			faults = append(faults, fault)
		case slices.ContainsFunc(skills, func(o memoir.Skill) bool { return o.Name == s.Name }):
			faults = append(faults, "the skill "+s.Name+" is there twice")
		case r.unheard(s) != "":
			r.foreignTold++
			if present, there := r.skill(s.Name); there { // stays as it was
				skills = append(skills, present)
			}
		default:
			skills = append(skills, s)
		}
	}
	for _, name := range r.handSkills() {
		if s, _ := r.skill(name); !slices.ContainsFunc(skills, func(o memoir.Skill) bool { return o.Name == name }) {
			skills = append(skills, s)
		}
	}
	slices.SortFunc(skills, func(a, b memoir.Skill) int { return strings.Compare(a.Name, b.Name) })
	if len(faults) > 0 {
		return memoir.Consolidation{}, inOrder(faults)
	}

	bytes, tokens := r.limits()
	d := r.layOut(readPage(a.memory), readPage(a.summary), skills)
	hasBytes, hasTokens := d.size()
	memory, summary := d.excess(bytes, tokens)
	if memory > tolerated {
		faults = append(faults, fmt.Sprintf("memory_md has %d bytes, and may have %d", hasBytes, bytes))
	}
	if summary > tolerated {
		faults = append(faults, fmt.Sprintf("memory_summary has %d tokens of 4 characters, and may have %d", hasTokens, tokens))
	}
	r.cited, r.uncited = d.cited, d.uncited
	if d.uncited > d.cited {
		faults = append(faults, fmt.Sprintf("%d lines of memory_md cite no session, and %d do: each must end with the sessions it rests on", d.uncited, d.cited))
	}
	for name, p := range map[string]*page{"memory_md": d.memory, "memory_summary": d.summary} {
		if !fencesClose(p.String()) {
			faults = append(faults, name+" opens a code fence that nothing closes")
		}
	}
	if len(faults) > 0 {
		return memoir.Consolidation{}, inOrder(faults)
	}
	before := claimsIn(r.present)
	out := d.cut(bytes, tokens)
	after := claimsIn(out)
	was, told := citingLines(r.present.MemorySummary), citingLines(out.MemorySummary)
	switch {
	case citingLines(out.MemoryMD) == 0:
		faults = append(faults, "memory_md holds no line that cites a session")
	case told == 0:
		faults = append(faults, "memory_summary holds no line that cites a session")
	case told*3 < was && was >= leastLines:
		faults = append(faults, fmt.Sprintf("memory_summary has %d lines that cite a session, and had %d: it is a briefing on all of memory_md", told, was))
	}
	faults = append(faults, r.lost(before, after, skills, b, float64(bytes)/float64(max(bytes, len(r.present.MemoryMD))))...)
	faults = append(faults, r.returned(out)...)
	if err := Verify(out, r.in); err != nil && len(faults) == 0 {
		faults = append(faults, err.Error())
	}
	return out, faults
}

// texts are a skill's files by what an objection calls them.
func (a answeredSkill) texts() map[string]string {
	out := map[string]string{"skill " + a.Name: a.Content, "description of skill " + a.Name: a.Description}
	for _, f := range slices.Concat(a.Scripts, a.Templates, a.Examples) {
		out["file "+f.Path+" of skill "+a.Name] = f.Content
	}
	return out
}

// suspicious tells what no text of an answer may hold, whatever it says: control
// characters, as terminals obey them, the frames by which memoir tells whose word
// a text is, citations of sessions that are no inputs, and the same over and over.
func (r *renewal) suspicious(name, text string) (faults []string) {
	name = cut(oneLine(name), 120)
	times := map[string]int{}
	alien := map[string]bool{}
	n := 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimRight(l, " \t\r\n")
		if strings.ContainsFunc(l, func(c rune) bool { return c != '\t' && unicode.Is(unicode.Cc, c) }) {
			faults = append(faults, fmt.Sprintf("%s, line %d: it holds a control character", name, n))
		}
		if len(l) > maxLine {
			faults = append(faults, fmt.Sprintf("%s, line %d: it has more than %d bytes", name, n, maxLine))
		}
		_, kept := r.lines[asShown(l)]
		if !kept && (prompts.Framed(l) || unframe(l) != l || strings.Contains(l, memoir.OwnRunMarker)) {
			faults = append(faults, fmt.Sprintf("%s, line %d: it holds a tag of the message's own frames; write it without the angle bracket", name, n))
		}
		if !kept {
			for _, bracket := range brackets.FindAllString(l, -1) {
				for _, id := range bracketIDs(bracket) {
					if !r.register.cited(id) && (r.register.withdrawn(id) || looksOwn(id) || !r.saw(bracket)) {
						alien[id] = true
					}
				}
			}
		}
		if key := uncited(l, looksOwn); len(key) >= leastTold && !isHeading(key) {
			if times[key]++; times[key] == max(maxRepeats, r.times[key])+1 {
				faults = append(faults, fmt.Sprintf("%s repeats itself: “%s”", name, cut(key, 80)))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(alien)) {
		faults = append(faults, fmt.Sprintf("%s cites session %s, which is not among the input", name, id))
	}
	if whole := r.register.names(text); whole != "" {
		faults = append(faults, fmt.Sprintf("%s names session %s, which was withdrawn", name, whole))
	}
	return faults
}

// saw reports whether a bracket that looks like a citation stands in what a model
// was shown, as in “[release 2026-12-01]”.
func (r *renewal) saw(bracket string) bool {
	for _, s := range r.sessions {
		if strings.Contains(s.RawMemory, bracket) || strings.Contains(s.RolloutSummary, bracket) {
			return true
		}
	}
	for _, l := range r.lines {
		if strings.Contains(l, bracket) {
			return true
		}
	}
	return false
}

// citingLines counts the lines of a text that cite a session.
func citingLines(text string) int {
	n := 0
	for l := range strings.Lines(text) {
		if brackets.MatchString(l) {
			n++
		}
	}
	return n
}

// claimsIn are the lines of MEMORY.md that are meant to last: what was worked on
// of late makes room for what is worked on next.
func claimsIn(c memoir.Consolidation) []string {
	p := readPage(c.MemoryMD)
	p.drop(headSessions)
	p.drop(headRecent)
	var out []string
	for _, s := range p.sections {
		for _, l := range s.lines {
			if brackets.MatchString(l.text) {
				out = append(out, l.text)
			}
		}
	}
	return out
}

// lost tells if an answer drops more than half of what was there, in lines or in
// sessions that are cited, without the sessions behind it having changed. share is
// how much of the memory may stay.
func (r *renewal) lost(before, after []string, skills []memoir.Skill, b batch, share float64) (faults []string) {
	changed := map[string]bool{}
	for _, s := range b.sessions {
		changed[s.short] = true
	}
	have := make([]*saying, len(after))
	cited := map[string]bool{}
	for i, l := range after {
		have[i] = r.sayingOf(l)
		for _, id := range idsIn(l) {
			cited[r.one(id)] = true
		}
	}
	lines, kept := 0, 0
	sessions := map[string]bool{}
	for _, l := range before {
		firm := false
		for _, id := range idsIn(l) {
			if one := r.one(id); !changed[one] {
				firm, sessions[one] = true, true
			}
		}
		if !firm {
			continue
		}
		lines++
		want := r.sayingOf(l)
		if slices.ContainsFunc(have, func(h *saying) bool { return likeLine(want, h) }) {
			kept++
		}
	}
	still := 0
	for one := range sessions {
		if cited[one] {
			still++
		}
	}
	for _, part := range []struct {
		what      string
		all, kept int
	}{{"lines of the present memory_md", lines, kept}, {"sessions that the present memory_md cites", len(sessions), still}} {
		if gone := part.all - part.kept; part.all > 1 && (gone > 2 || part.kept == 0) && float64(part.kept) < share*float64(part.all)/2 {
			faults = append(faults, fmt.Sprintf("%d of %d %s are gone, though nothing that they rest on was withdrawn or changed: keep them", gone, part.all, part.what))
		}
	}
	gone := 0
	for _, s := range r.present.Skills {
		if !slices.ContainsFunc(skills, func(o memoir.Skill) bool { return o.Name == s.Name }) {
			gone++
		}
	}
	if gone > 2 && 2*gone > len(r.present.Skills) {
		faults = append(faults, fmt.Sprintf("%d of %d present skills are gone: name those that shall stay, with an empty content", gone, len(r.present.Skills)))
	}
	return faults
}

func idsIn(l string) []string {
	var out []string
	for _, bracket := range brackets.FindAllString(l, -1) {
		out = append(out, bracketIDs(bracket)...)
	}
	return out
}

// one is the one name of a session under all that it is cited by.
func (r *renewal) one(id string) string {
	if s := r.session(id); s != nil {
		return s.short
	}
	return id
}

// returned tells which lines came back that went with a withdrawn session, and that
// no other session states.
func (r *renewal) returned(c memoir.Consolidation) (faults []string) {
	if len(r.gone) == 0 {
		return nil
	}
	for name, text := range open(c).text {
		for l := range strings.Lines(text) {
			have := r.sayingOf(l)
			if len(have.text) < leastTold || r.hand[strings.TrimSpace(l)] {
				continue
			}
			if slices.ContainsFunc(r.gone, func(g *saying) bool { return g.meets(have) }) && !r.says(have) {
				faults = append(faults, fmt.Sprintf("%s holds a line that rests on a withdrawn session: “%s”", name, cut(oneLine(have.text), 80)))
			}
		}
	}
	return inOrder(faults)
}
