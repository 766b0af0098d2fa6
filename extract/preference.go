package extract

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// rules is the signal of a person's lasting instructions: whole sentences that have the form of a rule.
func rules(s *session) []candidate {
	var out []candidate
	for _, t := range s.turns {
		if !t.ask.typed() || t.ask.pasted && len(t.ask.own) > maxOwn {
			continue
		}
		for _, text := range t.ask.own {
			if lasting(text) {
				c := state(memoir.SignalRule, memoir.StatementPreference, quote(text), t.ask.item)
				c.Quote, c.words = text, text
				out = append(out, c)
			}
		}
	}
	return out
}

// maxOwn bounds the sentences that a person types around pasted text. A message with a paste
// and more sentences is a document.
const maxOwn = 4

const (
	minRule = 3   // words of a rule
	maxRule = 240 // bytes of a rule
)

var (
	// orders begin a rule.
	orders = []string{
		"always", "never", "from now on", "in this repo", "in this project", "in this repository",
		"in this codebase", "we always", "we never", "we use", "we prefer",
		"we don't", "we do not", "i prefer", "i always want", "i never want", "prefer", "by default",
		"as a rule", "in general", "in future", "in the future", "next time",
	}
	// instructions begin a sentence that is a rule only if it applies to every case.
	instructions = []string{
		"do not", "don't", "dont", "make sure", "ensure", "use", "you must", "you should", "must",
		"before", "after", "whenever", "when", "please", "run", "keep", "avoid",
	}
	// everyCase words make a sentence apply to every case; everyTime are those of them that name a time.
	everyCase = append([]string{
		"ever", "every", "each", "any", "all", "unless i", "without asking", "anywhere",
	}, everyTime...)
	everyTime = []string{
		"always", "never", "whenever", "every time", "before committing", "before you commit", "before pushing",
		"before you push", "after every", "in this repo", "in this project", "from now on", "in general", "by default",
		"in future",
	}
	// momentary words limit a sentence to the current task.
	momentary = []string{
		"for now", "now", "today", "yet", "this", "that", "these", "those", "it", "them", "here", "first",
		"this time", "again", "then", "until", "anymore", "still", "just", "currently",
	}
	// oneOffs begin instructions that are never rules.
	oneOffs = []string{
		"don't worry", "don't know", "don't think", "don't need", "don't have", "don't see", "don't mind",
		"don't care", "don't forget", "don't understand", "don't get",
		"do not worry", "do not need", "we use to", "we don't need", "we don't have", "we don't know",
		"never mind", "use all", "don't bother",
	}
)

// lasting reports whether a sentence is a rule by its form.
func lasting(text string) bool {
	if len(text) > maxRule || strings.HasSuffix(text, "?") || strings.HasSuffix(text, ":") ||
		strings.ContainsAny(text, "“”") || strings.HasSuffix(text, "...") {
		return false
	}
	lower := withoutLead(lowerWords(text))
	if strings.Count(lower, " ")-1 < minRule || startsAny(lower, oneOffs...) {
		return false
	}
	if hasAny(lower, "for now", "right now", "this time", "yet", "today", "at the moment") {
		return false
	}
	switch {
	case startsAny(lower, orders...):
		return !hasAny(lower, "this", "that one")
	case startsAny(lower, "do not", "don't", "dont") && hasAny(lower, "again", "use", "instead"):
		clause, _, _ := strings.Cut(text, ",") // in the next clause, "them" may refer to this one
		return !hasAny(strings.ReplaceAll(lowerWords(clause), " again ", " "), momentary...)
	case startsAny(lower, "every", "each", "all"): // without such a verb, it is a report
		return hasAny(lower, "must", "should", "has to", "have to", "needs to", "need to") && !hasAny(lower, momentary...)
	case startsAny(lower, "run all", "run every", "run each", "use every", "use each"): // without a time, it means now
		return hasAny(lower, everyTime...) && !hasAny(lower, momentary...)
	case startsAny(lower, instructions...):
		return hasAny(lower, everyCase...) && !hasAny(lower, momentary...)
	case hasAny(lower, "must never", "must always", "must not", "should never", "should always"):
		return !startsAny(lower, momentary...) && !hasAny(lower, momentary...)
	}
	return false
}

// withoutLead drops opening words such as "ok" and "please".
func withoutLead(lower string) string {
	for again := true; again; {
		again = false
		for _, w := range []string{"ok", "okay", "so", "and", "also", "but", "please", "no", "yes", "btw",
			"well", "oh", "alright", "remember", "note"} {
			if strings.HasPrefix(lower, " "+w+" ") {
				lower, again = lower[len(w)+1:], true
			}
		}
	}
	return lower
}

// maxCorrection bounds, in bytes, the whole sentences that are quoted of a correction.
const maxCorrection = 280

// corrections is the signal of a person's corrections after the agent had acted, their answers to its questions and
// their reasons for a refusal. Corrections and reasons may hold from now on; most apply to the current task only.
func corrections(s *session) []candidate {
	var out []candidate
	for i, t := range s.turns {
		switch t.ask.origin {
		case memoir.OriginAnswer:
			if text := choice(t.ask.text); text != "" {
				out = append(out, state(signalChosen, memoir.StatementDecision, text, t.ask.item))
			}
		case memoir.OriginRejection:
			if text := wholeSentences(t.ask.own, maxCorrection); len(strings.Fields(text)) >= 3 {
				c := state(memoir.SignalMaybe, memoir.StatementPreference, quote(text), t.ask.item)
				c.Quote, c.words = text, text
				out = append(out, c)
			}
		case memoir.OriginTyped, memoir.OriginQueued:
			if i == 0 || !s.turns[i-1].acted() || t.ask.pasted {
				continue
			}
			text := wholeSentences(t.ask.own, maxCorrection)
			if text == "" || !corrects(t.ask.own) {
				continue
			}
			c := state(memoir.SignalMaybe, memoir.StatementPreference, quote(text), t.ask.item)
			c.Quote, c.words = text, text
			out = append(out, c)
		}
	}
	return out
}

var (
	// objections begin a correction.
	objections = []string{
		"no", "nope", "not", "wrong", "actually", "i meant", "i mean", "that's wrong", "that's not",
		"that is not", "this is not", "it should", "should", "don't", "do not",
		"you should", "we should", "it's not", "instead", "rather", "sorry my point",
	}
	// contrasts occur in a correction.
	contrasts = []string{"not correct", "incorrect", "instead of", "rather than", "i meant", "not what i",
		"is wrong", "should be"}
	// assents begin a message that is not a correction, although it begins like one.
	assents = []string{
		"no worries", "no problem", "not sure", "not bad", "no need", "no idea", "not yet", "don't worry",
		"no rush", "do not worry", "actually never mind", "no thanks",
		"not now", "no longer", "no more", "should we", "should i", "should be good", "should be fine",
	}
)

// corrects reports whether a message corrects the agent. Questions alone do not.
func corrects(own []string) bool {
	questions := 0
	for _, text := range own {
		if strings.HasSuffix(text, "?") {
			questions++
		}
	}
	first := lowerWords(own[0])
	all := lowerWords(strings.Join(own, " "))
	if questions == len(own) || strings.Count(all, " ") < minRule+2 || startsAny(first, assents...) {
		return false
	}
	if hasAny(all, "right now", "currently", "at the moment", "let me try", "should be good",
		"should be fine", "should be ready") {
		return false
	}
	return startsAny(first, objections...) && !strings.HasSuffix(own[0], "?") || hasAny(all, contrasts...)
}

func wholeSentences(own []string, limit int) string {
	text := ""
	for _, s := range own {
		if len(text)+len(s)+1 > limit {
			break
		}
		text = strings.TrimSpace(text + " " + s)
	}
	return text
}

// answered matches a pair of question and answer, as agents record it.
var answered = lazyregexp.New(`"([^"]+)"="([^"]+)"`)

// choice returns the statement of a person's answer to a question of the agent.
func choice(text string) string {
	var out []string
	for _, m := range answered.FindAllStringSubmatch(text, 4) {
		if len(m[1]) <= maxCorrection && len(m[2]) <= maxCorrection {
			out = append(out, "chose "+quote(m[2])+" for "+quoteTitle(m[1]))
		}
	}
	if len(out) > 0 {
		return strings.Join(out, "; ")
	}
	own, _ := ownSentences(text)
	if whole := wholeSentences(own, maxCorrection); len(strings.Fields(whole)) >= 4 {
		return quote(whole)
	}
	return ""
}
