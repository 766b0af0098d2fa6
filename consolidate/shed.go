package consolidate

import (
	"cmp"
	"fmt"
	"slices"
)

// shed drops the least valuable lines until the page has at most limit bytes,
// and says in its head how many went. A line that explains a citation goes with
// the last line that cites it.
func (p *page) shed(limit int) int {
	const note = 100 // bytes for the remark on what was shed
	if len(p.String()) <= limit {
		return 0
	}
	limit -= note
	var all []*line
	index := map[string]*line{}
	citing := map[string]int{}
	for _, s := range p.sections {
		for _, l := range s.lines {
			if l.index != "" {
				index[l.index] = l
				continue
			}
			all = append(all, l)
			for _, id := range cites(l.text) {
				citing[id]++
			}
		}
	}
	for id, l := range index {
		l.gone = citing[id] == 0
	}
	slices.SortStableFunc(all, func(a, b *line) int { return cmp.Compare(a.value, b.value) })
	size := len(p.String())
	n := 0
	for _, l := range all {
		if size <= limit {
			// Headings of sections that became empty are still counted: measure.
			if size = len(p.String()); size <= limit {
				break
			}
		}
		l.gone = true
		n++
		size -= len(l.text) + 1
		for _, id := range cites(l.text) {
			if citing[id]--; citing[id] == 0 && index[id] != nil {
				index[id].gone = true
				size -= len(index[id].text) + 1
			}
		}
	}
	p.head += fmt.Sprintf("\n_%s of lesser value left out to stay within %d bytes._\n", plural(n, "line"), limit+note)
	return n
}
