package consolidate_test

import (
	"context"
	"fmt"
	"testing"

	"memoir"
	"memoir/consolidate"
)

// BenchmarkConsolidate makes the memory of as many sessions as are selected by
// default, each of as many statements as an extraction may have: from nothing, and
// with what the last consolidation left when one session has come.
func BenchmarkConsolidate(b *testing.B) {
	var sessions []memoir.Extraction
	for n := range 200 {
		var bullets []string
		for i := range 20 {
			w := func(k int) string { return words[(n*7+i*3+k)%len(words)] }
			bullets = append(bullets, fmt.Sprintf("Decisions: `pkg/%s/%s.go` must %s before %s because of %s %d", w(0), w(1), w(2), w(3), w(4), n))
			if i < 10 {
				bullets = append(bullets, fmt.Sprintf("Preferences: “never %s the %s of %s %d”", w(0), w(1), w(2), n))
				bullets = append(bullets, fmt.Sprintf("Failures: `make %s` failed: no %s in %s — passed after `make %s` %d", w(0), w(1), w(2), w(3), n))
			}
			if i < 4 {
				bullets = append(bullets, fmt.Sprintf("Procedure: “%s the %s”: `make %s` → `make %s` → `git push` → `make %s`", w(0), w(1), w(2), w(3), w(4)))
			}
		}
		sessions = append(sessions, session(n, id(n+10), bullets...))
	}
	run := func(in consolidate.Input) memoir.Consolidation {
		c, _, err := consolidate.NewBuiltin().Consolidate(context.Background(), in)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			run(input(sessions...))
		}
	})
	b.Run("one more", func(b *testing.B) {
		in := input(sessions...)
		in.Draft = run(input(sessions[:199]...)).Draft
		for b.Loop() {
			run(in)
		}
	})
}
