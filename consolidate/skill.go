package consolidate

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Bounds of the built-in model's skills.
const (
	maxSkills        = 4
	leastRuns        = 3   // sessions in which a procedure ran to a success
	leastSteps       = 3   // of a skill
	leastOwn         = 2   // steps of a skill beyond checks and version control
	maxSteps         = 12  // of a procedure that is looked at
	maxProcedures    = 150 // that are compared pair by pair, the newest
	maxSkillNameLine = 4   // words of a skill's name
	leastName        = 6   // bytes of a name that is made of requests
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
	orders := map[string][]string{}
	for i, a := range procs {
		for _, b := range procs[:i] {
			if keys := commonOrder(a.keys, b.keys); a.session != b.session && len(keys) >= leastSteps &&
				ownSteps(keys) >= leastOwn {
				orders[strings.Join(keys, "\n")] = keys
			}
		}
	}
	var found []*recurrence
	for _, id := range sortedKeys(orders) {
		r := &recurrence{keys: orders[id]}
		for _, p := range procs {
			again := len(r.procs) > 0 && r.procs[len(r.procs)-1].session == p.session
			if !again && len(commonOrder(r.keys, p.keys)) == len(r.keys) {
				r.procs = append(r.procs, p)
			}
		}
		if len(r.procs) >= leastRuns {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b *recurrence) int {
		return cmp.Or(len(b.keys)*len(b.procs)-len(a.keys)*len(a.procs), len(b.keys)-len(a.keys))
	})
	var out []memoir.Skill
	var taken []*recurrence
	for _, r := range found {
		overlaps := func(o *recurrence) bool { return 2*len(commonOrder(o.keys, r.keys)) >= min(len(o.keys), len(r.keys)) }
		named := func(s memoir.Skill) bool { return s.Name == r.name() }
		if len(out) < maxSkills && !slices.ContainsFunc(taken, overlaps) && !slices.ContainsFunc(out, named) {
			taken = append(taken, r)
			out = append(out, r.skill())
		}
	}
	slices.SortFunc(out, func(a, b memoir.Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// allowed are the procedures without the steps that a person's rule speaks against.
func allowed(procs []procedure, rules []*claim) []procedure {
	bad := map[string]bool{}
	for _, c := range rules {
		maps.Copy(bad, forbidden(c.text))
	}
	for i, p := range procs {
		var steps, keys []string
		for j, step := range p.steps {
			if !slices.ContainsFunc(words(step), func(w string) bool { return bad[strings.TrimLeft(w, "!")] }) {
				steps, keys = append(steps, step), append(keys, p.keys[j])
			}
		}
		procs[i].steps, procs[i].keys = steps, keys
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

// commands are the steps as the newest procedure took them.
func (r *recurrence) commands() []string {
	newest := r.procs[len(r.procs)-1]
	var out []string
	for _, key := range r.keys {
		out = append(out, newest.steps[slices.Index(newest.keys, key)])
	}
	return out
}

// name is made of the words that most of the requests share, else of the last step that
// is the project's own.
func (r *recurrence) name() string {
	count := map[string]int{}
	for _, p := range r.procs {
		for _, w := range slices.Compact(slices.Sorted(slices.Values(split(p.label)))) {
			count[w]++
		}
	}
	var shared []string
	for _, w := range split(r.procs[len(r.procs)-1].label) {
		if 2*count[w] > len(r.procs) && !fillers()[w] && !strings.ContainsAny(w, "0123456789") &&
			!slices.Contains(shared, w) && len(shared) < maxSkillNameLine {
			shared = append(shared, w)
		}
	}
	name := slugOf(strings.Join(shared, "-"))
	if len(name) < leastName {
		for _, key := range r.keys {
			if ownSteps([]string{key}) == 1 {
				fields := strings.Fields(key)
				name = slugOf(strings.Join(fields[:min(len(fields), 3)], "-"))
			}
		}
	}
	if name = strings.Trim(name, "-"); !memoir.LegalSkill(name) {
		return "procedure-" + slugOf(path.Base(r.keys[0]))
	}
	return name
}

// skill writes the skill down.
func (r *recurrence) skill() memoir.Skill {
	name := r.name()
	var sessions []*session
	var asks []string
	for _, p := range slices.Backward(r.procs) {
		sessions = append(sessions, p.session)
		if label := cut(bare(p.label), 100); label != "" && len(asks) < 3 && !slices.Contains(asks, label) {
			asks = append(asks, label)
		}
	}
	slices.Reverse(sessions)
	commands := r.commands()
	description := fmt.Sprintf("Steps that ran in this order to a success in %s: %s.", plural(len(sessions), "session"),
		strings.Join(commands, ", "))
	if len(asks) > 0 {
		description = "Use for requests such as “" + strings.Join(asks, "”, “") + "”. " + description
	}
	var b strings.Builder
	b.WriteString("---\nname: " + yamlName(name) + "\ndescription: " + yamlString(description) + "\n---\n\n")
	b.WriteString("# " + strings.ReplaceAll(name, "-", " ") + "\n\n")
	for i, command := range commands {
		p := passivity{skill: true}
		fmt.Fprintf(&b, "%d. %s\n", i+1, p.inert(codeSpan(command)))
	}
	b.WriteString("\n" + cited("Taken from what was run", sessions, nil) + "\n")
	return memoir.Skill{Name: name, Content: b.String()}
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

// yamlString quotes a text for YAML on one line.
func yamlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(cut(bare(s), 480)) + `"`
}

var notText = lazyregexp.New(`^(?:true|false|null|yes|no|on|off|y|n|[0-9].*)$`)

// yamlName writes a skill's name, quoted where YAML would read something else.
func yamlName(name string) string {
	if notText.MatchString(name) {
		return `"` + name + `"`
	}
	return name
}
