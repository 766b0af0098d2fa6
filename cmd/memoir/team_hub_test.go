package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/memory"
	hubwire "memoir/team/wire"
)

// teamHub is a hub on PostgreSQL, behind PgBouncer. Anna's homes a and c and Ben's home b share the project app there.
type teamHub struct {
	*hubtest.Database
	t       *testing.T
	url     string // of a proxy in front of the hub
	log     *bytes.Buffer
	a, b, c scene
	behind  atomic.Pointer[url.URL]
	works   bool // workers make generations
}

func newTeamHub(t *testing.T) *teamHub {
	t.Helper()
	h := &teamHub{t: t, Database: hubtest.NewDatabase(t), log: new(bytes.Buffer)}
	h.Log = slog.New(slog.NewJSONHandler(h.log, nil))
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(h.behind.Load()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }})
	t.Cleanup(proxy.Close)
	h.url = proxy.URL
	h.serve(h.Hub(t))
	anna, ben := h.Member(t, "anna", hubwire.Admin), h.Member(t, "ben", hubwire.Writer)
	second, err := h.Admin.NewCode(t.Context(), "anna")
	must(t, err)
	h.a, h.b, h.c = joined(t, h.url, anna, "a"), joined(t, h.url, ben, "b"), joined(t, h.url, second, "c")
	return h
}

// serve puts another hub behind the proxy.
func (h *teamHub) serve(at string) {
	h.t.Helper()
	to, err := url.Parse(at)
	must(h.t, err)
	h.behind.Store(to)
}

func (h *teamHub) homes() []scene { return []scene{h.a, h.b, h.c} }

// sync runs all homes until each has what the others sent, and what workers made of it, if there are any.
func (h *teamHub) sync() {
	h.t.Helper()
	for range 3 {
		for _, s := range h.homes() {
			s.run()
		}
		if h.works {
			h.Idle(h.t)
		}
	}
}

func (h *teamHub) work() {
	h.t.Helper()
	h.Workers(h.t, hub.WorkOptions{Workers: 2})
	h.works = true
}

// settle lets workers start and end. Once they have, what they make waits for a review.
func (h *teamHub) settle() {
	h.t.Helper()
	if h.works {
		must(h.t, h.Admin.SetPolicy(h.t.Context(), func(p *hub.Policy) { p.Review = true }))
	} else {
		h.work()
	}
	h.Idle(h.t)
}

// everything returns the files of a home, generations and what a hub made unpacked.
func (s scene) everything() map[string]string {
	s.t.Helper()
	all := files(s.t, s.home)
	for path, text := range all {
		if strings.HasSuffix(path, ".tar.zst") {
			kept, _, err := memory.Unpack(strings.NewReader(text))
			must(s.t, err)
			for name, content := range kept {
				all[path] += "\n" + name + "\n" + string(content)
			}
		}
	}
	return all
}

// An admin grants and erases from their own machine. A key that no shared project has never means another one.
func TestAnAdminOfAHubGrantsAndErases(t *testing.T) {
	t.Parallel()
	h := newTeamHub(t)
	h.b.said("one", "Hello.", "make one", "")
	h.sync()
	must(t, h.Admin.Grant(t.Context(), "anna", "*", hubwire.Admin, false))
	refused := func(code int, why string, args ...string) {
		t.Helper()
		if got, _, said := h.a.memoir(args...); got != code || !strings.Contains(said, why) {
			t.Errorf("%v: %d %s", args, got, said)
		}
	}
	out := h.a.good("team", "grant", "ben", "admin", appKey, "--json")
	if gjson.Get(out, "role").Str != "admin" || gjson.Get(out, "project").Str != appKey {
		t.Error(out)
	}
	h.a.good("team", "grant", "ben", "none", appKey)
	if out := h.a.good("team", "grant", "ben", "reader", "*", "--json"); gjson.Get(out, "role").Str != "reader" {
		t.Error(out)
	}
	refused(exitUsage, "a role is", "team", "grant", "ben", "owner", appKey)
	refused(exitFailed, "no project host.example/acme/none", "team", "grant", "ben", "admin", "host.example/acme/none")
	refused(exitFailed, "last admin", "team", "grant", "anna", "none", "*")
	refused(exitUsage, "--yes", "team", "erase", "ben")
	if n := h.Number(t, "SELECT count(*) FROM memoir.access WHERE role = 'reader'"); n != 1 {
		t.Errorf("ben has %d roles", n)
	}
	if out := h.a.good("team", "erase", "ben", "--yes", "--json"); gjson.Get(out, "erased").Int() < 1 {
		t.Error(out)
	}
	if code, _, said := h.b.memoir("team", "sync"); code != exitFailed || !strings.Contains(said, "nothing here is lost") {
		t.Errorf("%d %s", code, said)
	}
	for _, s := range []scene{h.a, h.c} {
		if s.run(); strings.Contains(s.good("search", "make one", "--all"), "make one") {
			t.Error("it is still there")
		}
	}
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(hubwire.VersionHeader, "1")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"title": "the hub has no such address", "code": "not_found"}`))
	}))
	defer old.Close()
	h.serve(old.URL)
	refused(exitFailed, "the hub is of an earlier release", "team", "erase", "ben", "--yes")
	refused(exitFailed, "the hub is of an earlier release", "team", "grant", "ben", "reader", "*")
}

// Two members, one of them with two machines, share a project through a hub.
func TestMembersAndMachinesShareAProjectThroughAHub(t *testing.T) {
	t.Parallel()
	h := newTeamHub(t)
	h.a.said("one", "Hello.", "make one", "")
	h.sync()

	// A dump that is restored has what was forgotten since, and lacks what was sent since.
	dump := h.Dump(t)
	h.a.good("forget", "one", "--yes")
	h.b.said("later", "Hello.", "make later", "")
	h.sync()
	restored := h.Restored(t, dump)
	h.serve(restored.Hub(t))
	h.sync()
	for _, s := range h.homes() {
		if raw, text := s.memory(); strings.Contains(raw+text, "make one") || strings.Count(raw, "make later") != 1 {
			t.Errorf("after the dump:\n%s", raw)
		}
	}
	if bytes.Contains(restored.Dump(t), []byte("make one")) {
		t.Error("the hub has what was forgotten")
	}

	// A machine whose token an operator revokes keeps what it has.
	restored.Must(t, "UPDATE memoir.token SET revoked = now() WHERE member = (SELECT id FROM memoir.member WHERE name = 'ben')")
	if said := h.b.run(); !strings.Contains(said, "revoked") {
		t.Error(said)
	}
	if raw, _ := h.b.memory(); !strings.Contains(raw, "make first-a") {
		t.Error("a revoked machine lost what it had received")
	}
}

// What one machine of a member does not share any more, another one still does. What a person forgot stays away.
func TestAMachineSharesOnWhatAnotherUnshares(t *testing.T) {
	t.Parallel()
	h := newTeamHub(t)
	sent := func(s scene) int { return s.status().Team.Shares[0].Sent }
	for _, s := range []scene{h.a, h.c} {
		s.said("one", "Hello.", "make one", "")
		s.said("two", "Hello.", "make two", "")
	}
	h.sync()
	before := sent(h.c)
	h.a.good("forget", "two", "--yes")
	h.a.good("team", "unshare", appKey, "--yes")
	h.c.run()
	h.b.run()
	h.b.wants(t, "make one", "make first-c", "!make two", "!make first-a")
	if n := sent(h.c); n != before-1 || len(h.c.status().Team.Held) != 1 {
		t.Errorf("%d of %d sent, %+v", n, before, h.c.status().Team)
	}
	h.a.good("team", "share", appKey, "--yes")
	h.sync()
	if n := h.Number(t, `SELECT count(*) FROM memoir.statement WHERE strpos(body::text, 'make one') > 0`); n != 1 {
		t.Errorf("%d statements of one session", n)
	}
	h.a.good("forget", "one", "--yes")
	h.c.run()
	h.c.good("team", "leave", "--yes")
	h.b.run()
	h.b.wants(t, "!make one", "!make two", "make first-a", "!make first-c")
}

// A hub consolidates what two members share: their memories begin with the same bytes.
func TestMemoriesBeginWithWhatAHubMade(t *testing.T) {
	t.Parallel()
	h := newTeamHub(t)
	h.work()
	h.a.said("one", "Hello.", "make one", ofAnna)
	h.b.said("two", "Hello.", "make two", ofBen)
	h.sync()
	if lines := h.a.shared(); strings.Count(lines, "\n") != 2 || lines != h.b.shared() || h.a.base() == "" {
		t.Errorf("anna\n%sben\n%s", lines, h.b.shared())
	}
	if _, text := h.b.memory(); !h.b.isHubs("ben") {
		t.Errorf("ben\n%s\nthe hub\n%s", text, h.b.base())
	}
	h.b.good("forget", "two", "--yes")
	h.sync()
	if lines := h.a.shared(); strings.Count(lines, "\n") != 1 || lines != h.b.shared() || strings.Contains(h.a.base(), "starved") {
		t.Errorf("anna\n%sben\n%s", lines, h.b.shared())
	}
}

// What a hub makes waits for an admin, who accepts it, and lists and revokes machines.
func TestAMemberAcceptsWhatAHubMadeForAll(t *testing.T) {
	t.Parallel()
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	d.Workers(t, hub.WorkOptions{Workers: 2})
	must(t, d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Review = true }))
	a, b := joined(t, url, d.Member(t, "anna", hubwire.Admin), "a"), joined(t, url, d.Member(t, "ben", hubwire.Writer), "b")
	starts := func(s scene) string {
		s.env = []string{"MEMOIR_MEMORIES_ENABLED=true"}
		s.input = `{"hook_event_name":"SessionStart","session_id":"` + rand.Text() + `","cwd":"/srv/app","source":"startup"}`
		return gjson.Get(s.good("inject", "--agent", "claude", "--run"), "systemMessage").String()
	}
	const waits, hooked = "waits: `memoir team accept`", " of the team's memory waits"
	b.said("two", "Hello.", "make two", ofBen)
	b.said("three", "Hello.", "make three", committed("pin the parser", "the newer one drops tabs, and comments"))
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
	if code, out, said := a.memoir("team", "accept", appKey); code != exitUsage || !strings.Contains(out, line) || !strings.Contains(said, fmt.Sprintf("pass --generation %d --yes", newest)) {
		t.Errorf("%d %s %s", code, out, said)
	}
	if out := a.good("team", "accept", "host.example/none/of-it", "--json"); gjson.Get(out, "generation").Int() != 0 {
		t.Error(out)
	}
	if out := a.good("team", "accept", appKey, "--json"); gjson.Get(out, "accepted").Bool() || gjson.Get(out, "generation").Int() != newest || gjson.Get(out, "diffs.#").Int() != 1 {
		t.Error(out)
	}
	if b.run(); b.base() != "" {
		t.Error("it is there before it was accepted")
	}
	// One line is left out.
	const worse = "drops tabs, and comments"
	if code, _, said := a.memoir("team", "accept", appKey, "--without", "by", "--without", "make"); code != exitUsage || !strings.Contains(said, "lines of generation") {
		t.Errorf("%d %s", code, said)
	}
	if code, _, said := a.memoir("team", "accept", appKey, "--without", worse); code != exitUsage || !strings.Contains(said, "whose words only `memoir forget` takes back, for all members: - \"pin the parser\"") {
		t.Errorf("%d %s", code, said)
	}
	if out := a.good("team", "accept", appKey, "--without", worse, "--yes", "--json"); gjson.Get(out, "accepted").Bool() || gjson.Get(out, "without.#").Int() != 1 {
		t.Error(out)
	}
	if _, _, said := a.memoir("team", "accept", appKey, "--yes"); !strings.Contains(said, "no generation of app-") {
		t.Errorf("it is accepted with the line: %s", said)
	}
	d.Idle(t)
	if out := a.good("team", "accept", appKey, "--json"); strings.Contains(out, worse) || gjson.Get(out, "generation").Int() != newest+1 {
		t.Error(out)
	}
	b.said("four", "Hello.", "make four", committed("pin the lexer", "the newer one drops blanks")) // more comes meanwhile
	b.run()
	d.Idle(t)
	accept := func(n int64) []string {
		return []string{"team", "accept", appKey, "--yes", "--json", "--generation", fmt.Sprint(n)}
	}
	if code, _, out := a.memoir(accept(newest)...); code != exitFailed || !strings.Contains(out, "is not the newest that waits") {
		t.Errorf("another one than was shown: %d %s", code, out)
	}
	if out := a.good(accept(newest + 1)...); !gjson.Get(out, "accepted").Bool() {
		t.Error(out)
	}
	if out := a.good(accept(newest + 2)...); !gjson.Get(out, "accepted").Bool() {
		t.Error(out)
	}
	if code, _, out := a.memoir(accept(newest + 1)...); code != exitFailed || !strings.Contains(out, "is not the newest that waits") {
		t.Errorf("none waits: %d %s", code, out)
	}
	if _, _, said := a.memoir("team", "accept", appKey, "--yes"); !strings.Contains(said, "no generation of app-") || !strings.Contains(said, "waits") {
		t.Error(said)
	}
	if b.run(); !strings.Contains(a.base(), "sort the queue") || !strings.Contains(b.base(), "sort the queue") || strings.Contains(a.good("status")+starts(a), "waits") {
		t.Errorf("anna\n%s\nben\n%s\n%s", a.base(), b.base(), a.good("status"))
	}
	made, err := d.Admin.Generations(t.Context(), appKey)
	must(t, err)
	if out := fmt.Sprint(made.Rows); strings.Count(out, "outdated") != int(newest) || strings.Contains(out, "waiting") {
		t.Errorf("the one without which it was accepted: %s", out)
	}
	// If none waits, a line of what machines get is left out.
	if out := a.good("team", "accept", appKey, "--without", "sort the queue", "--yes", "--json"); gjson.Get(out, "generation").Int() != 0 || gjson.Get(out, "without.#").Int() != 1 {
		t.Error(out)
	}
	d.Idle(t)
	if _, out, _ := a.memoir("team", "accept", appKey); !strings.Contains(out, "went: \"sort the queue") || !strings.Contains(out, ": anna removed it for all on ") {
		t.Error(out)
	}
	if out := a.good("team", "accept", appKey, "--yes", "--json"); !gjson.Get(out, "accepted").Bool() || gjson.Get(out, "went.#").Int() != 1 {
		t.Error(out)
	}
	if b.run(); strings.Contains(b.base(), "\n- \"sort the queue") { // statements are told nowhere
		t.Error(b.base())
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

// Canaries of each kind of text that is to stay: no value of the hub's database has one, no archive, transcript or
// job, no dump, no log, and no home of another member. What Anna said is at the hub for her machines, until she
// forgets it.
func TestNothingThatWasToStayIsAtAHub(t *testing.T) {
	t.Parallel()
	h := newTeamHub(t)
	h.work()
	h.b.said("two", "Hello.", "make two", ofBen)
	h.sync()
	there := h.behind.Load()
	h.serve("http://127.0.0.1:1")
	h.a.plantCanaries(ofAnna)
	h.serve(there.String())
	_, err := h.Admin.AddMember(t.Context(), "ci", hubwire.Writer, nil, false)
	must(t, err)
	_, token, err := h.Admin.NewToken(t.Context(), "ci", time.Hour)
	must(t, err)
	ci := scene{t: t, home: t.TempDir(), sessions: t.TempDir(), user: t.TempDir(), env: []string{"CI_TOKEN=" + token}}
	writeSession(t, ci.sessions, "/srv/gone", 3, "From now on always use canary-container.")
	ci.good("team", "push", h.url, "--token-env", "CI_TOKEN", "--transcripts", ci.sessions, "--as", appKey)
	h.sync()

	// have counts values with a text.
	have := func(text string, values ...string) (n int64) {
		for _, value := range values {
			if strings.Contains(value, text) {
				n++
			}
		}
		return n
	}
	texts := h.Texts(t)
	if n := have("it grew without bound", texts...); n < 2 || have("make check", texts...) < 2 {
		t.Fatalf("a generation, or what a container sent, is missing: %d, %d", n, have("make check", texts...))
	}
	rows := h.Number(t, "SELECT count(*) FROM memoir.statement WHERE own AND body->>'text' ~ 'canary-(wish|note)'")
	if n := have("canary", texts...); rows != 2 || n != rows {
		t.Errorf("%d values have a canary, and %d statements of Anna's own", n, rows)
	}
	if n := have("canary", h.log.String()); n > 0 {
		t.Error("the log has a canary")
	}
	nowhere := func(s scene, texts ...string) {
		t.Helper()
		for path, content := range s.everything() {
			for _, text := range texts {
				if strings.Contains(content, text) {
					t.Errorf("%s has %s", path, text)
				}
			}
		}
	}
	stay, own := []string{"canary-other", "canary-excluded", "canary-disabled", "canary-forgotten", "canary-user", "canary-container"},
		[]string{"canary-wish", "canary-note"}
	nowhere(h.b, append(own, stay...)...)
	nowhere(h.c, stay...)
	if _, text := h.c.memory(); !strings.Contains(text, "canary-wish") || !strings.Contains(text, "canary-note") {
		t.Errorf("Anna's other machine lacks what she said:\n%s", text)
	}

	h.a.good("forget", "one", "--purge", "--yes")
	h.a.good("forget", "#2", "--yes")
	h.sync()
	for _, text := range []string{"canary", "it grew without bound"} {
		if n := have(text, append(h.Texts(t), string(h.Dump(t)), h.log.String())...); n > 0 {
			t.Errorf("%d values have %s, which was forgotten", n, text)
		}
	}
	nowhere(h.b, append(own, "it grew without bound")...)
	nowhere(h.c, append(own, "it grew without bound")...)
}
