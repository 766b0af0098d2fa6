package consolidate

import (
	"fmt"
	"strings"

	"memoir"
)

// Headings of memory_summary.md in their order.
const (
	headByHand = "## Written by hand" // lines of people that have no other section
	headWants  = "## What the user wants"
	headBuild  = "## Build, test, run"
	headAvoid  = "## Failures to avoid"
	headWorth  = "## What to know"
	headLately = "## Recent work"
	headMap    = "## Where to look"
)

// briefing says which sections of MEMORY.md a section of the summary is made of, how
// many lines each gives and how many bytes a line has.
var briefing = []struct {
	heading     string
	from        []string
	lines, size int
}{
	{headWants, []string{headPreferences}, 8, 180},
	{headBuild, []string{headCommands}, 6, 120},
	{headAvoid, []string{headFailures}, 3, 160},
	{headWorth, []string{headRequired, headKnown, headEnvironment}, 2, 160},
	{headLately, []string{headRecent}, 4, 200},
}

// summarise makes memory_summary.md of a MEMORY.md and its skills, within a number of
// bytes. It is the same whoever wrote MEMORY.md, and cites nothing: the map says
// where the sessions stand.
func summarise(name string, memory *page, skills []memoir.Skill, limit int) string {
	p := &page{head: summaryHead(name)}
	for _, part := range briefing {
		var lines []string
		for _, from := range part.from {
			var all []string
			for _, l := range entriesOf(memory, from) {
				all = append(all, "- "+cut(withoutMark(uncited(l)), part.size))
			}
			if part.heading == headBuild {
				all = onePurposeFirst(all)
			}
			lines = append(lines, all[:min(len(all), part.lines)]...)
		}
		p.add(part.heading, lines)
	}
	p.add(headMap, whereToLook(memory, skills))
	p.shrink(limit)
	return p.String()
}

// shrink drops the last lines of the longest sections, of the map at last, until the page has
// at most limit bytes.
func (p *page) shrink(limit int) {
	for len(p.String()) > limit {
		var longest *section
		most := 0
		for _, s := range p.sections {
			n := 2 * len(s.lines)
			if s.heading == headWants { // rules are worth more
				n /= 3
			}
			if s.heading != headMap && len(s.lines) > 0 && n >= most {
				longest, most = s, n
			}
		}
		if longest == nil {
			if longest = p.find(headMap); longest == nil || len(longest.lines) == 0 {
				return
			}
		}
		longest.lines = longest.lines[:len(longest.lines)-1]
	}
}

func summaryHead(name string) string { return "# " + name + ": what earlier sessions taught\n" }

// entriesOf are the list entries of a chapter, those of sections below it included.
func entriesOf(p *page, heading string) []string {
	var out []string
	within := false
	for _, s := range p.sections {
		if level(s.heading) == 2 {
			within = s.heading == heading
		}
		for _, l := range s.lines {
			if within && isEntry(l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// onePurposeFirst puts the first command of each purpose before all others.
func onePurposeFirst(lines []string) []string {
	var first, rest []string
	seen := map[string]bool{}
	for _, l := range lines {
		purpose, _, _ := strings.Cut(l, ":")
		if seen[purpose] {
			rest = append(rest, l)
		} else {
			first = append(first, l)
		}
		seen[purpose] = true
	}
	return append(first, rest...)
}

// maxDescription is how many bytes of a skill's description the map shows.
const maxDescription = 160

// whereToLook is the map: what MEMORY.md has, and the skills.
func whereToLook(memory *page, skills []memoir.Skill) []string {
	var parts []string
	for _, s := range memory.sections {
		if n := len(entriesOf(memory, s.heading)); level(s.heading) == 2 && n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d)", strings.ToLower(strings.Trim(s.heading, "# ")), n))
		}
	}
	var out []string
	if len(parts) > 0 {
		out = append(out, "- MEMORY.md, with the sessions behind each line: "+strings.Join(parts, ", "))
	}
	for _, s := range skills {
		out = append(out, "- skills/"+s.Name+"/SKILL.md: "+cut(describe(s), maxDescription))
	}
	return append(out, "- rollout_summaries/ has a summary of each session; raw_memories.md all that was extracted")
}
