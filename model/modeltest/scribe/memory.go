package scribe

import (
	"regexp"
	"slices"
	"strings"

	"memoir"
	"memoir/memoirtest"
)

// Memory is an answer of Phase 2.
type Memory struct {
	MemoryMD      string  `json:"memory_md"`
	MemorySummary string  `json:"memory_summary"`
	Skills        []Skill `json:"skills"`
}

// Skill is a skill of an answer. One that is there is kept by its name alone.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Content     string `json:"content"`
}

// headings are those of memory_md, in order, with the statements that stand under them.
var headings = []struct {
	name string
	kind memoir.StatementKind
}{
	{"## User preferences", memoir.StatementPreference},
	{"## Build, test and other commands", memoir.StatementCommand},
	{"## Failures and fixes", memoir.StatementFailure},
	{"## Recent work", memoir.StatementTask},
}

const maxLines = 20 // of a section

var (
	session     = regexp.MustCompile(`(?m)^- ([^\s,;:\[\]]+ \d{4}-\d{2}-\d{2})$`)
	sessionHead = regexp.MustCompile(`(?m)^## ([^\s,;:\[\]]+ \d{4}-\d{2}-\d{2}): .*\n`)
	skillName   = regexp.MustCompile(`(?m)^(?:=== )?skills/([a-z0-9-]+)(?:/SKILL\.md$|: )`)
)

// A page is a memory's lines by their headings.
type page map[string][]string

// Memory folds the sessions of a question into its memory.
func (q Question) Memory() Memory {
	p, name := page{}, ""
	for l := range strings.Lines(q.between("current-memory")) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "## ") {
			name = l
		} else if l != "" {
			p[name] = append(p[name], l)
		}
	}
	for _, tag := range []string{"changed-sessions", "new-sessions"} {
		for _, m := range session.FindAllStringSubmatch(q.between(tag), -1) {
			p.fold(m[1], q.statements(m[1]))
		}
	}
	out := Memory{MemoryMD: p.markdown(), MemorySummary: p.markdown(), Skills: []Skill{}}
	for _, m := range skillName.FindAllStringSubmatch(q.between("current-skills"), -1) {
		if !slices.ContainsFunc(out.Skills, func(s Skill) bool { return s.Name == m[1] }) {
			out.Skills = append(out.Skills, Skill{Name: m[1]})
		}
	}
	return out
}

// statements are those that the question shows of a session.
func (q Question) statements(session string) []memoir.Statement {
	_, raw, _ := strings.Cut("\n"+q.between("raw-memories"), "\n## "+session+": ")
	_, raw, _ = strings.Cut(raw, "\n")
	if next := sessionHead.FindStringIndex(raw); next != nil {
		raw = raw[:next[0]]
	}
	return memoirtest.Statements(strings.ReplaceAll("\n"+raw, "\n### ", "\n## "))
}

// fold takes out what rests on a session alone, and adds what it states now, each under its
// heading; of its tasks the first.
func (p page) fold(session string, statements []memoir.Statement) {
	for name, lines := range p {
		p[name] = slices.DeleteFunc(lines, func(l string) bool { return strings.HasSuffix(l, " ["+session+"]") })
		for i, l := range p[name] {
			p[name][i] = strings.NewReplacer("["+session+", ", "[", ", "+session, "").Replace(l)
		}
	}
	for _, h := range headings {
		for _, st := range statements {
			if st.Kind == h.kind {
				p.add(h.name, "- "+st.Text, session)
				if st.Kind == memoir.StatementTask {
					break
				}
			}
		}
	}
}

// add cites a session for what a section says, or has it say more if there is room.
func (p page) add(name, text, session string) {
	lines := p[name]
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, text+" [") })
	switch {
	case i >= 0:
		lines[i] = text + " [" + session + ", " + strings.TrimPrefix(lines[i], text+" [")
	case len(lines) < maxLines:
		p[name] = append(lines, text+" ["+session+"]")
	}
}

// markdown is the page with the headings that have lines.
func (p page) markdown() string {
	var b strings.Builder
	for _, h := range headings {
		if lines := p[h.name]; len(lines) > 0 {
			b.WriteString(h.name + "\n\n" + strings.Join(lines, "\n") + "\n\n")
		}
	}
	return b.String()
}
