package consolidate

import (
	"slices"
	"strings"

	"memoir/internal/lazyregexp"
)

// Sentences of an agent that say nothing that lasts: what it meant to do, how
// things stood while it looked, and what only its own message explains.
var (
	// plan is what an agent meant to do: in its own person, or as what something
	// that it is writing has to become.
	plan = lazyregexp.New(`(?i)^(?:(?:so |now |next,? |then |first,? )?(?:i['’](?:ll|d|m going)|i (?:will|would|am going|plan|intend|want)|let me|let['’]s|we should|we could)\b` +
		`|(?:the|this|that|our) (?:[\w-]+ ){0,2}(?:helper|fix|change|patch|function|method|test|implementation|refactor|reply|comment|commit|pr) (?:needs? to|has to|should|will|would)\b` +
		`|if [^.;]{5,160}, then\b|[^.;]{2,60} - if (?:the|it|that)\b|additionally\b|you (?:can|could|may|might|should)\b|the (?:sed|grep|edit|patch|command|script|regex|replacement|diff)\b|be careful\b` +
		`|leave [^.;]{2,80}\b(?:alone|untouched|unchanged|as(?: it)? is)\b` +
		`|(?:leave|keep|skip|defer|limit|scope|restrict) (?:it|this|that|them|these|those)\b)`)
	// stateThen is how something stood at that time.
	stateThen = lazyregexp.New(`(?i)(?:\bthe current (?:code|implementation|version)\b|^currently\b|\bright now\b|\bstill needs?\b|\b(?:is|are) (?:still |currently )?failing (?:at|on|in|because|with|due)\b` +
		`|\b(?:is|are|was|were) already (?:at|done|fixed|in place|handled|covered|updated)\b|\balready fixed\b|\bnot (?:yet )?updated\b|\((?:just|already) (?:completed|done|fixed|made|updated)\)|\b(?:is|are) in an? (?:half|broken|partial|odd|weird|bad)\b)`)
	// progress is a step told as a state: what the code now does, said on the way.
	progress = lazyregexp.New("^[^,;:`]{0,60}(?:`[^`]*`[^,;:`]{0,30})?\\b(?:(?:can |does |do )?now|no longer) (?:also )?(?:has|have|can|takes?|accepts?|defaults?|builds?|avoids?|pass(?:es)?|knows?|uses?|stops?|handles?|returns?|reads?|writes?|includes?|supports?|renders?|sets?|clears?|covers?|checks?|stays?|works?|performs?|lives?)\\b")
	// reasoned tells why, which outlasts the step.
	reasoned = lazyregexp.New(`(?i)\b(?:because|since|due to)\b`)
	// pointing refers to what stands in another sentence.
	pointing = lazyregexp.New(`(?i)(?:^|[\s(])(?:(?:this|these|those|the same|that same|exactly this|that exact) (?:pattern|reason|approach|fix|issue|problem|bug|change|logic|behaviou?r|error|case|cases|point|points|two|three|mistake)s?|the other (?:two|three|four|one|ones)|the (?:first|second|third|last) (?:part|one|two|point|half)|the (?:latter|former)|that (?:fast|slow|old|new|other|same|last|first)[ -][a-z]+)\b`)
)

// ofMoment reports whether what an agent said held for that moment only, or is
// understood only beside what it said before.
func ofMoment(text string) bool {
	if ofChange(text) {
		return false // it was written to be read later
	}
	text, _, _ = strings.Cut(text, sinceChanged)
	first := text
	if i := strings.Index(text, ". "); i > 0 {
		first = text[:i+1]
	}
	low := strings.ToLower(text)
	return plan.MatchString(text) || holdsOne(low, stateWords) && stateThen.MatchString(text) || (strings.Contains(low, " now") || strings.Contains(low, "no longer")) && progress.MatchString(first) && !reasoned.MatchString(first) || dangling(first)
}

// stateWords are words of which whatever stateThen matches holds one, and pointingWords
// those of pointing: most sentences need not be looked at any closer.
var (
	stateWords    = []string{"current", "right now", "still need", "failing", "already", "updated", "(just", "half", "broken", "partial", "odd", "weird", "bad"}
	pointingWords = []string{"this ", "these ", "those ", "the same ", "that ", "the other ", "the first ", "the second ", "the third ", "the last ", "the latter", "the former"}
)

func holdsOne(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// ofChange reports whether a finding is the reason that a commit or a pull request gave.
func ofChange(text string) bool { return strings.HasPrefix(text, "Why “") }

// dangling reports whether a sentence points at something that it does not name.
func dangling(sentence string) bool {
	if !holdsOne(strings.ToLower(sentence), pointingWords) {
		return false
	}
	at := pointing.FindStringIndex(sentence)
	return at != nil && !strings.Contains(sentence[:at[0]], "`")
}

var (
	// request is a person's wish for the moment, or a question.
	request = lazyregexp.New(`^ *(?:(?:ok|okay|and|so|also|hm+|well|please|now|then|like) )*(?:(?:could|can|shall|would|will) (?:we|you|i)|can't we|couldn't we|let's|lets|let us|i (?:then |just |now )*want to (?:start|see|check|test|try|verify|look|run)|tell me|show me|we should (?:add|remove|rename|move|fix|make|update|change|delete|write|create)|i'll) `)
)
