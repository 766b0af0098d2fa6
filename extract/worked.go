package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memoir"
)

// worked lists the build, test, lint, release and similar commands that
// succeeded, with how often, the most general form of a family first.
func worked(r *reading) []found {
	type tally struct {
		command
		ok, failed int
		items      []int
		lastFailed bool
	}
	counts := map[string]*tally{}
	var order []*tally
	for _, run := range r.runs {
		seen := map[string]bool{}
		guilty, _ := blamed(run)
		for _, c := range run.cmds {
			key := c.place + "\x00" + c.full()
			if c.use == forVCS || seen[key] {
				continue
			}
			seen[key] = true
			t := counts[key]
			if t == nil {
				t = &tally{command: c}
				counts[key] = t
				order = append(order, t)
			}
			switch {
			case run.succeeded(c):
				t.ok++
				t.lastFailed = false
				t.items = append(t.items, run.item)
			case run.failed && guilty == c:
				t.failed++
				t.lastFailed = true
			}
		}
	}
	slices.SortStableFunc(order, func(a, b *tally) int { return cmp.Compare(b.ok, a.ok) })
	var out []found
	listed := map[string]int{}
	for _, t := range order {
		if t.ok == 0 || t.lastFailed && t.failed >= t.ok {
			continue
		}
		family := t.place + "\x00" + t.family
		if listed[family]++; listed[family] > 3 {
			continue
		}
		weight := useWeight[t.use] + 0.3*float64(min(t.ok, 5)) - 0.6*float64(listed[family]-1)
		if t.place != "" {
			weight -= 1.5
		}
		if len(t.text) > 110 {
			weight--
			if t.ok == 1 && (t.use == forInstall || t.use == forRun) {
				continue
			}
		}
		var note []string
		if t.ok > 1 {
			note = append(note, fmt.Sprintf("ran %d times", t.ok))
		}
		if t.failed > 0 {
			note = append(note, fmt.Sprintf("%d failed", t.failed))
		}
		verb := useVerb[t.use]
		if strings.Contains(t.text, "check") {
			verb = "passes"
		}
		text := code(t.full()) + " " + verb
		if len(note) > 0 {
			text += " (" + strings.Join(note, ", ") + ")"
		}
		text += elsewhere(t.place)
		out = append(out, found{memoir.Statement{Kind: memoir.StatementCommand, Text: text, Items: firstAndLast(t.items, 4)}, weight})
	}
	return out
}

var useWeight = map[string]float64{forTest: 4, forLint: 3.5, forBuild: 3.3, forFormat: 3, forRelease: 3.3, forInstall: 2, forRun: 1.6}

var useVerb = map[string]string{
	forTest: "passes", forLint: "passes", forBuild: "works", forFormat: "formats", forRelease: "works", forInstall: "works", forRun: "works",
}

// firstAndLast keeps at most n items: the first and the newest.
func firstAndLast(items []int, n int) []int {
	items = slices.Compact(slices.Clone(items))
	if len(items) <= n {
		return items
	}
	return append(items[:1:1], items[len(items)-n+1:]...)
}
