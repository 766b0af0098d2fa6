package secrets

import (
	"cmp"
	"index/suffixarray"
	"slices"
	"strings"
)

// report drops the findings that gitleaks drops after all rules have run, and
// sorts the others by the position of the secret.
func (set *ruleSet) report(found []finding) []finding {
	if len(found) == 0 {
		return nil
	}
	found = set.composite(found)
	found = dropGeneric(found)
	slices.SortFunc(found, byPlace)
	return found
}

// place tells findings of one text apart.
type place struct {
	rule       *rule
	start, end int
}

func (f finding) place() place { return place{f.rule, f.start, f.end} }

func byPlace(a, b finding) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.rule.RuleID, b.rule.RuleID))
}

// composite keeps the findings of a rule that requires others only where those
// have findings near it, and drops those of rules that are only required.
func (set *ruleSet) composite(found []finding) []finding {
	if !slices.ContainsFunc(found, func(f finding) bool { return f.rule.SkipReport || f.rule.required != nil }) {
		return found
	}
	kept := make([]finding, 0, len(found))
	for _, f := range found {
		if !f.rule.SkipReport && satisfied(f, found) {
			kept = append(kept, f)
		}
	}
	return kept
}

// satisfied reports whether each rule that f's rule requires has a finding near f.
func satisfied(f finding, found []finding) bool {
	for _, required := range f.rule.required {
		if !slices.ContainsFunc(found, func(other finding) bool {
			return other.rule.RuleID == required.id && near(f, other, required)
		}) {
			return false
		}
	}
	return true
}

func near(f, other finding, required requirement) bool {
	return (required.lines < 0 || abs(f.line-other.line) <= required.lines) &&
		(required.columns < 0 || abs(f.column-other.column) <= required.columns)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// dropGeneric drops a generic finding if a specific rule has found a secret on the
// same line that contains it.
func dropGeneric(found []finding) []finding {
	if !slices.ContainsFunc(found, func(f finding) bool { return f.rule.rank == rankGeneric }) {
		return found
	}
	specific := map[int]*secretsOf{} // by line
	for _, f := range found {
		if f.rule.rank == rankSpecific {
			if specific[f.line] == nil {
				specific[f.line] = &secretsOf{}
			}
			specific[f.line].add(f.secret())
		}
	}
	if len(specific) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(f finding) bool {
		return f.rule.rank == rankGeneric && specific[f.line].contain(f.secret())
	})
}

// fewSecrets is how many secrets of one line are looked into one by one.
const fewSecrets = 32

// secretsOf are the secrets that specific rules have found on one line, which may have
// thousands of them, and as many generic findings.
type secretsOf struct {
	secrets []string
	index   *suffixarray.Index // of all of them with a 0 between, which no part has
}

func (s *secretsOf) add(secret string) { s.secrets = append(s.secrets, secret) }

// contain reports whether one of the secrets has a part in it. A nil *secretsOf has none.
func (s *secretsOf) contain(part string) bool {
	switch {
	case s == nil:
		return false
	case len(s.secrets) <= fewSecrets || part == "" || strings.IndexByte(part, 0) >= 0:
		return slices.ContainsFunc(s.secrets, func(secret string) bool { return strings.Contains(secret, part) })
	case s.index == nil:
		s.index = suffixarray.New([]byte(strings.Join(s.secrets, "\x00")))
	}
	return len(s.index.Lookup([]byte(part), 1)) > 0
}

// dropCovered drops findings whose secret lies inside of what a more specific rule
// found: the two halves of a private key, say, where the whole key was seen.
func dropCovered(found []finding) []finding {
	if len(found) < 2 {
		return found
	}
	var reach [rankGeneric + 1]int // how far the findings of each rank so far extend
	kept := found[:0]
	for _, f := range found { // by start, so that reach tells all
		covered := false
		for r := range f.rule.rank {
			covered = covered || f.end <= reach[r]
		}
		if !covered {
			kept = append(kept, f)
		}
		reach[f.rule.rank] = max(reach[f.rule.rank], f.end)
	}
	return kept
}
