package extract

import (
	"math"
	"path"
	"slices"
	"strings"

	"memoir"
)

// openEnd begins the statement of what the agent asked last and nobody answered.
const openEnd = "Open at the end: "

// outcomes says how the session ended, cautiously, and what was done: first the
// line that says most of the session's main work, then the rest in order.
func outcomes(r *reading, posts []*posting, told []found) []found {
	status, what, item := ending(r)
	if status == "" {
		return nil
	}
	done := accounts(r)
	for _, f := range told {
		if r.remadeSince(r.lastEdited(f.Items[0]), f.Text) {
			continue
		}
		done = r.sayOnce(done, f)
	}
	links := pullRequests(r, posts)
	done = withoutAnnouncements(done, links)
	if best := mainWork(r, done); best >= 0 {
		what, item = done[best].Text, done[best].Items[0]
		done = slices.Delete(done, best, best+1)
	}
	text := status
	if what != "" {
		text += " — " + shorten(impersonal(what), 440)
	}
	text, links = withLinks(text, done, links)
	if f, ok := created(r, links); ok {
		done = append(done, f)
	}
	out := []found{{memoir.Statement{Kind: memoir.StatementOutcome, Text: text, Items: []int{item}}, 9}}
	if question, at := unanswered(r); question != "" {
		out = append(out, found{memoir.Statement{Kind: memoir.StatementOutcome, Text: openEnd + question, Items: []int{at}}, 7})
	}
	for _, f := range done {
		if !strings.Contains(text, shorten(f.Text, 60)) {
			out = append(out, f)
		}
	}
	if f, ok := uncommitted(r, posts); ok {
		out = append(out, f)
	}
	return out
}

// accounts is what the answers of the turns that changed something say was done.
// What the agent says of its work in other turns is a proposal, an opinion or a
// repetition.
func accounts(r *reading) []found {
	var out []found
	acting := false
	for i, t := range r.turns {
		goesOn := acting && t.ask != nil && (t.said.trivial && !t.said.confirms)
		acting = t.acted() || goesOn
		if !acting || t.denied && t.edits == 0 || r.takenBack(t) {
			continue
		}
		void, said := overruled(r, i), 0
		for _, s := range t.says {
			if !s.final {
				continue
			}
			lines := account(s, r.root)
			if n := len(lines); n > 0 && i+1 < len(r.turns) && r.turns[i+1].ask != nil && brokenOff(s.text) {
				lines = lines[:n-1]
			}
			for _, f := range lines {
				norm := words(f.Text)
				if said++; void != nil && !begins(norm, removals) && touches(f.Text, void) || r.void[s.item] && remade(norm) || r.putBack(i, f.Text) || r.remadeSince(t, f.Text) {
					continue
				}
				out = r.sayLater(out, f)
			}
		}
		if said == 0 && t.edits > 0 && t.closed {
			if line, at := headline(t, r.root); !r.putBack(i, line) && len(strings.Fields(line)) >= minOutcomeWords && !trivialAnswer(line) && standsAlone(line) && !has(words(line), chatter) && !unsettled(line) {
				out = r.supersede(out, found{memoir.Statement{Kind: memoir.StatementOutcome, Text: shorten(impersonal(line), 240), Items: []int{at}}, 1.2})
			}
		}
	}
	for i := range out {
		out[i].Text = r.truePaths(out[i].Text)
	}
	return slices.DeleteFunc(r.onePerPath(withoutGone(latestState(out), r)), func(f found) bool { return r.obsolete(f.Text, f.Items[0]) || r.ledger.undid(f.Text, f.Items[0]) })
}

// brokenOff reports whether an answer was stopped in the middle of a sentence.
func brokenOff(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, " \n"), ",")
}

// sayLater adds a line to a list in which it takes the place of an earlier one on
// the same thing, unless that one names more.
func (r *reading) sayLater(list []found, f found) []found {
	mine := r.lexicon.of(f.Text)
	for i := max(0, len(list)-maxAlike); i < len(list); i++ {
		switch o := r.lexicon.of(list[i].Text).overlap(mine); {
		case o < 0.55, o < 0.8 && anchors(list[i].Text) > anchors(f.Text):
		case anchors(list[i].Text) > anchors(f.Text) && len(list[i].Text) > len(f.Text):
			return list
		default:
			list[i] = f
			return list
		}
	}
	return withoutLightest(append(list, f))
}

// removals stay true of a turn that was found fault with.
var removals = newPhrases("removed|deleted|cleaned|dropped|closed|merged|released|published")

// mainWork picks the line that says most of what the session was for: it shares
// words with what was asked, and much was changed in its turn.
func mainWork(r *reading, done []found) int {
	first := map[string]bool{}
	turns := map[int]int{}
	for i, t := range r.turns {
		if len(first) < 3 && t.ask != nil && !t.said.trivial {
			first = contentWords(strings.Join(t.said.own, " ") + " " + t.said.quoted)
		}
		for _, s := range t.says {
			turns[s.item] = i
		}
		for _, run := range t.runs {
			turns[run.item] = i
		}
	}
	lines := map[int]int{} // of one answer: the more it sums up, the better
	for _, f := range done {
		lines[f.Items[0]]++
	}
	best, most := -1, 0.0
	for k, f := range done {
		norm := words(f.Text)
		if has(norm, chatter) || strings.HasPrefix(f.Text, "Committed `") || more(f.Text) || begins(norm, phrases("opened|addressed|replied|merged|closed")) || len(strings.Fields(f.Text)) < minOutcomeWords {
			continue
		}
		i := turns[f.Items[0]]
		t := r.turns[i]
		mine := contentWords(f.Text)
		score := min(f.weight, 2.5) + 2*shared(mine, first) + 0.4*math.Log(1+float64(min(t.edits, 30))) + 0.6*float64(i+1)/float64(len(r.turns))
		score += 0.15 * float64(min(lines[f.Items[0]], 8))
		if t.ask != nil {
			score += shared(mine, r.lexicon.of(strings.Join(t.said.own, " ")).content)
		}
		if f.weight < weightTold-1 && accomplishment(f.Text) == 0 {
			score--
		}
		if f.weight < weightTold && has(norm, besides) {
			score--
		}
		if score > most {
			best, most = k, score
		}
	}
	return best
}

// besides is work that goes along with the work asked for.
var besides = newPhrases("test|tests|coverage|docs|documentation|comment|comments|wording|help text|typo|formatting|changelog|clean up|cleaned up|test harness")

// shared is the share of the words of a that b holds.
func shared(a, b map[string]bool) float64 {
	if len(a) == 0 {
		return 0
	}
	return float64(held(a, b)) / float64(len(a))
}

// gonePatterns name what a change took away: a thing renamed, removed or replaced.
var gonePatterns = []*pattern{
	newPattern("(?i)\\brenamed? [^`.;]{0,30}`([^`]+)`"),
	newPattern("(?i)\\b(?:removed|deleted|dropped|replaced) (?:the |old |unused )*`([^`]+)`"),
	newPattern("(?i)\\b(?:remove|delete|drop|get rid of) (?:the )?`?([A-Za-z_][\\w.-]{4,})`?"),
}

// withoutGone drops what was done to things that the session took away later.
func withoutGone(list []found, r *reading) []found {
	gone := map[string]int{} // a name in a code span -> the item from which on it is no more
	note := func(text string, item int, patterns []*pattern) {
		for _, p := range patterns {
			for _, m := range p.FindAllStringSubmatch(text, -1) {
				gone[m[1]] = max(gone[m[1]], item)
			}
		}
	}
	for _, f := range list {
		note(f.Text, f.Items[0], gonePatterns[:2])
	}
	for _, t := range r.turns {
		if t.ask != nil && t.edits > 0 {
			note(strings.Join(t.said.own, " "), t.said.item, gonePatterns[2:])
		}
	}
	for _, run := range r.runs {
		if run.failed {
			continue
		}
		for _, s := range run.whole {
			for _, p := range takenAway(s.words) {
				p = relative(p, r.root)
				if r.edited[p] > run.item {
					continue
				}
				gone[p] = max(gone[p], run.item)
				gone[path.Base(p)] = max(gone[path.Base(p)], run.item)
			}
		}
	}
	if len(gone) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(f found) bool {
		if begins(words(f.Text), removals) {
			return false
		}
		for i, span := range strings.Split(f.Text, "`") {
			if i%2 == 1 && gone[strings.TrimSuffix(span, "()")] > f.Items[len(f.Items)-1] {
				return true
			}
		}
		return false
	})
}

// takenAway lists the files that a simple command removes or renames.
func takenAway(args []string) []string {
	if len(args) > 2 && args[0] == "git" && (args[1] == "rm" || args[1] == "mv") {
		args = args[1:]
	}
	var files []string
	for _, w := range args[1:] {
		if w = unquote(w); looksLikeFile(w) && !temporary(w) {
			files = append(files, w)
		}
	}
	switch args[0] {
	case "rm":
		return files
	case "mv":
		return files[:max(len(files)-1, 0)]
	}
	return nil
}
