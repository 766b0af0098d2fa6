package consolidate

import (
	"strings"
	"sync"

	"memoir/internal/lazyregexp"
)

// sinceChanged marks what was so until the session changed it.
const sinceChanged = "(before this session; since changed"

// A state that was ended is worth telling for its cause, with what ended it.
var (
	causal   = lazyregexp.New(`(?i)(?:because|, so |since |so that|caused|due to|that's why|which is why|failed|fails|breaks|means|replaced|requires|isn't|wasn't|not )`)
	checking = lazyregexp.New(`^: (?:Validated|Verified|Tested|Tests|All |Ran |Checked)`)
)

// lasting reports whether a finding belongs into the project's memory. What a session
// said of its own next step, of a state that it ended, or in passing is for its own
// record: there it explains what was done, here it would be read as what holds.
func lasting(text string) bool {
	if strings.Contains(text, inPassing) {
		return false
	}
	if state, mend, ok := strings.Cut(text, sinceChanged); ok && (!causal.MatchString(state) || checking.MatchString(mend)) {
		return false
	}
	if said, ok := strings.CutPrefix(text, "the user: "); ok {
		return binding(said)
	}
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	switch {
	case steps()[first]:
		return false
	case len(first) > 4 && strings.HasSuffix(first, "ing") && !nouns[first]:
		return doing.MatchString(text)
	}
	return !momentary.MatchString(text) && !ofMoment(text)
}

// steps are verbs in which an agent tells what it is about to do; rules begin with
// others: avoid, keep, use, never.
var steps = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("restore address move convert change update add remove rename fix make switch split extract run commit push post create stage include implement thread apply rewrite adjust check verify") {
		m[w] = true
	}
	return m
})

// nouns end like what is being done, and are not.
var nouns = map[string]bool{"nothing": true, "everything": true, "anything": true, "something": true, "during": true, "string": true, "thing": true, "spring": true, "according": true, "being": true}

// doing is a sentence whose subject is something done, and that says what it brings:
// "Setting X inside Y changes Z".
var doing = lazyregexp.New(`^\S+ing [^,;:]{2,120}? (?:changes|breaks|causes|requires|needs|fails|avoids|leads|makes|means|keeps|would|can|cannot|can't|prevents|allows|lets|gives|leaves|removes|hides|costs)\b`)

// momentary is what was so while the agent looked.
var momentary = lazyregexp.New(`(?i)\b(?:no job has|are still no|there are still|is still running|still running|now only shows|is installing|are installing|was not installed|is only reporting|goes sideways|which is a nice)\b`)

// binding reports whether what a person said tells what has to be, or why, rather
// than asking or judging.
func binding(said string) bool {
	quoted, _, _ := strings.Cut(said, "”")
	low := " " + unpunctuated.Replace(strings.ToLower(quoted)) + " "
	if request.MatchString(low) && !strings.Contains(said, "agreed:") && !strings.Contains(said, "(said on refusing") {
		return false
	}
	if strings.Contains(said, "agreed:") {
		return true
	}
	for _, r := range low {
		if r >= 0x80 && r != '…' && r != '—' && r != '–' {
			return true // of another language, whose forms are not known here
		}
	}
	if toDo.MatchString(low) && !bindingWords.MatchString(low) && !strings.Contains(said, "(said on refusing") {
		return false
	}
	if strings.Contains(quoted, "?") {
		return bindingWords.MatchString(low) && !strings.HasSuffix(strings.TrimSpace(quoted), "?")
	}
	return bindingWords.MatchString(low) || strings.Contains(quoted, "`") || !personal.MatchString(low)
}

// toDo begins a piece of work to be done once.
var toDo = lazyregexp.New(`^ *(?:(?:ok|okay|and|so|also|hm+|well|please|now|then|like|just|jesus|wow) )*(?:copy|split|continue|investigate|give me|tell me|propose|suggest|look|check|move|create|make|add|fix|write|read|go|same for|i actually want|i want you) `)

var (
	bindingWords = lazyregexp.New(` (?:should|must|has to|have to|need|needs|never|always|don't|do not|not|no|only|instead|because|since|cannot|can't|want|wants|we use|keep|belongs?|stays?|rather|may|until|unless|so that) `)
	personal     = lazyregexp.New(`^ +(?:i|ok|okay|yes|well|hm+|wow|nice|good|great|thanks|thank|lol|are you|what|why|how|like) `)
)
