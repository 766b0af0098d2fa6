package consolidate

import (
	"slices"
	"strings"
)

// readPage reads a Markdown file as a page: its head goes to the first heading
// below the title; blank lines at the ends of sections are dropped.
func readPage(text string) *page {
	p := &page{}
	var s *section
	text = strings.ReplaceAll(text, "\r\n", "\n")
	fenced, closed := false, fencesClose(text)
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimRight(l, " \t\r")
		if closed && fence(l) {
			fenced = !fenced
		}
		switch {
		case !fenced && isHeading(l) && level(l) > 1:
			s = p.section(l)
		case s == nil:
			p.head += l + "\n"
		default:
			s.add(l, 0)
		}
	}
	for _, s := range p.sections {
		s.trim()
	}
	return p
}

// fencesClose reports whether every code fence that a text opens is closed.
func fencesClose(text string) bool {
	open := false
	for l := range strings.Lines(text) {
		if fence(l) {
			open = !open
		}
	}
	return !open
}

// trim drops the blank lines at both ends of a section.
func (s *section) trim() {
	for len(s.lines) > 0 && s.lines[0].text == "" {
		s.lines = s.lines[1:]
	}
	for len(s.lines) > 0 && s.lines[len(s.lines)-1].text == "" {
		s.lines = s.lines[:len(s.lines)-1]
	}
}

// find returns the section of a heading, nil if there is none.
func (p *page) find(heading string) *section {
	if i := slices.IndexFunc(p.sections, func(s *section) bool { return s.heading == heading }); i >= 0 {
		return p.sections[i]
	}
	return nil
}

// drop removes a section and what is below it.
func (p *page) drop(heading string) {
	var out []*section
	below := 0
	for _, s := range p.sections {
		if below > 0 && level(s.heading) > below {
			continue
		}
		below = 0
		if s.heading == heading {
			below = level(heading)
			continue
		}
		out = append(out, s)
	}
	p.sections = out
}

// A chapter is a section of the second level with those below it.
type chapter struct {
	*section
	parts []*section
	rank  int
}

// inOrder brings a page's chapters into the order of their headings, and joins
// those of the same heading. A chapter under another heading stays behind the
// one that it follows if keep says so; else it becomes part of the chapter rest,
// under a heading of its own if rest has such.
func (p *page) inOrder(heads []string, rest string, parted bool, keep func(heading string) bool) {
	var chapters []*chapter
	get := func(heading string) *chapter {
		i := slices.IndexFunc(chapters, func(c *chapter) bool { return c.heading == heading })
		if i < 0 {
			i = len(chapters)
			chapters = append(chapters, &chapter{section: &section{heading: heading}, rank: slices.Index(heads, heading)})
		}
		return chapters[i]
	}
	var at *chapter
	foreign := ""
	for _, s := range p.sections {
		if level(s.heading) == 2 {
			s.heading, foreign = canonical(s.heading, heads), ""
			if slices.Contains(heads, s.heading) || keep(s.heading) {
				at = get(s.heading)
				at.lines = append(at.lines, s.lines...)
				continue
			}
			at, foreign = get(rest), "#"+s.heading
			if !parted {
				at.lines = append(at.lines, s.lines...)
				continue
			}
			s.heading = foreign
		}
		if at == nil {
			at = get(rest)
		}
		i := slices.IndexFunc(at.parts, func(o *section) bool { return o.heading == s.heading })
		if i < 0 {
			at.parts = append(at.parts, s)
			continue
		}
		at.parts[i].lines = append(at.parts[i].lines, s.lines...)
	}
	for i, c := range chapters {
		if c.rank < 0 && i > 0 {
			c.rank = chapters[i-1].rank
		}
	}
	slices.SortStableFunc(chapters, func(a, b *chapter) int { return a.rank - b.rank })
	p.sections = nil
	for _, c := range chapters {
		p.sections = append(append(p.sections, c.section), c.parts...)
	}
}

// canonical is a heading in the words of the one that it means.
func canonical(heading string, heads []string) string {
	plain := func(h string) string { return strings.ToLower(strings.Trim(h, "#: ")) }
	for _, h := range heads {
		if plain(h) == plain(heading) {
			return h
		}
	}
	return heading
}
