package main

import (
	"slices"
	"testing"
	"time"

	"memoir"
)

func TestSessionsAreSortedByWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	sessions := []memoir.Session{
		{ID: "a", Title: "beta", ProjectID: "y", Bytes: 3, CreatedAt: day(1), UpdatedAt: day(9), Kind: memoir.KindMain},
		{ID: "b", Title: "Alpha", ProjectID: "x", Bytes: 1, CreatedAt: day(3), UpdatedAt: day(8), Kind: memoir.KindSubagent},
		{ID: "c", Title: "gamma", ProjectID: "x", Bytes: 2, CreatedAt: day(2), UpdatedAt: day(7), Kind: memoir.KindMain},
	}
	for _, test := range []struct {
		name string
		list listing
		want string
		all  int
	}{
		{"the latest first", listing{sort: "updated"}, "abc", 3},
		{"the oldest first", listing{sort: "updated", reverse: true}, "cba", 3},
		{"created", listing{sort: "created"}, "bca", 3},
		{"size", listing{sort: "size"}, "acb", 3},
		{"title", listing{sort: "title"}, "bac", 3},
		{"project, and the latest first in each", listing{sort: "project"}, "bca", 3},
		{"the projects backwards, the latest first in each all the same", listing{sort: "project", reverse: true}, "abc", 3},
		{"the largest", listing{sort: "size", limit: 1}, "a", 3},
		{"a kind", listing{sort: "updated", kind: memoir.KindMain}, "ac", 2},
		{"since", listing{sort: "updated", since: day(8)}, "ab", 2},
	} {
		chosen, all := test.list.choose(slices.Clone(sessions))
		got := ""
		for _, s := range chosen {
			got += s.ID
		}
		if got != test.want || all != test.all {
			t.Errorf("%s: got %s of %d, want %s of %d", test.name, got, all, test.want, test.all)
		}
	}
	for _, name := range orderNames() {
		if orders[name] == nil {
			t.Errorf("nothing sorts by %s", name)
		}
	}
}

func TestAgesAreWordsOfOneUnit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Hour: "now", 0: "now", 59 * time.Second: "now", time.Minute: "1m", 119 * time.Minute: "119m", 2 * time.Hour: "2h",
		47 * time.Hour: "47h", 48 * time.Hour: "2d", 59 * 24 * time.Hour: "59d", 60 * 24 * time.Hour: "8w", 800 * 24 * time.Hour: "2y",
	} {
		if got := age(now, now.Add(-ago)); got != want {
			t.Errorf("%v ago: got %s, want %s", ago, got, want)
		}
	}
	if got := age(now, time.Time{}); got != none {
		t.Errorf("no time: got %s", got)
	}
}
