package consolidate

import (
	"fmt"
	"slices"
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
	headAbroad      = "## In other repositories"
	headRecent      = "## Recent work"
	headOpen        = "## Open ends"
	headSessions    = "## Sessions"
)

// memory renders MEMORY.md within a number of bytes.
func (k *knowledge) memory(name string, skills, limit int) string {
	p := &page{head: headOf(name, k.sessions, skills)}
	list := func(heading string, claims []*claim, worth float64, most int) {
		s := p.section(heading)
		for _, c := range claims {
			if elsewhere(c.text) != "" {
				continue
			}
			if most > 0 && len(s.lines) == most {
				break
			}
			s.add("- "+c.line(), worth+c.value)
		}
	}
	list(headPreferences, k.preferences, worthPreference, 0)
	list(headCommands, k.commands, worthCommand, maxCommands)
	own := slices.DeleteFunc(slices.Clone(k.known), func(g group) bool { return strings.HasPrefix(g.name, foreignArea) })
	if len(own) != 1 { // the heading of one group is the section's itself
		p.section(headKnown)
	}
	for _, g := range own {
		if len(own) > 1 {
			list("### "+g.name, g.claims, worthKnown, 0)
		} else {
			list(headKnown, g.claims, worthKnown, 0)
		}
	}
	list(headFailures, k.failures, worthFailure, 0)
	list(headFiles, k.files, worthFile, maxFilesOf)
	list(headEnvironment, k.environment, worthEnvironment, 0)
	k.abroad(p)
	k.recent(p)
	list(headOpen, k.open, worthOpen, 0)
	k.index(p)
	p.shed(limit)
	return p.String()
}

// index lists the sessions, newest first, with the files that tell of them; what they
// were about, Recent work and the files' names say.
func (k *knowledge) index(p *page) {
	s := p.section(headSessions)
	for i := len(k.sessions) - 1; i >= 0; i-- {
		one := k.sessions[i]
		source, id := memoir.SplitKey(one.SessionKey)
		text := fmt.Sprintf("- %s — %s, %s (%s) → %s", one.short, one.date, source, citable(id), SummaryFileName(one.Extraction, one.short))
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
