package consolidate

import (
	"slices"
	"strings"
)

// step is how a step was run most often, the newest form first among equals, with
// a note on one other form. Forms that differ in what they were pointed at become
// their common shape, with a slot for what differs and one example.
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
	var alike []string
	other := ""
	for _, f := range forms {
		switch {
		case baseOf(strings.Fields(f)) == shape:
			alike = append(alike, f)
		case other == "":
			other = f
		}
	}
	form = forms[0]
	if len(alike) > 1 {
		form = shape
		if !slices.Contains(alike, shape) {
			form = slots(alike, shape)
			note = ", e.g. " + codeSpan(alike[0])
		}
	}
	if other != "" {
		note += " — also run as " + codeSpan(other)
	}
	return form, note
}

// slots writes commands of one shape as one, with a slot for what differs: what all of
// them have stays, what only some of them choose with an option goes.
func slots(forms []string, shape string) string {
	first := strings.Fields(forms[0])
	same := func(i int) bool {
		return !slices.ContainsFunc(forms, func(f string) bool {
			words := strings.Fields(f)
			return len(words) != len(first) || words[i] != first[i]
		})
	}
	rest := strings.Fields(shape)
	test := purposeOf(forms[0]) == "test"
	var out []string
	for i := 0; i < len(first); i++ {
		w := first[i]
		switch {
		case len(rest) > 0 && w == rest[0]:
			out, rest = append(out, w), rest[1:]
		case same(i):
			out = append(out, w)
		case strings.HasPrefix(w, "-"):
			if selects[w] && !same(i) {
				i++
			}
		default:
			if s := slot(w, test); len(out) == 0 || out[len(out)-1] != s {
				out = append(out, s)
			}
		}
	}
	return strings.Join(append(out, rest...), " ")
}

// slot names what a word of a command stands for.
func slot(w string, test bool) string {
	name, value, sets := strings.Cut(w, "=")
	switch {
	case sets && name != "" && value != "":
		return name + "=" + slot(value, false)
	case strings.Trim(w, "v0123456789.+-") == "" && strings.Contains(w, "."):
		return "<version>"
	case strings.Trim(w, "0123456789") == "":
		return "<number>"
	case test:
		return "<test>"
	case strings.ContainsAny(w, "/."):
		return "<path>"
	}
	return "<name>"
}
