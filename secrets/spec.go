package secrets

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"
)

// specs describes rules before their expressions are compiled. The built-in rules are in builtin.go, since compiling
// their configurations takes longer than the search of most texts.
type specs struct {
	rules  []ruleSpec // sorted by id
	lists  []listSpec
	global []int // indexes of the lists for all rules
}

type ruleSpec struct {
	RuleID      string
	expr        string
	Keywords    []string
	Entropy     float64
	SecretGroup int
	rank        rank
	lists       []int    // indexes of its allowlists
	places      []anchor // the anchors of its expression, nil if it has none
}

type listSpec struct {
	all       bool // all of its conditions must hold
	elsewhere bool // it has conditions on file names or commits
	target    string
	regexes   []string
	stopWords []string // in lower case
}

// newSpecs describes the rules of a configuration that gitleaks has checked. own has the ids of the built-in extra
// rules. A rule that requires other rules nearby is found without them.
func newSpecs(c config.Config, own map[string]bool) (specs, error) {
	var s specs
	place := map[*config.Allowlist]int{} // a list with several targets is shared by their rules
	places := func(lists []*config.Allowlist) []int {
		var out []int
		for _, list := range lists {
			at, known := place[list]
			if !known {
				at = len(s.lists)
				place[list] = at
				s.lists = append(s.lists, newListSpec(list))
			}
			out = append(out, at)
		}
		return out
	}
	s.global = places(c.Allowlists)
	for _, id := range slices.Compact(slices.Sorted(slices.Values(c.OrderedRules))) {
		from := c.Rules[id]
		if from.Regex == nil || from.SkipReport {
			continue // for file names only, or only required by other rules
		}
		r := ruleSpec{
			RuleID: id, expr: from.Regex.String(), Keywords: from.Keywords, Entropy: from.Entropy,
			SecretGroup: from.SecretGroup, lists: places(from.Allowlists),
		}
		switch {
		case strings.Contains(strings.ToLower(id), "generic"):
			r.rank = rankGeneric
		case own[id] || from.Path != nil:
			r.rank = rankExtra
		}
		var err error
		if r.places, err = knownAnchors(r.expr); err != nil {
			return specs{}, fmt.Errorf("parse the expression of rule %s: %w", id, err)
		}
		short := func(k string) bool { return len(k) < goodLiteral }
		if own[id] && r.places != nil && slices.ContainsFunc(r.Keywords, short) {
			r.Keywords = nil // short keywords are in nearly every text, unlike the anchors
		}
		s.rules = append(s.rules, r)
	}
	return s, nil
}

func newListSpec(list *config.Allowlist) listSpec {
	s := listSpec{
		all:       list.MatchCondition == config.AllowlistMatchAnd,
		elsewhere: len(list.Paths) > 0 || len(list.Commits) > 0,
		target:    list.RegexTarget,
		stopWords: slices.Sorted(slices.Values(list.StopWords)),
	}
	for _, re := range list.Regexes {
		s.regexes = append(s.regexes, re.String())
	}
	return s
}

// knownAnchors returns the anchors of an expression. Only expressions outside the built-in rules are parsed.
func knownAnchors(expr string) ([]anchor, error) {
	if anchors, known := builtInAnchors()[expr]; known {
		return anchors, nil
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return anchorsOf(tree), nil
}

// builtInAnchors returns the anchors of the built-in rules by their expressions. Most of a person's rules are
// built-in ones.
var builtInAnchors = sync.OnceValue(func() map[string][]anchor {
	known := make(map[string][]anchor, len(builtIn.rules))
	for _, r := range builtIn.rules {
		known[r.expr] = r.places
	}
	return known
})
