package extract

import (
	"strings"

	"memoir"
)

const (
	minClaim = 45  // bytes of a claim
	maxClaim = 380 // bytes of a claim
)

// conclusions is the signal of what the agent concluded: sentences of its closing
// answers that name something. They are claims.
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
				c := state(memoir.StatementClaim, text, t.final.item)
				c.said = text
				out = append(out, c)
			}
		}
	}
	return out
}

// openSections are words in headings under which nothing is concluded.
var openSections = []string{
	"option", "options", "next", "next steps", "issue", "issues", "test", "tests", "testing", "verification",
	"verified", "validation", "plan", "recommend", "recommended",
	"recommendation", "recommendations", "suggestion", "suggestions", "suggested", "todo", "question",
	"questions", "alternative", "alternatives", "would you like me to", "feedback", "approach",
}

// claims are the sentences of a paragraph that conclude something.
func claims(p paragraph) []string {
	var out []string
	if strings.HasPrefix(p.text, "::") { // a directive to the agent's app
		return nil
	}
	for _, text := range joined(sentences(labels(strings.ReplaceAll(p.text, "**", "")))) {
		if len(text) < minClaim || len(text) > maxClaim || strings.ContainsAny(text[len(text)-1:], "?:") ||
			!names(text) {
			continue
		}
		lower := lowerWords(text)
		if hedged(lower) || announced(lower) || proposed(lower) || statusOnly(lower) ||
			proseWords(text) < minProse || strings.ContainsAny(text[:1], "(✅") {
			continue
		}
		out = append(out, text)
	}
	return out
}

// joined puts a short sentence to the one before it, which it depends on.
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

// names reports whether a sentence names something: a code span, a path, an option or a number.
func names(text string) bool {
	if strings.Contains(text, "`") || strings.Contains(text, "](") {
		return true
	}
	for w := range strings.FieldsSeq(text) {
		w = strings.Trim(w, "(),.;:\"'")
		switch {
		case strings.HasPrefix(w, "--") && len(w) > 3, strings.Count(w, "/") >= 1 && len(w) > 4 &&
			!strings.Contains(w, "//"):
			return true
		case w != "" && w[0] >= '0' && w[0] <= '9', strings.HasPrefix(w, "#") && len(w) > 1,
			strings.Contains(w, "_") && len(w) > 4:
			return true
		case strings.Contains(w, ".") && len(w) > 4 && !strings.HasPrefix(w, ".") && !strings.HasSuffix(w, "."):
			return true
		}
	}
	return false
}

// hedged reports whether a sentence only supposes something.
func hedged(lower string) bool {
	return hasAny(lower, "probably", "maybe", "might", "perhaps", "seems", "seem", "appears", "likely",
		"could be", "may be", "i think", "i suspect", "i believe", "possibly",
		"presumably", "not sure", "unclear", "i'd guess", "suspect", "apparently", "should be able",
		"i assume", "would be", "could", "hypothesis", "guess", "looks like", "if so")
}

// announced reports whether a sentence announces, offers or asks for something.
func announced(lower string) bool {
	return hasAny(lower, "i'll", "i will", "let me", "i'm going to", "want me", "would you", "shall i",
		"should i", "do you want", "if you", "let's", "i'd", "i can", "we can", "you can", "next i", "i'm",
		"you want", "i recommend", "recommend", "suggest", "consider")
}

// proposed reports whether a sentence says what is to be done, or what is so only until then.
func proposed(lower string) bool {
	return hasAny(lower, "should", "proposed", "proposal", "todo", "to fix", "currently", "right now",
		"at the moment", "so far", "for now", "yet", "still", "needs to", "need to", "will need", "please") ||
		startsAny(lower, "add", "rename", "replace", "remove", "update", "use", "open", "modify", "create",
			"run", "change", "move", "bump", "try", "fix", "keep", "make", "check", "line", "lines")
}

// minProse is how many words outside code spans make a sentence.
const minProse = 5

func proseWords(text string) int {
	n := 0
	for i, part := range strings.Split(text, "`") {
		if i%2 == 0 {
			n += len(strings.Fields(part))
		}
	}
	return n
}

// statusOnly reports whether a sentence tells how the work stands rather than what was learned.
func statusOnly(lower string) bool {
	return startsAny(lower, "done", "pushed", "committed", "all tests", "tests", "verified", "i ran", "i've",
		"i have", "the build", "great", "perfect", "you're right", "good", "all checks",
		"checks", "validation", "sorry", "yes that", "build", "passed", "ran", "opened", "replied", "pr is",
		"the pr", "ci", "everything", "working tree", "worktree", "branch", "validated", "addressed",
		"created", "commit", "staged", "opened") ||
		hasAny(lower, "tests pass", "tests passed", "all pass", "passes", "passed", "is green", "are green",
			"still running", "in progress", "is clean")
}
