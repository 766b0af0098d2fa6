package extract

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	minClaim = 45  // bytes of a claim
	maxClaim = 380 // bytes of a claim
	minProse = 5   // words of a claim outside of code spans
)

// conclusions is the signal of the agent's conclusions: sentences of its closing answers
// that name something. They are claims.
func conclusions(s *session) []candidate {
	var out []candidate
	for i, t := range s.turns {
		denied := i+1 < len(s.turns) && len(s.turns[i+1].ask.own) > 0 && corrects(s.turns[i+1].ask.own)
		if denied || t.final.item == 0 {
			continue
		}
		for _, p := range paragraphs(t.final.text) {
			if p.section(openSections...) {
				continue
			}
			for _, text := range claims(p) {
				c := state(signalConcluded, memoir.StatementClaim, text, t.final.item)
				c.words = text
				out = append(out, c)
			}
		}
	}
	return out
}

// openSections are words in headings of sections without conclusions.
var openSections = []string{
	"option", "options", "next", "next steps", "issue", "issues", "test", "tests", "testing", "verification",
	"verified", "validation", "plan", "recommend", "recommended",
	"recommendation", "recommendations", "suggestion", "suggestions", "suggested", "todo", "question",
	"questions", "alternative", "alternatives", "would you like me to", "feedback", "approach",
}

func claims(p paragraph) []string {
	var out []string
	if strings.HasPrefix(p.text, "::") { // a directive to the agent's app
		return nil
	}
	for _, text := range joined(sentences(labels(strings.ReplaceAll(p.text, "**", "")))) {
		if len(text) < minClaim || len(text) > maxClaim || strings.ContainsAny(text[len(text)-1:], "?:") ||
			!named.MatchString(text) {
			continue
		}
		lower := lowerWords(text)
		if hasAny(lower, suppositions...) || hasAny(lower, offers...) || hasAny(lower, passing...) ||
			startsAny(lower, instructing...) || startsAny(lower, reports...) || strings.ContainsAny(text[:1], "(✅") ||
			len(strings.Fields(codeSpan.ReplaceAllString(text, ""))) < minProse {
			continue
		}
		out = append(out, text)
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

var (
	// suppositions occur in a sentence that states a guess.
	suppositions = []string{
		"probably", "maybe", "might", "perhaps", "seems", "seem", "appears", "likely", "could", "may be", "i think",
		"i suspect", "i believe", "possibly", "presumably", "not sure", "unclear", "suspect", "apparently",
		"i assume", "would be", "hypothesis", "guess", "looks like", "if so",
	}
	// offers occur in a sentence that announces, offers, proposes or asks for something.
	offers = []string{
		"i'll", "i will", "let me", "want me", "would you", "shall i", "do you want", "if you", "let's", "i'd",
		"i can", "we can", "you can", "next i", "i'm", "you want", "recommend", "suggest", "consider", "should",
		"proposed", "proposal", "todo", "to fix", "needs to", "need to", "will need", "please",
	}
	// passing words occur in a sentence that is true for a short time only, or reports progress.
	passing = []string{
		"currently", "right now", "at the moment", "so far", "for now", "yet", "still", "tests pass", "tests passed",
		"all pass", "passes", "passed", "is green", "are green", "in progress", "is clean",
	}
	// instructing words begin an instruction.
	instructing = []string{
		"add", "rename", "replace", "remove", "update", "use", "open", "modify", "create", "run", "change", "move",
		"bump", "try", "fix", "keep", "make", "check", "line", "lines",
	}
	// reports begin a sentence about the progress of the work.
	reports = []string{
		"done", "pushed", "committed", "all tests", "tests", "verified", "i ran", "i've", "i have", "the build",
		"great", "perfect", "you're right", "good", "all checks", "checks", "validation", "sorry", "yes that",
		"build", "ran", "opened", "replied", "pr is", "the pr", "ci", "everything", "working tree", "worktree",
		"branch", "validated", "addressed", "created", "commit", "staged",
	}
)
