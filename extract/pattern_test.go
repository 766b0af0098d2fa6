package extract

import "testing"

func TestEveryPatternCompiles(t *testing.T) {
	t.Parallel()
	if len(patterns) == 0 {
		t.Fatal("no patterns are known")
	}
	for _, p := range patterns {
		p.compiled() // panics if the expression is not valid
	}
}
