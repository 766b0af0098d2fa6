package consolidate

import (
	"fmt"
	"strings"

	"memoir"
)

// What a section of MEMORY.md is worth against the others when lines are shed.
const (
	worthPreference  = 10.0
	worthCommand     = 4.0
	worthKnown       = 3.0
	worthFailure     = 3.5
	worthFile        = 0.5
	worthEnvironment = 2.5
	worthRecent      = 1.0
	worthOpen        = 3.0
)

// Bounds of the sections, in lines.
const (
	maxCommands = 15
	maxFilesOf  = 12
	maxRecent   = 20
)

// Headings of MEMORY.md.
const (
	headPreferences = "## User preferences"
	headCommands    = "## Build, test and other commands"
	headKnown       = "## What is known"
	headFailures    = "## Failures and fixes"
	headFiles       = "## Files that matter"
	headEnvironment = "## Environment"
	headRecent      = "## Recent work"
	headOpen        = "## Open ends"
	headSessions    = "## Sessions"
)

// memory renders MEMORY.md within a number of bytes.
func (k *knowledge) memory(name string, skills, limit int) string {
	p := &page{head: headOf(name, k.sessions, skills)}
	list := func(heading string, claims []*claim, worth float64, most int) {
		s := p.section(heading)
		for i, c := range claims {
			if most > 0 && i == most {
				break
			}
			s.add("- "+c.line(), worth+c.value)
		}
	}
	list(headPreferences, k.preferences, worthPreference, 0)
	list(headCommands, k.commands, worthCommand, maxCommands)
	p.section(headKnown)
	for _, g := range k.known {
		if len(k.known) > 1 {
			list("### "+g.name, g.claims, worthKnown, 0)
		} else {
			list(headKnown, g.claims, worthKnown, 0)
		}
	}
	if len(k.known) == 1 { // the groups' heading is the section itself
		for i, s := range p.sections {
			if s.heading == headKnown && len(s.lines) == 0 {
				p.sections = append(p.sections[:i], p.sections[i+1:]...)
				break
			}
		}
	}
	list(headFailures, k.failures, worthFailure, 0)
	list(headFiles, k.files, worthFile, maxFilesOf)
	list(headEnvironment, k.environment, worthEnvironment, 0)
	k.recent(p)
	list(headOpen, k.open, worthOpen, 0)
	k.index(p)
	p.shed(limit)
	return p.String()
}

// recent tells what the newest sessions were asked and what came of it.
func (k *knowledge) recent(p *page) {
	s := p.section(headRecent)
	for i := len(k.sessions) - 1; i >= 0 && i >= len(k.sessions)-maxRecent; i-- {
		one := k.sessions[i]
		status, what, details := one.came(len(k.sessions) - 1 - i)
		text := "- " + one.date + " “" + cut(one.asked(), 90) + "”"
		if status != "" {
			text += " — " + status
		}
		if what != "" {
			text += ": " + cut(what, 420)
		}
		value := worthRecent - 0.1*float64(len(k.sessions)-1-i)
		s.add(text+" "+citations([]*session{one}, 1), value+1)
		for _, d := range details {
			s.add("  - "+cut(d, 420)+" "+citations([]*session{one}, 1), value)
		}
	}
}

// index lists the sessions, newest first.
func (k *knowledge) index(p *page) {
	s := p.section(headSessions)
	for i := len(k.sessions) - 1; i >= 0; i-- {
		one := k.sessions[i]
		source, id := memoir.SplitKey(one.SessionKey)
		text := fmt.Sprintf("- %s — %s, %s, %s (%s) → %s", one.short, one.date, source, cut(one.asked(), 80), citable(id), SummaryFileName(one.Extraction, one.short))
		s.add(text, 0).index = one.short
	}
}

func projectName(name string) string {
	if name = oneLine(name); name != "" {
		return strings.ReplaceAll(name, "#", "")
	}
	return "the project"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
