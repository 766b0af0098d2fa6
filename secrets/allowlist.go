package secrets

import (
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"
)

// allowlist is one of gitleaks' allowlists with an automaton for its expressions.
type allowlist struct {
	*config.Allowlist
	automaton func() *dfa // nil without expressions
}

// allowlists makes each list once: many rules share those that name their targets,
// and an automaton grows with what it reads.
type allowlists map[*config.Allowlist]*allowlist

func (known allowlists) of(lists []*config.Allowlist) []*allowlist {
	out := make([]*allowlist, len(lists))
	for i, list := range lists {
		if known[list] == nil {
			known[list] = &allowlist{Allowlist: list}
			if len(list.Regexes) > 0 {
				known[list].automaton = sync.OnceValue(func() *dfa { return joined(list) })
			}
		}
		out[i] = known[list]
	}
	return out
}

// joined compiles the expressions of a list as gitleaks does, into one alternation of
// their texts. A flag such as (?i) at the beginning of one thus holds for those after
// it; verdicts depend on that.
func joined(list *config.Allowlist) *dfa {
	texts := make([]string, len(list.Regexes))
	for i, re := range list.Regexes {
		texts[i] = re.String()
	}
	tree, err := syntax.Parse("(?s:.*?)(?:"+strings.Join(texts, "|")+")", syntax.Perl)
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
	if list.MatchCondition == config.AllowlistMatchAnd {
		// There is neither a path nor a commit, so a list that demands one never holds.
		if len(list.Paths) > 0 || len(list.Commits) > 0 {
			return false
		}
		if len(list.Regexes) > 0 && !t.regexAllowed(list) {
			return false
		}
		if len(list.StopWords) > 0 {
			stopped, _ := list.ContainsStopWord(t.secret)
			return stopped
		}
		return true
	}
	if len(list.StopWords) > 0 {
		if stopped, _ := list.ContainsStopWord(t.secret); stopped {
			return true
		}
	}
	return len(list.Regexes) > 0 && t.regexAllowed(list)
}

func (t allowTarget) regexAllowed(list *allowlist) bool {
	switch list.RegexTarget {
	case "match":
		return list.matches(t.match)
	case "line":
		return t.lines.lineAllowed(list, t.start, t.end)
	}
	return list.matches(t.secret)
}
