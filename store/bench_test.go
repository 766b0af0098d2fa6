package store

import (
	"testing"
)

const registered = 10_000

// What `memoir inject` needs of the database.
func BenchmarkOpenAndFindProject(b *testing.B) {
	s, _ := newQueue(b, registered)
	for b.Loop() {
		r, err := Open(b.Context(), s.Path(), Options{ReadOnly: true})
		must(b, err)
		if _, err := r.FindProject(b.Context(), "/src/"+project+"/cmd"); err != nil {
			b.Fatal(err)
		}
		must(b, r.Close())
	}
}
