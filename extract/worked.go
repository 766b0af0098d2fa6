package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"memoir"
)

// worked lists the build, test, lint, release and similar commands that
// succeeded, with how often they ran and failed, the most general form of a family first.
func worked(r *reading) []found {
	type tally struct {
		command
		ok, failed int
		items      []int
		lastFailed bool
		runs       string // what it was seen to run
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
				if t.runs == "" {
					t.runs = expansion(c, len(run.cmds) == 1, run.output)
				}
			case run.failed && before(run, c):
				t.ok++
				t.items = append(t.items, run.item)
			case run.failed && guilty == c && !run.declined():
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
		// Of one family three stay, and what no other run of it had switched on.
		family := t.place + "\x00" + t.family
		special := family + "\x00" + distinguishing(t.command)
		if listed[family] >= 3 && listed[special] > 0 || listed[family] >= 6 {
			continue
		}
		listed[family]++
		listed[special]++
		weight := useWeight[t.use] + 0.3*float64(min(t.ok, 5)) - 0.6*float64(min(listed[family]-1, 3))
		if listed[special] == 1 && listed[family] > 1 {
			weight += 0.4
		}
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
		if n := t.ok + t.failed; n > 1 {
			note = append(note, fmt.Sprintf("ran %d times", n))
		}
		if t.failed > 0 {
			note = append(note, fmt.Sprintf("%d failed", t.failed))
		}
		verb := useVerb[t.use]
		if strings.Contains(t.text, "check") {
			verb = "passes"
		}
		if t.use == forFormat && strings.Contains(t.text, "fix") {
			verb = "fixes"
		}
		text := code(t.full()) + " " + verb
		if len(note) > 0 {
			text += " (" + strings.Join(note, ", ") + ")"
		}
		if t.runs != "" {
			text += " — runs " + code(t.runs)
		}
		text += elsewhere(t.place)
		out = append(out, found{memoir.Statement{Kind: memoir.StatementCommand, Text: text, Items: firstAndLast(t.items, 4)}, weight})
	}
	return out
}

// distinguishing are the options of a command that change what it does rather
// than choose a part of it, and what stands in front of it.
func distinguishing(c command) string {
	words := strings.Fields(c.text)
	var out []string
	for i, w := range words {
		name, _, assigned := strings.Cut(w, "=")
		if !strings.HasPrefix(w, "-") || w == "--" || selecting()[name] {
			continue
		}
		out = append(out, w)
		if !assigned && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") && !looksLikeFile(words[i+1]) {
			out = append(out, words[i+1])
		}
	}
	slices.Sort(out)
	return c.prefix + " " + strings.Join(out, " ")
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
