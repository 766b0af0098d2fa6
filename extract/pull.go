package extract

import (
	"slices"
	"strings"

	"memoir"
)

// pullRequests lists the addresses of pull requests that the session created and
// did not close, as printed by the commands that did.
func pullRequests(r *reading, posts []*posting) []string {
	var out []string
	for _, run := range r.runs {
		if run.failed {
			continue
		}
		if strings.Contains(run.line, " close ") {
			for _, m := range closing.FindAllStringSubmatch(run.line, -1) {
				out = slices.DeleteFunc(out, func(l string) bool { return strings.HasSuffix(l, "/"+m[1]) })
			}
		}
		if !slices.ContainsFunc(run.cmds, func(c command) bool { return c.family == "gh pr create" || c.family == "glab mr create" }) {
			continue
		}
		for _, l := range pullNumber.FindAllString(clean(run.output), -1) {
			if !slices.Contains(out, l) {
				out = append(out[max(0, len(out)-maxAlike):], l)
			}
		}
	}
	for _, p := range posts {
		if p.link != "" && p.opened && !slices.Contains(out, p.link) {
			out = append(out[max(0, len(out)-maxAlike):], p.link)
		}
	}
	return out
}

var closing = newPattern(`\b(?:gh pr|glab mr) close (?:https?://\S+/)?(\d+)\b`)

// withLinks puts the addresses of pull requests where they belong: behind the lines that
// are of their numbers, behind the session's first line if it is of no other and there is
// only one. The rest is returned.
func withLinks(lead string, done []found, links []string) (string, []string) {
	var rest []string
	mine := pullsOf(lead)
	for _, l := range links {
		ref := "#" + number(l)
		if strings.Contains(lead, l) {
			continue
		}
		if slices.Contains(mine, ref) || len(mine) == 0 && len(links) == 1 {
			lead += " (" + l + ")"
			continue
		}
		at := slices.IndexFunc(done, func(f found) bool { return slices.Contains(pullsOf(f.Text), ref) })
		if at < 0 {
			rest = append(rest, l)
		} else if !strings.Contains(done[at].Text, l) {
			done[at].Text += " (" + l + ")"
		}
	}
	return lead, rest
}

// pullsOf are the numbers of pull requests, with their sign, that a line names.
func pullsOf(text string) []string {
	if !strings.ContainsRune(text, '#') {
		return nil
	}
	return pullSign.FindAllString(text, maxAlike)
}

var pullSign = newPattern(`#\d+\b`)

// created is the line on pull requests of which no other line tells.
func created(r *reading, links []string) (found, bool) {
	const most = 3
	if len(links) == 0 {
		return found{}, false
	}
	links = links[max(0, len(links)-most):]
	item := 0
	for _, run := range r.runs {
		if strings.Contains(run.output, links[0]) {
			item = run.item
		}
	}
	if item == 0 {
		item = firstItem(r.turns[len(r.turns)-1])
	}
	return found{memoir.Statement{Kind: memoir.StatementOutcome, Text: "Opened " + strings.Join(links, ", "), Items: []int{item}}, 2.4}, true
}

// more reports whether a line goes on with the text of a pull request.
func more(text string) bool {
	head, _, ok := strings.Cut(text, further)
	return ok && strings.HasPrefix(head, "PR #") && !strings.ContainsRune(head, '“')
}

// further stands behind the number in the second line of a pull request.
const further = " also: "

// withoutAnnouncements drops the lines that announce no more than what other lines tell.
func withoutAnnouncements(done []found, links []string) []found {
	counts := map[string]int{}
	for _, l := range links {
		counts["#"+number(l)] = 2
	}
	for _, f := range done {
		for _, ref := range slices.Compact(slices.Sorted(slices.Values(pullsOf(f.Text)))) {
			counts[ref]++
		}
	}
	return slices.DeleteFunc(done, func(f found) bool {
		if !announcement(f.Text) {
			return false
		}
		for _, ref := range pullsOf(f.Text) {
			if counts[ref] < 2 {
				return false
			}
		}
		return true
	})
}

// announcement reports whether a line says no more than that something was opened, updated
// or answered: what it was stands in the lines of its own.
func announcement(text string) bool {
	if len(text) > 400 || !begins(words(text), handled) && !begins(words(text), phrases("replied|updated|created|pushed|made")) {
		return false
	}
	plain := []byte{}
	for i, part := range strings.Split(address.ReplaceAllString(text, " "), "`") {
		if i%2 == 0 {
			plain = append(plain, part...)
		} else if !shortHash(part) {
			return false
		}
	}
	for w := range contentWords(string(plain)) {
		if !housekeeping()[w] && strings.Trim(w, "0123456789") != "" && !shortHash(w) {
			return false
		}
	}
	return true
}

var address = newPattern(`https?://[^\s)\]]+`)

// shortHash reports whether a word is the abbreviated name of a commit.
func shortHash(w string) bool {
	return len(w) >= 7 && len(w) <= 40 && strings.Trim(w, "0123456789abcdef") == "" && strings.ContainsAny(w, "0123456789")
}

// housekeeping are the words that tell of the handling of a change.
var housekeeping = wordSet("opened created made updated replied resolved addressed pushed posted merged committed closed completed done ready-for-review ready review reviewed draft request requests pull thread threads open discussion issue issues comment comments feedback commit commits branch link links with both latest remaining inline reviewer reviewers change changes this that them have been also successfully")
