package secrets

import (
	_ "embed"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"

	"memoir"
	"memoir/internal/lazyregexp"
)

//go:generate go test -run ^TestTheRulesOfCommandsAreThoseOfTheirTable$ -update .
//go:generate go test -run ^TestTheBuiltInRulesAreThoseOfTheConfigurations$ -update .

//go:embed extra.toml
var extraRules string

//go:embed passwords.toml
var passwordRules string

//go:embed commands.toml
var commandRules string

var extraConfig = extraRules + "\n" + passwordRules + "\n" + commandRules

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
	label  string // the id as in a marker: ownLabel for a person's rule
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
	_, err := readRules(options, true)
	return err
}

func newRuleSet(s specs) *ruleSet {
	lists := memoir.Map(s.lists, newAllowlist)
	named := func(places []int) []*allowlist {
		return memoir.Map(places, func(at int) *allowlist { return lists[at] })
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
		byID := func(known ruleSpec, id string) int { return strings.Compare(known.RuleID, id) }
		if _, known := slices.BinarySearchFunc(builtIn.rules, from.RuleID, byID); !known {
			r.label = ownLabel
			set.labels[ownLabel] = true
		}
	}
	set.index = newIndex(set.rules)
	return set
}

// ownLabel stands in markers for the id of a person's rule, which may be any text. Ids of gitleaks' rules are known.
const ownLabel = "own-rule"

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
