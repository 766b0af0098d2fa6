package extract

import (
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// wishes is the signal of a person's sentences that may hold from now on: rules, and what only may be one, with their
// corrections and their reasons for a refusal. A question is neither.
func wishes(s *session) []candidate {
	var out []candidate
	for i, t := range s.turns {
		own, refusal := t.ask.own, t.ask.origin == memoir.OriginRejection
		if _, decided := instead(t); decided || !refusal && !t.ask.typed() || t.ask.pasted && len(own) > maxOwn {
			continue
		}
		add := func(signal, text string) {
			kind := memoir.StatementPreference
			if signal == signalRenamed {
				kind = memoir.StatementFinding
			}
			c := state(signal, kind, quote(text), t.ask.item)
			c.Quote, c.words = text, text
			out = append(out, c)
		}
		found := false
		for _, text := range own {
			if signal := wish(text); signal != "" {
				if refusal && signal == memoir.SignalRule {
					signal = memoir.SignalMaybe
				}
				add(signal, text)
				found = true
			}
		}
		objects := i > 0 && s.turns[i-1].acted() && len(own) > 0 && startsAny(lowerWords(own[0]), objections...) &&
			corrects(own)
		if whole := wholeSentences(own, maxRule); !found && (refusal || objects) && !strings.Contains(whole, "?") &&
			len(strings.Fields(whole)) > minRule {
			add(memoir.SignalMaybe, whole)
		}
	}
	return out
}

// maxOwn bounds the sentences that a person types around pasted text. A message with a paste
// and more sentences is a document.
const maxOwn = 4

const (
	minRule = 3   // words of a wish
	maxRule = 240 // bytes of a wish
)

// The words of wishes, which docs/benchmarks.md measures.
var (
	// forAll say that a sentence holds from now on; markers do if it is about the way of working.
	forAll = []string{"from now on", "going forward", "in future", "in the future", "next time", "as a rule",
		"keep in mind"}
	markers = []string{"always", "never", "by default", "every time", "whenever", "ever", "remember that"}
	// ways are the beginnings of words about the way of working; of shorter ones, whole words.
	ways = []string{"commit", "test", "branch", "lint", "format", "build", "push", "merge", "release", "deploy", "review",
		"doc", "comment", "code", "file", "depend", "package", "script", "command", "install", "migrate", "repo", "ask",
		"answer", "mock", "config", "secret", "server", "machine", "database", "me", "yourself"}
	// momentary words tie a sentence to what is at hand.
	momentary = []string{"this", "these", "those", "now", "today", "yet", "here", "just"}
	// habits follow "we" and "I", states any subject, duties what is obliged.
	habits = []string{"use", "uses", "using", "prefer", "work"}
	states = []string{"is", "are", "has", "run", "runs"}
	duties = []string{"must", "should", "needs"}
	// bans begin a prohibition, choices a preference, reliefs an assent that looks like a prohibition.
	bans    = []string{"no", "never", "don't", "do not", "stop"}
	choices = []string{"use", "prefer", "keep"}
	reliefs = []string{"no problem", "no worries", "no need", "no idea", "never mind", "don't worry"}
	// objections begin a correction; contrasts occur in one.
	objections = []string{"no", "not", "wrong", "actually", "i meant"}
	contrasts  = []string{"instead of", "rather than", "should be"}
)

// wish returns the signal that takes a sentence by its form; empty if none does.
func wish(text string) string {
	plain := strings.ReplaceAll(lowerWords(text), " dont ", " don't ")
	lower := withoutLead(inProject.ReplaceAllString(plain, " as a rule "))
	words := strings.Fields(lower)
	if len(text) > maxRule || len(words) < minRule || strings.ContainsAny(text, "?“”") || strings.HasSuffix(text, ":") ||
		strings.HasSuffix(text, "...") || startsAny(lower, reliefs...) || refers(text, lower) {
		return ""
	}
	who, _, _ := strings.Cut(words[0], "'") // "we're"
	first := " " + strings.Join(words[:min(len(words), markedWithin)], " ") + " "
	about := strings.Contains(text, "`") || slices.ContainsFunc(words, isWay)
	marked := hasAny(lower, forAll...) || about && (hasAny(first, markers...) || occasional(words))
	we, ours := who == "we" || who == "i", who == "my" || who == "our"
	fact := we && slices.Contains(habits, words[1]) || ours && (hasAny(first, states...) || hasAny(first, habits...))
	subject := we || ours || who == "the" || who == "all"
	switch {
	case newName.MatchString(lower):
		return signalRenamed
	case marked && !startsAny(lower, "the", "a", "to", "there"), fact && !hasAny(lower, "but"):
		return memoir.SignalRule
	case startsAny(lower, bans...), about && startsAny(lower, choices...), startsAny(lower, "you must", "we must"),
		about && subject && (hasAny(first, states...) || we && (isWay(words[1]) || hasAny(first, "don't want"))),
		hasAny(first, duties...) && (slices.ContainsFunc(words[:3], isWay) || about && (who == "every" || who == "all")):
		return memoir.SignalMaybe
	}
	return ""
}

// refers reports whether a sentence refers to what is at hand. In its later clauses, "it" may refer to the first one.
func refers(text, lower string) bool {
	clause, _, _ := strings.Cut(text, ",")
	return hasAny(lowerWords(clause), "it", "them", "they") || strings.HasSuffix(lower, " that ") ||
		hasAny(lower, momentary...) && !hasAny(lowerWords(text), forAll...)
}

// newName matches the words of a sentence that gives a thing another name or says that it is gone.
var newName = lazyregexp.New(`^ (?:the )?\S+(?: \S+)? (?:(?:has|have) been renamed|was renamed|is now (?:called|named)) ` +
	`|^ we (?:don't|do not) (?:have|use) .* any ?more $|^ we no longer (?:have|use) `)

// markedWithin is the number of words at a sentence's beginning of which one is the marker.
const markedWithin = 6

// inProject matches words that make a sentence hold for the project.
var inProject = lazyregexp.New(` (?:in|for) this (?:repo|repository|project|codebase) `)

// lasting reports whether a sentence has the form of a rule.
func lasting(text string) bool { return wish(text) == memoir.SignalRule }

// isWay reports whether a word is about the way of working.
func isWay(word string) bool {
	return slices.ContainsFunc(ways, func(w string) bool {
		return strings.TrimSuffix(word, "s") == w || len(w) > 2 && strings.HasPrefix(word, strings.TrimSuffix(w, "e"))
	})
}

// occasional reports whether a sentence names an occasion of work: "before committing", "when you add a test".
func occasional(words []string) bool {
	words = append(slices.Clone(words), "", "")
	for i, w := range words[:len(words)-2] {
		switch w {
		case "before", "after", "when":
			next := words[i+1]
			if next == "you" || isWay(next) || (next == "every" || next == "each") && isWay(words[i+2]) {
				return true
			}
		}
	}
	return false
}

// withoutLead drops opening words such as "ok" and "please".
func withoutLead(lower string) string {
	for again := true; again; {
		again = false
		for _, w := range []string{"ok", "so", "and", "also", "but", "please", "yes"} {
			if strings.HasPrefix(lower, " "+w+" ") {
				lower, again = lower[len(w)+1:], true
			}
		}
	}
	return lower
}

// corrects reports whether a message corrects the agent: it begins with an objection or contrasts two things.
func corrects(own []string) bool {
	if len(own) == 0 || strings.HasSuffix(own[0], "?") {
		return false
	}
	first := lowerWords(own[0])
	return (startsAny(first, objections...) || startsAny(first, bans...)) && !startsAny(first, reliefs...) ||
		hasAny(first, contrasts...)
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
