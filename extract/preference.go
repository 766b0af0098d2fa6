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
			c.Quote = text
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
		objects := i > 0 && s.turns[i-1].acted() && objects(own)
		if whole := wholeSentences(own, maxRule); !found && (refusal || objects) && !strings.Contains(whole, "?") &&
			len(strings.Fields(whole)) > minRule {
			add(memoir.SignalMaybe, whole)
		}
	}
	return out
}

// objects reports whether a message begins with an objection.
func objects(own []string) bool {
	return len(own) > 0 && startsAny(lowerWords(own[0]), objections...) && corrects(own)
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
	f := form{lower: withoutLead(inProject.ReplaceAllString(plain, " as a rule "))}
	f.words = strings.Fields(f.lower)
	if len(text) > maxRule || len(f.words) < minRule || strings.ContainsAny(text, "?“”") || strings.HasSuffix(text, ":") ||
		strings.HasSuffix(text, "...") || startsAny(f.lower, reliefs...) || refers(text, f.lower) {
		return ""
	}
	f.who, _, _ = strings.Cut(f.words[0], "'") // "we're"
	f.first = " " + strings.Join(f.words[:min(len(f.words), markedWithin)], " ") + " "
	f.about = strings.Contains(text, "`") || slices.ContainsFunc(f.words, isWay)
	switch {
	case newName.MatchString(f.lower):
		return signalRenamed
	case f.holds():
		return memoir.SignalRule
	case f.mayHold():
		return memoir.SignalMaybe
	}
	return ""
}

// A form is what decides whether a sentence is a wish.
type form struct {
	lower, first, who string // its words, the first of them, and the first one without "'re"
	words             []string
	about             bool // it is about the way of working
}

// holds reports whether a sentence holds from now on: it is marked as that, or says what people use or have.
func (f form) holds() bool {
	if startsAny(f.lower, "always", "never") {
		return true
	}
	if hasAny(f.lower, forAll...) || f.about && (hasAny(f.first, markers...) || occasional(f.words)) {
		return !startsAny(f.lower, "the", "a", "to", "there")
	}
	return !hasAny(f.lower, "but") && (f.we() && slices.Contains(habits, f.words[1]) ||
		f.ours() && (hasAny(f.first, states...) || hasAny(f.first, habits...)))
}

// mayHold reports whether a sentence forbids, prefers, obliges, or states a fact about the way of working.
func (f form) mayHold() bool {
	if startsAny(f.lower, bans...) || startsAny(f.lower, "you must", "we must") {
		return true
	}
	if hasAny(f.first, duties...) && slices.ContainsFunc(f.words[:3], isWay) {
		return true
	}
	subject := f.we() || f.ours() || f.who == "the" || f.who == "all"
	return f.about && (startsAny(f.lower, choices...) || subject && hasAny(f.first, states...) ||
		f.we() && (isWay(f.words[1]) || hasAny(f.first, "don't want")) ||
		hasAny(f.first, duties...) && (f.who == "every" || f.who == "all"))
}

func (f form) we() bool   { return f.who == "we" || f.who == "i" }
func (f form) ours() bool { return f.who == "my" || f.who == "our" }

// refers reports whether a sentence refers to what is at hand. In its later clauses, and where it begins with
// its marker, "it" may refer to its own words.
func refers(text, lower string) bool {
	clause, _, _ := strings.Cut(text, ",")
	return hasAny(lowerWords(clause), "it", "them", "they") && !startsAny(lower, "always", "never") ||
		strings.HasSuffix(lower, " that ") || hasAny(lower, momentary...) && !hasAny(lowerWords(text), forAll...)
}

// newName matches the words of a sentence that gives a thing another name or says that it is gone.
var newName = lazyregexp.New(`^ (?:the )?\S+(?: \S+)? (?:(?:has|have) been renamed|was renamed|is now called) ` +
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
