package consolidate

import (
	"strings"

	"memoir"
)

// prune takes out of a memory what rests on withdrawn sessions, so that no model
// sees it again. A line that other sessions support as well stays, without the
// citation, if one of those states it in nearly the same words; those sessions
// are returned, so that a model can say what they say. A skill goes if it rests
// on withdrawn sessions alone.
func (r *renewal) prune(c memoir.Consolidation) (memoir.Consolidation, map[*session]bool) {
	beside := map[*session]bool{}
	a := open(c)
	alive := map[string]bool{} // skills that still cite a session, or lost no citation
	hurt := map[string]bool{}
	for name, text := range a.text {
		skill, _, isSkill := skillPath(name)
		var out strings.Builder
		for l := range strings.Lines(text) {
			kept, others, touched := r.without(l)
			if touched {
				r.pruned = true
				hurt[skill] = true
				for _, s := range others {
					beside[s] = true
				}
				if kept != "" && !isSkill && !r.hand[strings.TrimSpace(l)] && !r.supported(kept, others) {
					kept = ""
				}
				if kept == "" {
					r.gone = append(r.gone, r.sayingOf(l))
				}
			}
			if isSkill && len(cites(kept)) > 0 {
				alive[skill] = true
			}
			out.WriteString(kept)
		}
		a.text[name] = out.String()
	}
	for skill := range hurt {
		if skill != "" && !alive[skill] {
			a.remove(skillsDir + skill + "/" + skillFile)
		}
	}
	if !r.pruned {
		return c, beside
	}
	return a.close(), beside
}

// without is a line without citations of sessions that are no inputs any more,
// empty if it rests on no other, together with the selected sessions that it
// still cites.
func (r *renewal) without(l string) (kept string, others []*session, touched bool) {
	if whole := r.register.names(l); whole != "" {
		r.forgot[whole[:shortLen]] = true
		return "", nil, true
	}
	left := 0
	out := brackets.ReplaceAllStringFunc(l, func(bracket string) string {
		var parts []string
		dropped := false
		for part := range strings.SplitSeq(strings.Trim(bracket, "[]"), ", ") {
			id, _, cited := strings.Cut(part, " ")
			if cited && (r.register.withdrawn(id) || looksOwn(id) && !r.register.cited(id) && !r.hand[strings.TrimSpace(l)]) {
				dropped, r.forgot[id] = true, true
				continue
			}
			if cited && r.register.cited(id) {
				left++
				if s := r.session(id); s != nil {
					others = append(others, s)
				}
			}
			parts = append(parts, part)
		}
		if !dropped {
			return bracket
		}
		touched = true
		if len(parts) == 0 || strings.HasPrefix(parts[0], "+") {
			return ""
		}
		return "[" + strings.Join(parts, ", ") + "]"
	})
	switch {
	case !touched:
		return l, nil, false
	case left == 0:
		return "", nil, true
	}
	return strings.TrimRight(strings.ReplaceAll(out, "  [", " ["), " \t\r\n") + "\n", others, true
}

// supported reports whether one of some sessions states what a line says.
func (r *renewal) supported(l string, sessions []*session) bool {
	want := r.sayingOf(l)
	for _, s := range sessions {
		for _, st := range r.texts[s] {
			if likeLine(want, newSaying(oneLine(st.Text))) {
				return true
			}
		}
	}
	return false
}

// unselected are the entries of a memory's list of sessions whose sessions are
// inputs still, but were not selected this time.
func (r *renewal) unselected(memory string) []*line {
	_, list, ok := strings.Cut("\n"+memory, "\n"+headSessions+"\n")
	if !ok {
		return nil
	}
	var out []*line
	for l := range strings.Lines(list) {
		l = strings.TrimRight(l, "\r\n")
		if isHeading(l) {
			break
		}
		entry, ok := strings.CutPrefix(l, "- ")
		id, _, found := strings.Cut(entry, " — ")
		if ok && found && r.session(id) == nil && r.register.cited(id) {
			out = append(out, &line{text: l, index: id})
		}
	}
	return out
}
