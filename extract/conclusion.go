package extract

import (
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	minClaim = 45  // bytes of a claim
	maxClaim = 380 // bytes of a claim
	minProse = 5   // words of a claim outside of code spans
)

// conclusions is the signal of the agent's conclusions: sentences of its closing answers that name something. They
// are claims. Words do not tell a conclusion from a guess or a plan; what was done does: the session changed a file or
// passed a check, the answer does not end with a question, and the person did not object.
func conclusions(s *session) []candidate {
	if !s.worked() {
		return nil
	}
	var out []candidate
	for i, t := range s.turns {
		denied := i+1 < len(s.turns) && len(s.turns[i+1].ask.own) > 0 && corrects(s.turns[i+1].ask.own)
		if denied || t.final.item == 0 {
			continue
		}
		answer := slices.DeleteFunc(paragraphs(t.final.text), func(p paragraph) bool {
			return strings.HasPrefix(p.text, "::") // a directive to the agent's app
		})
		if len(answer) == 0 || strings.Contains(answer[len(answer)-1].text, "?") {
			continue
		}
		for _, p := range answer {
			for _, text := range claims(p) {
				out = append(out, state(signalConcluded, memoir.StatementClaim, text, t.final.item))
			}
		}
	}
	return out
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
	for _, text := range joined(sentences(labels(strings.ReplaceAll(p.text, "**", "")))) {
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
