package extract

import (
	"slices"
	"strings"

	"memoir"
)

// maxTasks bounds the asks that are listed of one session.
const maxTasks = 14

// mendedLater marks a report of something that failed, and was mended afterwards.
const mendedLater = " (fixed in the session)"

// tasks lists what a person asked for, in order, closely quoted. Assents and
// greetings are none, nor are objections and, after the first ask, questions that
// were no more than answered; an ask repeated in the same words is listed once.
func tasks(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		if t.ask == nil || t.said.trivial {
			continue
		}
		text := askText(t.said, r)
		if text == "" {
			continue
		}
		weight := substance(t.said) + 0.1*float64(min(t.edits, 5))
		switch {
		case i == 0 || len(out) == 0:
			weight += 3
		case strings.Contains(text, "[REDACTED:"): // who hands over a credential asks for it once
			continue
		case t.edits == 0 && onlyAsks(t.said), t.said.denies && !t.said.pasted && !requests(t.said) && has(words(strings.Join(t.said.own, " ")), verbs):
			continue
		}
		if reportsFailure(text) && mendedBy(r.turns[i:]) {
			text += mendedLater
		}
		out = r.appendFound(out, found{memoir.Statement{Kind: memoir.StatementTask, Text: text, Items: []int{t.said.item}}, weight})
	}
	if len(out) > maxTasks {
		ranked := slices.Clone(out)
		slices.SortStableFunc(ranked, heavier)
		least := ranked[maxTasks-1].weight
		kept := out[:0:0]
		for _, f := range out {
			if f.weight >= least && len(kept) < maxTasks {
				kept = append(kept, f)
			}
		}
		out = kept
	}
	return out
}

// requests reports whether a person asked for something to be done.
func requests(a ask) bool {
	return slices.ContainsFunc(a.own, request)
}

// onlyAsks reports whether all that a person said are questions to be answered.
func onlyAsks(a ask) bool {
	return len(a.own) > 0 && !a.pasted && !requests(a) && !slices.ContainsFunc(a.own, func(s string) bool {
		norm := words(s)
		return !strings.HasSuffix(s, "?") || !has(norm, verbs) && !has(norm, phrases("why|what|when|where|which|who|how|do|should|would|will|could"))
	})
}

// request reports whether a sentence asks for something to be done.
func request(s string) bool {
	norm := words(s)
	return commands(norm) && !begins(norm, phrases("why|what|when|where|who|which|how come")) || has(norm, asksFor) || begins(norm, politeAsks)
}

var asksFor = phrases("can you|could you|would you|please|i want|i'd like|i would like|we need|we should|you should|i need|let's|lets|should be|how about|can we|could we|needs to|must|i think it should|i think we|it should|this should|that should|they should")

// reportsFailure reports whether an ask tells of something that does not work.
func reportsFailure(text string) bool {
	norm := words(text)
	if has(norm, phrases("fix it|fix this|fix that|fix them")) && strings.Count(norm, " ") > 14 {
		return true
	}
	return has(norm, phrases("error|errors|fail|fails|failing|failed|broken|crash|crashes|crashed|panic|exception|wrong|bug|doesn't|does not|not working|isn't|is not|missing|never|no longer|no tests"))
}

// mendedBy reports whether the turn that turns begin with, or one in which the
// person only bade the agent go on, changed files and ended well.
func mendedBy(turns []*turn) bool {
	edits := 0
	for i, t := range turns {
		if i > 0 && !continues(t) && turns[i-1].closed || i > 4 {
			return false
		}
		if edits += t.edits; edits == 0 || !t.closed || len(t.says) == 0 || t.denied {
			continue
		}
		norm := words(t.says[len(t.says)-1].text)
		if has(norm, succeeded) && !has(norm, fellShort) {
			return true
		}
	}
	return false
}

// maxTask bounds a task's line, in bytes.
const maxTask = 240

// askText is an ask as one line: of a long one the sentences that ask for
// something, and the one that leads to the first of them.
func askText(a ask, r *reading) string {
	if len(a.own) == 0 {
		if a.quoted == "" {
			return ""
		}
		return "pasted: " + quote(local(a.quoted, r.root))
	}
	own := a.own
	if at := slices.IndexFunc(own, request); at > 0 && len(strings.Join(own, " ")) > maxTask {
		lead := own[at-1]
		own = own[at:]
		if len(lead) < maxTask/2 && (strings.Count(own[0], " ") < 5 || begins(words(own[0]), dangling)) {
			own = append([]string{lead}, own...)
		}
	}
	text := own[0]
	for _, s := range own[1:] {
		if len(text)+len(s) > maxTask {
			break
		}
		text += " " + s
	}
	if a.quoted != "" && (strings.HasSuffix(text, ":") || len(text) < 60) {
		text += " " + quote(a.quoted)
	}
	text = local(tidy(text), r.root)
	return strings.TrimLeft(shorten(text, maxTask), "#>-*+ ")
}

// substance weighs how much an ask says about the work.
func substance(a ask) float64 {
	norm := words(strings.Join(a.own, " "))
	n := strings.Count(norm, " ")
	weight := 1 + min(float64(n)/12, 2)
	if len(a.own) > 0 && (commands(words(a.own[0])) || begins(words(a.own[0]), politeAsks)) {
		weight++
	}
	if anchors(strings.Join(a.own, " ")) > 0 || strings.Contains(norm, "github.com") || strings.Contains(norm, "http") {
		weight += 0.5
	}
	if a.denies || a.confirms {
		weight -= 0.7
	}
	if n < 4 {
		weight -= 0.8
	}
	if len(a.own) == 0 {
		weight -= 0.5
	}
	return weight
}

// heavier orders statements by weight, the heaviest first.
func heavier(a, b found) int {
	switch {
	case a.weight > b.weight:
		return -1
	case a.weight < b.weight:
		return 1
	}
	return 0
}
