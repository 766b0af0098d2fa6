package main

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"memoir/hub"
	"memoir/hub/hubtest"
	hubwire "memoir/team/wire"
)

// Two members change and remove lines of a generation by hand; the next ones have that, on both machines.
func TestHandEditsOfLinesOfAHubTravel(t *testing.T) {
	t.Parallel()
	cluster, err := hubtest.Start(false)
	if errors.Is(err, hubtest.ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(cluster.Stop)
	d, err := cluster.NewDatabase("edited")
	must(t, err)
	t.Cleanup(d.Owner.Close)
	url := d.Hub(t)
	d.Workers(t, hub.WorkOptions{Workers: 2})
	a, b := joined(t, url, d.Member(t, "anna", hubwire.Writer), "a"), joined(t, url, d.Member(t, "ben", hubwire.Writer), "b")
	sync := func() {
		t.Helper()
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
	a.said("three", "Hello.", "make three", committed("pin the parser", "the newer one drops comments of the user"))
	sync()
	token := "ghp_" + rand.Text() + strings.ToLower(rand.Text())[:10]
	lines := func(what string, have, lack []string) {
		t.Helper()
		for _, s := range []scene{a, b} {
			_, text := s.memory()
			for _, one := range have {
				if strings.Count(text, one) != 1 {
					t.Errorf("%s: %s has %q %d times in\n%s\nthe hub\n%s", what, s.home, one, strings.Count(text, one), text, s.base())
				}
			}
			for _, one := range lack {
				if strings.Contains(text, one) {
					t.Errorf("%s: %s has %q in\n%s", what, s.home, one, text)
				}
			}
		}
	}

	// Ben changes Anna's line and writes one of his own; Anna removes Ben's, and changes a wish.
	editByHand(b, "it grew without bound when the index was rebuilt", "it grew while the index was rebuilt below /srv/app/cache")
	editByHand(b, "## What is known\n", "## What is known\n\n- canary-added by hand\n")
	editByHand(a, `"sort the queue by age" (commit)`, "")
	editByHand(a, "always use canary-wish", "always use canary-changed")
	out := a.good("team", "share", appKey, "--dry-run")
	if strings.Contains(out, "Edit: ") { // no run has seen it yet
		t.Error(out)
	}
	a.run()
	if _, text := a.memory(); strings.Contains(text, "sort the queue") || !strings.Contains(text, "canary-changed") {
		t.Errorf("at once\n%s", text)
	}
	if out := a.good("team", "share", appKey, "--dry-run"); !strings.Contains(out, `Edit: "sort the queue by age" (commit): a job starved`) ||
		!strings.Contains(out, "→ (removed)") || strings.Contains(out, "canary-changed") {
		t.Error(out)
	}
	sync()
	changed := `"drop the cache" (commit): it grew while the index was rebuilt below cache. (from the team: the hub's words, citing anna, ben) [anna-`
	own := `it grew while the index was rebuilt below /srv/app/cache. [anna-` // Anna did not say that
	for _, s := range []scene{a, b} {
		_, text := s.memory()
		want := map[string]string{a.home: changed, b.home: own}[s.home]
		if strings.Count(text, want) != 1 || strings.Count(text, "it grew") != 1 || strings.Contains(text, "starved") {
			t.Errorf("after the next generation\n%s", text)
		}
	}
	for _, text := range []string{"canary-added", "canary-changed", "/srv/app"} {
		if n := d.Number(t, "SELECT count(*) FROM memoir.edit WHERE strpos(edit::text, '"+text+"') > 0"); n > 0 {
			t.Errorf("%s left", text)
		}
	}
	if _, text := b.memory(); strings.Count(text, "canary-added") != 1 {
		t.Errorf("what Ben wrote\n%s", text)
	}
	b.said("four", "Hello.", "make four", committed("cut the log", "it filled the disk of the runner"))
	sync()
	lines("with more statements", []string{"it filled the disk"}, []string{"(commit): a job starved", "without bound"})

	// A line that was changed is changed again, and then removed.
	for _, step := range [][2]string{{"drops comments", "drops remarks"}, {"drops remarks", "drops hints"}, {"drops hints", ""}} {
		editByHand(a, step[0], step[1])
		sync()
		lines(step[1], []string{step[1]}[:min(len(step[1]), 1)], []string{step[0]})
	}

	// What has a secret stays here.
	editByHand(a, "it filled the disk of the runner", "it filled the disk with token "+token)
	sync()
	if status := a.good("team", "status"); d.Number(t, "SELECT count(*) FROM memoir.edit WHERE strpos(after, 'token') > 0") > 1 {
		t.Error(status)
	}
	for _, s := range []scene{a, b} {
		for path, text := range files(t, s.home) {
			if filepath.Ext(path) != ".db" && strings.Contains(text, token) {
				t.Errorf("%s has the secret", path)
			}
		}
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.edit WHERE strpos(edit::text, '"+token+"') > 0"); n > 0 {
		t.Error("the secret left")
	}
	before := d.Number(t, "SELECT count(*) FROM memoir.edit")
	b.good("team", "unshare", appKey, "--yes")
	if n := d.Number(t, "SELECT count(*) FROM memoir.edit"); n != before-1 {
		t.Errorf("%d edits, not %d, after Ben shares no more", n, before-1)
	}
}
