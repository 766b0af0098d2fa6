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
