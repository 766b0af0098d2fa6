package extract

import (
	"cmp"
	"strings"
)

// How a session ended; the first word of an outcome.
const (
	outcomeDone    = "done"
	outcomePartial = "partial"
	outcomeFailed  = "failed"
	outcomeUnknown = "unknown"
)

var (
	succeeded = newPhrases("done|fixed|opened|created|pushed|pass|passes|passed|passing|merged|added|implemented|updated|addressed|completed|complete|works|working now|resolved|applied|removed|released|published|all set|ready|green|replaced|succeeded|verified")
	fellShort = newPhrases("i could not|i couldn't|unable to|not able to|still failing|still fails|still fail|left to do|not yet|did not finish|didn't finish|is blocked|are blocked|blocked on|blocked by|blocked until|cannot complete|not done|incomplete|partially")
	awaits    = newPhrases("should i|shall i|do you want|would you like|want me to|may i|which one|which option|which of|which approach|do you prefer|is that ok|is this ok|does that work|proceed|confirm|approve")
	anyMore   = newPhrases("anything else|what's next|what next|what would you like me to do|what else|further|next task|how can i help")
	gaveUp    = newPhrases("i couldn't|i could not|i was unable|i'm unable|i am unable|not possible to|gave up|failed to complete")
)

// ending judges the last exchanges. The status is empty for a session in which
// the agent did and said nothing.
func ending(r *reading) (status, what string, item int) {
	var last *turn
	open := false // a person's words that nobody answered
	confirmed := false
	for i, t := range r.turns {
		if len(t.says) == 0 && len(t.runs) == 0 && t.edits == 0 {
			if t.ask != nil && !t.said.trivial {
				open = true
			}
			confirmed = confirmed || t.said.confirms
			continue
		}
		open = false
		confirmed = t.said.confirms && i > 0
		if last != nil && (acknowledges(t) || slip(t)) {
			continue
		}
		if last == nil || len(t.runs) > 0 || t.edits > 0 || !brief(t) {
			last = t
		}
	}
	if last == nil {
		return "", "", 0
	}
	what, item = headline(last, r.root)
	if item == 0 {
		item = firstItem(last)
	}
	if len(strings.Fields(what)) < 3 || trivialAnswer(what) {
		for i := len(r.turns) - 1; i >= 0; i-- {
			if w, at := headline(r.turns[i], r.root); len(strings.Fields(w)) >= 3 && !trivialAnswer(w) && !r.obsolete(w, at) {
				what, item = w, at
				break
			}
		}
	}
	answer := ""
	if n := len(last.says); n > 0 {
		answer = last.says[n-1].text
	}
	norm := words(answer)
	lastLine := strings.TrimSpace(answer)
	if i := strings.LastIndex(lastLine, "\n::"); i > 0 {
		lastLine = strings.TrimSpace(lastLine[:strings.Index(lastLine, "\n::")])
	}
	switch {
	case open:
		status = outcomePartial
	case !last.closed && len(last.says) == 0, !last.closed:
		status = outcomeUnknown
	case confirmed:
		status = outcomeDone
	case has(norm, gaveUp) && !has(norm, succeeded):
		status = outcomeFailed
	case strings.HasSuffix(lastLine, "?") && awaiting(lastLine) && len(r.edits) > 0 && !has(norm, fellShort) && handsOver(lastLine):
		status = outcomeDone
	case strings.HasSuffix(lastLine, "?") && awaiting(lastLine):
		status = outcomePartial
	case has(norm, succeeded) && has(norm, fellShort):
		status = outcomePartial
		if !has(norm, phrases("still failing|still fails|could not|couldn't|unable to|blocked|incomplete|partially|not done")) {
			status = outcomeDone
		}
	case has(norm, fellShort):
		status = outcomePartial
	case has(norm, succeeded):
		status = outcomeDone
	default:
		status = outcomeUnknown
		if n := len(last.runs); n > 0 && (last.runs[n-1].failed || last.runs[n-1].looksFailed()) {
			break
		}
		if last.edits > 0 && last.closed || achievedSomething(last) || asksQuestion(last) && len(answer) > 60 || last.edits == 0 && len(answer) > 200 {
			status = outcomeDone // a question that was answered
		}
	}
	return r.delivered(status), what, item
}

// handsOver reports whether a question offers no more than to commit or publish what
// was done.
func handsOver(line string) bool {
	norm := words(line[strings.LastIndexByte(line, '\n')+1:])
	return has(norm, handovers) && !has(norm, moreWork)
}

var (
	handovers = newPhrases("commit|push|pull request|merge request|pr|prs|mr")
	moreWork  = newPhrases("fix|fixes|implement|continue|proceed|add|update|apply|try|revert|remove|run|rerun|address|change|which|instead|approach|option|options|before|first|retry|again")
)

// delivered corrects a status by how the last commit, push and release of the session
// ended: what failed at the end is not done, and what was committed is.
func (r *reading) delivered(status string) string {
	ended := map[string]*run{} // by what was run last
	last := 0
	for _, run := range r.runs {
		if run.unknown || run.declined() {
			continue
		}
		for _, c := range run.cmds {
			if c.use == forRelease || c.family == "git commit" || c.family == "git push" {
				if run.failed {
					if guilty, _ := blamed(run); guilty != c {
						continue
					}
				}
				ended[c.family] = run
				if !run.failed {
					last = run.item
				}
			}
		}
	}
	for _, run := range ended {
		if run.failed && (status == outcomeDone || status == outcomeUnknown) {
			return outcomePartial
		}
	}
	if n := len(r.edits); status == outcomeUnknown && last > 0 && n > 0 && r.edits[n-1].item < last && r.turns[len(r.turns)-1].closed {
		return outcomeDone
	}
	return status
}

// slip reports whether a person typed no more than a word that was not for the
// agent, and it did nothing but answer.
func slip(t *turn) bool {
	return t.ask != nil && len(t.runs) == 0 && t.edits == 0 && !t.said.pasted && len(t.said.own) == 1 && len(strings.Fields(t.said.own[0])) == 1 && !strings.ContainsAny(t.said.own[0], "?/")
}

// acknowledges reports whether the agent did no more in a turn than take note of
// what the person said.
func acknowledges(t *turn) bool {
	if len(t.runs) > 0 || t.edits > 0 || len(t.says) == 0 || t.said.document {
		return false
	}
	if t.said.trivial || t.said.confirms {
		return true
	}
	answer := words(t.says[len(t.says)-1].text)
	if begins(answer, phrases("understood|noted|got it|ok|okay|will do|i will not|i won't|acknowledged|agreed|makes sense|you're right|verstanden|compris|entendido")) {
		return true
	}
	return rules(t.said)
}

// achievedSomething reports whether the last command of a turn that matters
// succeeded, and the agent closed with an answer.
func achievedSomething(t *turn) bool {
	for i := len(t.runs) - 1; i >= 0; i-- {
		for _, c := range t.runs[i].cmds {
			return t.closed && t.runs[i].succeeded(c)
		}
	}
	return false
}

// brief reports whether a turn has no more than a nod for an answer.
func brief(t *turn) bool {
	for _, s := range t.says {
		if len(strings.Fields(s.text)) > 4 {
			return false
		}
	}
	return true
}

// awaiting reports whether the last line of an answer asks for a decision.
func awaiting(line string) bool {
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	norm := words(line)
	return has(norm, awaits) && !has(norm, anyMore)
}

// asksQuestion reports whether a turn began with a question rather than a request.
func asksQuestion(t *turn) bool {
	if t.ask == nil || len(t.said.own) == 0 {
		return false
	}
	last := t.said.own[len(t.said.own)-1]
	return strings.HasSuffix(last, "?") && !begins(words(last), politeAsks)
}

func firstItem(t *turn) int {
	switch {
	case t.ask != nil:
		return t.ask.N
	case len(t.says) > 0:
		return t.says[0].item
	case len(t.runs) > 0:
		return t.runs[0].item
	}
	return 1
}

// headline is the sentence of a turn's last answer that says best what came of
// it: the first that tells of something done, else the first telling one.
func headline(t *turn, root string) (string, int) {
	for i := len(t.says) - 1; i >= 0; i-- {
		s := t.says[i]
		first, spare := "", ""
		for _, b := range blocks(s.text, false) {
			for _, sentence := range sentences(local(tidy(b.text), root)) {
				sentence = withoutOffer(sentence)
				norm := words(sentence)
				switch {
				case offered(norm), tally(sentence), unsettled(sentence), wellOnly(sentence, norm):
				case strings.Count(norm, " ") < 4 || strings.HasSuffix(sentence, ":") || strings.HasSuffix(sentence, "?"):
				case accomplishment(sentence) >= 1.5 && !sessionBound(sentence, norm):
					return sentence, s.item
				case begins(norm, narrations) && !begins(norm, phrases("created|all set")) && accomplishment(sentence) == 0, strings.HasPrefix(norm, " i'm "), !has(norm, verbs) && accomplishment(sentence) == 0, begins(norm, dangling), begins(norm, phrases("now")), has(norm, chatter), has(norm, verdicts) && anchors(sentence) == 0:
					spare = cmp.Or(spare, sentence)
				default:
					first = cmp.Or(first, sentence)
				}
			}
		}
		if best := cmp.Or(first, spare); best != "" {
			return best, s.item
		}
		if s.final {
			break
		}
	}
	return "", 0
}

// unanswered is the question that the agent's last answer ends in, with the
// beginning of that answer, if it asks for a decision and nothing follows.
func unanswered(r *reading) (string, int) {
	if len(r.turns) == 0 {
		return "", 0
	}
	t := r.turns[len(r.turns)-1]
	for i := len(r.turns) - 1; i > 0 && len(t.says) == 0 && len(t.runs) == 0 && (t.ask == nil || len(t.said.own) == 0); i-- {
		t = r.turns[i-1] // a command to the agent's prompt followed
	}
	if len(t.says) == 0 || !t.closed {
		return "", 0
	}
	last := t.says[len(t.says)-1]
	answer := strings.TrimSpace(last.text)
	if !strings.HasSuffix(answer, "?") || !awaiting(answer) {
		return "", 0
	}
	asked := sentences(answer[strings.LastIndexByte(answer, '\n')+1:])
	from := len(asked)
	for from > 0 && strings.HasSuffix(asked[from-1], "?") {
		from--
	}
	question := strings.Join(asked[from:], " ")
	text := "the agent asked " + quote(shorten(local(tidy(question), r.root), 200)) + ", unanswered"
	if asked := r.optionsAsked(question, last.text); asked != "" {
		text += "; asked about: " + local(asked, r.root)
		if len(listHeads(last.text)) > 1 {
			return text, last.item
		}
	}
	for _, b := range blocks(last.text, false) {
		for _, s := range sentences(local(tidy(b.text), r.root)) {
			if !strings.HasSuffix(s, "?") && len(strings.Fields(s)) >= 4 {
				return text + "; before that: " + quote(shorten(strings.TrimSuffix(s, ":"), 200)), last.item
			}
		}
	}
	return text, last.item
}

func trivialAnswer(s string) bool {
	return trivial(words(s)) || textbook(s) || begins(words(s), phrases("replied|see you|goodbye|bye|you're welcome|hello|hi"))
}
