package secrets

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"
)

// specs is all that is known of rules before any expression is compiled. Those of the
// built-in rules are written down in builtin.go: reading and compiling the
// configurations that they come from takes longer than most texts.
type specs struct {
	rules  []ruleSpec // in the order of their ids
	lists  []listSpec
	global []int // places of the lists that count for all rules
}

// ruleSpec describes a rule.
type ruleSpec struct {
	RuleID      string
	expr        string
	path        string // the expression for names of files
	Keywords    []string
	Entropy     float64
	SecretGroup int
	rank        rank
	lists       []int    // places of its allowlists
	places      []anchor // the anchors of its expression, nil if it has none
}

// listSpec describes an allowlist.
type listSpec struct {
	all       bool // every one of its conditions must hold
	elsewhere bool // it has conditions for names of files or for commits
	target    string
	regexes   []string
	stopWords []string // in lower case
}

// newSpecs describes the rules of a configuration that gitleaks has checked. Those of the built-in
// extra rules are named in own. A rule that requires others near is found without them.
func newSpecs(c config.Config, own map[string]bool) (specs, error) {
	var s specs
	place := map[*config.Allowlist]int{} // many rules share those that name their targets
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
			continue // a rule about file names, of which a text has none, or one that only others require
		}
		r := ruleSpec{
			RuleID: id, expr: from.Regex.String(), Keywords: from.Keywords, Entropy: from.Entropy,
			SecretGroup: from.SecretGroup, lists: places(from.Allowlists),
		}
		if from.Path != nil {
			r.path = from.Path.String()
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
			r.Keywords = nil // they stand in nearly every text: the anchors tell where it is worth a look
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

// knownAnchors finds the anchors of an expression. Those of the built-in rules are known.
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

// builtInAnchors returns the anchors of the built-in rules by their expressions. A
// person's rules are mostly these.
var builtInAnchors = sync.OnceValue(func() map[string][]anchor {
	known := make(map[string][]anchor, len(builtIn.rules))
	for _, r := range builtIn.rules {
		known[r.expr] = r.places
	}
	return known
})
