package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// Writes that wait together share a transaction, and one that fails costs no other.
func TestWritesThatWaitTogetherAreAllAnswered(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	bad := errors.New("bad")
	s.writing <- struct{}{} // nobody's turn until all wait
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := s.together(t.Context(), func(t tx) error {
				if i%7 == 3 {
					return bad
				}
				_, err := t.exec(`INSERT INTO counter (name, n) VALUES (?, 1)`, fmt.Sprint("test", i))
				return err
			})
			if failed := i%7 == 3; failed != errors.Is(err, bad) || !failed && err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.together(gone, func(tx) error { t.Error("it was run"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	<-s.writing
	all.Wait()
	n := 0
	if err := s.read(t.Context(), func(t tx) error {
		return t.get(`SELECT count(*) FROM counter WHERE name LIKE 'test%'`, nil, &n)
	}); err != nil || n != 17 {
		t.Errorf("%d rows, %v", n, err)
	}
}
