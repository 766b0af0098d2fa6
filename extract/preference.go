package extract

import (
	_ "embed" // the weights of words
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

// wishes is the signal of a person's sentences that may hold from now on: rules, and what only may be one, also where
// they refuse a call. A question is neither.
func wishes(s *session) []candidate {
	var out []candidate
	first := s.first()
	for _, t := range s.turns {
		own, refusal := t.ask.own, t.ask.origin == memoir.OriginRejection
		if _, decided := instead(t); decided || !refusal && !t.ask.typed() || t.ask.pasted && len(own) > maxOwn {
			continue
		}
		for i, text := range own {
			signal := wish(text)
			if signal == "" || t.ask.pasted && signal == memoir.SignalMaybe || t.carriedOut(text) {
				continue
			}
			// An order for the session holds in it, and a paste may have the sentence.
			order := t == first && !lasting(text)
			if signal == memoir.SignalRule && (t.ask.pasted || t.limits(i) || order && len(own) == 1 ||
				refusal && !lasting(text)) {
				signal = memoir.SignalMaybe
			}
			out = append(out, t.wanted(i, signal, order))
		}
	}
	return out
}

// wanted returns the statement of a sentence of the ask that a signal takes. order says that it is of an order.
func (t *turn) wanted(i int, signal string, order bool) candidate {
	signal, whole := withBefore(t.ask.own, i, signal)
	c := state(signal, memoir.StatementPreference, quote(whole), t.ask.item)
	if c.Quote = t.ask.own[i]; signal == signalRenamed {
		c.Kind = memoir.StatementFinding
	}
	if order {
		c.Order = restOf(t.ask.own, i)
	}
	return c
}

// first returns the turn of the first prompt that a person typed; nil if there is none.
func (s *session) first() *turn {
	i := slices.IndexFunc(s.turns, func(t *turn) bool { return t.ask.typed() })
	if i < 0 {
		return nil
	}
	return s.turns[i]
}

// restOf returns a hash of the words of a prompt without one of its sentences. A prompt is an order for its session:
// who gives the same one again says nothing that lasts.
func restOf(own []string, i int) string {
	rest := strings.Join(slices.Delete(slices.Clone(own), i, i+1), " ")
	return memoir.StatementID("", memoir.StatementTask, strings.Join(memoir.WordsOf(rest), " "))
}

// limits reports whether a sentence of the ask, or one beside it, begins with until when or for which work it holds.
func (t *turn) limits(i int) bool {
	return slices.ContainsFunc(t.ask.own[max(0, i-1):min(len(t.ask.own), i+2)], func(one string) bool {
		lower := lowerWords(one)
		at := limits.FindStringIndex(lower)
		return at != nil && len(strings.Fields(lower[:at[0]])) <= 2 // such as "at least until"
	})
}

// maxOwn bounds the sentences that a person types around pasted text. A message with a paste
// and more sentences is a document.
const maxOwn = 4

const (
	minRule = 3   // words of a wish that are no numbers
	maxRule = 240 // bytes of a wish
)

// The least values of Lasts, which docs/benchmarks.md measures.
const (
	leastMaybe  = -25 // of a sentence that may hold from now on
	leastMarked = 0   // of a rule that is marked as that
	leastRule   = 90  // of a rule without a mark
	leastManner = 40  // of a sentence that says how to post
)

// carriedOut reports whether a sentence asks for a post that the agent then made: it is done with, however often it is
// said. It says little else, or it is a message for which files were edited. Else it may be a rule.
func (t *turn) carriedOut(text string) bool {
	lower := strings.NewReplacer(" pull request ", " pr ", " merge request ", " mr ").Replace(lowerWords(text))
	words, lasts := strings.Fields(lower), Lasts(text)
	if !t.posted || lasts >= leastManner || hasAny(lower, marks...) || hasAny(lower, "every", "each") ||
		strings.HasPrefix(strings.Join(memoir.WordsOf(text), " "), "!") ||
		slices.ContainsFunc(words, func(w string) bool { return scopes[w] }) && !passing.MatchString(lower) {
		return false
	}
	words = slices.DeleteFunc(words, func(w string) bool { return len(memoir.WordsOf(w)) == 0 })
	others := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return postWords[w] })
	if n := len(others); n == len(words) || n <= 1 {
		return n < len(words)
	} else if postWords[words[0]] {
		return n <= 3 && lasts < leastMarked
	}
	return t.edited && len(t.ask.own) == 1
}

// marks mark a sentence as one that holds from now on.
var marks = []string{"always", "never", "ever", "from now on", "as a rule", "keep in mind", "whenever"}

// wish returns the signal that takes a sentence by its words and its form; empty if none does.
func wish(text string) string {
	lower := lowerWords(shortLinks(text))
	words := strings.FieldsFunc(lower, func(r rune) bool { return r == ' ' || unicode.IsDigit(r) })
	if len(text) > maxRule || len(words) < minRule || strings.ContainsAny(text, "?“”") ||
		strings.HasSuffix(text, ":") || strings.HasSuffix(text, "...") {
		return ""
	}
	switch lasts, one := Lasts(text), ofOne.MatchString(text); {
	case newName.MatchString(withoutLead(lower)):
		return signalRenamed
	case !limits.MatchString(lower) && (lasts >= leastRule && !one || lasts >= leastMarked && hasAny(lower, marks...)):
		return memoir.SignalRule
	case lasts >= leastMaybe && !one:
		return memoir.SignalMaybe
	}
	return ""
}

// lasting reports whether a sentence is marked as one that holds from now on.
func lasting(text string) bool {
	return hasAny(lowerWords(text), marks...) && wish(text) == memoir.SignalRule
}

// ofOne matches the number or the link of an issue, a pull request or a run: a sentence about it is over with it.
var ofOne = lazyregexp.New(`#\d|://\S*/\d`)

// withBefore returns a sentence with the one before it if it is a rule that refers back to that. If both are too long,
// or the other is about an issue, it only may be one.
func withBefore(own []string, i int, signal string) (now, whole string) {
	if signal != memoir.SignalRule || i == 0 || !refersBack(own[i], own[i-1]) {
		return signal, own[i]
	}
	if whole = own[i-1] + " " + own[i]; len(whole) > maxRule || ofTicket.MatchString(own[i-1]) {
		return memoir.SignalMaybe, own[i]
	}
	return signal, whole
}

// ofTicket matches what ofOne does, and the name of an issue, such as APP-12.
var ofTicket = lazyregexp.New(`#\d|://\S*/\d|\b[A-Z][A-Z0-9]+-\d`)

// refersBack reports whether a rule means little without the sentence before it: one of its first words is a pronoun,
// or it is not marked and both are of the same thing.
func refersBack(text, before string) bool {
	lower := lowerWords(text)
	first := strings.Fields(lower)
	begins := " " + strings.Join(first[:min(len(first), 4)], " ") + " "
	return hasAny(begins, "it") || passing.MatchString(begins) ||
		!hasAny(lower, marks...) && memoir.WordsOf(text).Shared(memoir.WordsOf(before)) > 0
}

// limits matches the words of a sentence that say until when, or for which work, it holds.
var limits = lazyregexp.New(`\b(?:until|till|for now|today|` + thisWork + `)\b`)

const thisWork = `this (?:time|session|task|step|branch|pr|pull request|change|commit|issue|ticket|run)`

// newName matches the words of a sentence that gives a thing another name or says that it is gone.
var newName = lazyregexp.New(`^ (?:the )?\S+(?: \S+)? (?:(?:has|have) been renamed|was renamed|is now called) ` +
	`|^ we (?:don't|do not) (?:have|use) .* any ?more $|^ we no longer (?:have|use) `)

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

// objections begin a correction, unless they are reliefs; contrasts occur in one.
var (
	objections = []string{"no", "not", "wrong", "actually", "i meant", "never", "don't", "do not", "stop"}
	reliefs    = []string{"no problem", "no worries", "no need", "no idea", "never mind", "don't worry"}
	contrasts  = []string{"instead of", "rather than", "should be"}
)

// corrects reports whether a message corrects the agent: it begins with an objection or contrasts two things.
func corrects(own []string) bool {
	if len(own) == 0 || strings.HasSuffix(own[0], "?") {
		return false
	}
	first := lowerWords(own[0])
	return startsAny(first, objections...) && !startsAny(first, reliefs...) || hasAny(first, contrasts...)
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

// learned has the weights of words and pairs of words of English sentences, one a line. `go run ./bench/typed -learn`
// writes it.
//
//go:embed lasting.txt
var learned string

var weights = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(learned) {
		weight, feature, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out[feature], _ = strconv.Atoi(weight)
	}
	return out
})

// Lasts tells how much an English sentence reads like one that holds from now on: the mean weight of its features.
// A sentence of mostly unknown words is in another language and has the least value.
func Lasts(sentence string) int {
	features, sum, words, known := LastingFeatures(sentence), 0, 0, 0
	for _, f := range features {
		weight, ok := weights()[f]
		if sum += weight; !strings.Contains(f, " ") {
			words++
			if ok {
				known++
			}
		}
	}
	if 2*known < words {
		return math.MinInt
	}
	return sum / len(features)
}

// LastingFeatures are what Lasts weighs: the beginnings of a sentence's words, alone and in pairs, and its length.
func LastingFeatures(sentence string) []string {
	words := strings.Fields(lowerWords(sentence))
	out, last := []string{"", "#" + strconv.Itoa(min(len(words)/6, 4))}, "^"
	for _, w := range words {
		if w = w[:min(len(w), 5)]; w[0] >= '0' && w[0] <= '9' {
			w = "0"
		}
		out = append(out, w, last+" "+w)
		last = w
	}
	slices.Sort(out)
	return slices.Compact(out)
}
