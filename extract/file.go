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
	count := func(edits []edit, changed bool) {
		for _, e := range edits {
			p := path.Clean(e.path)
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
	for _, t := range order {
		now := r.ledger.where(t.path, t.items[len(t.items)-1])
		if other := counts[now]; other != nil && other != t && other.changed == t.changed {
			other.n += t.n
			other.items = append(slices.Clone(t.items), other.items...)
			now = ""
		}
		t.path = now
	}
	order = slices.DeleteFunc(order, func(t *tally) bool { return t.path == "" })
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
		if by := r.made[t.path]; by != "" {
			text += ", generated (" + code(shorten(by, 80)) + "): not to be edited by hand"
		}
		weight := 1 + 0.2*float64(min(t.n, 8))
		if !t.changed {
			weight -= 0.6
		}
		out = append(out, found{memoir.Statement{Kind: memoir.StatementFile, Text: text, Items: firstAndLast(t.items, 3)}, weight})
	}
	return out
}
