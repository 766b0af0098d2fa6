package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

// A renewal is the state of a consolidation by a language model, or of a withdrawal.
type renewal struct {
	in       Input
	register register
	edits    []memoir.HandEdit // live ones
	hand     map[string]bool   // lines that people wrote, without space around them
	name     string            // of the project
	sessions []*session        // oldest first
	by       map[string]*session

	present memoir.Consolidation // without files if there is none
	lines   map[string]string    // its lines, by their form in a prompt
	pruned  bool                 // lines or files of it were removed as withdrawn
	forgot  map[string]bool      // ids of withdrawn sessions, as they were cited
	due     []*session           // new and changed sessions, oldest first
	known   map[string]bool      // keys of sessions that the memory cited at the beginning

	// Of the last answer: lines of MEMORY.md with and without a citation, and all lines that no session supports.
	kept, uncited, unsupported int
}

// newRenewal prepares a renewal. If gone is not nil, it selects further lines to remove besides those of withdrawn
// sessions.
func newRenewal(in Input, sessions []*session, gone func(line string) bool) *renewal {
	r := &renewal{
		in: in, register: in.register(), edits: LiveHandEdits(in.HandEdits, in), hand: handLines(in),
		name:     projectName(in.Project),
		sessions: sessions, by: byKey(sessions), forgot: map[string]bool{}, known: map[string]bool{},
	}
	fresh := in.Current == nil || strings.TrimSpace(in.Current.MemoryMD) == ""
	due := map[string]bool{}
	if !fresh {
		current := sanitised(*in.Current)
		for _, text := range open(current) {
			for l := range strings.Lines(text) {
				for _, e := range r.entries(l, current.Citations) {
					r.known[e.key] = true
				}
			}
		}
		r.setPresent(ApplyHandEdits(r.prune(current, gone, due), r.edits))
	}
	for _, s := range sessions {
		if fresh || in.Forced || in.Changed[s.SessionKey] || due[s.SessionKey] {
			r.due = append(r.due, s)
		}
	}
	return r
}

// sanitised makes the texts of a memory, which people may have edited, safe.
func sanitised(c memoir.Consolidation) memoir.Consolidation {
	a := open(c)
	for name, text := range a {
		a[name] = sanitise(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	out := a.close()
	out.Citations = c.Citations
	return out
}

// setPresent sets the memory from which a model continues. Unconfirmed claims of agents are left out; ApplyHandEdits
// adds them again, like other hand edits.
func (r *renewal) setPresent(c memoir.Consolidation) {
	c.MemoryMD = strings.Join(slices.DeleteFunc(strings.SplitAfter(c.MemoryMD, "\n"), isClaim), "")
	r.present, r.lines = c, map[string]string{}
	for _, text := range open(c) {
		for l := range strings.Lines(text) {
			if l = strings.TrimRight(l, " \t\r\n"); l != "" {
				r.lines[asShown(l)] = l
			}
		}
	}
}

// asShown normalises a line as a model may return it: a prompt has tags with entities.
func asShown(line string) string {
	return strings.ReplaceAll(strings.TrimRight(line, " \t\r\n"), "&lt;", "<")
}

// asIs returns the memory without a call of the model: as it was published, with hand edits, and without withdrawn
// sessions.
func (r *renewal) asIs() (memoir.Consolidation, error) {
	bytes, _ := r.in.limits()
	if r.pruned || len(r.in.Accepted) > 0 || len(r.present.MemoryMD) > bytes+editBytes(r.edits, "") {
		r.setPresent(r.finish(readPage(r.present.MemoryMD), r.present.Skills, r.present.Citations))
	}
	return r.present, Verify(r.present, r.in)
}

// finish makes a memory with a new head, MEMORY.md within its limit, the summary of it, and hand edits.
func (r *renewal) finish(memory *page, skills []memoir.Skill, lists map[string][]string) memoir.Consolidation {
	bytes, tokens := r.in.limits()
	memory.sections[0] = newPage(memoryHead(r.name, r.sessions)).sections[0]
	memory.order()
	memory.shrink(bytes, func(line string) bool { return r.hand[strings.TrimSpace(line)] })
	out := memoir.Consolidation{MemoryMD: memory.String(), Skills: skills, Citations: lists}
	room := 4*tokens - editBytes(r.edits, memoir.SummaryFile)
	out.MemorySummary = summarise(r.in, memory, skills, min(room, summaryBudget))
	return ApplyHandEdits(out, r.edits)
}

// stillDue returns the keys of the due sessions that were not in the batch folded.
func (r *renewal) stillDue(folded []*session) (keys []string) {
	for _, s := range r.due {
		if !slices.Contains(folded, s) {
			keys = append(keys, s.SessionKey)
		}
	}
	return keys
}

// entries returns the sessions that support a line, newest first: those on its list, else those in its brackets. A
// session that is neither an input nor withdrawn has no key.
func (r *renewal) entries(line string, lists map[string][]string) []entry {
	var out []entry
	for _, one := range lists[lineKey(line)] {
		if at := strings.LastIndexByte(one, ' '); at > 0 && brackets.MatchString(line) {
			_, id := memoir.SplitKey(one[:at])
			out = append(out, entry{one[:at], shortID(one[:at], citable(id), shortLen), one[at+1:]})
		}
	}
	for _, bracket := range brackets.FindAllString(line, -1) {
		for part := range strings.SplitSeq(strings.Trim(bracket, "[]"), ", ") {
			if id, date, ok := strings.Cut(part, " "); ok && len(lists[lineKey(line)]) == 0 {
				out = append(out, entry{cmp.Or(r.register.inputs.key(id), r.register.gone.key(id)), id, date})
			}
		}
	}
	for i, e := range out {
		if s := r.by[e.key]; s != nil {
			out[i].short, out[i].date = s.short, s.date
		}
	}
	return out
}

func (r *renewal) inputsOf(line string, lists map[string][]string) []entry {
	return slices.DeleteFunc(r.entries(line, lists), func(e entry) bool { return !r.register.keys[e.key] })
}

// prune removes lines that depend on withdrawn sessions from a memory, so that no model reads them. A line stays,
// with the citation of its other sessions, if one of these states it in nearly the same words; in any case they
// become due again. A skill is removed if it depends only on withdrawn sessions. The summary, which has no
// citations, is made from the rest.
func (r *renewal) prune(c memoir.Consolidation, gone func(string) bool, due map[string]bool) memoir.Consolidation {
	a := open(c)
	lists := map[string][]string{}
	for _, name := range sortedKeys(a) {
		if _, there := a[name]; !there || name == memoir.SummaryFile {
			continue
		}
		_, folder, _, isSkill := memoir.SkillPath(name)
		front := frontOf(a[name])
		var out strings.Builder
		citing := 0
		for l := range strings.Lines(a[name]) {
			kept, others := r.pruneLine(l, isSkill, c.Citations, lists)
			if gone != nil && gone(l) {
				kept = ""
			}
			if kept != l {
				for _, e := range others {
					due[e.key] = true
				}
			}
			if kept != "" && len(others) > 0 {
				citing++
			}
			out.WriteString(kept)
		}
		text := out.String()
		switch lost := text != a[name]; {
		case !lost:
		case isSkill && (folder != "" || citing == 0 || frontOf(text) != front): // no incomplete scripts
			r.pruned = true
			a.remove(name)
		default:
			r.pruned = true
			a.put(name, text)
		}
	}
	if !r.pruned && gone == nil {
		return c
	}
	out := a.close()
	out.Citations = lists
	_, tokens := r.in.limits()
	out.MemorySummary = summarise(r.in, readPage(out.MemoryMD), out.Skills, min(4*tokens, summaryBudget))
	return out
}

// pruneLine returns a line without withdrawn sessions, empty if it must be removed, and its sessions that are inputs.
func (r *renewal) pruneLine(l string, isSkill bool, from, to map[string][]string) (kept string, others []entry) {
	if id := r.register.names(l); id != "" {
		r.forgot[id[:shortLen]] = true
		return "", nil
	}
	own := r.hand[strings.TrimSpace(l)]
	touched := false
	for _, e := range r.entries(l, from) {
		switch {
		case r.register.keys[e.key]:
			others = append(others, e)
		case e.key != "" || memoir.IsCitedID(e.short) && !own:
			touched, r.forgot[e.short] = true, true
		}
	}
	body := withoutBracket(l)
	switch {
	case !touched:
		if len(others) > 1 {
			cited(body, others, to)
		}
		return l, others
	case len(others) == 0, !isSkill && !own && !r.supported(l, others),
		slices.ContainsFunc(idsIn(body), r.register.withdrawn):
		return "", others
	}
	return cited(body, others, to) + "\n", others
}

// supported reports whether one of the sessions has a statement with nearly the words of a line.
func (r *renewal) supported(line string, entries []entry) bool {
	want := memoir.WordsOf(withoutMark(Uncited(line)))
	for _, e := range entries {
		s := r.by[e.key]
		if s == nil {
			continue
		}
		for _, st := range s.statements {
			have := memoir.WordsOf(st.Text)
			if want.Alike(have) >= 0.5 || want.Shared(have)*5 >= len(want)*4 && len(want) > 2 {
				return true
			}
		}
	}
	return false
}
