package secrets

import (
	"slices"
	"strings"
	"testing"

	"memoir/secrets/secretstest"
)

func TestAShapeTellsTheGroupThatTheExpressionCaptures(t *testing.T) {
	t.Parallel()
	known, compared := 0, 0
	for n, r := range mustLoad(t, true).rules {
		if !r.shape().known {
			continue
		}
		known++
		random := newRandom(uint64(n))
		for range 40 {
			secret := secretstest.Generate(r.parsed(), random)
			for _, around := range [][2]string{{"", ""}, {" ", " "}, {"_", "_"}, {"x=", "\n"}, {"\n", "\n\n"}, {"%41", "%20"}, {"-", "."}, {"é", "é"}, {"(", ")."}} {
				for _, m := range r.Regex.FindAllStringIndex(around[0]+secret+around[1], -1) {
					match := (around[0] + secret + around[1])[m[0]:m[1]]
					whole := strings.TrimRight(match, "\n")
					if strings.HasPrefix(match, "\n") {
						continue
					}
					got, ok := r.shape().groups(whole, whole != match)
					if !ok {
						continue
					}
					compared++
					want := r.first().FindStringSubmatchIndex(whole)
					if want == nil || !slices.Equal(want[2:], got[2:]) {
						t.Fatalf("%s in %q: %v, want %v", r.RuleID, whole, got, want)
					}
				}
			}
		}
	}
	t.Logf("%d shapes, %d matches", known, compared)
	if known < 100 || compared < 10000 {
		t.Errorf("%d shapes, %d matches", known, compared)
	}
}
