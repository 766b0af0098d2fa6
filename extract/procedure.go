package extract

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
)

const (
	minSteps = 3  // distinct steps from which a turn is a procedure
	maxSteps = 14 // steps kept of one
)

// procedures lists, for every ask, the ordered commands that it took, as far as
// they succeeded: consolidation looks for those that recur. What a person throws
// in while the work goes on (a queued prompt, a refusal, an assent) does not cut
// it in two.
func procedures(r *reading) []found {
	var out []found
	times := map[string]int{} // of the same steps
	at := map[string]int{}
	for i := 0; i < len(r.turns); {
		t := r.turns[i]
		runs, from := slices.Clone(t.runs), i
		for i++; i < len(r.turns) && continues(r.turns[i]); i++ {
			runs = append(runs, r.turns[i].runs...)
		}
		if t.ask == nil || t.said.trivial {
			continue
		}
		var steps []string
		var items []int
		own := 0 // steps that do something
		working, checks := false, true
		seen := map[string]bool{}
		for _, run := range slices.Backward(runs) {
			for _, c := range slices.Backward(run.cmds) {
				if !run.succeeded(c) || c.place != "" {
					continue
				}
				working = working || c.use != forVCS
				checks = checks && (c.use == forFormat || c.use == forLint || c.use == forTest || c.use == forBuild)
				// Only the last time counts: what was tried before it led nowhere.
				if step := r.general(c); !seen[step] && len(steps) < maxSteps {
					seen[step] = true
					steps, items = append(steps, step), append(items, run.item)
					own++
				}
			}
			for _, s := range run.parts {
				if look := hostLook(s.words); look != "" && !s.script && !run.failed && !seen[look] && len(steps) < maxSteps {
					seen[look] = true
					steps, items = append(steps, look), append(items, run.item)
				}
			}
		}
		if own < minSteps || !working {
			continue
		}
		slices.Reverse(steps)
		slices.Reverse(items)
		for i, s := range steps {
			steps[i] = code(s)
		}
		chain := strings.Join(steps, " → ")
		if times[chain]++; times[chain] > 1 {
			k := at[chain]
			out[k].Items = mergeItems(out[k].Items, firstAndLast(items, 2))
			out[k].weight += 0.5
			continue
		}
		at[chain] = len(out)
		out = append(out, found{memoir.Statement{
			Kind: memoir.StatementProcedure, Text: r.occasion(r.turns[from:i], checks) + ": " + chain, Items: firstAndLast(items, 4),
		}, 1.5 + 0.1*float64(len(steps))})
	}
	for chain, n := range times {
		if n > 1 {
			out[at[chain]].Text += fmt.Sprintf(" (%d times)", n)
		}
	}
	out = withoutParts(out)
	slices.SortStableFunc(out, heavier)
	return out[:min(len(out), 4)]
}

// withoutParts drops what was done after a change if it is a part of what was done
// after another, in whatever order.
func withoutParts(list []found) []found {
	steps := func(f found) []string {
		_, chain, _ := strings.Cut(f.Text, ": `")
		chain, _, _ = strings.Cut(chain, "` (")
		return strings.Split("`"+strings.TrimSuffix(chain, "`")+"`", " → ")
	}
	gone := make([]bool, len(list))
	for i, f := range list {
		if strings.HasPrefix(f.Text, "“") {
			continue
		}
		mine := steps(f)
		for k, other := range list {
			if k == i || gone[k] || strings.HasPrefix(other.Text, "“") {
				continue
			}
			if theirs := steps(other); len(mine) <= len(theirs) && !slices.ContainsFunc(mine, func(s string) bool { return !slices.Contains(theirs, s) }) {
				gone[i] = true
				break
			}
		}
	}
	var out []found
	for i, f := range list {
		if !gone[i] {
			out = append(out, f)
		}
	}
	return out
}

// occasion is when the commands of some turns were run: as a person asked, where
// they bade something done that may come again, else after what was changed. What
// they asked about the change itself holds for that once.
func (r *reading) occasion(turns []*turn, checks bool) string {
	if !checks {
		if label := labelOf(turns[0].said, r); commands(words(label)) && !nameless(words(label)) {
			return quote(shorten(strings.ReplaceAll(shortLinks(label), "`", ""), maxLabel))
		}
	}
	where, changed := "", false
	for _, t := range turns {
		for _, p := range t.files {
			switch dir := path.Dir(p); {
			case strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.HasPrefix(p, "..") || strings.Contains(p, "`"):
			case !changed:
				where, changed = dir, true
			default:
				where = above(where, dir)
			}
		}
	}
	if !changed {
		return "in order"
	}
	if where == "." {
		return "after a change"
	}
	return "after a change in " + code(where)
}

// nameless reports whether a request of two words points at what was said before: it
// names no kind of work.
func nameless(norm string) bool {
	return strings.Count(strings.TrimSpace(norm), " ") < 2 && has(norm, pointers)
}

// pointers are the pronouns of several languages.
var pointers = newPhrases("it|this|that|these|those|them|es|das|dies|ça|cela|le|la|lo|eso|esto|isso|isto|quello|questo|dit|dat|это|to")

// general is a test command with "…" for the operands that name what this very
// session wrote into the code: the next time there are others.
func (r *reading) general(c command) string {
	if c.use != forTest {
		return c.text
	}
	words := strings.Fields(c.text)
	for i, w := range words[1:] {
		all := true
		for name := range strings.SplitSeq(unquote(w), "|") {
			name = strings.Trim(name[strings.LastIndexByte(name, ':')+1:], "^$()")
			all = all && r.files.wrote(name)
		}
		if all {
			words[i+1] = "…"
		}
	}
	return strings.Join(words, " ")
}

// above is the directory that two share, "." if that is the repository itself.
func above(a, b string) string {
	for a != "." && a != b && !strings.HasPrefix(b, a+"/") {
		a = path.Dir(a)
	}
	return a
}

// maxLabel bounds, in bytes, what a person asked where a procedure is called by it.
const maxLabel = 48

// labelOf is the clause of an ask that names its work: the first that bids something.
func labelOf(a ask, r *reading) string {
	text := withoutOpening(askText(a, r, true))
	for _, s := range sentences(text) {
		if !request(s) {
			continue
		}
		for _, c := range append(clauses(s), s) {
			if commands(words(c)) && len(strings.Fields(c)) > 2 {
				return withoutOpening(c)
			}
		}
		return withoutOpening(s)
	}
	return text
}

// continues reports whether a turn goes on with the work of the one before.
func continues(t *turn) bool {
	if t.ask == nil {
		return true
	}
	if rules(t.said) {
		return true
	}
	return t.ask.Origin == memoir.OriginQueued || t.ask.Origin == memoir.OriginRejection || t.ask.Origin == memoir.OriginAnswer || t.said.trivial || t.said.denies
}
