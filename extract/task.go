package extract

import (
	"slices"
	"strings"

	"memoir"
)

// maxTasks bounds the asks that are listed of one session.
const maxTasks = 5

// mendedLater marks a report of something that failed, and was mended afterwards.
const mendedLater = " (fixed in the session)"

// tasks lists what a person asked for, in order, closely quoted. Assents and
// greetings are none, nor are objections and, after the first ask, questions that
// were no more than answered; an ask repeated in the same words is listed once.
func tasks(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		if t.ask == nil || t.said.trivial || onlyRules(t.said) || r.retaken()[t.said.item] {
			continue
		}
		again := r.restates(i)
		text := askText(t.said, r, len(out) == 0 || again)
		if text == "" || len(out) > 0 && judgesPasted(t.said) {
			continue
		}
		about, clear := r.pointedAt(i)
		if !clear && len(out) > 0 {
			continue
		}
		weight := substance(t.said) + 0.1*float64(min(t.edits, 5))
		switch {
		case i == 0 || len(out) == 0:
			weight += 3
		case again:
			weight++
		case strings.Contains(text, "[REDACTED:"): // who hands over a credential asks for it once
			continue
		case t.edits == 0 && onlyAsks(t.said), t.said.denies && !t.said.pasted && !requests(t.said) && has(words(strings.Join(t.said.own, " ")), verbs):
			continue
		}
		if (reportsFailure(text) || slices.ContainsFunc(t.said.own, advice)) && mendedBy(r.turns[i:]) {
			about += mendedLater
		}
		text += about
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

var asksFor = newPhrases("can you|could you|would you|please|i want|i'd like|i would like|we need|we should|you should|i need|let's|lets|should be|how about|can we|could we|needs to|must|i think it should|i think we|it should|this should|that should|they should|, fix it|, fix this|, fix that|, fix them")

// reportsFailure reports whether an ask tells of something that does not work.
func reportsFailure(text string) bool {
	norm := words(text)
	if has(norm, phrases("fix it|fix this|fix that|fix them")) && strings.Count(norm, " ") > 14 {
		return true
	}
	return has(norm, phrases("error|errors|fail|fails|failing|failed|broken|crash|crashes|crashed|panic|exception|wrong|bug|doesn't|does not|not working|isn't|is not|missing|never|no longer|no tests|inaccurate|incorrect|incorrectly|inconsistent|unused|not used|unverified|don't work|can hang|misleading|outdated|stale|out of date|no timeout|not checked|not included|not validated|not handled"))
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
			return !notAtEnd(t.says[len(t.says)-1].text) && !unmet(t)
		}
	}
	return false
}

// underWay tells of checks that had not come to an end when the agent closed.
var underWay = newPhrases("queued|is pending|are pending|still pending|in progress|still running|remains|remain|läuft noch|en cours|en curso|em andamento")

// notAtEnd reports whether an answer says that something has not come to an end.
func notAtEnd(answer string) bool {
	if !has(words(answer), underWay) {
		return false
	}
	for _, b := range blocks(answer, false) {
		for _, s := range sentences(b.text) {
			if norm := words(s); has(norm, underWay) && !has(norm, phrases("no|none|nothing|not|never|nichts|kein|keine|aucun|ningún|nenhum")) {
				return true
			}
		}
	}
	return false
}

// unmet reports whether the checks of a pull request that a turn looked at last had
// failed or not come to an end.
func unmet(t *turn) bool {
	for _, run := range slices.Backward(t.runs) {
		if strings.Contains(run.line, " run watch") && !run.failed {
			return false
		}
		if !strings.Contains(run.line, " checks") && !strings.Contains(run.line, "statusCheckRollup") && !strings.Contains(run.line, "check-runs") {
			continue
		}
		low := strings.NewReplacer(`"pending":`, "", `"failure":`, "").Replace(strings.ToLower(run.output))
		for _, mark := range []string{`"bucket":"fail"`, `"bucket":"pending"`, `"bucket": "fail"`, `"bucket": "pending"`, `"failure"`, `"pending"`, `"in_progress"`, `"queued"`, "\tfail\t", "\tpending\t"} {
			if strings.Contains(low, mark) {
				return true
			}
		}
		return false
	}
	return false
}

// judgesPasted reports whether a message says no more than that something pasted is wrong.
func judgesPasted(a ask) bool {
	if !a.pasted || len(a.own) == 0 {
		return false
	}
	for _, s := range a.own {
		norm := words(s)
		if !hollowAside(norm) && !(strings.HasSuffix(s, ":") && pointing(s) && len(contentWords(s)) < 4) || strings.Count(norm, " ") > 8 {
			return false
		}
	}
	return has(words(strings.Join(a.own, " ")), phrases("this|that|it|these|those"))
}

// advice reports whether a sentence is a reviewer's advice.
func advice(s string) bool {
	norm := words(s)
	return begins(norm, advises) || begins(norm, phrases("i recommend|i suggest|i'd suggest|i would suggest|i'd recommend|i would recommend|we recommend|we suggest"))
}

// onlyRules reports whether a message says nothing but what is to be done always or never.
func onlyRules(a ask) bool {
	for _, s := range a.own {
		norm := words(s)
		if !directive(norm, "never") && !directive(norm, "always") || standing(s, a) == 0 {
			return false
		}
	}
	return len(a.own) > 0 && !a.pasted
}

// Bounds of a task's line, in bytes: some twenty words, and more where requests cannot
// be told from what else a person said.
const (
	maxTask    = 180
	maxForeign = 240
)

// askText is an ask as one line: of a long one the sentences that ask for
// something, and the one that leads to the first of them.
func askText(a ask, r *reading, first bool) string {
	if len(a.own) == 0 {
		if a.quoted == "" {
			return ""
		}
		return "pasted: " + quote(shorten(local(a.quoted, r.root), 100))
	}
	own, most := asking(a), maxTask
	if inEnglish(a) && slices.ContainsFunc(own, advice) { // what is advised is told with what it is to mend
		if most = maxForeign; own[0] != a.own[0] && !strings.HasPrefix(a.own[0], "[") {
			own = append(a.own[:1:1], own...)
		}
	}
	switch {
	case first && len(strings.Join(a.own, " ")) <= maxTask: // it is short enough to be told as it is
		if all := slices.DeleteFunc(slices.Clone(a.own), func(s string) bool { return forNow(words(s)) }); len(all) > 0 {
			own = all
		}
	case len(own) == 0 && !first && a.quoted == "" && !has(words(strings.Join(a.own, " . ")), failing):
		return ""
	case len(own) == 0:
		if own = foremost(a.own); len(a.own) > 1 && !a.pasted && own[0] == a.own[0] && has(words(own[0]), lacks) && !slices.ContainsFunc(a.own, question) { // a report, with its ground
			own, most = a.own, maxForeign
		}
	case !inEnglish(a):
		most = maxForeign
	case first && len(strings.Join(a.own, " ")) <= maxForeign: // what opens the session names it
		if head := foremost(a.own); slices.Index(a.own, head[0]) < slices.Index(a.own, own[0]) {
			own = append(head, own...)
		}
	}
	if !first || len(own) > 0 {
		own, most = withGround(a, own, most)
	}
	text := own[0]
	for _, s := range own[1:] {
		if len(text)+len(s) > most {
			break
		}
		text += " " + s
	}
	if a.quoted != "" && (strings.HasSuffix(text, ":") || len(text) < 60) {
		text += " " + quote(shorten(a.quoted, 80))
	}
	text = local(tidy(text), r.root)
	return strings.TrimLeft(shorten(text, most), "#>-*+ ")
}

// asking are the sentences of an ask that a task is told in: what asks for something,
// with the one before it where that names what it is about. What only tells, binds for
// good or holds for this once is told elsewhere, or not at all. In other languages
// requests have no form that is known: all sentences count.
func asking(a ask) []string {
	if !inEnglish(a) {
		return slices.DeleteFunc(slices.Clone(a.own), func(s string) bool { return bare(words(s)) })
	}
	var out []string
	needs := slices.ContainsFunc(a.own, tellsNeed)
	for k, s := range a.own {
		norm := words(s)
		if needs && asksToRead(norm) || len(a.own) > 1 && pointsOnly(s) || ofTheSession(s, norm) || begins(norm, ownTrial) {
			continue
		}
		if !request(s) && !advice(s) && !(needs && tellsNeed(s) && k > 0 && asksToRead(words(a.own[0]))) || begins(norm, scoffs) || begins(norm, soothing) || forNow(norm) || bare(norm) || standing(s, a) > 0 && len(a.own) > 1 {
			continue
		}
		if k > 0 && len(out) == 0 && !forNow(words(a.own[k-1])) && len(a.own[k-1]) < maxTask/2 && (strings.Count(norm, " ") < 6 || begins(norm, dangling) || pointing(s)) {
			out = append(out, a.own[k-1])
		}
		out = append(out, s)
	}
	return out
}

// asksToRead reports whether a sentence asks for no more than to read something.
func asksToRead(norm string) bool {
	for _, o := range []string{" alright ,", " ok ,", " okay ,", " ok", " hey ,", " so ,", " please", " first ,", " first"} {
		norm = strings.TrimPrefix(norm, o)
	}
	return begins(norm, phrases("read|re-read|look at|have a look at|take a look at|lies|schau dir|lis|lee|leia")) && !has(norm, phrases("tell|and then|explain|fix|make|write|add|change|summarize|summarise|find"))
}

// tellsNeed reports whether a sentence says what has to be or ought to be done.
func tellsNeed(s string) bool {
	return !question(s) && has(words(s), phrases("need to|needs to|want|i'd like|could be|should|have to|has to")) && !asksToRead(words(s))
}

// ofTheSession reports whether a sentence is about the session itself or its log.
func ofTheSession(s, norm string) bool {
	return has(norm, phrases("session|conversation|transcript")) && strings.Contains(s, ".jsonl")
}

// ownTrial begins what a person does next themselves.
var ownTrial = newPhrases("let me try|let me see|let me check|let me test|let me look|ok , let me|okay , let me|i then want|then i want|now i want to try|i now want|next i want")

// inEnglish reports whether a person wrote in English, as far as the words tell.
func inEnglish(a ask) bool {
	return has(words(strings.Join(a.own, " . ")), english) || slices.ContainsFunc(a.own, func(s string) bool { return commands(words(s)) })
}

// scoffs hold the agent's own words against it.
var scoffs = newPhrases("so much for|so you say|you said|you told me|you claimed|von wegen|soviel zu|so viel zu|tu disais|vous disiez|decías|dijiste")

// soothing asks for nothing.
var soothing = newPhrases("don't worry|dont worry|do not worry|never mind|nevermind|don't bother")

// foremost is the first sentence of an ask that says something.
func foremost(own []string) []string {
	for _, s := range own {
		if norm := words(s); !forNow(norm) && !trivial(norm) && !(pointsOnly(s) && len(own) > 1) && !begins(norm, scoffs) && (len(own) == 1 || strings.Count(norm, " ") > 3 || wide(s) > 0) {
			return []string{s}
		}
	}
	return own[:1]
}

// withGround puts before sentences that name nothing themselves, as "fix it" and "do both",
// those of the same message that say what is wrong.
func withGround(a ask, own []string, most int) ([]string, int) {
	if len(own) == len(a.own) || !inEnglish(a) || !saysNothing(ask{own: own}) {
		return own, most
	}
	var ground []string
	for _, s := range a.own {
		if slices.Contains(own, s) {
			break
		}
		if s = strings.NewReplacer("** **", " ", "**", "", `\_`, "_").Replace(s); reportsFailure(s) || anchors(s) > 0 || slices.ContainsFunc(strings.Fields(s), looksLikeFile) {
			if at := strings.Index(s, " — "); at > 30 {
				s = s[:at]
			}
			ground = append(ground, strings.TrimRight(shorten(withoutAside(s), 110), ". ")+".")
		}
	}
	if len(ground) == 0 || len(ground) > 3 {
		return own, most
	}
	return append(ground, own...), maxForeign + 60
}

// pointsOnly reports whether a sentence says of something that it only points at no more
// than that it is wrong.
func pointsOnly(s string) bool {
	if !pointing(s) || anchors(s) > 0 {
		return false
	}
	for w := range contentWords(s) {
		switch w {
		case "this", "that", "these", "those", "wait", "look", "looks", "right", "wrong", "correct", "doesn", "does", "isn", "again", "still", "really", "good", "work", "works", "seem", "seems", "what", "fuck", "fucking", "quite":
		default:
			return false
		}
	}
	return true
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
