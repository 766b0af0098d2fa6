package extract

import (
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

const (
	minClaim = 45  // bytes of a claim
	maxClaim = 380 // bytes of a claim
	minProse = 5   // words of a claim outside of code spans
)

// conclusions is the signal of the agent's conclusions: sentences of its closing answers that name something, and of
// its other messages those that name several things, but not the agent. They are claims. Words do not tell a conclusion
// from a guess or a plan; what was done does: the session changed a file or passed a check, the answer does not end
// with a question, the person did not object, and no later edit removes what it names. What an answer says of the code
// is done, and no claim, if its turn changed a file and then passed a check.
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
	passed := s.bornOut(t.ask.item, t.final.item, t.final.item)
	from := state(signalDone, memoir.StatementFinding, "", t.final.item)
	if p := s.onlyPost(t.ask.item, t.final.item); p != nil {
		from = state(signalDone, memoir.StatementFinding, p.label()+": ", p.item, t.final.item)
		passed = passed && p.cause() == "" // which stands for it
	}
	var done, rest []string // sentences
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
				case !final && impersonal && len(names) > 1 && !hasAny(words, "i", "i'm", "i've", "let me"):
					out = append(out, joinedTo(state(signalConcluded, memoir.StatementClaim, "", says.item), []string{text})...)
					out[len(out)-1].worth = 0 // less than that of a closing answer
				case !final:
				case passed && impersonal && !s.repeats(text):
					done = append(done, text)
				default:
					rest = append(rest, text)
				}
			}
		}
	}
	all := joinedTo(from, done)
	out = append(out, all[:min(len(all), maxDone)]...)
	return append(out, joinedTo(state(signalConcluded, memoir.StatementClaim, "", t.final.item), rest)...)
}

// joinedTo appends the sentences of a closing answer to a statement, as many as fit, and the others to copies of it.
func joinedTo(from candidate, list []string) (out []candidate) {
	for i, text := range list {
		if n := len(out); i > 0 && len(out[n-1].Text)+len(text)+2 <= maxClaim {
			between := "; "
			if strings.HasSuffix(out[n-1].Text, ".") {
				between = " "
			}
			out[n-1].Text += between + text
		} else {
			out = append(out, from)
			out[n].Text += text
		}
	}
	for i := range out {
		c := &out[i]
		if c.Kind == memoir.StatementClaim {
			c.worth = min(strings.Count(c.Text, "`")/2, maxWorth)
		}
	}
	return out
}

const (
	minName  = 5 // bytes of a word of code that is looked for in edits
	maxDone  = 2 // statements of one answer about what is done
	maxWorth = 2 // names that make a conclusion worth more than others
)

// onlyPost returns the pull request or commit of the items in [from, until); nil if there are several of its kind.
func (s *session) onlyPost(from, until int) *post {
	p := s.became(from, until)
	if p == nil {
		return nil
	}
	if first := s.became(from, p.item); first != nil && first.kind == p.kind {
		return nil
	}
	return p
}

// changes reports whether a code span is neither a command that ran, nor its beginning, a test or a commit.
func (s *session) changes(span string) bool {
	text := strings.Trim(span, "`")
	return !noChange.MatchString(text) && !slices.ContainsFunc(s.runs, func(r *run) bool {
		return strings.HasPrefix(r.text, text) || strings.HasPrefix(text, r.text)
	})
}

var noChange = lazyregexp.New(`(?i)test|spec|e2e|^[0-9a-f]{7,40}( |$)`)

// repeats reports whether a sentence has the form of an instruction or a rule, or repeats words of a tool's result or
// of injected text. Then it is not the agent's own.
func (s *session) repeats(text string) bool {
	if prompts.Instructs(text) || wish(text) != "" {
		return true
	}
	if s.results == "" {
		var all strings.Builder
		for _, it := range s.items {
			if it.Kind == memoir.ItemTool || it.Origin == memoir.OriginInjected {
				all.WriteString(it.Output + "\n" + it.Text + "\n")
			}
		}
		s.results = loose(all.String())
	}
	for _, prose := range strings.Split(codeSpan.ReplaceAllString(text, "\x00"), "\x00") {
		prose = loose(prose)
		for i := 0; i+copied <= len(prose); i += copied {
			if strings.Contains(s.results, prose[i:i+copied]) {
				return true
			}
		}
	}
	return false
}

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
		return r.status == statusPassed && checks(purpose)
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
