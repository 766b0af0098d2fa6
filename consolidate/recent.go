package consolidate

import (
	"slices"
	"strings"

	"memoir"
)

// detailsOf is how many things done are told of a session, by how many sessions
// are newer: what was done last is what a reader goes on from.
func detailsOf(newer int) int {
	switch {
	case newer == 0:
		return 8
	case newer < 3:
		return 4
	case newer < 8:
		return 2
	}
	return 1
}

// came tells what came of a session: its status, the thing done that says most,
// and a few more, the fewer the more sessions
// are newer. Links and reports of state ("PR is up", "checks are green") say
// little; they stand only where there is nothing better.
func (s *session) came(newer int) (status, what string, details []string) {
	status, what = s.outcome()
	first := true
	left := ""
	var done []string
	for _, st := range s.statements {
		if st.Kind != memoir.StatementOutcome {
			continue
		}
		if first {
			first = false
			continue
		}
		if strings.HasPrefix(st.Text, notCommitted) {
			left = st.Text
			continue
		}
		if substantial(st.Text) && !strings.HasPrefix(strings.ToLower(st.Text), openEnd) {
			done = append(done, st.Text)
		}
	}
	if !substantial(what) && len(done) > 0 {
		link := links(what)
		slices.SortStableFunc(done, func(a, b string) int { return weightOf(b) - weightOf(a) })
		what, done = done[0], done[1:]
		if link != "" && !strings.Contains(what, link) {
			what = cut(what, 170-len(link)) + " (" + link + ")"
		}
	}
	slices.SortStableFunc(done, func(a, b string) int { return weightOf(b) - weightOf(a) })
	done = slices.DeleteFunc(done, func(d string) bool { return jaccard(tokens(d), tokens(what)) > 0.5 })
	done = done[:min(len(done), detailsOf(newer))]
	if left != "" && newer < 2 { // later someone has committed it, or never will
		done = append(done, left)
	}
	return status, what, done
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
