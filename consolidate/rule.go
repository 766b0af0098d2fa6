package consolidate

import (
	"strings"

	"memoir/internal/lazyregexp"
)

// repliesTo stands between what a person said and what the agent had said before.
const repliesTo = " — said after the agent"

var (
	// answering begins what says nothing without the question that it answers.
	answering = lazyregexp.New(`(?i)^(?:(?:yes|yeah|yep|yup|nope|nah|ok|okay|ja|nein|doch|sí|oui|да|нет)(?:[\s,.!;:—–-]|$)|(?:no|non|si|sure|right|exactly|correct|agreed|true|both|neither|either)(?:[,.!;:—–]|”?$)|(?:はい|いいえ|いえ|对|是的|不是|好的|不对))`)
	// subjectless begins what is said of something that was named before.
	subjectless = lazyregexp.New(`(?i)^(?:needs?|has|have|is|are|was|were|does|should|must|it|it's|its|that|that's|thats|this|these|those|they|them|same|instead|did)\b`)
	// wish begins a request, which is done with when it is done.
	wish    = lazyregexp.New(`(?i)^“?(?:(?:ok|okay|now|and|so|then|please|maybe)[, ]+)*(?:could|can|would|will|shall) (?:we|you|i)\b|^“?(?:let's|lets|let us)\b`)
	literal = lazyregexp.New("\\(about: `(?:#[0-9a-fA-F]{3,8}|[\\d.,x%]+)`\\)")
)

// standing renders a preference so that it can be read without its session: what
// answers a question stands with the question, or is left out.
func standing(text string) string {
	said, before, replied := strings.Cut(text, repliesTo)
	quote := strings.TrimPrefix(said, "“")
	if quote == said { // not in a person's words
		return said
	}
	if literal.MatchString(said) { // one value at one time
		return ""
	}
	leans := answering.MatchString(quote) || subjectless.MatchString(quote) || strings.HasSuffix(strings.TrimSuffix(quote, "”"), "?")
	switch {
	case replied:
		_, agent, _ := strings.Cut(before, "“")
		agent = strings.TrimSuffix(agent, "”")
		full := said + " (to the agent's “" + agent + "”)"
		if len(full) <= briefLine {
			return full
		}
		if question := lastQuestion(agent); question != "" && len(said)+len(question)+25 <= briefLine {
			return said + " (to the agent's “" + question + "”)"
		}
		if leans {
			return ""
		}
	case leans && !strings.Contains(said, "(about: "):
		return ""
	}
	return said
}

// lastQuestion is the question at the end of what an agent said.
func lastQuestion(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasSuffix(text, "?") {
		return ""
	}
	for _, end := range []string{". ", "! ", "? ", ": "} {
		if i := strings.LastIndex(text, end); i >= 0 {
			text = text[i+len(end):]
		}
	}
	return text
}

// whole shortens a text to sentences that are whole; empty if not even the first fits.
func whole(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	quoted := strings.HasPrefix(text, "“")
	if strings.Contains(text, ": “") {
		return "" // two parties' words
	}
	best := ""
	for i := 0; i+1 < limit; i++ {
		if text[i] == '.' && text[i+1] == ' ' && i > limit/4 && strings.Count(text[:i], "`")%2 == 0 && strings.Count(text[:i], "(") == strings.Count(text[:i], ")") {
			best = text[:i+1]
		}
	}
	if quoted && best != "" && strings.Count(best, "“") > strings.Count(best, "”") {
		best += " …”"
	}
	return best
}
