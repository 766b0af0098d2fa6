package secrets

import (
	_ "embed"
	"regexp/syntax"
	"strings"

	"memoir/internal/lazyregexp"
)

//go:generate go test -run ^TestTheBuiltInRulesAreThoseOfTheConfigurations$ -update .

//go:embed extra.toml
var extraRules string

//go:embed passwords.toml
var passwordRules string

var extraConfig = extraRules + "\n" + passwordRules

// rank orders the rules that find the same secret. The rule with the lowest rank names it.
type rank int

const (
	rankSpecific rank = iota // gitleaks' and a person's rules for one service each
	rankExtra                // this package's rules, and rules for certain file names: a text may be from any file
	rankGeneric              // rules with "generic" in their id: gitleaks' generic-api-key
)

// rule is a rule with the values that are derived from its expressions at the first use.
type rule struct {
	ruleSpec
	Regex  *lazyregexp.Regexp
	label  string // the id as in a marker
	pieces lazy[[]bool]
	allow  []*allowlist
	*searcher
}

// fragment reports by group whether it captures only a piece of the secret: see fragments.
func (r *rule) fragment() []bool {
	return r.pieces.get(func() []bool { return fragments(r.parsed()) })
}

type ruleSet struct {
	rules  []*rule // sorted by id
	byID   map[string]*rule
	global []*allowlist
	labels map[string]bool
	index  index
}

// loadRules returns gitleaks' default rules, the built-in extra rules if extra is set, and a person's rules.
func loadRules(options Options, extra bool) (*ruleSet, error) {
	if extra && options.ConfigPath == "" {
		return newRuleSet(builtIn), nil
	}
	s, err := readRules(options, extra)
	if err != nil {
		return nil, err
	}
	return newRuleSet(s), nil
}

// Check reads the rules of a Scanner with these options and returns the error of New, without preparing a search.
func Check(options Options) error {
	options.ConfigPath = existing(options.ConfigPath)
	_, err := readRules(options, true)
	return err
}

func newRuleSet(s specs) *ruleSet {
	lists := make([]*allowlist, len(s.lists))
	for i, list := range s.lists {
		lists[i] = newAllowlist(list)
	}
	named := func(places []int) []*allowlist {
		out := make([]*allowlist, len(places))
		for i, at := range places {
			out[i] = lists[at]
		}
		return out
	}
	set := &ruleSet{byID: make(map[string]*rule, len(s.rules)), global: named(s.global),
		labels: make(map[string]bool, len(s.rules))}
	for _, from := range s.rules {
		r := &rule{
			ruleSpec: from, label: label(from.RuleID), allow: named(from.lists), Regex: lazyregexp.New(from.expr),
			searcher: newSearcher(from.expr, from.places, from.Keywords),
		}
		set.rules = append(set.rules, r)
		set.byID[from.RuleID] = r
		set.labels[r.label] = true
	}
	set.index = newIndex(set.rules)
	return set
}

// mustParse parses an expression that is known to be valid.
func mustParse(expr string) *syntax.Regexp {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic("secrets: a valid expression does not parse: " + err.Error())
	}
	return tree
}

// label converts a rule's id for a marker or a skill's name: lower case letters, digits and dashes, at most maxLabel
// bytes.
func label(id string) string {
	safe := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
			return c
		case 'A' <= c && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '-'
	}, id)
	if len(safe) > maxLabel {
		safe = safe[:maxLabel]
	}
	return safe
}

// fragments reports for each group of an expression whether it captures only a piece of the secret: the last of
// several repetitions, such as four digits of a UUID, or one of a few strings, such as the name of a token's header.
func fragments(tree *syntax.Regexp) []bool {
	out := make([]bool, tree.MaxCap()+1)
	var walk func(re *syntax.Regexp, repeated bool)
	walk = func(re *syntax.Regexp, repeated bool) {
		switch re.Op {
		case syntax.OpCapture:
			_, fixed := spell(re.Sub[0])
			out[re.Cap] = repeated || fixed
		case syntax.OpStar, syntax.OpPlus:
			repeated = true
		case syntax.OpRepeat:
			repeated = repeated || re.Max != 1
		}
		for _, sub := range re.Sub {
			walk(sub, repeated)
		}
	}
	walk(tree, false)
	return out
}
