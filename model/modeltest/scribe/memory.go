package scribe

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memoir"
)

// Memory is an answer of Phase 2.
type Memory struct {
	MemoryMD      string  `json:"memory_md"`
	MemorySummary string  `json:"memory_summary"`
	Skills        []Skill `json:"skills"`
}

// Skill is a skill of an answer. One that is there is kept by its name alone.
type Skill struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Content     string             `json:"content"`
	Scripts     []memoir.SkillFile `json:"scripts"`
	Templates   []memoir.SkillFile `json:"templates"`
	Examples    []memoir.SkillFile `json:"examples"`
}

// NewSkill is a skill without files.
func NewSkill(name, content string) Skill {
	none := []memoir.SkillFile{}
	return Skill{Name: name, Content: content, Scripts: none, Templates: none, Examples: none}
}

// headings are those of memory_md, in order, each with how many lines of it are told
// and by which heading of memory_summary they are told there.
var headings = []struct {
	name    string
	most    int
	kinds   []memoir.StatementKind
	summary string
	told    int
}{
	{"## User preferences", 40, []memoir.StatementKind{memoir.StatementPreference}, "## What the user wants", 12},
	{
		"## Build, test and other commands",
		15,
		[]memoir.StatementKind{memoir.StatementCommand},
		"## Build, test, run",
		6,
	},
	{"## What is known", 60, []memoir.StatementKind{memoir.StatementDecision}, "## What to know", 7},
	{"## Failures and fixes", 30, []memoir.StatementKind{memoir.StatementFailure}, "", 0},
	{"## Files that matter", 12, []memoir.StatementKind{memoir.StatementFile}, "", 0},
	{"## Environment", 12, []memoir.StatementKind{memoir.StatementEnvironment}, "", 0},
	{"## Recent work", 20, []memoir.StatementKind{memoir.StatementTask, memoir.StatementOutcome}, "", 0},
}

const headRecent = "## Recent work"

// A session as it is cited: its short id and date.
type session struct{ id, date string }

// String is how the session is cited, without brackets.
func (s session) String() string { return s.id + " " + s.date }

var (
	citedSession = regexp.MustCompile(`^([^\s,;:\[\]]+) (\d{4}-\d{2}-\d{2})$`)
	lastBracket  = regexp.MustCompile(` \[([^\[\]]+)\]$`)
)

// A line of a memory: what it says and on which sessions it rests.
type line struct {
	text  string
	cites []session
}

func parseLine(text string) line {
	l := line{text: text}
	m := lastBracket.FindStringSubmatchIndex(text)
	if m == nil {
		return l
	}
	for part := range strings.SplitSeq(text[m[2]:m[3]], ", ") {
		id := citedSession.FindStringSubmatch(part)
		if id == nil {
			return line{text: text}
		}
		l.cites = append(l.cites, session{id[1], id[2]})
	}
	l.text = text[:m[0]]
	return l
}

// String is the line with its citations, the newest session first.
func (l line) String() string {
	if len(l.cites) == 0 {
		return l.text
	}
	sorted := slices.Clone(l.cites)
	slices.SortFunc(
		sorted,
		func(a, b session) int { return cmp.Or(strings.Compare(b.date, a.date), strings.Compare(b.id, a.id)) },
	)
	var names []string
	for _, s := range sorted {
		names = append(names, s.String())
	}
	return l.text + " [" + strings.Join(names, ", ") + "]"
}

// A page is a memory's sections in order.
type page struct {
	names []string
	lines map[string][]line
}

func parsePage(text string) *page {
	p := &page{lines: map[string][]line{}}
	name := ""
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "## "):
			name = l
			p.names = append(p.names, name)
		case name != "" && strings.TrimSpace(l) != "":
			p.lines[name] = append(p.lines[name], parseLine(l))
		}
	}
	return p
}

// forget takes the citations of a session out, and the lines that rest on it alone.
func (p *page) forget(s session) {
	for name, lines := range p.lines {
		var kept []line
		for _, l := range lines {
			was := len(l.cites)
			l.cites = slices.DeleteFunc(slices.Clone(l.cites), func(c session) bool { return c.id == s.id })
			if was == 0 || len(l.cites) > 0 {
				kept = append(kept, l)
			}
		}
		p.lines[name] = kept
	}
}

// add cites a session for what a section says, or has it say more if there is room.
func (p *page) add(name string, most int, text string, s session) {
	for i, l := range p.lines[name] {
		if l.text == text {
			if !slices.Contains(l.cites, s) {
				p.lines[name][i].cites = append(p.lines[name][i].cites, s)
			}
			return
		}
	}
	if len(p.lines[name]) < most {
		p.lines[name] = append(p.lines[name], line{text, []session{s}})
	}
}

// String puts the headings that are known first, in their order.
func (p *page) String() string {
	var b strings.Builder
	write := func(name string) {
		if lines := p.lines[name]; len(lines) > 0 {
			b.WriteString(name + "\n\n")
			for _, l := range lines {
				b.WriteString(l.String() + "\n")
			}
			b.WriteString("\n")
		}
	}
	known := map[string]bool{}
	for _, h := range headings {
		write(h.name)
		known[h.name] = true
	}
	for _, name := range p.names {
		if !known[name] {
			write(name)
		}
	}
	return b.String()
}

// told is a session with its statements as a question shows them.
type told struct {
	session
	statements []memoir.Statement
}

var sessionHead = regexp.MustCompile(`(?m)^## ([^\s,;:\[\]]+) (\d{4}-\d{2}-\d{2}): .*\n`)

// sessions are those of the list between two tags, with what they state, oldest first.
func (q Question) sessions(tag string) []told {
	raw := q.between("raw-memories")
	heads := sessionHead.FindAllStringSubmatchIndex(raw, -1)
	var out []told
	for entry := range strings.Lines(q.between(tag)) {
		m := citedSession.FindStringSubmatch(strings.TrimSpace(strings.TrimPrefix(entry, "- ")))
		if m == nil {
			continue
		}
		one := told{session: session{m[1], m[2]}}
		for i, h := range heads {
			if raw[h[2]:h[3]] != one.id {
				continue
			}
			end := len(raw)
			if i+1 < len(heads) {
				end = heads[i+1][0]
			}
			one.statements = memoir.ParseStatements(strings.ReplaceAll(raw[h[1]:end], "\n### ", "\n## "))
		}
		out = append(out, one)
	}
	return out
}

// Memory folds the sessions of a question into its memory.
func (q Question) Memory() Memory {
	p := parsePage(q.between("current-memory"))
	for _, s := range q.sessions("changed-sessions") {
		p.forget(s.session)
	}
	for _, s := range slices.Concat(q.sessions("changed-sessions"), q.sessions("new-sessions")) {
		p.fold(s)
	}
	slices.SortStableFunc(p.lines[headRecent], func(a, b line) int { return strings.Compare(b.text, a.text) })
	out := Memory{MemoryMD: p.String(), MemorySummary: p.summary(), Skills: []Skill{}}
	for _, name := range q.skills() {
		out.Skills = append(out.Skills, NewSkill(name, ""))
	}
	if often := p.often(); len(often) > 1 && len(out.Skills) == 0 {
		content := "# What is run time and again\n\n## Steps\n\n"
		for i, l := range often {
			content += fmt.Sprintf("%d. %s\n", i+1, strings.TrimPrefix(l.String(), "- "))
		}
		s := NewSkill("recurring-commands", content)
		s.Description = "The commands that sessions ran time and again. Use them before a change is handed over."
		out.Skills = append(out.Skills, s)
	}
	return out
}

// fold adds what a session states, each under its heading, and what it was about.
func (p *page) fold(s told) {
	task, outcome := "", "unknown"
	for _, st := range s.statements {
		switch st.Kind {
		case memoir.StatementTask:
			task = cmp.Or(task, st.Text)
			continue
		case memoir.StatementOutcome:
			outcome = st.Text
			continue
		}
		for _, h := range headings {
			if slices.Contains(h.kinds, st.Kind) {
				p.add(h.name, h.most, "- "+st.Text, s.session)
			}
		}
	}
	if task != "" {
		recent := p.lines[headRecent]
		if len(recent) == 20 { // the oldest makes room
			slices.SortStableFunc(recent, func(a, b line) int { return strings.Compare(b.text, a.text) })
			p.lines[headRecent] = recent[:19]
		}
		p.add(headRecent, 20, "- "+s.date+" "+task+" — "+outcome, s.session)
	}
}

// summary tells the most of each section that a briefing has.
func (p *page) summary() string {
	var b strings.Builder
	tell := func(heading string, lines []line) {
		if len(lines) == 0 {
			return
		}
		b.WriteString(heading + "\n\n")
		for _, l := range lines {
			if len(l.cites) > 0 {
				more := ""
				if n := len(l.cites) - 1; n > 0 {
					more = fmt.Sprintf(", +%d", n)
				}
				newest := slices.MaxFunc(
					l.cites,
					func(a, b session) int { return strings.Compare(a.date+a.id, b.date+b.id) },
				)
				b.WriteString(l.text + " [" + newest.String() + more + "]\n")
			} else {
				b.WriteString(l.text + "\n")
			}
		}
		b.WriteString("\n")
	}
	for _, h := range headings {
		if h.told > 0 {
			tell(h.summary, p.lines[h.name][:min(h.told, len(p.lines[h.name]))])
		}
	}
	if b.Len() == 0 { // then at least what was done last
		tell("## What to know", p.lines[headRecent][:min(3, len(p.lines[headRecent]))])
	}
	return b.String()
}

// often are the commands that more than one session ran.
func (p *page) often() []line {
	var out []line
	for _, l := range p.lines["## Build, test and other commands"] {
		if len(l.cites) > 1 {
			out = append(out, l)
		}
	}
	return out
}

var skillName = regexp.MustCompile(`(?m)^(?:=== )?skills/([a-z0-9-]+)(?:/SKILL\.md$|: )`)

// skills names those that are there.
func (q Question) skills() []string {
	var out []string
	for _, m := range skillName.FindAllStringSubmatch(q.between("current-skills"), -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}
