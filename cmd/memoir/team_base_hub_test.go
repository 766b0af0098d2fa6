package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir/hub"
	"memoir/hub/hubtest"
	hubwire "memoir/team/wire"
)

// working is a hub on PostgreSQL with workers.
func working(t *testing.T) (*hubtest.Database, string) {
	t.Helper()
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
	return d, url
}

// A hub on PostgreSQL consolidates what two members share: their memories begin with the same bytes.
func TestMemoriesBeginWithWhatAHubMade(t *testing.T) {
	t.Parallel()
	d, url := working(t)
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

func TestAMemberAcceptsWhatAHubMadeForAll(t *testing.T) {
	t.Parallel()
	d, url := working(t)
	must(t, d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Review = true }))
	a, b := joined(t, url, d.Member(t, "anna", hubwire.Admin), "a"), joined(t, url, d.Member(t, "ben", hubwire.Writer), "b")
	starts := func(s scene) string {
		s.env = []string{"MEMOIR_MEMORIES_ENABLED=true"}
		s.input = `{"hook_event_name":"SessionStart","session_id":"` + rand.Text() + `","cwd":"/srv/app","source":"startup"}`
		return gjson.Get(s.good("inject", "--agent", "claude", "--run"), "systemMessage").String()
	}
	const waits, hooked = "waits: `memoir team accept`", " of the team's memory waits"
	b.said("two", "Hello.", "make two", ofBen)
	a.run() // what each has is sent before
	b.run()
	d.Idle(t)
	a.run()
	b.run()
	newest := d.Number(t, "SELECT max(number) FROM memoir.generation")
	if out := a.good("status"); !strings.Contains(out, fmt.Sprintf("generation %d of app-", newest)) || !strings.Contains(out, waits) {
		t.Error(out)
	}
	if now := a.good("team", "status", "--json"); gjson.Get(now, "team.unaccepted|@values|0").Int() != newest || !strings.Contains(starts(a), hooked) {
		t.Error(now, starts(a))
	}
	if out := b.good("team", "status"); strings.Contains(out, "waits") || strings.Contains(starts(b), "waits") {
		t.Error("who may not accept is told: ", out, starts(b))
	}
	if code, _, said := b.memoir("team", "accept", appKey, "--yes"); code != exitFailed || !strings.Contains(said, "only an admin of this project may accept") {
		t.Errorf("%d %s", code, said)
	}
	const line = "\n+- \"sort the queue by age\""
	if code, out, said := a.memoir("team", "accept", appKey); code != exitUsage || !strings.Contains(out, line) || !strings.Contains(said, "pass --yes") {
		t.Errorf("%d %s %s", code, out, said)
	}
	if out := a.good("team", "accept", appKey, "--json"); gjson.Get(out, "accepted").Bool() || gjson.Get(out, "generation").Int() != newest || gjson.Get(out, "diffs.#").Int() != 1 {
		t.Error(out)
	}
	if b.run(); b.base() != "" {
		t.Error("it is there before it was accepted")
	}
	if out := a.good("team", "accept", appKey, "--yes", "--json"); !gjson.Get(out, "accepted").Bool() {
		t.Error(out)
	}
	if _, _, said := a.memoir("team", "accept", appKey, "--yes"); !strings.Contains(said, "no generation of app-") || !strings.Contains(said, "waits") {
		t.Error(said)
	}
	if b.run(); !strings.Contains(a.base(), "sort the queue") || !strings.Contains(b.base(), "sort the queue") || strings.Contains(a.good("status")+starts(a), "waits") {
		t.Errorf("anna\n%s\nben\n%s\n%s", a.base(), b.base(), a.good("status"))
	}

	code, err := d.Admin.NewCode(t.Context(), "anna")
	must(t, err)
	other := joined(t, url, code, "other")
	all := a.good("team", "machines", "--json")
	id, this := gjson.Get(all, "machines.1.id").String(), gjson.Get(all, "machines.0.id").String()
	if gjson.Get(all, "machines.#").Int() != 2 || !gjson.Get(all, "machines.0.this").Bool() || gjson.Get(all, "machines.1.this").Bool() {
		t.Error(all)
	}
	for _, wrong := range []string{this, "999", "../me"} {
		if code, _, said := a.memoir("team", "machines", "--revoke", wrong, "--yes"); code == exitDone {
			t.Errorf("%s: %s", wrong, said)
		}
	}
	if out := a.good("team", "machines", "--revoke", id, "--yes"); !strings.Contains(out, "(this one), last seen ") || strings.Count(out, "\n") != 1 {
		t.Error(out)
	}
	if said := other.run(); !strings.Contains(said, "revoked") {
		t.Error(said)
	}
	if said := a.run(); strings.Contains(said, "warning") {
		t.Error(said)
	}
}
