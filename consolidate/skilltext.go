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

// render writes SKILL.md; row is what the skill's script does, nil if it has none.
func (r *recurrence) render(k *knowledge, name string, row []string) string {
	from := r.sessions()
	var labels []string
	for i := len(r.procs) - 1; i >= 0; i-- {
		if l := r.procs[i].label; l != "" && !slices.ContainsFunc(labels, func(o string) bool { return alikeAsk(o, l) }) {
			labels = append(labels, l)
		}
	}
	slices.SortStableFunc(labels, func(a, b string) int {
		return cmp.Compare(jaccard(tokens(b), tokens(strings.ReplaceAll(name, "-", " "))), jaccard(tokens(a), tokens(strings.ReplaceAll(name, "-", " "))))
	})
	steps := make([]string, len(r.keys))
	for i, key := range r.keys {
		steps[i], _ = r.step(key)
		steps[i] = cut(steps[i], 60)
	}
	desc := fmt.Sprintf("The steps that worked in this project, in order: %s.", strings.Join(steps, ", "))
	switch {
	case len(labels) > 0 && (len(labels) < len(r.procs) || name != r.stepName()): // the asks have something in common
		desc += " Use when the user asks for something like " + strings.Join(quoteAll(labels[:min(len(labels), 2)]), ", ") + "."
	case len(labels) > 0:
		desc += " Use when one of them is due; so far they were taken for " + strings.Join(quoteAll(labels[:min(len(labels), 2)]), " and ") + "."
	default:
		desc += " Use when one of them is due."
	}
	front := "---\nname: " + yamlName(name) + "\ndescription: " + yamlString(desc) + "\n---\n"
	var b strings.Builder
	b.WriteString("\n# " + r.title(name) + "\n")
	b.WriteString("\nTaken from " + plural(len(r.procs), "run") + " in " + plural(len(from), "session") + " " + citations(from, len(from)) + "\n")

	named, vocabulary := strings.Split(name, "-"), r.vocabulary()
	related := func(claims []*claim) []*claim {
		var out []*claim
		for _, c := range claims {
			if len(out) < 5 && r.about(c, named, vocabulary) {
				out = append(out, c)
			}
		}
		return out
	}
	if rules := related(k.preferences); len(rules) > 0 {
		b.WriteString("\n## Before you start\n\n")
		for _, c := range rules {
			b.WriteString("- " + c.line() + "\n")
		}
	}
	b.WriteString("\n## Steps\n\n")
	for i, key := range r.keys {
		step, note := r.step(key)
		fmt.Fprintf(&b, "%d. %s%s\n", i+1, codeSpan(step), note)
	}
	if row != nil {
		fmt.Fprintf(&b, "\nThe steps from %s to %s were the same each time: `sh scripts/%s` takes them (the path is that of this skill, the directory to run it in is the repository's).\n", codeSpan(row[0]), codeSpan(row[len(row)-1]), scriptName)
	}
	if between := r.sometimes(); len(between) > 0 {
		b.WriteString("\nOften also: " + strings.Join(between, ", ") + ".\n")
	}
	if wrong := related(slices.Concat(lessons(k.failures), k.open)); len(wrong) > 0 {
		b.WriteString("\n## What goes wrong\n\n")
		for _, c := range wrong {
			b.WriteString("- " + c.line() + "\n")
		}
	}
	if checks := r.checks(); len(checks) > 0 {
		b.WriteString("\n## How to verify\n\n")
		for _, c := range checks {
			b.WriteString("- " + codeSpan(c) + " passes\n")
		}
	}
	var out strings.Builder
	out.WriteString(front)
	for line := range strings.Lines(b.String()) {
		out.WriteString(inert(line))
	}
	return out.String()
}

// about reports whether a claim concerns one of the steps, or what was asked.
func (r *recurrence) about(c *claim, named, vocabulary []string) bool {
	text := plain(c.text)
	for _, key := range r.keys {
		name, _, _ := splitCommand(text)
		if stepKey(name) == key && strings.HasPrefix(c.text, "`") {
			return true
		}
	}
	if c.kind != memoir.StatementPreference {
		return false
	}
	shared := 0
	words := tokens(text)
	for _, w := range vocabulary {
		if slices.Contains(words, stem(w)) {
			if shared++; shared > 1 || slices.Contains(named, w) && !weak[w] {
				return true
			}
		}
	}
	return false
}

// vocabulary lists the words of a procedure's asks and steps, each once.
func (r *recurrence) vocabulary() []string {
	var out []string
	for _, p := range r.procs {
		out = append(out, askWords(p.label)...)
	}
	for _, key := range r.keys {
		out = append(out, strings.Fields(key)...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(w string) bool { return weak[w] || len(w) < 2 })
}

// weak words are in too many asks to tie a rule to one.
var weak = map[string]bool{"make": true, "a": true, "fix": true, "to": true, "it": true, "and": true, "add": true, "update": true, "do": true, "use": true, "run": true, "new": true, "is": true, "in": true, "for": true, "that": true, "this": true, "with": true, "of": true, "address": true, "all": true, "be": true, "can": true, "you": true, "we": true}

// step is how a step was run most often, the newest form first among equals, with
// a note on other forms. Forms that differ in what they were pointed at become
// their common shape with an example.
func (r *recurrence) step(key string) (form, note string) {
	counts := map[string]int{}
	var forms []string
	for i := len(r.procs) - 1; i >= 0; i-- {
		for j, k := range r.procs[i].keys {
			if k == key {
				form := r.procs[i].steps[j]
				if counts[form]++; counts[form] == 1 {
					forms = append(forms, form)
				}
			}
		}
	}
	if len(forms) == 0 {
		return key, ""
	}
	slices.SortStableFunc(forms, func(a, b string) int { return counts[b] - counts[a] })
	shape := baseOf(strings.Fields(forms[0]))
	same := 0
	var others []string
	for _, f := range forms {
		switch {
		case baseOf(strings.Fields(f)) == shape:
			same++
		case len(others) < 2:
			others = append(others, codeSpan(f))
		}
	}
	form = forms[0]
	if same > 1 {
		form = shape
		if !slices.Contains(forms, shape) {
			form += " …"
			note = ", e.g. " + codeSpan(forms[0])
		}
	}
	if len(others) > 0 {
		note += " — also run as " + strings.Join(others, ", ")
	}
	return form, note
}

// sometimes lists the steps that half of the runs took besides the common ones.
func (r *recurrence) sometimes() []string {
	counts := map[string]int{}
	var order []string
	for _, p := range r.procs {
		seen := map[string]bool{}
		for _, key := range p.keys {
			if slices.Contains(r.keys, key) || seen[key] {
				continue
			}
			seen[key] = true
			if counts[key]++; counts[key] == 1 {
				order = append(order, key)
			}
		}
	}
	var out []string
	for _, key := range order {
		if counts[key]*2 >= len(r.procs) && counts[key] > 1 {
			form, _ := r.step(key)
			out = append(out, codeSpan(form))
		}
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
