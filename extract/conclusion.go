package extract

import (
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	minClaim = 45  // bytes of a claim
	maxClaim = 380 // bytes of a claim
	minProse = 5   // words of a claim outside of code spans
)

// conclusions is the signal of the agent's conclusions: sentences of its closing answers that name something, and of
// its other messages those that name several things, but not the agent. They are claims. Words do not tell a conclusion
// from a guess or a plan; what was done does: the session changed a file or passed a check, the answer does not end
// with a question, the person did not object, and no later edit removes what it names.
func conclusions(s *session) []candidate {
	if !s.worked() {
		return nil
	}
	var out []candidate
	for i, t := range s.turns {
		if i+1 == len(s.turns) || len(s.turns[i+1].ask.own) == 0 || !corrects(s.turns[i+1].ask.own) {
			out = append(out, s.concluded(t)...)
		}
	}
	return out
}

func (s *session) concluded(t *turn) (out []candidate) {
	var closing []string
	for _, says := range t.says {
		answer := slices.DeleteFunc(paragraphs(says.text), func(p paragraph) bool {
			return strings.HasPrefix(p.text, "::") // a directive to the agent's app
		})
		final := says.item == t.final.item
		if final && len(answer) > 0 && strings.Contains(answer[len(answer)-1].text, "?") {
			continue
		}
		for _, p := range answer {
			for _, text := range claims(p) {
				names, words := codeSpan.FindAllString(text, -1), lowerWords(text)
				impersonal := slices.ContainsFunc(names, s.changes) && !hasAny(words, toPerson...)
				switch {
				case s.removed(names, says.item):
				case final:
					closing = append(closing, text)
				case impersonal && len(names) > 1 && !hasAny(words, "i", "i'm", "i've", "let me"):
					out = append(out, joinedTo(says.item, []string{text})...)
					out[len(out)-1].worth = 0 // less than that of a closing answer
				}
			}
		}
	}
	return append(out, joinedTo(t.final.item, closing)...)
}

// joinedTo returns claims of the sentences of an answer, each of as many as fit.
func joinedTo(item int, list []string) (out []candidate) {
	for i, text := range list {
		if n := len(out); i > 0 && len(out[n-1].Text)+len(text)+2 <= maxClaim {
			between := "; "
			if strings.HasSuffix(out[n-1].Text, ".") {
				between = " "
			}
			out[n-1].Text += between + text
		} else {
			out = append(out, state(signalConcluded, memoir.StatementClaim, text, item))
		}
	}
	for i := range out {
		out[i].worth = min(strings.Count(out[i].Text, "`")/2, maxWorth)
	}
	return out
}

const (
	minName  = 5 // bytes of a word of code that is looked for in edits
	maxWorth = 2 // names that make a conclusion worth more than others
)

// changes reports whether a code span is neither a command that ran, nor its beginning, a test or a commit.
func (s *session) changes(span string) bool {
	text := strings.Trim(span, "`")
	return !noChange.MatchString(text) && !slices.ContainsFunc(s.runs, func(r *run) bool {
		return strings.HasPrefix(r.text, text) || strings.HasPrefix(text, r.text)
	})
}

var noChange = lazyregexp.New(`(?i)test|spec|e2e|^[0-9a-f]{7,40}( |$)`)

// removed reports whether an edit after an item removed a word of some names, and none added it again.
func (s *session) removed(names []string, item int) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(identifiers(name), func(w string) bool { return s.left[w] > item })
	})
}

// identifiers returns the words of code that are long enough to stand for something.
func identifiers(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), func(w string) bool { return len(w) < minName })
}

// worked reports whether the session changed a file or passed a check.
func (s *session) worked() bool {
	return len(s.edits) > 0 || slices.ContainsFunc(s.runs, func(r *run) bool {
		purpose, _ := r.purpose()
		return r.status == statusPassed && Checks(purpose)
	})
}

func claims(p paragraph) []string {
	var out []string
	for _, text := range joined(sentences(labels(strings.TrimLeft(strings.ReplaceAll(p.text, "**", ""), "✅✓☑ ")))) {
		if len(text) >= minClaim && len(text) <= maxClaim && !strings.ContainsAny(text[len(text)-1:], "?:") &&
			named.MatchString(text) && !strings.ContainsAny(text[:1], "(✅") &&
			len(strings.Fields(codeSpan.ReplaceAllString(text, ""))) >= minProse {
			out = append(out, text)
		}
	}
	return out
}

// joined appends each short sentence to the one before it, on which it depends.
func joined(list []string) []string {
	var out []string
	for _, text := range list {
		if n := len(out); n > 0 && len(text) < minClaim && len(out[n-1])+len(text) < maxClaim &&
			!strings.HasSuffix(text, "?") {
			out[n-1] += " " + text
			continue
		}
		out = append(out, text)
	}
	return out
}

// A claim names something: in a code span, by a link, an option, a number or a path.
var (
	codeSpan = lazyregexp.New("`[^`]*`")
	named    = lazyregexp.New("`|\\]\\(|(?:^|[\\s(\"':,;.])(?:--\\w{2}|\\d|#\\w)|[\\w-]{2}(?:/|[_.]\\w)")
)
