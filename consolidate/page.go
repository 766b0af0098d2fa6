package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Headings of MEMORY.md in their order.
const (
	headPreferences = "## User preferences"
	headOnce        = "## Said once"
	headRequired    = "## Required by the repository"
	headCommands    = "## Build, test and other commands"
	headKnown       = "## What is known"
	headFailures    = "## Failures and fixes"
	headEnvironment = "## Environment"
	headFiles       = "## Files that matter"
	headRecent      = "## Recent work"
	headOpen        = "## Open ends"
	headNotes       = "## Notes" // hand edits whose section is gone
)

var memoryHeads = []string{
	headPreferences, headOnce, headRequired, headCommands, headKnown, headFailures,
	headEnvironment, headFiles, headRecent, headOpen, headNotes,
}

// A page is a Markdown file with sections. The first one is the head: the title and the lines below it.
type page struct{ sections []*section }

type section struct {
	heading string // with its marks; empty for the head
	lines   []string
}

func newPage(head string) *page {
	return &page{[]*section{{lines: strings.Split(strings.TrimRight(head, "\n"), "\n")}}}
}

// readPage reads a Markdown file. Blank lines at both ends of sections are dropped.
func readPage(text string) *page {
	p := &page{[]*section{{}}}
	for i, one := range memoir.Blocks(text) {
		last := p.sections[len(p.sections)-1]
		switch {
		case isHeading(one.Text) && (i > 0 || level(one.Text) > 1):
			p.sections = append(p.sections, &section{heading: one.Text})
			continue
		case one.Apart && len(last.lines) > 0:
			last.lines = append(last.lines, "")
		}
		last.lines = append(last.lines, strings.Split(one.Text, "\n")...)
	}
	return p
}

func (p *page) add(heading string, lines []string) {
	if len(lines) > 0 {
		p.sections = append(p.sections, &section{heading: heading, lines: lines})
	}
}

func (p *page) drop(heading string) {
	p.sections = slices.DeleteFunc(p.sections, func(s *section) bool { return s.heading == heading })
}

// order sorts the sections of level 2 by memoryHeads, each with its subsections, and joins those with the same
// heading. Other headings come after headKnown.
func (p *page) order() {
	known := slices.Index(memoryHeads, headKnown)
	ranks := map[*section]int{p.sections[0]: -1}
	rank := known
	out := p.sections[:1:1]
	for _, s := range p.sections[1:] {
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

// weights are how much a line of a section counts when room is short, by its heading: the more, the fewer lines stay.
var weights = map[string]int{
	headPreferences: 1, headWants: 1, headKnown: 2, headWorth: 2, headFailures: 4, headAvoid: 4,
	headCommands: 5, headBuild: 5, headRecent: 6, headOpen: 12, headFiles: 12,
}

// shrink drops lines until the page has at most limit bytes: always the last line of the section with most weight. The
// map is dropped last. The head and lines for which keep is true stay.
func (p *page) shrink(limit int, keep func(line string) bool) {
	for len(p.String()) > limit {
		var longest *section
		most, at := 0, 0
		for _, s := range p.sections[1:] {
			weight := cmp.Or(weights[s.heading], 4) * len(s.lines)
			if s.heading == headMap {
				weight = 0
			}
			last := len(s.lines) - 1
			for last >= 0 && keep(s.lines[last]) {
				last--
			}
			if last >= 0 && weight >= most {
				longest, most, at = s, weight, last
			}
		}
		if longest == nil {
			return
		}
		longest.lines = slices.Delete(longest.lines, at, at+1)
	}
}

// String renders the page without sections that have no lines, neither directly nor in subsections.
func (p *page) String() string {
	var b strings.Builder
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
		if i > 0 {
			b.WriteString("\n" + s.heading + "\n\n")
		}
		for _, l := range s.lines {
			b.WriteString(l + "\n")
		}
	}
	return tidyBreaks(b.String())
}

// entries returns the list entries of a section of level 2 and its subsections, without unconfirmed claims.
func (p *page) entries(heading string) []string {
	var out []string
	within := false
	for _, s := range p.sections {
		if level(s.heading) == 2 {
			within = s.heading == heading
		}
		for _, l := range s.lines {
			if within && isEntry(l) && !isClaim(l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// others returns the headings of level 2 that a person or a model chose.
func (p *page) others() (out []string) {
	for _, s := range p.sections[1:] {
		if level(s.heading) == 2 && (s.heading == headNotes || !slices.Contains(memoryHeads, s.heading)) {
			out = append(out, s.heading)
		}
	}
	return out
}

var isHeading = memoir.IsHeading

func level(heading string) int { return len(heading) - len(strings.TrimLeft(heading, "#")) }

var listMark = lazyregexp.New(`^(?:[-*+]|\d{1,9}[.)])(?: |$)`)

func isEntry(l string) bool { return listMark.MatchString(l) }

// IsEntry reports whether a line of a memory is a list entry, possibly of another one.
func IsEntry(line string) bool { return isEntry(strings.TrimSpace(line)) }

func withoutMark(line string) string { return listMark.ReplaceAllString(strings.TrimSpace(line), "") }

func fence(l string) bool {
	l = strings.TrimSpace(l)
	return strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~")
}

func tidyBreaks(s string) string { return memoir.JoinBlocks(memoir.Blocks(s)) }
