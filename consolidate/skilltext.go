package consolidate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memoir"
)

func describe(s memoir.Skill) string {
	for l := range strings.Lines(s.Content) {
		if d, ok := strings.CutPrefix(l, "description: "); ok {
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(d), `"`), `"`))
		}
	}
	return ""
}

func (r *recurrence) title(name string) string {
	words := strings.ReplaceAll(name, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// triggers are the asks that a procedure was taken for in more than one session, those
// of most sessions first; if there is none, one that has a word of its name. What else
// was said has nothing to do with it.
func (r *recurrence) triggers(name string) []string {
	from := map[string][]*session{}
	said := map[string]ask{} // the newest of those in the same words
	var order []string
	for i := len(r.procs) - 1; i >= 0; i-- {
		a := newAsk(r.procs[i].session, r.procs[i].label)
		words := strings.Join(a.opening, " ")
		if words == "" {
			continue
		}
		if from[words] == nil {
			order, said[words] = append(order, words), a
		}
		if !slices.Contains(from[words], a.session) {
			from[words] = append(from[words], a.session)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(from[b]), len(from[a])), cmp.Compare(len(a), len(b)))
	})
	var out []string
	var taken [][]string
	for _, words := range order {
		again := len(from[words]) >= minSkillSessions && requestable(strings.Fields(words))
		set := slices.Sorted(strings.FieldsSeq(words))
		if slices.ContainsFunc(taken, func(t []string) bool { return jaccard(t, set) >= 0.5 }) {
			continue
		}
		if len(out) < 2 && again || len(out) == 0 && shares(said[words].lead, name) {
			taken = append(taken, set)
			out = append(out, cut(said[words].lead, maxTrigger))
		}
	}
	return out
}

// shares reports whether an ask has a telling word of a skill's name.
func shares(text, name string) bool {
	named := strings.Split(name, "-")
	return slices.ContainsFunc(askWords(text), func(w string) bool { return !weak[w] && slices.Contains(named, w) })
}

// maxTrigger is how many bytes an ask has at most that a description quotes.
const maxTrigger = 80

// describe says when to use the skill, then what it does: agents decide by this line
// alone whether they read on.
func (r *recurrence) describe(name string, triggers []string) string {
	steps := make([]string, len(r.keys))
	for i, key := range r.keys {
		form, _ := r.step(key)
		words := slices.DeleteFunc(strings.Fields(baseOf(strings.Fields(form))), func(w string) bool { return strings.Contains(w, "<") })
		steps[i] = cut(strings.Join(words, " "), 40)
	}
	when := "Use when one of its steps is due, since they go together"
	switch where, most := r.place(); {
	case len(triggers) > 0:
		when = "Use when the user asks for something like " + strings.Join(quoteAll(triggers), " or ")
	case r.checking() && where != "":
		when = "Use before a commit and after changes in " + where
	case r.checking():
		when = "Use before a commit"
	case most && where != "":
		when = "Use after changes in " + where
	}
	return when + ": " + strings.Join(steps, ", ") + ", as in " + plural(len(r.sessions()), "session") + " of this project."
}

// place is the directory whose changes the steps mostly followed, and whether more
// than half of the runs followed a change.
func (r *recurrence) place() (dir string, most bool) {
	changed := 0
	var common []string
	for _, p := range r.procs {
		if !p.changed {
			continue
		}
		changed++
		if p.where == "" { // in more than one, or in the root
			continue
		}
		parts := strings.Split(p.where, "/")
		if common == nil {
			common = parts
		}
		for len(common) > 0 && (len(parts) < len(common) || !slices.Equal(parts[:len(common)], common)) {
			common = common[:len(common)-1]
		}
	}
	return strings.Join(common, "/"), changed*2 > len(r.procs)
}

// render writes SKILL.md; row is what the skill's script does, nil if it has none.
func (r *recurrence) render(k *knowledge, name string, row []string) string {
	from := r.sessions()
	triggers := r.triggers(name)
	front := "---\nname: " + yamlName(name) + "\ndescription: " + yamlString(r.describe(name, triggers)) + "\n---\n"
	var b strings.Builder
	b.WriteString("\n# " + r.title(name) + "\n")
	b.WriteString("\nTaken from " + plural(len(r.procs), "run") + " in " + plural(len(from), "session") + " " + citations(from, len(from)) + "\n")

	list := func(heading string, claims []*claim) {
		if len(claims) > 0 {
			b.WriteString("\n" + heading + "\n\n")
		}
		for _, c := range claims {
			b.WriteString("- " + c.line() + "\n")
		}
	}
	list("## Before you start", r.first(k.preferences, func(c *claim) bool { return r.binds(c, name, triggers) }))
	b.WriteString("\n## Steps\n\n")
	for i, key := range r.keys {
		step, note := r.step(key)
		share := ""
		if n := r.took(key); n < len(r.procs) {
			share = fmt.Sprintf(" (%d of %d runs)", n, len(r.procs))
		}
		fmt.Fprintf(&b, "%d. %s%s%s\n", i+1, codeSpan(step), share, note)
	}
	if row != nil {
		fmt.Fprintf(&b, "\nThe steps from %s to %s were the same each time: `sh scripts/%s` takes them (the path is that of this skill, the directory to run it in is the repository's).\n", codeSpan(row[0]), codeSpan(row[len(row)-1]), scriptName)
	}
	if between := r.sometimes(); len(between) > 0 {
		b.WriteString("\nSome runs also took " + strings.Join(between, ", ") + ".\n")
	}
	list("## What goes wrong", r.first(k.failures, r.broke))
	if checks := r.checks(); len(checks) > 0 {
		b.WriteString("\n## How to verify\n\n")
		for _, c := range checks {
			b.WriteString("- " + codeSpan(c) + " passes\n")
		}
	}
	var out strings.Builder
	out.WriteString(front)
	p := passivity{skill: true}
	for line := range strings.Lines(b.String()) {
		out.WriteString(p.inert(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return out.String()
}

// first takes the first few claims that belong to the procedure.
func (r *recurrence) first(claims []*claim, belongs func(*claim) bool) []*claim {
	var out []*claim
	for _, c := range claims {
		if len(out) < 5 && elsewhere(c.text) == "" && belongs(c) {
			out = append(out, c)
		}
	}
	return out
}

// broke reports whether a failure is one of a step, in the very words in which it was
// taken, and tells what helped. The same program with other arguments may fail for
// reasons that have nothing to do with the procedure.
func (r *recurrence) broke(c *claim) bool {
	name, _, _ := splitCommand(c.text)
	if help, _ := c.remedy(); help == "" || !strings.HasPrefix(c.text, "`") {
		return false
	}
	return slices.ContainsFunc(r.procs, func(p procedure) bool {
		for i, key := range p.keys {
			if slices.Contains(r.keys, key) && p.steps[i] == name {
				return true
			}
		}
		return false
	})
}

// binds reports whether a preference is a rule for the procedure, and not the request
// for it.
func (r *recurrence) binds(c *claim, name string, triggers []string) bool {
	if _, asked := repeated(c.text); asked || standing(c.text) == "" {
		return false
	}
	if slices.ContainsFunc(r.procs, func(p procedure) bool { return p.label != "" && alikeAsk(p.label, plain(c.text)) }) {
		return false
	}
	named, words := strings.Split(name, "-"), tokens(plain(c.text))
	shared := 0
	for _, w := range r.vocabulary(triggers) {
		if slices.Contains(words, stem(w)) {
			if shared++; shared > 1 || slices.Contains(named, w) {
				return true
			}
		}
	}
	return false
}

// vocabulary lists the words of a procedure's triggers and steps, each once.
func (r *recurrence) vocabulary(triggers []string) []string {
	var out []string
	for _, t := range triggers {
		out = append(out, askWords(t)...)
	}
	for _, key := range r.keys {
		out = append(out, strings.Fields(key)...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(w string) bool { return weak[w] || len(w) < 2 })
}

// weak words are in too many asks to tie a rule to one.
var weak = map[string]bool{"make": true, "a": true, "fix": true, "to": true, "it": true, "and": true, "add": true, "update": true, "do": true, "use": true, "run": true, "new": true, "is": true, "in": true, "for": true, "that": true, "this": true, "with": true, "of": true, "address": true, "all": true, "be": true, "can": true, "you": true, "we": true}

// took counts the runs that took a step.
func (r *recurrence) took(key string) int {
	n := 0
	for _, p := range r.procs {
		if slices.Contains(p.keys, key) {
			n++
		}
	}
	return n
}

// sometimes lists the steps that runs of more than one session took besides the usual
// ones, those of most runs first.
func (r *recurrence) sometimes() []string {
	from := map[string][]*session{}
	var order []string
	for _, p := range r.procs {
		for _, key := range p.keys {
			if slices.Contains(r.keys, key) || slices.Contains(from[key], p.session) {
				continue
			}
			if from[key] == nil {
				order = append(order, key)
			}
			from[key] = append(from[key], p.session)
		}
	}
	order = slices.DeleteFunc(order, func(key string) bool { return len(from[key]) < minSkillSessions })
	slices.SortStableFunc(order, func(a, b string) int { return r.took(b) - r.took(a) })
	var out []string
	for _, key := range order[:min(len(order), 4)] {
		form, _ := r.step(key)
		out = append(out, fmt.Sprintf("%s (%d of %d)", codeSpan(form), r.took(key), len(r.procs)))
	}
	return out
}

// checks are the steps that test or lint.
func (r *recurrence) checks() []string {
	var out []string
	for _, key := range r.keys {
		for _, w := range []string{"test", "lint", "check", "clippy", "vet", "tsc"} {
			if strings.Contains(key, w) {
				form, _ := r.step(key)
				out = append(out, form)
				break
			}
		}
	}
	return out
}

func quoteAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = "“" + t + "”"
	}
	return out
}

// yamlString writes a text as a double-quoted YAML scalar.
func yamlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(cut(bare(s), 480)) + `"`
}

// yamlName writes a skill's name, quoted where YAML would read something else.
func yamlName(name string) string {
	switch name {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return `"` + name + `"`
	}
	if name[0] >= '0' && name[0] <= '9' {
		return `"` + name + `"`
	}
	return name
}
