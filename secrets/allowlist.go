package secrets

import (
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
)

// allowlist is one of gitleaks' allowlists with an automaton for its expressions.
type allowlist struct {
	listSpec
	automaton func() *dfa     // nil without expressions
	stops     func() *matcher // nil without stop words
}

func newAllowlist(from listSpec) *allowlist {
	list := &allowlist{listSpec: from}
	if len(from.regexes) > 0 {
		list.automaton = sync.OnceValue(func() *dfa { return joined(from.regexes) })
	}
	if len(from.stopWords) > 0 {
		list.stops = sync.OnceValue(func() *matcher { return newMatcher(from.stopWords) })
	}
	return list
}

// joined compiles the expressions of a list as gitleaks does, into one alternation of
// their texts. A flag such as (?i) at the beginning of one thus holds for those after
// it; verdicts depend on that.
func joined(regexes []string) *dfa {
	tree, err := syntax.Parse("(?s:.*?)(?:"+strings.Join(regexes, "|")+")", syntax.Perl)
	if err != nil {
		panic("secrets: an allowlist that gitleaks compiled does not parse: " + err.Error())
	}
	return newDFA(tree)
}

// matches reports whether an expression of the list matches somewhere in text. As in
// gitleaks, none matches an empty text.
func (list *allowlist) matches(text string) bool {
	return text != "" && list.automaton != nil && list.automaton().accepts(text)
}

// allowTarget is what an allowlist may look at.
type allowTarget struct {
	lines      *lineIndex
	start, end int // of the match, as gitleaks locates it
	match      string
	secret     string
}

func (t allowTarget) allowed(lists []*allowlist) bool {
	for _, list := range lists {
		if t.allows(list) {
			return true
		}
	}
	return false
}

func (t allowTarget) allows(list *allowlist) bool {
	if list.all {
		// There is neither a path nor a commit, so a list that demands one never holds.
		return !list.elsewhere && (list.automaton == nil || t.regexAllowed(list)) &&
			(list.stops == nil || list.stopped(t.secret))
	}
	return list.stops != nil && list.stopped(t.secret) || list.automaton != nil && t.regexAllowed(list)
}

// stopped reports whether a secret has one of the list's stop words in it, in whatever case.
func (list *allowlist) stopped(secret string) bool {
	if strings.ContainsFunc(secret, func(c rune) bool { return c > unicode.MaxASCII }) {
		secret = strings.ToLower(secret)
	}
	return list.stops().has(secret)
}

func (t allowTarget) regexAllowed(list *allowlist) bool {
	switch list.target {
	case "match":
		return list.matches(t.match)
	case "line":
		return t.lines.lineAllowed(list, t.start, t.end)
	}
	return list.matches(t.secret)
}
