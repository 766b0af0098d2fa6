package consolidate_test

import (
	"context"
	"fmt"
	"testing"

	"memoir"
	"memoir/consolidate"
)

func BenchmarkConsolidate(b *testing.B) {
	var sessions []memoir.Extraction
	for n := range 200 {
		var bullets []string
		for i := range 20 {
			w := func(k int) string { return words[(n*7+i*3+k)%len(words)] }
			bullets = append(bullets, fmt.Sprintf("Decisions: `pkg/%s/%s.go` must %s before %s because of %s %d", w(0), w(1), w(2), w(3), w(4), n))
		}
		sessions = append(sessions, session(n, id(n+10), bullets...))
	}
	for b.Loop() {
		if _, _, err := consolidate.NewBuiltin().Consolidate(context.Background(), input(sessions...)); err != nil {
			b.Fatal(err)
		}
	}
}
