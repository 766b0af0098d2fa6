package secrets

import (
	"regexp"
	"regexp/syntax"
	"sync"
	"testing"
)

func TestADFAStaysRightWhenItsStatesAreForgotten(t *testing.T) {
	t.Parallel()
	const expr = `(?:a|b)*a(?:a|b){13}c` // needs 2^14 states
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	d := newDFA(tree)
	plain := regexp.MustCompile(`\A(?:` + expr + `)`)
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			random := newRandom(seed)
			for range 300 {
				text := randomText([]string{"a", "b"}, 14+random.IntN(60), random) + "c"
				if got, _ := d.accepts(text, 0); got != plain.MatchString(text) {
					t.Errorf("accepts %q: %v", text, got)
					return
				}
			}
		})
	}
	group.Wait()
	if len(d.table.Load().states) > maxStates {
		t.Errorf("keeps %d states", len(d.table.Load().states))
	}
}
