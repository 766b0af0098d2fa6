package consolidate

import (
	"slices"
	"strings"
)

// A page is a Markdown file made of sections of lines, from which the least
// valuable lines can be shed.
type page struct {
	head     string // before the first section
	sections []*section
}

type section struct {
	heading string // with its marks
	lines   []*line
}

type line struct {
	text  string
	value float64 // what is shed goes by it, the least first
	index string  // of a line that explains a citation: the short id; it goes with the last that cites it
	gone  bool
}

func (p *page) section(heading string) *section {
	s := &section{heading: heading}
	p.sections = append(p.sections, s)
	return s
}

func (s *section) add(text string, value float64) *line {
	l := &line{text: text, value: value}
	s.lines = append(s.lines, l)
	return l
}

// String renders the page without empty sections. A section is empty if neither
// it nor one below it has a line.
func (p *page) String() string {
	var b strings.Builder
	b.WriteString(p.head)
	for i, s := range p.sections {
		if !p.filled(i) {
			continue
		}
		b.WriteString("\n" + s.heading + "\n\n")
		for _, l := range s.lines {
			if !l.gone {
				b.WriteString(l.text + "\n")
			}
		}
	}
	return tidyBreaks(b.String())
}

func (p *page) filled(i int) bool {
	if slices.ContainsFunc(p.sections[i].lines, func(l *line) bool { return !l.gone }) {
		return true
	}
	depth := level(p.sections[i].heading)
	for _, below := range p.sections[i+1:] {
		if level(below.heading) <= depth {
			return false
		}
		if slices.ContainsFunc(below.lines, func(l *line) bool { return !l.gone }) {
			return true
		}
	}
	return false
}

func level(heading string) int { return len(heading) - len(strings.TrimLeft(heading, "#")) }

func tidyBreaks(s string) string {
	for strings.Contains(s, "\n\n\n") {
		s = strings.ReplaceAll(s, "\n\n\n", "\n\n")
	}
	return s
}
