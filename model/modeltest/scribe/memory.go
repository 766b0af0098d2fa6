package scribe

import (
	"cmp"
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

// headings are those of memory_md, in order, with the heading of memory_summary that
// repeats their first lines.
var headings = []struct {
	name    string
	kind    memoir.StatementKind
	summary string
}{
	{"## User preferences", memoir.StatementPreference, "## What the user wants"},
	{"## Build, test and other commands", memoir.StatementCommand, "## Build, test, run"},
	{"## What is known", memoir.StatementDecision, "## What to know"},
	{"## Failures and fixes", memoir.StatementFailure, ""},
	{"## Recent work", memoir.StatementTask, "## Recent work"},
}

// Bounds of a section, in lines.
const (
	maxLines   = 20
	maxSummary = 6
)

var (
	citedSession = regexp.MustCompile(`^([^\s,;:\[\]]+) (\d{4}-\d{2}-\d{2})$`)
	lastBracket  = regexp.MustCompile(` \[([^\[\]]+)\]$`)
	sessionHead  = regexp.MustCompile(`(?m)^## ([^\s,;:\[\]]+ \d{4}-\d{2}-\d{2}): .*\n`)
	skillName    = regexp.MustCompile(`(?m)^(?:=== )?skills/([a-z0-9-]+)(?:/SKILL\.md$|: )`)
)

// A line of a memory: what it says and the sessions that it rests on, each as id and date.
type line struct {
	text  string
	cites []string
}

func parseLine(text string) line {
	m := lastBracket.FindStringSubmatchIndex(text)
	if m == nil {
		return line{text: text}
	}
	cites := strings.Split(text[m[2]:m[3]], ", ")
	if slices.ContainsFunc(cites, func(c string) bool { return !citedSession.MatchString(c) }) {
		return line{text: text}
	}
	return line{text[:m[0]], cites}
}

// String is the line with its citations, the newest session first.
func (l line) String() string {
	if len(l.cites) == 0 {
		return l.text
	}
	byDate := slices.SortedFunc(slices.Values(l.cites), func(a, b string) int {
		const date = len("2006-01-02")
		return cmp.Or(strings.Compare(b[len(b)-date:], a[len(a)-date:]), strings.Compare(b, a))
	})
	return l.text + " [" + strings.Join(byDate, ", ") + "]"
}

// A page is a memory's sections in order.
type page struct {
	names []string
	lines map[string][]line
}

func parsePage(text string) *page {
	p := &page{lines: map[string][]line{}}
	for _, h := range headings {
		p.names = append(p.names, h.name)
	}
	name := ""
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "## "):
			if name = l; !slices.Contains(p.names, name) {
				p.names = append(p.names, name)
			}
		case name != "" && strings.TrimSpace(l) != "":
			p.lines[name] = append(p.lines[name], parseLine(l))
		}
	}
	return p
}

// forget takes out the citations of a session, and the lines that rest on it alone.
func (p *page) forget(session string) {
	for name, lines := range p.lines {
		p.lines[name] = slices.DeleteFunc(lines, func(l line) bool { return slices.Equal(l.cites, []string{session}) })
		for i, l := range p.lines[name] {
			p.lines[name][i].cites = slices.DeleteFunc(l.cites, func(c string) bool { return c == session })
		}
	}
}

// add cites a session for what a section says, or has it say more if there is room.
func (p *page) add(name, text, session string) {
	lines := p.lines[name]
	i := slices.IndexFunc(lines, func(l line) bool { return l.text == text })
	switch {
	case i < 0 && len(lines) < maxLines:
		p.lines[name] = append(lines, line{text, []string{session}})
	case i >= 0 && !slices.Contains(lines[i].cites, session):
		lines[i].cites = append(lines[i].cites, session)
	}
}

// String is the page as Markdown.
func (p *page) String() string {
	var b strings.Builder
	for _, name := range p.names {
		write(&b, name, p.lines[name], line.String)
	}
	return b.String()
}

// summary repeats the first lines of the sections that a briefing has, without citations.
func (p *page) summary() string {
	var b strings.Builder
	for _, h := range headings {
		if lines := p.lines[h.name]; h.summary != "" {
			write(&b, h.summary, lines[:min(maxSummary, len(lines))], func(l line) string { return l.text })
		}
	}
	return b.String()
}

func write(b *strings.Builder, heading string, lines []line, text func(line) string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(heading + "\n\n")
	for _, l := range lines {
		b.WriteString(text(l) + "\n")
	}
	b.WriteString("\n")
}

// Memory folds the sessions of a question into its memory.
func (q Question) Memory() Memory {
	p := parsePage(q.between("current-memory"))
	for _, tag := range []string{"changed-sessions", "new-sessions"} {
		for l := range strings.Lines(q.between(tag)) {
			session := strings.TrimSpace(strings.TrimPrefix(l, "- "))
			if citedSession.MatchString(session) {
				p.forget(session)
				p.fold(session, q.statements(session))
			}
		}
	}
	out := Memory{MemoryMD: p.String(), MemorySummary: p.summary(), Skills: []Skill{}}
	for _, m := range skillName.FindAllStringSubmatch(q.between("current-skills"), -1) {
		if !slices.ContainsFunc(out.Skills, func(s Skill) bool { return s.Name == m[1] }) {
			out.Skills = append(out.Skills, NewSkill(m[1], ""))
		}
	}
	return out
}

// statements are those that the question shows of a session.
func (q Question) statements(session string) []memoir.Statement {
	raw := q.between("raw-memories")
	heads := sessionHead.FindAllStringSubmatchIndex(raw, -1)
	for i, h := range heads {
		if raw[h[2]:h[3]] != session {
			continue
		}
		end := len(raw)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		return memoir.ParseStatements(strings.ReplaceAll(raw[h[1]:end], "\n### ", "\n## "))
	}
	return nil
}

// fold adds what a session states, each under its heading, and of its tasks the first. Of
// recent work the oldest line makes room.
func (p *page) fold(session string, statements []memoir.Statement) {
	tasks := 0
	for _, st := range statements {
		if st.Kind == memoir.StatementTask {
			tasks++
		}
		for _, h := range headings {
			if h.kind != st.Kind || h.kind == memoir.StatementTask && tasks > 1 {
				continue
			}
			if lines := p.lines[h.name]; h.kind == memoir.StatementTask && len(lines) == maxLines {
				p.lines[h.name] = lines[1:]
			}
			text := st.Text
			if st.Kind == memoir.StatementTask {
				text = session[len(session)-len("2006-01-02"):] + " " + text
			}
			p.add(h.name, "- "+text, session)
		}
	}
}
