package extract

import (
	"strings"

	"memoir"
)

// rules is the signal of what a person wants always: a sentence of theirs, whole, that
// is a lasting instruction by its form.
func rules(s *session) []candidate {
	var out []candidate
	for _, t := range s.turns {
		if !t.ask.typed() || t.ask.pasted && len(t.ask.own) > maxOwn {
			continue
		}
		for _, text := range t.ask.own {
			if lasting(text) {
				c := state(memoir.StatementPreference, quote(text), t.ask.item)
				c.said = text
				out = append(out, c)
			}
		}
	}
	return out
}

// maxOwn is how many sentences a person types at most around what they paste. A
// message with a paste and more sentences is a document.
const maxOwn = 4

const (
	minRule = 3   // words of a rule
	maxRule = 240 // bytes of a rule
)

var (
	// orders begin a sentence that holds always, by themselves.
	orders = []string{
		"always", "never", "from now on", "in this repo", "in this project", "in this repository",
		"in this codebase", "we always", "we never", "we use", "we prefer",
		"we don't", "we do not", "i prefer", "i always want", "i never want", "prefer", "by default",
		"as a rule", "in general", "in future", "in the future", "next time",
	}
	// instructions begin a sentence that is a rule only where it speaks of every case.
	instructions = []string{
		"do not", "don't", "dont", "make sure", "ensure", "use", "you must", "you should", "must",
		"before", "after", "whenever", "when", "please", "run", "keep", "avoid",
	}
	// everyCase are the words by which a sentence speaks of every case.
	everyCase = []string{
		"always", "never", "ever", "every", "each", "any", "all", "whenever", "every time",
		"before committing", "before you commit", "before pushing", "before you push",
		"after every", "in this repo", "in this project", "from now on", "unless i", "without asking",
		"anywhere", "in general", "by default", "in future",
	}
	// momentary words tie a sentence to the work at hand.
	momentary = []string{
		"for now", "now", "today", "yet", "this", "that", "these", "those", "it", "them", "here", "first",
		"this time", "again", "then", "until", "anymore", "still", "just", "currently",
	}
	// errands are instructions that are no rules in any form.
	errands = []string{
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
	if strings.Count(lower, " ")-1 < minRule || startsAny(lower, errands...) {
		return false
	}
	if hasAny(lower, "for now", "right now", "this time", "yet", "today", "at the moment") {
		return false
	}
	switch {
	case startsAny(lower, orders...):
		return !hasAny(lower, "this", "that one")
	case startsAny(lower, "do not", "don't", "dont") && hasAny(lower, "again", "use", "instead"): // no more, or not so
		clause, _, _ := strings.Cut(text, ",") // behind it, "them" is what the clause names
		return !hasAny(strings.ReplaceAll(lowerWords(clause), " again ", " "), momentary...)
	case startsAny(lower, "every", "each", "all"): // else they begin a report
		return hasAny(lower, "must", "should", "has to", "have to", "needs to", "need to") && !hasAny(lower, momentary...)
	case startsAny(lower, instructions...):
		return hasAny(lower, everyCase...) && !hasAny(lower, momentary...)
	case hasAny(lower, "must never", "must always", "must not", "should never", "should always"):
		return !startsAny(lower, momentary...) && !hasAny(lower, momentary...)
	}
	return false
}

// withoutLead drops the words with which people begin to speak.
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
