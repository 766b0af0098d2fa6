package extract

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
)

const (
	maxFiles   = 8 // files listed of one session
	manyReads  = 4 // reads of an unchanged file from which it matters
	maxNames   = 4 // definitions told of a file that the session added
	unrelative = "/"

	changedMark = " — changed" // behind a file that the session changed
)

// files lists what was changed, most often first, then what was read again and again.
func files(r *reading) []found {
	type tally struct {
		path    string
		n       int
		items   []int
		changed bool
	}
	counts := map[string]*tally{}
	var order []*tally
	names := map[string]*nameList{}
	merged := map[[2]string]bool{}
	count := func(edits []edit, changed bool) {
		last := map[string]int{}
		for _, e := range edits {
			last[e.path] = e.item
		}
		for _, e := range edits {
			p := r.files.now(path.Clean(e.path), last[e.path])
			if p == "" || changed && r.revisions.undone(e.path) { // removed, or as it was
				continue
			}
			if (names[p] == nil || e.path != p) && !merged[[2]string{p, e.path}] {
				merged[[2]string{p, e.path}] = true
				for _, n := range r.files.names[e.path].list() {
					if names[p] == nil {
						names[p] = &nameList{at: map[string]int{}}
					}
					names[p].add(n)
				}
			}
			if p == "." || strings.HasPrefix(p, unrelative) || strings.HasPrefix(p, "~") || strings.HasPrefix(p, "..") || strings.ContainsAny(p, "`\n$*") || len(p) > 160 {
				continue
			}
			t := counts[p]
			if t == nil {
				t = &tally{path: p, changed: changed}
				counts[p] = t
				order = append(order, t)
			}
			if t.changed == changed {
				t.n++
				t.items = append(t.items, e.item)
			}
		}
	}
	count(r.edits, true)
	count(r.reads, false)
	slices.SortStableFunc(order, func(a, b *tally) int {
		if a.changed != b.changed {
			if a.changed {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.n, a.n)
	})
	var out []found
	for _, t := range order {
		if len(out) == maxFiles {
			break
		}
		var text string
		switch {
		case t.changed && t.n == 1:
			text = code(t.path) + changedMark
		case t.changed:
			text = fmt.Sprintf("%s%s %d times", code(t.path), changedMark, t.n)
		case t.n >= manyReads:
			text = fmt.Sprintf("%s — read %d times", code(t.path), t.n)
		default:
			continue
		}
		var note []string
		if by := r.made[t.path]; by != "" {
			note = append(note, "generated ("+code(shorten(by, 80))+"): not to be edited by hand")
		} else if list := names[t.path].list(); t.changed && len(list) > 0 {
			for i, n := range list[:min(len(list), maxNames)] {
				list[i] = code(n)
			}
			note = append(note, "adds "+strings.Join(list[:min(len(list), maxNames)], ", "))
			if len(list) > maxNames {
				note[0] += fmt.Sprintf(" and %d more", len(list)-maxNames)
			}
		}
		if len(note) > 0 {
			text += " (" + strings.Join(note, "; ") + ")"
		}
		weight := 1 + 0.2*float64(min(t.n, 8))
		if !t.changed {
			weight -= 0.6
		}
		out = append(out, found{memoir.Statement{Kind: memoir.StatementFile, Text: text, Items: firstAndLast(t.items, 3)}, weight})
	}
	return out
}
