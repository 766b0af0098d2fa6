package consolidate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
)

// Bounds of the built-in model's skills.
const (
	maxSkills     = 4
	leastRuns     = 3   // sessions in which a procedure ran to a success
	leastSteps    = 3   // of a skill
	leastOwn      = 2   // steps of a skill beyond checks and version control
	maxSteps      = 12  // of a procedure that is looked at
	maxProcedures = 150 // that are compared pair by pair, the newest
	maxNameWords  = 4   // of a skill
	leastName     = 6   // bytes of a name that is made of requests
)

// A procedure is one session's commands in the order of a success.
type procedure struct {
	session *session
	label   string   // what was asked, empty if unknown
	steps   []string // commands
	keys    []string // their shapes
}

// procedures reads the procedure statements, “ask”: `a` → `b` → `c`, oldest first. Any
// line with at least leastSteps code spans will do.
func procedures(sessions []*session) []procedure {
	var out []procedure
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Kind != memoir.StatementProcedure {
				continue
			}
			p := procedure{session: s}
			text := st.Text
			if rest, ok := strings.CutPrefix(text, "“"); ok {
				if label, steps, ok := strings.Cut(rest, "”: "); ok {
					p.label, text = label, steps
				}
			}
			for _, m := range firstSpan.FindAllStringSubmatch(text, -1) {
				head, flags, _ := shapeOf(m[1])
				key := strings.TrimSpace(head + " " + flags)
				if key == "" || slices.Contains(p.keys, key) || len(p.keys) == maxSteps {
					continue
				}
				p.steps, p.keys = append(p.steps, strings.TrimSpace(m[1])), append(p.keys, key)
			}
			if len(p.keys) >= leastSteps {
				out = append(out, p)
			}
		}
	}
	return out
}

// A recurrence is an order of steps and the procedures that took it.
type recurrence struct {
	keys  []string
	procs []procedure // oldest first, one a session
}

// skills are the procedures that ran in at least leastRuns sessions in the same order to
// a success, have steps of the project's own, and take no step that a rule forbids.
func skills(sessions []*session, rules []*claim) []memoir.Skill {
	procs := procedures(sessions)
	procs = allowed(procs[max(0, len(procs)-maxProcedures):], rules)
	seen := map[string]bool{}
	var found []recurrence
	for i, a := range procs {
		for _, b := range procs[:i] {
			keys := commonOrder(a.keys, b.keys)
			id := strings.Join(keys, "\n")
			if len(keys) < leastSteps || ownSteps(keys) < leastOwn || seen[id] {
				continue
			}
			seen[id] = true
			if r := takenBy(procs, keys); len(r.procs) >= leastRuns {
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, func(a, b recurrence) int {
		return cmp.Or(len(b.keys)*len(b.procs)-len(a.keys)*len(a.procs), len(b.keys)-len(a.keys),
			slices.Compare(a.keys, b.keys))
	})
	var out []memoir.Skill
	var taken []recurrence
	for _, r := range found {
		overlaps := func(o recurrence) bool { return 2*len(commonOrder(o.keys, r.keys)) >= min(len(o.keys), len(r.keys)) }
		named := func(s memoir.Skill) bool { return s.Name == r.name() }
		if len(out) < maxSkills && !slices.ContainsFunc(taken, overlaps) && !slices.ContainsFunc(out, named) {
			taken = append(taken, r)
			out = append(out, r.skill())
		}
	}
	slices.SortFunc(out, func(a, b memoir.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// takenBy finds the procedures that took some steps in their order.
func takenBy(procs []procedure, keys []string) recurrence {
	r := recurrence{keys: keys}
	for _, p := range procs {
		again := len(r.procs) > 0 && r.procs[len(r.procs)-1].session == p.session
		if !again && len(commonOrder(keys, p.keys)) == len(keys) {
			r.procs = append(r.procs, p)
		}
	}
	return r
}

// forbidden adds the words that a rule's negations stand before: what must not be done or used, as
// in "never push from here", "don't use the cache" or "pnpm instead of npm".
func forbidden(rule string, bad map[string]bool) {
	rule, _, _ = strings.Cut(rule, "(after:")
	for clause := range strings.FieldsFuncSeq(strings.ReplaceAll(rule, ". ", "; "), clauseEnd) {
		negative := false
		for _, w := range split(clause) {
			switch {
			case negations()[w], strings.HasSuffix(w, "n't"):
				negative = true
			case negative && !fillers()[w] && !general[stem(w)]:
				bad[stem(w)] = true
				negative = false
			}
		}
	}
}

// general are words, without their endings, that name no subject.
var general = set(`use us using run runn add adding write writ keep go going any more anymore again only all ever every
	now`)

// allowed are the procedures without the steps that a person's rule speaks against.
func allowed(procs []procedure, rules []*claim) []procedure {
	bad := map[string]bool{}
	for _, c := range rules {
		forbidden(c.text, bad)
	}
	for i, p := range procs {
		procs[i].steps, procs[i].keys = nil, nil
		for j, step := range p.steps {
			if !slices.ContainsFunc(subjects(words(step)), func(w string) bool { return bad[w] }) {
				procs[i].steps, procs[i].keys = append(procs[i].steps, step), append(procs[i].keys, p.keys[j])
			}
		}
	}
	return procs
}

// ownSteps counts the steps beyond checks, formatting and version control.
func ownSteps(keys []string) (n int) {
	for _, key := range keys {
		switch program, rest, _ := strings.Cut(key, " "); {
		case program == "git" && !strings.HasPrefix(rest, "tag"):
		case set("cd ls cat echo grep rg sed find mkdir rm cp mv")[program]:
		case set("test lint format check")[purposeOf(key)]:
		default:
			n++
		}
	}
	return n
}

// commonOrder is the longest order of steps that two procedures share.
func commonOrder(a, b []string) []string {
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
			out = append(out, a[i])
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

// name is made of the words that most of the requests share, else of the last step that
// is the project's own.
func (r recurrence) name() string {
	count := map[string]int{}
	for _, p := range r.procs {
		for _, w := range subjects(split(p.label)) {
			count[w]++
		}
	}
	var shared []string
	for _, w := range split(r.procs[len(r.procs)-1].label) {
		if 2*count[w] > len(r.procs) && !fillers()[w] && !strings.ContainsAny(w, "0123456789") &&
			!slices.Contains(shared, w) && len(shared) < maxNameWords {
			shared = append(shared, w)
		}
	}
	name := slugOf(strings.Join(shared, "-"))
	for _, key := range slices.Backward(r.keys) {
		if fields := strings.Fields(key); len(name) < leastName && ownSteps([]string{key}) == 1 {
			name = slugOf(strings.Join(fields[:min(len(fields), 3)], "-"))
		}
	}
	if !memoir.LegalSkill(name) {
		return "procedure-" + slugOf(path.Base(r.keys[0]))
	}
	return name
}

// skill writes the skill down, with the steps as the newest procedure took them.
func (r recurrence) skill() memoir.Skill {
	name, newest := r.name(), r.procs[len(r.procs)-1]
	var sessions []*session
	var asks, commands []string
	for _, p := range r.procs {
		sessions = append(sessions, p.session)
	}
	for _, p := range slices.Backward(r.procs) {
		if label := cut(bare(p.label), 100); label != "" && len(asks) < 3 && !slices.Contains(asks, label) {
			asks = append(asks, label)
		}
	}
	var steps strings.Builder
	for i, key := range r.keys {
		commands = append(commands, newest.steps[slices.Index(newest.keys, key)])
		p := passivity{skill: true}
		fmt.Fprintf(&steps, "%d. %s\n", i+1, p.inert(codeSpan(commands[i])))
	}
	description := fmt.Sprintf("Steps that ran in this order to a success in %s: %s.", plural(len(sessions), "session"),
		strings.Join(commands, ", "))
	if len(asks) > 0 {
		description = "Use for requests such as “" + strings.Join(asks, "”, “") + "”. " + description
	}
	title := "# " + strings.ReplaceAll(name, "-", " ") + "\n\n"
	source := "\n" + cited("Taken from what was run", newestFirst(sessions), map[string][]string{}) + "\n"
	return memoir.Skill{Name: name, Content: skillHead(name, description) + title + steps.String() + source}
}

// skillHead is the frontmatter of a SKILL.md: name and description alone, as other fields give an
// agent rights.
func skillHead(name, description string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(cut(bare(description), 480))
	return "---\nname: " + name + "\ndescription: \"" + quoted + "\"\n---\n\n"
}

// describe returns the description in the head of a SKILL.md.
func describe(s memoir.Skill) string {
	for l := range strings.Lines(s.Content) {
		if d, ok := strings.CutPrefix(l, "description: "); ok {
			d = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(d), `"`), `"`)
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(d)
		}
	}
	return ""
}
