package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/memory"
	"memoir/store"
	hubwire "memoir/team/wire"
)

// working returns two members of a hub that works, and a function after which each has what the other did.
func working(t *testing.T) (d *hubtest.Database, a, b scene, sync func()) {
	t.Helper()
	cluster, err := hubtest.Start(false)
	if errors.Is(err, hubtest.ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(cluster.Stop)
	d, err = cluster.NewDatabase("edited")
	must(t, err)
	t.Cleanup(d.Owner.Close)
	url := d.Hub(t)
	d.Workers(t, hub.WorkOptions{Workers: 2})
	a, b = joined(t, url, d.Member(t, "anna", hubwire.Writer), "a"), joined(t, url, d.Member(t, "ben", hubwire.Writer), "b")
	sync = func() {
		t.Helper()
		for range 2 {
			a.run()
			b.run()
			d.Idle(t)
		}
		a.run()
		b.run()
	}
	return d, a, b, sync
}

// Two members change and remove lines of a generation by hand; the next ones have that, on both machines.
func TestHandEditsOfLinesOfAHubTravel(t *testing.T) {
	t.Parallel()
	d, a, b, sync := working(t)
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
	editByHand(a, `"sort the queue by age" (commit of `, "")
	editByHand(a, "always use canary-wish", "always use canary-changed")
	out := a.good("team", "share", appKey, "--dry-run")
	if strings.Contains(out, "Edit: ") { // no run has seen it yet
		t.Error(out)
	}
	a.run()
	if _, text := a.memory(); strings.Contains(text, "sort the queue") || !strings.Contains(text, "canary-changed") {
		t.Errorf("at once\n%s", text)
	}
	if out := a.good("team", "share", appKey, "--dry-run"); !strings.Contains(out, `Edit: "sort the queue by age" (commit of `) ||
		!strings.Contains(out, "→ (removed)") || strings.Contains(out, "canary-changed") {
		t.Error(out)
	}
	sync()
	changed := `said why: it grew while the index was rebuilt below cache. (from the team: changed by ben, citing anna) [anna-`
	own := `it grew while the index was rebuilt below /srv/app/cache. [anna-` // Anna did not say that, and keeps hers
	for _, s := range []scene{a, b} {
		_, text := s.memory()
		want := map[string]string{a.home: changed, b.home: own}[s.home]
		hers := map[bool]int{true: 1}[s.home == a.home] // and Ben keeps what he said
		if strings.Count(text, want) != 1 || strings.Count(text, "it grew without bound") != hers ||
			strings.Count(text, "it grew") != 1+hers || strings.Count(text, "said why: a job starved behind the newer ones for hours. [") != 1-hers {
			t.Errorf("after the next generation\n%s", text)
		}
	}
	for _, text := range []string{"canary-added", "canary-changed", "/srv/app"} {
		if n := d.Number(t, "SELECT count(*) FROM memoir.edit WHERE strpos(edit::text, '"+text+"') > 0"); n > 0 {
			t.Errorf("%s left", text)
		}
	}
	changedBy := func(s scene, text, who string) {
		t.Helper()
		out := s.good("why", text, "--project", appKey, "--json")
		if why := gjson.Get(out, `statements.#(signal="edit").by`).String(); why != who || len(gjson.Get(out, "lines").Array()) != 1 {
			t.Errorf("%s: changed by %q: %s", text, why, out)
		}
	}
	changedBy(a, "it grew while", "ben")
	for text, says := range map[string]string{"behind the newer ones": "anna removed", "it grew without bound": "ben changed"} {
		if out := a.good("why", text, "--project", appKey); !strings.Contains(out, "  "+says+" its line for all members 20") {
			t.Errorf("%s: %s", text, out)
		}
	}
	for _, s := range []scene{a, b} {
		if asks := strings.Contains(s.good("review", "--json", "--project", appKey), "it grew while"); asks != (s.home == a.home) {
			t.Errorf("%s asks about what Ben wrote: %v", s.home, asks)
		}
	}
	a.good("review", "--yes", "--project", appKey)
	a.run()
	if _, text := a.memory(); strings.Count(text, "it grew") != 1 || !strings.Contains(text, changed) {
		t.Errorf("Anna keeps the change\n%s", text)
	}
	if _, text := b.memory(); strings.Count(text, "canary-added") != 1 {
		t.Errorf("what Ben wrote\n%s", text)
	}
	b.said("four", "Hello.", "make four", committed("cut the log", "it filled the disk of the runner"))
	sync()
	lines("with more statements", []string{"it filled the disk"}, nil)

	// A line that was changed is changed again, and then removed.
	for _, step := range [][2]string{
		{"drops comments of the user", "loses remarks of a person"}, {"loses remarks", "loses hints"}, {"loses hints", ""},
	} {
		editByHand(a, step[0], step[1])
		sync()
		if lines(step[1], []string{step[1]}[:min(len(step[1]), 1)], []string{step[0]}); step[1] != "" {
			changedBy(b, "drops comments", "anna")
		}
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

// takesEdits makes a hub store the edits that it gets.
func (h *fakeHub) takesEdits(t *testing.T) *[]hubwire.Edit {
	taken := &[]hubwire.Edit{}
	h.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/edits" {
			return false
		}
		var push hubwire.Push
		must(t, json.NewDecoder(r.Body).Decode(&push))
		must(t, push.Check())
		*taken = append(*taken, push.Edits...)
		w.Header().Set(hubwire.VersionHeader, "1")
		must(t, json.NewEncoder(w).Encode(hubwire.Pushed{Epoch: h.epoch, New: len(push.Edits)}))
		return true
	}
	return taken
}

// A drop in a review is of this person alone if others said the line, as is all that they do with one of the repository.
// An edit that no run has seen is not asked about.
func TestADropHidesALineOfOthersHereAlone(t *testing.T) {
	t.Parallel()
	script, err := exec.LookPath("script")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no script(1) here")
	}
	h, a, b, sync := based(t)
	taken, keys := h.takesEdits(t), ""
	a.receives(store.FromRepository, []store.Received{{Member: "carol", Hash: "canary", Session: "0123456789abcdef01234567fedcba9876", Day: "2026-05-01",
		Statement: memoir.Statement{Kind: memoir.StatementFinding, Text: "the canary lane is closed on Mondays", Signal: memoir.SignalTeam, By: memoir.ByPerson}}})
	a.run()
	for _, line := range gjson.Get(a.good("review", "--project", appKey, "--json"), "lines").Array() {
		keys += map[string]string{"here": "d", "all": "s", "": "s"}[line.Get("drop").Str]
	}
	review := exec.Command(script, "-qec", released(t)+" review --once --project "+appKey+" --home "+a.home, "/dev/null")
	review.Env, review.Stdin = environment("HOME="+a.user), strings.NewReader(keys)
	out, err := review.CombinedOutput()
	if err != nil || strings.Count(keys, "d") != 1 || !strings.Contains(string(out), "keep and let agents be told it, drop for you, edit for all members, skip") ||
		!strings.Contains(string(out), "keep and let agents be told it, drop, edit, skip") ||
		!strings.Contains(string(out), "keep, drop for all members, edit for all members, skip") {
		t.Fatalf("%s: %v\n%s", keys, err, out)
	}
	for range 2 {
		_, here := a.memory()
		if _, there := b.memory(); strings.Contains(here, "starved behind") || !strings.Contains(there, "starved behind") || len(*taken) > 0 {
			t.Errorf("%+v\n%s\n%s", *taken, here, there)
		}
		h.generation(t, appKey, nil)
		sync()
	}
	editByHand(b, "for hours", "for canary-days")
	if strings.Contains(b.good("review", "--project", appKey, "--json"), "canary-days") {
		t.Error("it asks about an edit")
	}
}

// The restore that a review names takes back a drop for all, of a line of one's own and of one that others say, too.
func TestADropForAllIsTakenBackByItsRestore(t *testing.T) {
	t.Parallel()
	script, err := exec.LookPath("script")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no script(1) here")
	}
	d, a, b, sync := working(t)
	a.said("one", "Hello.", "make one", ofAnna)
	a.said("three", "Hello.", "make three", ofBen)
	b.said("two", "Hello.", "make two", ofBen)
	sync()
	keys := ""
	for _, line := range gjson.Get(a.good("review", "--project", appKey, "--json"), "lines").Array() {
		keys += map[string]string{"all": "d"}[line.Get("drop").Str]
	}
	review := exec.Command(script, "-qec", released(t)+" review --project "+appKey+" --home "+a.home, "/dev/null")
	review.Env, review.Stdin = environment("HOME="+a.user), strings.NewReader(keys)
	out, err := review.CombinedOutput()
	restore := regexp.MustCompile("`memoir restore ([^`]*)`").FindStringSubmatch(string(out))
	if err != nil || keys != "dd" || restore == nil {
		t.Fatalf("%q: %v\n%s", keys, err, out)
	}
	for _, dropped := range []bool{true, false} {
		if sync(); !dropped {
			a.good(append([]string{"restore"}, strings.Fields(restore[1])...)...)
			sync()
		}
		for _, s := range []scene{a, b} {
			_, text := s.memory()
			for _, one := range []string{"said why: it grew", "said why: a job starved"} {
				own := s.home == b.home && one == "said why: a job starved" // Ben keeps what he said
				if strings.Contains(text, one) != (own || !dropped) {
					t.Errorf("dropped %v: %s: %q\n%s\n%s", dropped, s.home, one, text, out)
				}
			}
		}
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.edit"); n > 0 {
		t.Errorf("%d edits are left", n)
	}
}

// What a person made of lines of others stays theirs when the project is shared no more, also if no run has seen it; and
// what they dropped stays away when it is shared again.
func TestEditsOfLinesOfOthersOutliveTheSharing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"team", "unshare", appKey, "--yes"}, {"team", "unshare", appKey, "--keep"}, {"team", "leave", "--yes"}} {
		for _, seen := range []bool{true, false} {
			what := fmt.Sprint(args, ", seen by a run: ", seen)
			h, a, b, sync := based(t)
			taken := h.takesEdits(t)
			b.said("three", "Hello.", "make three", committed("cap the pool", "it ran dry when workers waited"))
			sync()
			h.generation(t, appKey, nil)
			sync()
			editByHand(a, "behind the newer ones for hours", "behind canary-one")
			editByHand(a, "said why: it ran dry", "")
			if seen {
				a.run()
				editByHand(a, "behind canary-one", "behind canary-mine") // what was changed is changed again
				a.run()
			} else {
				editByHand(a, "behind canary-one", "behind canary-mine")
			}
			a.good(args...)
			mine := func(when string) {
				t.Helper()
				_, text := a.memory()
				if strings.Count(text, "a job starved behind canary-mine.\n") != 1 || strings.Contains(text, "canary-one") ||
					strings.Contains(text, "newer ones") || strings.Contains(text, "said why: it ran dry") {
					t.Errorf("%s: %s\n%s", what, when, text)
				}
			}
			mine("at once")
			a.run()
			mine("after a run")
			if sent := len(*taken); args[1] == "unshare" {
				a.good("team", "share", appKey, "--yes")
				sync()
				if mine("shared again"); len(*taken) != sent {
					t.Errorf("%s: sent again: %+v", what, (*taken)[sent:])
				}
			}
		}
	}
}

// Two homes of a member make the same edit: each has its own.
func TestTheSameEditOfTwoHomesIsTakenBackByItsOwn(t *testing.T) {
	t.Parallel()
	h, a, _, _ := based(t)
	taken := h.takesEdits(t)
	c := member(t, h, "anna-2")
	c.run()
	c.run()
	for _, s := range []scene{a, c} {
		editByHand(s, "for hours", "for days")
		s.run()
	}
	if len(*taken) != 2 || (*taken)[0].Hash == (*taken)[1].Hash {
		t.Fatalf("%+v", *taken)
	}
	editByHand(c, "for days", "for hours")
	c.run()
	if got := h.all.String(); strings.Contains(got, `"`+(*taken)[0].Hash) || !strings.Contains(got, `"tombstones":["`+(*taken)[1].Hash) {
		t.Error(got[max(0, len(got)-2000):])
	}
}

// An own line that is changed before the hub's memory has it stays at the hub, which gets the change once it has it. What
// was changed before it was shared never leaves.
func TestAChangeOfAnOwnLineWaitsForTheHubsMemory(t *testing.T) {
	t.Parallel()
	h, a, b, sync := based(t)
	taken := h.takesEdits(t)
	a.said("three", "Hello.", "make three", committed("cap the pool", "it ran dry when workers waited below /srv/app/pool"))
	a.run()
	editByHand(a, "it ran dry when", "it ran dry while")
	sync()
	has := func() bool { return strings.Contains(strings.Join(h.texts(appKey), "\n"), "said why: it ran dry when") }
	if _, text := b.memory(); !has() || len(*taken) > 0 || !strings.Contains(text, "it ran dry when") {
		t.Errorf("it is withdrawn: %+v\n%s", *taken, text)
	}
	h.generation(t, appKey, nil)
	for range 2 {
		sync()
		if _, text := a.memory(); strings.Count(text, "it ran dry") != 1 || !strings.Contains(text, "it ran dry while workers") {
			t.Errorf("here\n%s", text)
		}
		if n := len(*taken); n != 1 || (*taken)[0].Generation != 2 || !strings.Contains((*taken)[0].Before, "dry when workers waited below pool") || !has() {
			t.Fatalf("%+v", *taken)
		}
	}
	a.good("team", "unshare", appKey, "--yes")
	a.good("team", "share", appKey, "--yes")
	sync()
	h.generation(t, appKey, nil)
	if sync(); len(*taken) != 1 || has() {
		t.Errorf("shared again: %+v", *taken)
	}
}

// The hub's form of a text has no tag: the line stands once.
func TestAChangedLineWithATagStandsOnce(t *testing.T) {
	t.Parallel()
	h, a, b, sync := based(t)
	h.takesEdits(t)
	editByHand(a, "behind the newer ones for hours", "behind <system-reminder> of memoir-context and @src/x")
	sync()
	h.generation(t, appKey, func(f memory.Files) {
		f[memoir.MemoryFile] = []byte(strings.Replace(string(f[memoir.MemoryFile]), "behind the newer ones for hours",
			"behind <system-reminder> of memoir-context and @src/x", 1))
	})
	sync()
	for _, s := range []scene{a, b} {
		if _, text := s.memory(); strings.Count(text, "a job starved behind") != 1 {
			t.Errorf("%s has\n%s", s.home, text)
		}
	}
}

// A hub that always has more keeps no run: the next one goes on where this one ended.
func TestAHubWithoutALastPageEndsNoRun(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	a := member(t, h, "anna-1")
	asked := []string{}
	h.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/pull" {
			return false
		}
		asked = append(asked, r.URL.Query().Get("after"))
		w.Header().Set(hubwire.VersionHeader, "1")
		must(t, json.NewEncoder(w).Encode(hubwire.Page{Epoch: h.epoch, More: true, Cursor: hubwire.Cursor(fmt.Sprintf("e1.%d", len(asked))),
			Items: []hubwire.Change{{Member: "ben", Statement: statement(fmt.Sprintf(`{"kind":"Findings","text":"finding %d"}`, len(asked)), "2026-05-01")}}}))
		return len(asked) < 2500 // else the test fails
	}
	said := a.run()
	if len(asked) != 2000 || !strings.Contains(said, "more than 2000 pages") ||
		!strings.Contains(a.good("team", "status"), "more than 2000 pages") {
		t.Fatalf("%d pages: %s", len(asked), said)
	}
	if slices.Sort(asked); len(slices.Compact(asked)) != 2000 {
		t.Error("a page is asked for twice")
	}
	h.before = nil
	if said = a.run(); strings.Contains(said, "warning") || strings.Contains(a.good("team", "status"), "more than") {
		t.Error(said)
	}
}

// Ben changes what repaired Anna's failure and removes another one: nothing of hers goes before she keeps the change.
func TestAnOwnFixGoesOnceItsChangeIsKept(t *testing.T) {
	t.Parallel()
	const failure, old, other = "getaddrinfo ENOTFOUND mailhog", "`docker compose up -d mailhog`", "`docker buildx install` ["
	d, a, b, sync := working(t)
	for _, id := range []string{"one", "two"} {
		a.said(id, "Hello.", "make one", ran("npm test", 1, "Error: "+failure)+
			ran("docker compose up -d mailhog", 0, "ok")+ran("npm test", 0, "ok")+
			ran("make image", 2, "error: driver docker does not support builds")+ran("docker buildx install", 0, "ok")+ran("make image", 0, "ok"))
	}
	b.said("three", "Hello.", "make three", ran("npm test", 1, "Error: "+failure)+ran("docker compose up -d smtp", 0, "ok")+ran("npm test", 0, "ok"))
	sync()
	editByHand(b, "up -d mailhog", "up -d smtp")
	editByHand(b, "docker buildx install", "")
	sync()
	a.env = []string{"MEMOIR_MEMORIES_ENABLED=true"}
	asked := a
	asked.input = `{"hook_event_name":"PostToolUseFailure","session_id":"s1","cwd":"/srv/app","tool_name":"Bash","tool_input":{"command":"npm test"},"error":"Exit code 1\nError: ` + failure + `"}`
	for _, kept := range []bool{false, true} {
		if kept {
			a.good("review", "--project", appKey, "--yes")
			a.run()
		}
		_, text := a.memory()
		start, told := a.good("inject", "--project", appKey), asked.good("inject", "--agent", "claude", "--action")
		if strings.Contains(text, old) == kept || strings.Contains(start, old) == kept || strings.Contains(told, old) == kept ||
			strings.Contains(start, "up -d smtp`") != kept || !strings.Contains(text, "up -d smtp` (from the team: changed by ben, ") ||
			!strings.Contains(text, other) {
			t.Errorf("kept: %v\n%s\n%s\n%s", kept, text, start, told)
		}
	}
	if _, text := b.memory(); strings.Contains(text, old) || strings.Contains(text, "buildx") {
		t.Errorf("ben\n%s", text)
	}

	// Ben leaves, and the hub's next memory waits: what he made of her line stands nowhere, so hers is back.
	must(t, d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Review = true }))
	b.good("team", "leave", "--yes")
	a.run()
	if _, text := a.memory(); strings.Count(text, old) != 1 || strings.Contains(text, "up -d smtp") || !strings.Contains(text, other) {
		t.Errorf("ben has left\n%s", text)
	}
}

// What a member made of a line ends what its statement told at a failure and in a search, on the machines that had it
// from others: the changed line says what it was, and a removed one leaves nothing.
func TestAnOverruledFixIsToldNoMore(t *testing.T) {
	t.Parallel()
	const failure, fix = "golangci-lint: command not found", "go run example.com/golangci-lint@latest run"
	d, a, b, _ := working(t)
	c := joined(t, d.Hub(t), d.Member(t, "carl", hubwire.Writer), "c")
	sync := func() {
		for range 2 {
			for _, s := range []scene{b, a, c} {
				s.run()
				d.Idle(t)
			}
		}
	}
	b.said("one", "Hello.", "make one", ran("golangci-lint run", 127, "bash: "+failure)+ran(fix, 0, "ok"))
	sync()
	c.good("review", "--project", appKey, "--yes")
	c.run()
	c.env = []string{"MEMOIR_MEMORIES_ENABLED=true"}
	told := func() string {
		asked := c
		asked.input = `{"hook_event_name":"PostToolUseFailure","session_id":"` + rand.Text() + `","cwd":"/srv/app","tool_name":"Bash","tool_input":{"command":"golangci-lint run"},"error":"Exit code 127\nbash: ` + failure + `"}`
		return asked.good("inject", "--agent", "claude", "--action")
	}
	finds := func(more ...string) string {
		_, out, _ := c.memoir(append([]string{"search", "golangci-lint", "run", "--project", appKey, "--kind", "session"}, more...)...)
		return out
	}
	if _, text := c.memory(); !strings.Contains(finds(), fix) || !strings.Contains(told(), fix) {
		t.Fatalf("%s\n%s", finds(), text)
	}
	_, was := c.memory()
	editByHand(a, "`golangci-lint run` failed: "+failure+"; fixed by `"+fix+"`", "lint with `make lint`, never with what the network has")
	said := a.run()
	if !strings.Contains(said, "sent to the team: 1 edit of its lines, for all members") || strings.Contains(a.run(), "1 edit") {
		t.Error(said)
	}
	d.Idle(t)
	sync()
	_, text := c.memory()
	if got := told(); got != "" || strings.Contains(text, fix) || !strings.Contains(text, "`make lint`, never") {
		t.Errorf("%s\nchanged from\n%s\nto\n%s", got, was, text)
	}
	if out, all := finds(), finds("--replaced"); strings.Contains(out, fix) || !strings.Contains(all, fix) || !strings.Contains(all, "replaced by: ") {
		t.Errorf("%s\n%s", out, all)
	}
	if out, line := c.good("review", "--project", appKey, "--json"), `lines.#(state="new")`; !strings.Contains(gjson.Get(out, line+".was").Str, fix) ||
		!strings.Contains(gjson.Get(out, line+".sessions").Raw, "ran: golangci-lint run") {
		t.Error(out)
	}
	c.good("review", "--project", appKey, "--yes")
	c.run()
	if got := told(); got != "" {
		t.Errorf("the change is kept: %s", got)
	}
	editByHand(a, "`make lint`", "")
	sync()
	if _, text := c.memory(); told() != "" || strings.Contains(text, "make lint") || strings.Contains(finds(), fix) || !strings.Contains(finds("--replaced"), "anna removed its line for all members") {
		t.Errorf("removed: %s\n%s\n%s", told(), finds("--replaced"), text)
	}
}
