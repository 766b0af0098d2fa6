package consolidate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// shed drops the least valuable lines until the page has at most limit bytes,
// and says in its head how many went, and from where. A line that explains a citation goes with
// the last line that cites it.
func (p *page) shed(limit int) int {
	const note = 400 // bytes for the remark on what was shed
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
	p.head += fmt.Sprintf("\n_%s of lesser value left out to stay within %d bytes: %s._\n", plural(n, "line"), limit+note, p.gone())
	return n
}

// gone tells how many lines each section lost, in the order of the sections.
func (p *page) gone() string {
	var parts []string
	name, n := "", 0
	count := func() {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", n, name))
		}
		n = 0
	}
	for _, s := range p.sections {
		if level(s.heading) <= 2 { // what stands deeper counts for the section above it
			if title := strings.TrimLeft(s.heading, "# "); title != name {
				count()
				name = title
			}
		}
		for _, l := range s.lines {
			if l.gone && l.index == "" {
				n++
			}
		}
	}
	count()
	return strings.Join(parts, ", ")
}
