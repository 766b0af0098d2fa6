package store

import (
	"slices"
	"testing"

	"memoir"
)

func TestAnExtractionKeepsHowFarItsSessionWasRead(t *testing.T) {
	t.Parallel()
	old, later := []memoir.Mark{{Item: 2, Hash: "x"}, {Item: 3, Hash: "y"}}, []memoir.Mark{{Item: 9, Hash: "z"}}
	stored := func(text string, marks []memoir.Mark, change func(*Result)) Result {
		r := worth(text)
		r.Marks = marks
		if text == "" {
			r.Extraction = memoir.Extraction{ContentHash: "h2", FilterVersion: 1}
		}
		if change != nil {
			change(&r)
		}
		return r
	}
	for _, tt := range []struct {
		name          string
		first, second Result
		want          []memoir.Mark
	}{
		{"replaced", stored("a", old, nil), stored("b", later, nil), later},
		{"the same once more", stored("a", old, nil), stored("a", later, nil), later},
		{"none any more", stored("a", old, nil), stored("b", nil, nil), nil},
		{"kept of what was rewritten", stored("a", old, nil), stored("", later, nil), old},
		{"kept of what grew", stored("a", old, nil), stored("", later, func(r *Result) { r.Grown = true }), later},
		{"withdrawn", stored("a", old, nil), stored("", later, func(r *Result) { r.Withdraw = true }), nil},
		{"nothing worth keeping", stored("", old, nil), stored("", later, func(r *Result) { r.Grown = true }), nil},
	} {
		s, _ := newQueue(t, 1)
		if c := extracted(t, s, tt.first); c.PriorMarks != nil {
			t.Errorf("%s: marks %v of nothing", tt.name, c.PriorMarks)
		}
		scan(t, s, session("s00", grown))
		extracted(t, s, tt.second)
		scan(t, s, session("s00", grown, grown))
		e, marks, err := s.Prior(t.Context(), "codex:s00")
		must(t, err)
		c := claimOne(t, s)
		if !slices.Equal(c.PriorMarks, tt.want) || !slices.Equal(marks, tt.want) {
			t.Errorf("%s: %v, and %v, want %v", tt.name, c.PriorMarks, marks, tt.want)
		}
		if (e == nil) != (c.Prior == nil) || e != nil && *e != *c.Prior {
			t.Errorf("%s: %+v, and %+v", tt.name, e, c.Prior)
		}
	}
}
