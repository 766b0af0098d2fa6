package store

import (
	"testing"
	"time"
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

// What `memoir run` needs of it when nothing is new.
func BenchmarkFilesAndReasonsWithNothingNew(b *testing.B) {
	s, _ := newQueue(b, registered)
	w := Window{MaxAge: time.Hour}
	for b.Loop() {
		if files, err := s.Files(b.Context()); err != nil || len(files) != registered {
			b.Fatal(len(files), err)
		}
		if counts, err := s.RefreshReasons(b.Context(), w); err != nil || counts["too_old"] != registered {
			b.Fatal(counts, err)
		}
	}
}
