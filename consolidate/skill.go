package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

const (
	minSkillSteps    = 3  // distinct steps that recur
	minSkillSessions = 2  // sessions in which they do
	minTellingSteps  = 2  // of the project's own that tie two procedures together
	maxSkills        = 12 // skills of a project
)

// A procedure is an ordered list of commands that one ask took in one session.
type procedure struct {
	session *session
	label   string // what was asked
	changed bool   // it followed a change, not an ask
	where   string // the directory of that change
	steps   []string
	keys    []string // of the steps: program and subcommand
}

// skills writes down the procedures that recur in at least two sessions.
func skills(k *knowledge, d *draft) []memoir.Skill {
	var out []memoir.Skill
	taken := map[string]bool{}
	for _, r := range recurring(d.group(k.sessions)) {
		name := r.name()
		if taken[name] {
			name = r.stepName()
		}
		if taken[name] {
			continue
		}
		taken[name] = true
		skill := memoir.Skill{Name: name}
		row := r.exact()
		if row != nil {
			skill.Scripts = []memoir.SkillFile{r.script(row)}
		}
		skill.Content = r.render(k, name, row)
		out = append(out, skill)
		if len(out) == maxSkills {
			break
		}
	}
	slices.SortFunc(out, func(a, b memoir.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// parseProcedure reads “ask”: `a` → `b` → `c`. Where no ask is quoted, what stands
// before the steps says whether they followed a change, and where.
func parseProcedure(s *session, text string) (procedure, bool) {
	p := procedure{session: s}
	if rest, ok := strings.CutPrefix(text, "“"); ok {
		if label, steps, ok := strings.Cut(rest, "”: "); ok {
			p.label, text = label, steps
		}
	} else if occasion, steps, ok := strings.Cut(text, ": `"); ok && !strings.Contains(occasion, "→") {
		text = "`" + steps
		if p.changed = strings.HasPrefix(occasion, "after a change"); p.changed {
			_, p.where, _ = strings.Cut(strings.TrimSuffix(occasion, "`"), "`")
		}
	}
	if i := strings.LastIndex(text, "` ("); i >= 0 && strings.HasSuffix(text, " times)") {
		text = text[:i+1]
	}
	for part := range strings.SplitSeq(text, "→") {
		step := strings.TrimSpace(strings.Trim(strings.TrimSpace(part), "`"))
		if step == "" || len(step) > 300 {
			continue
		}
		p.steps = append(p.steps, step)
		p.keys = append(p.keys, stepKey(step))
	}
	return p, len(p.steps) >= minSkillSteps
}

// A recurrence is what several procedures have in common.
type recurrence struct {
	procs    []procedure // oldest first
	variants []procedure // those of them that differ in what was asked or in their steps
	keys     []string    // the steps that most of them took, in order
}

func (r *recurrence) add(p procedure) {
	r.procs = append(r.procs, p)
	if !slices.ContainsFunc(r.variants, func(v procedure) bool { return v.label == p.label && slices.Equal(v.keys, p.keys) }) {
		r.variants = append(r.variants, p)
	}
}

// like is how much of a procedure's steps one that is grouped here took too: from
// 0 to 1, and more if the same was asked.
func (r *recurrence) like(p procedure) float64 {
	best := 0.0
	for _, v := range r.variants {
		common := subsequence(v.keys, p.keys)
		if len(common) < minSkillSteps {
			continue
		}
		score := float64(len(common)) / float64(max(len(v.keys), len(p.keys)))
		if telling := slices.DeleteFunc(common, routine); len(telling) >= minTellingSteps {
			// One may be the other and more: what else was done on the way differs.
			score = max(score, 0.1+float64(len(telling))/float64(min(ownSteps(v.keys), ownSteps(p.keys))))
		}
		if alikeAsk(v.label, p.label) {
			score += 0.35
		}
		best = max(best, score)
	}
	return best
}

// ownSteps counts the distinct steps that are the project's own.
func ownSteps(keys []string) int {
	n := 0
	for i, key := range keys {
		if !routine(key) && !slices.Contains(keys[:i], key) {
			n++
		}
	}
	return n
}

// group puts procedures together whose steps are much the same, those for the
// same ask first, oldest first. What the draft knows is taken from it.
func (d *draft) group(sessions []*session) []*recurrence {
	var groups []*recurrence
	index := map[string][]int{} // step -> groups in which it was taken
	for i, s := range sessions {
		n := 0
		for _, st := range s.statements {
			if st.Kind != memoir.StatementProcedure {
				continue
			}
			p, ok := parseProcedure(s, st.Text)
			at := none
			switch {
			case i < d.same:
				at = min(d.joined(i, st.Kind)[n], len(groups))
				n++
			case ok:
				d.compared++
				at = closest(groups, index, p)
			}
			if i >= d.same {
				d.join(i, st.Kind, at)
			}
			if at == none || !ok {
				continue
			}
			if at == len(groups) {
				groups = append(groups, &recurrence{})
			}
			groups[at].add(p)
			for _, key := range p.keys {
				if !slices.Contains(index[key], at) {
					index[key] = append(index[key], at)
				}
			}
		}
	}
	return groups
}

// closest is the group that a procedure belongs to, of equals the oldest; the
// number of groups if it belongs to none.
func closest(groups []*recurrence, index map[string][]int, p procedure) int {
	shared := map[int]int{}
	for i, key := range p.keys {
		if slices.Contains(p.keys[:i], key) {
			continue
		}
		for _, g := range index[key] {
			shared[g]++
		}
	}
	best, at := 0.0, len(groups)
	for g, n := range shared {
		if n < minSkillSteps {
			continue
		}
		if score := groups[g].like(p); score >= 0.7 && (score > best || score == best && g < at) {
			best, at = score, g
		}
	}
	return at
}

// recurring keeps the groups that at least two sessions support, those of most
// sessions first.
func recurring(groups []*recurrence) []*recurrence {
	var out []*recurrence
	for _, g := range groups {
		g.keys = g.usual()
		if len(g.sessions()) < minSkillSessions || len(g.keys) < minSkillSteps || !g.effective() {
			continue
		}
		if !slices.ContainsFunc(out, func(o *recurrence) bool { return slices.Equal(o.keys, g.keys) }) {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b *recurrence) int { return len(b.sessions()) - len(a.sessions()) })
	return out
}

// usual lists the steps that at least half of the procedures took, and two
// sessions, in the order in which they mostly stood.
func (r *recurrence) usual() []string {
	type place struct {
		key      string
		sessions map[*session]bool
		runs     int
		sum      float64
	}
	places := map[string]*place{}
	var order []*place
	for _, p := range r.procs {
		seen := map[string]bool{}
		for i, key := range p.keys {
			if seen[key] {
				continue
			}
			seen[key] = true
			pl := places[key]
			if pl == nil {
				pl = &place{key: key, sessions: map[*session]bool{}}
				places[key] = pl
				order = append(order, pl)
			}
			pl.runs++
			pl.sessions[p.session] = true
			pl.sum += float64(i) / float64(len(p.keys))
		}
	}
	order = slices.DeleteFunc(order, func(p *place) bool {
		return p.runs*2 < len(r.procs) || len(p.sessions) < minSkillSessions
	})
	slices.SortStableFunc(order, func(a, b *place) int { return cmp.Compare(a.sum/float64(a.runs), b.sum/float64(b.runs)) })
	out := make([]string, len(order))
	for i, p := range order {
		out[i] = p.key
	}
	return out
}

// effective reports whether a step beyond version control and formatting, one
// that builds, tests, runs or releases, was taken in at least two sessions.
func (r *recurrence) effective() bool {
	for _, key := range r.keys {
		if routine(key) {
			continue
		}
		seen := map[*session]bool{}
		for _, p := range r.procs {
			if slices.Contains(p.keys, key) {
				seen[p.session] = true
			}
		}
		if len(seen) >= minSkillSessions {
			return true
		}
	}
	return false
}

// alikeAsk reports whether two asks are in nearly the same words.
func alikeAsk(a, b string) bool {
	return jaccard(tokens(a), tokens(b)) >= 0.5
}

// subsequence is the longest common subsequence of two lists without repeats.
func subsequence(a, b []string) []string {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	var out []string
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			if !slices.Contains(out, a[i]) {
				out = append(out, a[i])
			}
			i++
			j++
		case table[i+1][j] >= table[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

func (r *recurrence) sessions() []*session {
	var out []*session
	for _, p := range r.procs {
		if !slices.Contains(out, p.session) {
			out = append(out, p.session)
		}
	}
	return out
}
