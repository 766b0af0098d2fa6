package main

import (
	"errors"
	"strings"
	"testing"

	"memoir/hub"
	"memoir/hub/hubtest"
	hubwire "memoir/team/wire"
)

// A hub on PostgreSQL consolidates what two members share: their memories begin with the same bytes.
func TestMemoriesBeginWithWhatAHubMade(t *testing.T) {
	t.Parallel()
	cluster, err := hubtest.Start(false)
	if errors.Is(err, hubtest.ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(cluster.Stop)
	d, err := cluster.NewDatabase("based")
	must(t, err)
	t.Cleanup(d.Owner.Close)
	url := d.Hub(t)
	d.Workers(t, hub.WorkOptions{Workers: 2})
	a, b := joined(t, url, d.Member(t, "anna", hubwire.Writer), "a"), joined(t, url, d.Member(t, "ben", hubwire.Writer), "b")
	sync := func() {
		for range 2 {
			a.run()
			b.run()
			d.Idle(t)
		}
		a.run()
		b.run()
	}
	a.said("one", "From now on always use canary-wish for tests.", "make one", ofAnna)
	b.said("two", "Hello.", "make two", ofBen)
	sync()
	if lines := a.shared(); strings.Count(lines, "\n") != 2 || lines != b.shared() || a.base() == "" {
		t.Errorf("anna\n%sben\n%s", lines, b.shared())
	}
	if _, text := b.memory(); !strings.Contains(b.base(), text) {
		t.Errorf("ben\n%s\nthe hub\n%s", text, b.base())
	}
	b.good("forget", "two", "--yes")
	sync()
	if lines := a.shared(); strings.Count(lines, "\n") != 1 || lines != b.shared() || strings.Contains(a.base(), "starved") {
		t.Errorf("anna\n%sben\n%s", lines, b.shared())
	}
}
