package consolidate

import (
	"fmt"
	"strings"

	"memoir"
)

// Bounds of the lines of MEMORY.md, in bytes, and of its sections, in lines.
const (
	maxClaim    = 400
	maxRules    = 40
	maxKnown    = 40
	maxFailures = 20
	maxOthers   = 12
)

// memory lays out MEMORY.md within a number of bytes, and lists the sessions behind
// its lines.
func (k *knowledge) memory(name string, limit int) (*page, map[string][]string) {
	p := &page{head: memoryHead(name, k.sessions)}
	lists := map[string][]string{}
	for _, part := range []struct {
		heading string
		claims  []*claim
		most    int
	}{
		{headPreferences, k.preferences, maxRules},
		{headRequired, k.required, maxOthers},
		{headCommands, k.commands, len(purposes) * maxOfPurpose},
		{headKnown, k.known, maxKnown},
		{headFailures, k.failures, maxFailures},
		{headEnvironment, k.environment, maxOthers},
		{headFiles, k.files, maxOthers},
		{headRecent, k.recent, maxRecent},
		{headOpen, k.open, maxOthers},
	} {
		var lines []string
		for _, c := range part.claims[:min(len(part.claims), part.most)] {
			lines = append(lines, cited("- "+cut(c.text, maxClaim), c.sessions, lists))
		}
		p.add(part.heading, lines)
	}
	p.fit(limit, func(string) bool { return false })
	return p, listed(p, lists)
}

// listed are the lists of sessions of the lines that a page has.
func listed(p *page, lists map[string][]string) map[string][]string {
	out := map[string][]string{}
	for _, s := range p.sections {
		for _, l := range s.lines {
			if key := lineKey(l); len(lists[key]) > 1 {
				out[key] = lists[key]
			}
		}
	}
	return out
}

// memoryHead is what MEMORY.md begins with.
func memoryHead(name string, sessions []*session) string {
	first, last := sessions[0].date, sessions[len(sessions)-1].date
	when := first
	if last != first {
		when += " to " + last
	}
	return fmt.Sprintf("# %s: project memory\n\n%s %s, %s. A line cites its newest session; +N is how many more "+
		"support it.\n",
		name, headFrom, plural(len(sessions), "session"), when)
}

// headFrom begins the line of MEMORY.md's head that the program writes anew each time.
const headFrom = "From"

// projectName names a project: owner and name of its repository if its remote says them.
func projectName(p memoir.Project) string {
	name := p.Name
	if owner, repository, ok := ownerOf(p.Remote); ok && repository == p.Name {
		name = owner + "/" + repository
	}
	if name = strings.ReplaceAll(oneLine(name), "#", ""); name == "" {
		return "the project"
	}
	return name
}

// ownerOf splits a remote, which is HOST/OWNER/…/NAME, with or without a scheme.
func ownerOf(remote string) (owner, name string, ok bool) {
	_, rest, scheme := strings.Cut(remote, "://")
	if !scheme {
		rest = remote
	}
	rest = strings.TrimSuffix(strings.Trim(rest, "/"), ".git")
	if _, after, scp := strings.Cut(rest, "@"); scp {
		rest = strings.Replace(after, ":", "/", 1)
	}
	host, rest, _ := strings.Cut(rest, "/")
	parts := strings.Split(rest, "/")
	if !strings.Contains(host, ".") || len(parts) < 2 {
		return "", "", false
	}
	return parts[len(parts)-2], parts[len(parts)-1], true
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

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
