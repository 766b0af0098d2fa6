package consolidate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
)

// Bounds on the lines of MEMORY.md, in bytes, and on its sections, in lines.
const (
	maxClaim    = extract.MaxLine
	maxRules    = 40
	maxKnown    = 40
	maxFailures = 20
	maxOthers   = 12
)

type part struct {
	heading string
	claims  []*claim // best first
	most    int      // lines
}

// memoryOf lays out MEMORY.md within a number of bytes, or with notes within most bytes, and lists the sessions and
// statements behind its lines. If notes do not fit, the head says how many do.
func memoryOf(name string, sessions []*session, parts []part, limit, most int) memoir.Consolidation {
	p := newPage(memoryHead(name, sessions))
	lists, origin := map[string][]string{}, map[string]memoir.LineOrigin{}
	notes := map[string]int{} // that a line is made from
	size := 0
	for _, part := range parts {
		var lines []string
		for _, c := range part.claims {
			n := c.written()
			if len(lines) >= part.most && n == 0 || n > 0 && size > most {
				continue
			}
			line := cited("- "+shortened(c.text), newestFirst(c.cites()), lists)
			lines, origin[memoir.LineKey(line)] = append(lines, line), memoir.LineOrigin{Statements: c.ids}
			if n > 0 {
				notes[line], size = n, size+len(line)
			}
		}
		p.add(part.heading, lines)
	}
	all := len(slices.DeleteFunc(slices.Clone(sessions), func(s *session) bool {
		return s.unsure() || !memoir.IsEntry(s.SessionKey)
	}))
	p.shrink(limit, func(line string) bool { return notes[line] > 0 })
	p.shrink(most-100, func(string) bool { return false }) // room for the next line
	for _, s := range p.sections {
		for _, line := range s.lines {
			all -= notes[line]
			delete(notes, line)
		}
	}
	if head := p.sections[0]; all > 0 {
		head.lines[len(head.lines)-1] += fmt.Sprintf(" %s left out; `memoir search` finds them.", memoir.Count(all, "note"))
	}
	return memoir.Consolidation{MemoryMD: p.String(), Citations: lists, Lines: origin}
}

// shortened returns a claim as MEMORY.md has it.
func shortened(text string) string { return cut(extract.Titled(text), maxClaim) }

// LineOf returns a statement as a line of MEMORY.md has it, without the citation.
func LineOf(st memoir.Statement) string { return shortened(oneLine(st.Text)) }

// Accepted reports whether a person accepted a statement in a review, by the times of answers: a line that has all of
// its text and shows its commands. Whoever sends one chooses each field, and a line may have the words of another one.
func Accepted(at map[string]int64, st memoir.Statement) bool {
	line := LineOf(st)
	hidden := func(command string) bool {
		span := memoir.CodeSpan(command)
		return command != "" && !strings.Contains(line, span) &&
			!strings.Contains(line, strings.ReplaceAll(span, " && ", "` && `"))
	}
	return line == memoir.LineText(st.Text) && at[memoir.LineKey(line)] > 0 && !hidden(st.Command) && !hidden(st.Fix)
}

// memoryHead returns the head of MEMORY.md. Unconfirmed entries are not counted, and promoted statements apart.
func memoryHead(name string, sessions []*session) string {
	read, notes, promoted := 0, 0, 0
	when, last := "", ""
	seen := map[string]bool{}
	for _, s := range sessions {
		as := memoir.CountedAs(s.SessionKey)
		switch {
		case memoir.IsRepository(s.SessionKey):
			promoted += len(s.Statements) // as a run says
			continue
		case s.unsure() || seen[as]:
			continue
		case memoir.IsEntry(s.SessionKey):
			notes++
		default:
			read++
		}
		seen[as], when, last = true, cmp.Or(when, ", "+s.date), s.date
	}
	if !strings.HasSuffix(when, last) {
		when += " to " + last
	}
	from := memoir.Count(read, "session")
	if notes > 0 {
		from += " and " + memoir.Count(notes, "note")
	}
	if promoted > 0 {
		from += " and " + memoir.Count(promoted, "promoted statement")
	}
	return memoryTitle(name) + fmt.Sprintf("\nFrom %s%s. A line cites its newest session; +N is how many more "+
		"support it.\n", from, when)
}

// projectName returns the name of a project: owner and name of its repository if its remote is HOST/OWNER/…/NAME.
func projectName(p memoir.Project) string {
	if p.IsUser() {
		return userName
	}
	name := oneLine(p.Name)
	parts := strings.Split(p.Remote, "/")
	if len(parts) > 2 && strings.Contains(parts[0], ".") && path.Base(p.Remote) == name {
		name = oneLine(parts[len(parts)-2]) + "/" + name
	}
	if name = strings.ReplaceAll(name, "#", ""); name == "" {
		return "the project"
	}
	return name
}

// Headings of memory_summary.md in their order.
const (
	headByHand = "## Written by hand" // hand edits without another section
	headWants  = "## What the user wants"
	headBuild  = "## Build, test, run"
	headAvoid  = "## Failures to avoid"
	headWorth  = "## What to know"
	headLately = "## Recent work"
	headMap    = "## Where to look"
)

// briefing maps sections of the summary to sections of MEMORY.md. If not all of MEMORY.md fits, it has the maximum
// lines of each and bytes of a line, which share the room by their weight.
var briefing = []struct {
	heading     string
	from        []string
	lines, size int
}{
	{headWants, []string{headPreferences}, 12, 240},
	{headOnce, []string{headOnce}, 5, 200},
	{headAvoid, []string{headFailures}, 12, 400},
	{headWorth, []string{headRequired, headKnown, headEnvironment}, 30, 400},
	{headBuild, []string{headCommands}, 12, 200},
	{headLately, []string{headRecent}, 6, 400},
	{headFiles, []string{headFiles}, 3, 160},
	{headOpen, []string{headOpen}, 3, 160},
}

// Told returns the lines of a summary that tell something, skills included: no heading.
func Told(summary string) []string {
	return slices.DeleteFunc(strings.Split(summary, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || isHeading(line)
	})
}

// summarise makes memory_summary.md from a MEMORY.md and skills: all of its lines if they fit in limit bytes with the
// map, else a briefing. It does not depend on which model wrote MEMORY.md. It has no citations. Of other members, what
// is run and what agents wrote of their work is there once the person accepted it.
func summarise(in Input, memory *page, skills []memoir.Skill, limit int) string {
	name, posted := projectName(in.Project), map[string]bool{}
	for _, e := range append(in.baseSessions(), in.Extractions...) {
		for _, st := range e.Statements {
			posted[LineOf(st)] = posted[LineOf(st)] || extract.Posted(st.Signal)
		}
	}
	told := func(whole bool) *page {
		p := newPage(summaryHead(name))
		for _, part := range briefing {
			var lines []string
			from := part.from
			if part.heading == headWorth {
				from = append(from[:len(from):len(from)], memory.others()...)
			}
			for _, from := range from {
				for _, l := range memory.entries(from) {
					text := withoutMark(Uncited(l))
					asks := from == headFailures || from == headCommands || from == headRecent || posted[memoir.WithoutTeam(text)]
					if asks && memoir.WithoutTeam(text) != text && !memoir.Answered(in.Accepted, l) {
						continue
					}
					if !whole {
						text = cut(text, part.size)
					}
					lines = append(lines, "- "+text+memoir.OnceMark(l))
				}
			}
			if !whole || part.heading == headOnce {
				lines = lines[:min(len(lines), part.lines)]
			}
			p.add(part.heading, lines)
		}
		return p
	}
	where := &section{headMap, mapOf(skills)}
	p := told(true)
	if len(p.String())+len((&page{[]*section{{}, where}}).String()) > limit {
		p = told(false)
	}
	p.drop(headMap)
	p.add(headMap, where.lines)
	p.shrink(limit, func(string) bool { return false })
	return p.String()
}

// userName is the name of the user's own memory; no project's name has a blank.
const userName = "The user"

func memoryTitle(name string) string {
	if name == userName {
		return "# " + name + ": memory of all projects\n"
	}
	return "# " + name + ": project memory\n"
}

func summaryHead(name string) string {
	if name == userName {
		return "# " + name + ": what holds in all projects\n"
	}
	return "# " + name + ": what earlier sessions taught\n"
}

const maxDescription = 160

// mapOf is the lines of the map of the skills.
func mapOf(skills []memoir.Skill) (lines []string) {
	for _, s := range skills {
		lines = append(lines, "- skills/"+s.Name+"/SKILL.md: "+cut(describe(s), maxDescription))
	}
	return lines
}

// OnlyHandEdits returns the memory of a project that has no inputs any more: the hand edits, and a line that says that
// nothing else is left; the summary has it only if there are some. It does not depend on the time or on earlier
// generations.
func OnlyHandEdits(in Input) memoir.Consolidation {
	name := projectName(in.Project)
	edits := LiveHandEdits(in.HandEdits, in)
	left, summary := "Nothing", summaryHead(name)
	if slices.ContainsFunc(edits, func(n memoir.HandEdit) bool {
		return n.Action == memoir.EditAdded && strings.TrimSpace(n.Text) != "" || n.Action == memoir.EditFile
	}) {
		left = "Only what people wrote by hand"
		summary += "\n" + left + " is left: all sessions behind it were removed from memory.\n"
	}
	return withHandEdits(memoir.Consolidation{
		MemoryMD: memoryTitle(name) + "\n" +
			left + " is left: all sessions behind it were removed from this memory.\n",
		MemorySummary: summary,
	}, edits, false)
}

// Written returns a first memory with a given MEMORY.md. All sessions are Open.
func Written(in Input, text string) memoir.Consolidation {
	out := ApplyHandEdits(memoir.Consolidation{MemoryMD: text, MemorySummary: summaryHead(projectName(in.Project)) + "\n"},
		LiveHandEdits(in.HandEdits, in))
	out.Open = memoir.Map(in.Extractions, func(e memoir.Extraction) string { return e.SessionKey })
	return out
}
