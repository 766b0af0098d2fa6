package consolidate

import (
	"slices"
	"strings"
)

// Headings of MEMORY.md in their order.
const (
	headPreferences = "## User preferences"
	headRequired    = "## Required by the repository"
	headCommands    = "## Build, test and other commands"
	headKnown       = "## What is known"
	headFailures    = "## Failures and fixes"
	headEnvironment = "## Environment"
	headFiles       = "## Files that matter"
	headRecent      = "## Recent work"
	headOpen        = "## Open ends"
	headNotes       = "## Notes" // lines of people whose section is gone
)

var memoryHeads = []string{
	headPreferences, headRequired, headCommands, headKnown, headFailures,
	headEnvironment, headFiles, headRecent, headOpen, headNotes,
}

// shedding is the order in which sections give up lines where a page is too long.
var shedding = []string{
	headFiles, headOpen, headRecent, headKnown, headEnvironment, headFailures, headCommands, headRequired, headPreferences,
}

// A page is a Markdown file made of sections of lines.
type page struct {
	head     string // before the first section
	sections []*section
}

type section struct {
	heading string // with its marks
	lines   []string
}

// readPage reads a Markdown file as a page: its head goes to the first heading below
// the title. Blank lines at both ends of sections are dropped.
func readPage(text string) *page {
	p := &page{}
	fenced, closed := false, fencesClose(text)
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \t\r\n")
		if closed && fence(l) {
			fenced = !fenced
		}
		switch last := len(p.sections) - 1; {
		case !fenced && isHeading(l) && level(l) > 1:
			p.sections = append(p.sections, &section{heading: l})
		case last < 0:
			p.head += l + "\n"
		default:
			p.sections[last].lines = append(p.sections[last].lines, l)
		}
	}
	for _, s := range p.sections {
		s.trim()
	}
	return p
}

func (s *section) trim() {
	for len(s.lines) > 0 && s.lines[0] == "" {
		s.lines = s.lines[1:]
	}
	for len(s.lines) > 0 && s.lines[len(s.lines)-1] == "" {
		s.lines = s.lines[:len(s.lines)-1]
	}
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

// add appends a section, unless it is empty.
func (p *page) add(heading string, lines []string) {
	if len(lines) > 0 {
		p.sections = append(p.sections, &section{heading, lines})
	}
}

// find returns the section of a heading, nil if there is none.
func (p *page) find(heading string) *section {
	if i := slices.IndexFunc(p.sections, func(s *section) bool { return s.heading == heading }); i >= 0 {
		return p.sections[i]
	}
	return nil
}

// order sorts the chapters by memoryHeads, each with the sections below it, and joins
// those with the same heading. Chapters with other headings come behind what is known.
func (p *page) order() {
	known := slices.Index(memoryHeads, headKnown)
	ranks := map[*section]int{}
	rank := known
	var out []*section
	for _, s := range p.sections {
		if level(s.heading) == 2 {
			heading := strings.TrimRight(s.heading, ": ")
			rank = slices.IndexFunc(memoryHeads, func(h string) bool { return strings.EqualFold(h, heading) })
			if rank < 0 {
				rank = known
			} else {
				s.heading = memoryHeads[rank]
			}
		}
		ranks[s] = rank
		if i := slices.IndexFunc(out, func(o *section) bool { return o.heading == s.heading && ranks[o] == rank }); i >= 0 {
			out[i].lines = append(out[i].lines, s.lines...)
			continue
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b *section) int { return ranks[a] - ranks[b] })
	p.sections = out
}

// fit drops lines until the page has at most limit bytes: the last ones of each section
// in the order of shedding, down to half of it, then all. What keep says stays.
func (p *page) fit(limit int, keep func(line string) bool) {
	size := len(p.String())
	order := slices.Clone(p.sections)
	slices.SortStableFunc(order, func(a, b *section) int {
		return slices.Index(shedding, a.heading) - slices.Index(shedding, b.heading)
	})
	for _, share := range []int{2, 0} {
		for _, s := range order {
			least := 0
			if share > 0 {
				least = len(s.lines) / share
			}
			for i := len(s.lines) - 1; i >= least && size > limit; i-- {
				if !keep(s.lines[i]) {
					size -= len(s.lines[i]) + 1
					s.lines = slices.Delete(s.lines, i, i+1)
				}
			}
		}
	}
}

// String renders the page without sections in which, and below which, no line stands.
func (p *page) String() string {
	var b strings.Builder
	b.WriteString(p.head)
	for i, s := range p.sections {
		filled := len(s.lines) > 0
		for _, below := range p.sections[i+1:] {
			if level(below.heading) <= level(s.heading) {
				break
			}
			filled = filled || len(below.lines) > 0
		}
		if !filled {
			continue
		}
		b.WriteString("\n" + s.heading + "\n\n")
		for _, l := range s.lines {
			b.WriteString(l + "\n")
		}
	}
	return tidyBreaks(b.String())
}

func level(heading string) int { return len(heading) - len(strings.TrimLeft(heading, "#")) }

func tidyBreaks(s string) string {
	for strings.Contains(s, "\n\n\n") {
		s = strings.ReplaceAll(s, "\n\n\n", "\n\n")
	}
	return s
}
