//go:build !race

// Excluded under the race detector: these tests start no goroutine of this package, and gitleaks needs a hundred others.

package secrets

import (
	"strings"
	"testing"

	"memoir/secrets/secretstest"
)

func TestWhatARuleFindsIsGoneAfterwardsAndStructureStays(t *testing.T) {
	t.Parallel()
	set := ours.rules()
	for n, r := range set.rules {
		tree := mustParse(r.Regex.String())
		random := newRandom(uint64(n) + 1000)
		for range 2 {
			secret := secretstest.Generate(tree, random)
			for _, p := range plantings {
				checkRedaction(t, p.plant(r.RuleID, secret))
			}
		}
	}
}

// A rule with a prefix and a fixed length matches only the head of a longer token.
func TestNoTailOfALongerTokenStays(t *testing.T) {
	t.Parallel()
	tested := 0
	for n, r := range ours.rules().rules {
		if r.rank != rankSpecific {
			continue
		}
		tree, random := mustParse(r.Regex.String()), newRandom(uint64(n))
		m := maker{random}
		for range 20 {
			head := strings.TrimRight(secretstest.Generate(tree, random), " \t\r\n;'\"`\\")
			if head == "" || !wordChar(head[len(head)-1]) {
				continue
			}
			tail := m.text(letters, 6) + m.text(numbers, 1) + m.text(letters, 5)
			for _, longer := range []string{head + tail, head + "-" + tail, head + "." + m.text(numbers, 2) + tail} {
				found := false
				all, _ := ours.rules().findRules(longer)
				for _, f := range all {
					found = found || f.rule == r && f.end == len(head)
				}
				if !found {
					continue
				}
				tested++
				for name, text := range map[string]string{
					"itself": longer, "a remote": "https://oauth2:" + longer + "@git.test/x.git", "a path": "/src/" + longer + ".git",
					"JSON": `{"token":"` + longer + `"}`, "a sentence": "It is " + longer + ".",
				} {
					if out, _ := ours.Redact(text); pieceOf(tail, out) != "" {
						t.Errorf("%s, %s: the tail of %q is left in %q", r.RuleID, name, longer, out)
					}
				}
			}
		}
	}
	if tested < 50 {
		t.Errorf("only %d tokens were longer than what a rule found", tested)
	}
}
