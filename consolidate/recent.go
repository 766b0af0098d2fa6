package consolidate

import (
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// detailsOf is how many things done are told of a session, by how many sessions
// are newer: what was done last is what a reader goes on from. Where there are few sessions,
// their work is most of what is known.
func detailsOf(newer, all int) int {
	switch {
	case all < 3:
		return max(8-4*newer, 2)
	case newer == 0:
		return 3
	case newer < 4:
		return 2
	}
	return 1
}

// recent tells what the newest sessions were asked and what came of it.
func (k *knowledge) recent(p *page) {
	s := p.section(headRecent)
	for i := len(k.sessions) - 1; i >= 0 && i >= len(k.sessions)-maxRecent; i-- {
		one := k.sessions[i]
		newer := len(k.sessions) - 1 - i
		status, what, details := one.came(k.page, newer, len(k.sessions))
		name := one.name(what)
		text := "- " + one.date
		if name != "" {
			text += " “" + cut(name, 90) + "”"
		}
		if status != "" {
			text += " — " + status
		}
		switch {
		case what != "" && k.leftOpen(one, what):
			text += ", see Open ends"
		case what != "":
			text += ": " + cut(strings.Replace(what, " “"+name+"”", "", 1), 420)
		}
		text += one.further(name)
		value := worthRecent - 0.1*float64(newer)
		s.add(text+" "+citations([]*session{one}, 1), value+1)
		for _, d := range details {
			s.add("  - "+cut(d, 420)+" "+citations([]*session{one}, 1), value)
		}
	}
}

// leftOpen reports whether an open end says what came of a session.
func (k *knowledge) leftOpen(s *session, what string) bool {
	return slices.ContainsFunc(k.open, func(c *claim) bool {
		return c.kind == memoir.StatementOutcome && c.from[0] == s && strings.HasSuffix(c.text, " — "+what)
	})
}

// came tells what came of a session: its status, the thing done that says most,
// and a few more, the fewer the more sessions are newer. What the page says above
// is left out. Links and reports of state ("PR is up", "checks are green") say
// little; they stand only where there is nothing better.
func (s *session) came(above *stated, newer, all int) (status, what string, details []string) {
	status, whole := s.outcome()
	what = marks.ReplaceAllString(whole, "")
	first := true
	left := ""
	again := overwritten(s.statements)
	var done, doneAll []string
	for _, st := range s.statements {
		if st.Kind != memoir.StatementOutcome {
			continue
		}
		if first {
			first = false
			if _, came := statusOf(st.Text); came == whole {
				continue
			}
		}
		if strings.HasPrefix(st.Text, notCommitted) {
			left = st.Text
			continue
		}
		said := st.Text
		if one, came := statusOf(said); one == "done" { // of one of several tasks
			said = came
		} else if came == whole {
			continue
		}
		if substantial(said) && !strings.HasPrefix(strings.ToLower(said), openEnd) {
			text := marks.ReplaceAllString(said, "")
			doneAll = append(doneAll, text)
			if !above.has(text) && elsewhere(text) == "" && !again[st.Text] {
				done = append(done, text)
			}
		}
	}
	weightiest(done)
	if !substantial(what) || above.has(what) {
		if len(done) == 0 && !substantial(what) {
			weightiest(doneAll)
			done = doneAll[:min(1, len(doneAll))]
		}
		link := links(what)
		switch {
		case len(done) > 0:
			what, done = done[0], done[1:]
		case substantial(what) && above.has(what):
			what = ""
		}
		if link != "" && !strings.Contains(what, link) {
			what = strings.TrimSpace(cut(what, 170-len(link)) + " (" + link + ")")
		}
	}
	var page stated
	page.add(what)
	for _, d := range done {
		if len(details) == detailsOf(newer, all) {
			break
		}
		if !page.has(d) && jaccard(tokens(d), tokens(what)) <= 0.5 {
			page.add(d)
			details = append(details, d)
		}
	}
	if left != "" && newer < 2 { // later someone has committed it, or never will
		details = append(details, left)
	}
	return status, what, details
}

// marks tick off an entry of a plan.
var marks = lazyregexp.New(`(?i) \((?:just |already )(?:completed|done|made|fixed|updated)\)`)

func weightiest(done []string) {
	slices.SortStableFunc(done, func(a, b string) int { return weightOf(b) - weightOf(a) })
}

// notCommitted begins the line on the files that a session left changed.
const notCommitted = "Not committed in the session"

// weightOf tells how much a sentence says: the names in it, and its length.
func weightOf(text string) int {
	if strings.HasPrefix(text, "Committed `") || strings.HasPrefix(text, "Committed “") {
		return -2 // what was changed says more than what it was called
	}
	n := min(strings.Count(text, "`")/2, 3)
	if len(strings.Fields(text)) >= 9 {
		n++
	}
	if strings.Contains(text, "fmt") || strings.Contains(text, " test") || strings.Contains(text, " coverage") {
		n--
	}
	return n
}

// reports begin sentences that tell of the handling of a change, not of the change.
var reports = []string{"opened ", "pr is", "merged ", "pushed ", "closed ", "created pr", "created the pr", "addressed ", "committed ", "replied ", "validated ", "all tests", "all checks", "i closed", "i've ", "done", "branch", "on branch", "released ", "published ", "the fix is on", "all set", "you ", "updated it", "both "}

// substantial reports whether a sentence says something of the work itself once
// links are taken out.
func substantial(text string) bool {
	var words []string
	for w := range strings.FieldsSeq(text) {
		if !strings.Contains(w, "://") && strings.Trim(w, "()[]#.,0123456789") != "" {
			words = append(words, w)
		}
	}
	if len(words) < 6 && (len(words) < 4 || !strings.Contains(text, "`")) {
		return false
	}
	if strings.HasPrefix(text, "Committed `") {
		return true
	}
	low := strings.ToLower(strings.TrimLeft(text, "✅✓☑[*- "))
	for _, r := range reports {
		if strings.HasPrefix(low, r) {
			return false
		}
	}
	if len(words) > 25 { // a whole list, of which that is a part
		return true
	}
	for _, part := range []string{"fully green", "is green", "feedback", "ready for review", "ready-for-review", " pr is ", "pull request is", "already in place", "(lines "} {
		if strings.Contains(low, part) {
			return false
		}
	}
	return true
}

// links is the first address in a text.
func links(text string) string {
	i := strings.Index(text, "https://")
	if i < 0 {
		return ""
	}
	link := text[i:]
	if end := strings.IndexAny(link, ") ,;]>"); end >= 0 {
		link = link[:end]
	}
	return strings.TrimRight(link, ".")
}
