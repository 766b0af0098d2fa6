package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/store"
	"memoir/team"
	hub "memoir/team/wire"
)

const appKey = "host.example/acme/app"

// said writes a Codex session of the project app in which a person says a rule and a command passes.
func (s scene) said(id, rule, command, more string) {
	s.t.Helper()
	s.record(id, "/srv/app", appKey, rule, command, more)
}

func (s scene) record(id, dir, remote, rule, command, more string) {
	s.t.Helper()
	line := func(kind string, payload any) string {
		text, err := json.Marshal(map[string]any{"timestamp": "2026-05-01T10:00:01Z", "type": kind, "payload": payload})
		must(s.t, err)
		return string(text) + "\n"
	}
	text := line("session_meta", map[string]any{"id": id, "timestamp": "2026-05-01T10:00:00Z", "cwd": dir, "originator": "codex-tui",
		"cli_version": "0.150.0", "source": "cli", "git": map[string]string{"branch": "canary-branch", "repository_url": "https://" + remote + ".git"}}) +
		line("event_msg", map[string]any{"type": "user_message", "message": "canary-title of " + id + ". " + rule}) +
		line("response_item", map[string]any{"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": fmt.Sprintf(`{"cmd":%q}`, command)}) +
		line("response_item", map[string]any{"type": "function_call_output", "call_id": "c",
			"output": "Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\nok\n"}) + more
	put(s.t, filepath.Join(s.sessions, id+".jsonl"), text)
}

// member returns a home that has joined a hub as a member and shares the project app, once a session of it was read.
func member(t *testing.T, h *fakeHub, code string) scene {
	t.Helper()
	return joined(t, h.URL, code, code)
}

// joined is member, of any hub.
func joined(t *testing.T, url, code, name string) scene {
	t.Helper()
	s := begun(t, name)
	s.join(url, code)
	return s
}

// begun returns a home with a session of the project app, which runs `make first-NAME`.
func begun(t *testing.T, name string) scene {
	t.Helper()
	s := scene{t: t, home: filepath.Join(t.TempDir(), "home"), sessions: t.TempDir(), user: t.TempDir()}
	s.said("first-"+name, "Hello there.", "make first-"+name, "")
	s.run()
	return s
}

// join joins a hub and shares the project app.
func (s scene) join(url, code string) {
	s.t.Helper()
	s.input = code
	s.good("team", "join", url, "--code-file", "-")
	s.input = ""
	s.good("team", "share", appKey, "--yes")
}

// good runs a command that must succeed, and returns its standard output.
func (s scene) good(args ...string) string {
	s.t.Helper()
	code, out, said := s.memoir(args...)
	if code != exitDone {
		s.t.Fatalf("%q: %d %s", args, code, said)
	}
	return out
}

func (s scene) run() (said string) {
	s.t.Helper()
	code, _, said := s.memoir("run", "--sessions", s.sessions, "--min-idle", "0", "--max-age", "0")
	if code != exitDone {
		s.t.Fatalf("run: %d %s", code, said)
	}
	return said
}

// memory returns the statements of the project app, and MEMORY.md, which has few of them.
func (s scene) memory() (raw, lines string) {
	s.t.Helper()
	return s.good("cat", "raw_memories.md", "--project", appKey), s.good("cat", "MEMORY.md", "--project", appKey)
}

// live returns the path of MEMORY.md of the project app.
func (s scene) live() string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.home, "projects", "app-*", "memory", memoir.MemoryFile))
	if err != nil || len(found) != 1 {
		s.t.Fatal(found, err)
	}
	return found[0]
}

func wantTexts(t *testing.T, what string, h *fakeHub, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := h.texts(appKey); !slices.Equal(got, want) {
		t.Errorf("%s: the hub has %q, want %q", what, got, want)
	}
}

func passed(member, command string) string { return member + ": run: `" + command + "`" }

// plantCanaries makes texts that are to stay, offline: of a private project, of an excluded, a disabled and a forgotten
// session, of the user; and a wish and note 2, which go to the person's own machines. It returns what a run says.
func (s scene) plantCanaries(more string) (said string) {
	s.t.Helper()
	s.said("one", "From now on always use canary-wish for tests.", "make one", more)
	s.record("two", "/srv/other", "host.example/acme/other", "Always use canary-other.", "make canary-other", "")
	s.record("three", "/srv/hidden/app", appKey, "Always use canary-excluded.", "make canary-excluded", "")
	s.said("four", "Always use canary-disabled.", "make canary-disabled", "")
	s.said("five", "Always use canary-forgotten.", "make canary-forgotten", "")
	put(s.t, filepath.Join(s.user, ".config", "memoir", "config.yml"), "exclude: [/srv/hidden/**]\n")
	said = s.run()
	s.good("remember", "--user", "canary-user")
	s.good("remember", "--project", appKey, "deploys stop on canary-note")
	s.good("sessions", "disable", "four")
	s.good("forget", "five", "--yes")
	return said
}

func TestNothingLeavesThatWasToStay(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	h.before = func(w http.ResponseWriter, _ *http.Request) bool { // all is offline until it is forgotten
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	if said := s.plantCanaries(""); !strings.Contains(said, "warning: the team's memory is not synchronised: "+h.URL+" answers 502") {
		t.Errorf("offline: %s", said)
	}
	h.before = nil
	s.run()
	wantTexts(t, "sent", h, passed("anna", "make first-anna-1"), passed("anna", "make one"), "anna: deploys stop on canary-note",
		"anna: “From now on always use canary-wish for tests.”")
	for _, c := range h.changes[appKey] {
		if own := strings.Contains(string(c.Body), "canary"); own != c.Own {
			t.Errorf("own is %v: %s", c.Own, c.Body)
		}
	}
	for _, canary := range []string{"title", "branch", "other", "excluded", "disabled", "forgotten", "user"} {
		if strings.Contains(h.all.String(), "canary-"+canary) {
			t.Errorf("canary-%s left", canary)
		}
	}
	for _, text := range []string{"/srv/app", s.home, s.user, `"quote"`, `"items"`} {
		if strings.Contains(h.all.String(), text) {
			t.Errorf("%s left", text)
		}
	}

	// Ben gets nothing of Anna's words.
	ben := member(t, h, "ben-1")
	ben.run()
	if raw, lines := ben.memory(); !strings.Contains(raw, "make one") || strings.Contains(raw+lines, "canary-wish") || strings.Contains(raw+lines, "canary-note") {
		t.Error(raw)
	}
	// Another machine of Anna does.
	two := member(t, h, "anna-2")
	two.run()
	if _, lines := two.memory(); !strings.Contains(lines, "canary-wish") || strings.Contains(lines, "from the team: anna") {
		t.Error(lines)
	}
}

func TestWhatStaysNoLongerIsWithdrawn(t *testing.T) {
	t.Parallel()
	first, one := passed("anna", "make first-anna-1"), passed("anna", "make one")
	for _, test := range []struct {
		what string
		do   func(s scene)
		want []string // at the hub
		undo func(s scene)
		back bool
	}{
		{"forgotten", func(s scene) { s.good("forget", "one", "--yes") }, []string{first},
			func(s scene) { s.good("forget", "--undo", "one") }, true},
		{"disabled", func(s scene) { s.good("sessions", "disable", "one") }, []string{first},
			func(s scene) { s.good("sessions", "enable", "one") }, true},
		{"excluded", func(s scene) {
			put(s.t, filepath.Join(s.user, ".config", "memoir", "config.yml"), "exclude: [/srv/app/**, /srv/app]\n")
		}, nil, func(s scene) { must(s.t, os.Remove(filepath.Join(s.user, ".config", "memoir", "config.yml"))) }, true},
		{"cleared", func(s scene) {
			s.good("clear", "--project", appKey, "--yes")
			must(s.t, os.RemoveAll(s.sessions))
			must(s.t, os.Mkdir(s.sessions, 0o700))
		}, nil, nil, false},
		{"unshared", func(s scene) { s.good("team", "unshare", appKey, "--yes") }, nil,
			func(s scene) { s.good("team", "share", appKey, "--yes") }, true},
		{"unshared, and kept", func(s scene) { s.good("team", "unshare", appKey, "--keep") }, []string{first, one}, nil, true},
		{"left", func(s scene) { s.good("team", "leave", "--yes") }, nil, nil, false},
		{"left, and kept", func(s scene) {
			if _, _, said := s.memoir("team", "leave", "--keep"); !strings.Contains(said, "what else was sent stays") {
				s.t.Error(said)
			}
		}, []string{first, one}, nil, true},
		{"another sharing", func(s scene) {
			s.good("team", "unshare", appKey, "--yes")
			s.good("team", "share", appKey, "--as", "x", "--yes")
		}, nil, nil, false},
	} {
		h := startHub(t)
		s := member(t, h, "anna-1")
		s.said("one", "Hello.", "make one", "")
		s.run()
		wantTexts(t, test.what+": before", h, first, one)
		test.do(s)
		s.run()
		wantTexts(t, test.what, h, test.want...)
		if test.undo != nil {
			test.undo(s)
			s.run()
			wantTexts(t, test.what+": undone", h, first, one)
		}
		if test.what == "left" && !h.revoked["anna-1-token"] {
			t.Error("the token is still valid")
		}
	}
}

// What a person takes out of the memory leaves the hub, too, until it is there again.
func TestALineThatIsRemovedByHandIsWithdrawn(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	a, c := member(t, h, "anna-1"), member(t, h, "anna-2")
	a.said("one", "From now on always use canary-wish for tests.", "make one", "")
	a.run()
	c.run()
	live := a.live()
	whole, err := os.ReadFile(live)
	must(t, err)
	at := bytes.Index(whole, []byte("- “From now on"))
	end := at + bytes.IndexByte(whole[at:], '\n') + 1
	for _, there := range []bool{false, true} {
		now := string(whole)
		if !there {
			now = now[:at] + now[end:]
		}
		put(t, live, now)
		a.run()
		c.run()
		if got := slices.Contains(h.texts(appKey), "anna: “From now on always use canary-wish for tests.”"); got != there {
			t.Errorf("in the memory %v, at the hub %v: %q", there, got, h.texts(appKey))
		}
		if _, text := c.memory(); strings.Contains(text, "canary-wish") != there {
			t.Errorf("in the memory %v:\n%s", there, text)
		}
		if _, text := a.memory(); strings.Contains(text, "canary-wish") != there {
			t.Errorf("here %v:\n%s", there, text)
		}
	}
}

func TestAnExcludedCloneKeepsItsStatementsHereAndNoOthers(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	s.good("team", "unshare", appKey, "--yes")
	s.record("hidden", "/srv/hidden/app", appKey, "Hello.", "make hidden", "")
	s.run()
	put(t, filepath.Join(s.user, ".config", "memoir", "config.yml"), "exclude: [/srv/hidden/**]\n")
	for _, flag := range []string{"--dry-run", "--yes"} {
		code, out, said := s.memoir("team", "share", appKey, flag)
		if code != exitDone || strings.Contains(out+said, "make hidden") || !strings.Contains(said, "; nothing of /srv/hidden/app, which is excluded") {
			t.Errorf("%s: %d %s%s", flag, code, out, said)
		}
	}
	s.good("team", "push")
	wantTexts(t, "shared", h, passed("anna", "make first-anna-1"))
}

func TestAProjectsFileKeepsItsStatementsHere(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	dir := t.TempDir()
	s.record("one", dir, appKey, "Hello.", "make one", "")
	for _, file := range []string{"team: {share: false}\n", "memories: {enabled: false}\n"} {
		put(t, filepath.Join(dir, ".memoir.yml"), file)
		s.good("trust", dir)
		s.run()
		wantTexts(t, file, h)
		if now := s.status(); now.Team.Waiting == 0 {
			t.Errorf("%s: nothing waits", file)
		}
	}
	put(t, filepath.Join(dir, ".memoir.yml"), "team: {share: true}\n")
	s.env = []string{"MEMOIR_TEAM_SHARE=false"}
	s.good("trust", dir)
	s.run()
	wantTexts(t, "a trusted file that shares", h)
	s.env = nil
	s.run()
	wantTexts(t, "shared", h, passed("anna", "make first-anna-1"), passed("anna", "make one"))
}

// Two machines of a person have a session, in two versions. What one keeps out of its memory does not come back to it
// from the other, before it did and after.
func TestWhatOneMachineForgetsDoesNotComeBackFromAnother(t *testing.T) {
	t.Parallel()
	for _, how := range [][]string{{"forget", "both", "--purge", "--yes"}, {"sessions", "disable", "both"}} {
		for _, received := range []bool{false, true} {
			h := startHub(t)
			a, c := member(t, h, "anna-1"), member(t, h, "anna-2")
			a.said("both", "Hello.", "make here", "")
			c.said("both", "Hello.", "make there", "")
			a.run()
			if received {
				c.run()
				a.run()
			}
			a.good(how...)
			c.run()
			a.run()
			if text, _ := a.memory(); strings.Contains(text, "make there") || strings.Contains(text, "make here") || !strings.Contains(text, "make first-anna-2") {
				t.Errorf("%q, received %v:\n%s", how, received, text)
			}
			if text, _ := c.memory(); !strings.Contains(text, "make there") {
				t.Errorf("%q: the other machine lost its session", how)
			}
			for path, text := range files(t, a.home) {
				if how[0] == "forget" && strings.Contains(text, "make there") {
					t.Errorf("received %v: %s has it", received, path)
				}
			}
		}
	}
}

// A note that another one replaces does not hold on the person's other machine either, while that one holds.
func TestAReplacedNoteHoldsOnNoMachine(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	a, c := member(t, h, "anna-1"), member(t, h, "anna-2")
	want := func(what, holds, not string) {
		t.Helper()
		a.run()
		c.run()
		if text, _ := c.memory(); !strings.Contains(text, holds) || strings.Contains(text, not) {
			t.Errorf("%s: %q holds, not %q:\n%s", what, holds, not, text)
		}
	}
	a.good("remember", "--project", appKey, "we deploy on friday")
	want("noted", "friday", "monday")
	a.good("remember", "--project", appKey, "--replaces", "#1", "we deploy on monday")
	if out := a.good("team", "share", appKey, "--dry-run"); strings.Contains(out, "friday") {
		t.Error(out)
	}
	want("replaced", "monday", "friday")
	a.good("forget", "#2", "--yes")
	want("the later one is forgotten", "friday", "monday")
}

// What a person forgets of a note on one machine stays away there, also if other machines have it, too.
func TestAForgottenNoteDoesNotComeBackFromAnotherMachine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		own, received bool
		forget        []string
	}{
		{true, false, []string{"#1"}}, {true, true, []string{"#1"}}, {false, true, []string{"--match", "deploy on friday"}},
	} {
		h := startHub(t)
		a, c, later := member(t, h, "anna-1"), member(t, h, "anna-2"), member(t, h, "anna-3")
		note := func(s scene) { s.good("remember", "--project", appKey, "we deploy on friday"); s.run() }
		if test.own {
			note(a)
		}
		if test.received {
			note(c)
			a.run()
		}
		a.good(slices.Concat([]string{"forget", "--yes"}, test.forget)...)
		note(later)
		a.run()
		for path, text := range files(t, a.home) {
			if strings.Contains(text, "friday") {
				t.Errorf("%+v: %s has it", test, path)
			}
		}
		if _, text := later.memory(); !strings.Contains(text, "friday") {
			t.Errorf("%+v: the other machine lost its note", test)
		}
	}
}

// Who is asked sees all that agents worded, up to maxWorded, and a sample of the rest.
func TestTheQuestionOfShareShowsWhatAgentsWorded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		worded, shown int
		says          string
	}{
		{0, 0, "these are 5 of 20 texts; --dry-run prints all"},
		{12, 12, "these are 17 of 32 texts, all 12 that agents worded among them; --dry-run prints all"},
		{60, 50, "these are 55 of 80 texts, the first 50 of 60 that agents worded among them; --dry-run prints all"},
	} {
		var leaves []team.Statement
		add := func(by memoir.Party, kind memoir.StatementKind, n int) {
			for i := range n {
				body, err := json.Marshal(memoir.Statement{Kind: kind, By: by, Text: fmt.Sprintf("%s-%d.", by, i)})
				must(t, err)
				leaves = append(leaves, team.Statement{Body: body, Day: "2026-05-01"})
			}
		}
		add(memoir.ByTool, memoir.StatementCommand, 20)
		add(memoir.ByAgent, memoir.StatementFinding, test.worded)
		var said strings.Builder
		lines, worded, _ := describeLeaving(leaves, store.Share{})
		(&program{ui: &ui{out: bufio.NewWriter(io.Discard), errw: &said, redact: strings.Clone}}).showLeaving(lines, worded)
		if n := strings.Count(said.String(), "agent-"); n != test.shown || strings.Count(said.String(), "tool-") != 5 ||
			!strings.Contains(said.String(), test.says) {
			t.Errorf("%d of agents: %d shown:\n%s", test.worded, n, said.String())
		}
	}
}

// What a member withdrew and shared again does not keep others from forgetting.
func TestWhatReturnsFromAHubBlocksNoForgetting(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	a, b := member(t, h, "anna-1"), member(t, h, "ben-1")
	both := func() { a.run(); b.run(); b.run() }
	a.said("one", "Hello.", "make one", "")
	b.said("own", "Hello.", "make own", "")
	both()
	a.good("forget", "one", "--yes")
	both()
	a.good("forget", "--undo", "one", "--yes")
	both()
	if text := b.good("cat", "raw_memories.md", "--project", appKey); !strings.Contains(text, "make one") {
		t.Errorf("it did not return:\n%s", text)
	}
	b.good("forget", "own", "--purge", "--yes")
	for path, text := range files(t, b.home) {
		if strings.Contains(text, "make own") {
			t.Errorf("%s has what was forgotten", path)
		}
	}
}

// The answer to each request is lost once, as if the process had been killed before it came. Then what was sent is
// forgotten: nothing of it stays at the hub.
func TestNothingStaysAtAHubOfWhichTheAnswerWasLost(t *testing.T) {
	t.Parallel()
	for lost := range 6 {
		h := startHub(t)
		s := member(t, h, "anna-1")
		s.said("one", "Hello.", "make one", "")
		n := 0
		h.after = func(*http.Request) bool { n++; return n == lost+1 }
		s.run()
		s.good("forget", "one", "--yes")
		s.run()
		s.run()
		wantTexts(t, fmt.Sprintf("answer %d is lost", lost), h, passed("anna", "make first-anna-1"))
	}
}

func TestARestoredHubGetsEverythingAgain(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	a, b := member(t, h, "anna-1"), member(t, h, "ben-1")
	a.said("one", "Hello.", "make one", "")
	a.said("two", "Hello.", "make two", "")
	a.run()
	b.run()
	dump := slices.Clone(h.changes[appKey])[:2]
	h.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	a.good("forget", "one", "--yes")
	h.before = nil
	if out := a.good("team", "status"); strings.Contains(out, "waiting to be sent") || !strings.Contains(out, "1 statement of "+appKey+", which the hub has") {
		t.Error(out)
	}
	a.run()
	h.mu.Lock()
	h.epoch, h.changes[appKey] = "e2", dump // the dump has what is forgotten, and lacks what came after it
	h.mu.Unlock()
	for range 2 {
		a.run()
		b.run()
		wantTexts(t, "restored", h, passed("anna", "make first-anna-1"), passed("anna", "make two"), passed("ben", "make first-ben-1"))
	}
	if raw, _ := b.memory(); strings.Contains(raw, "make one") || strings.Count(raw, "make two") != 1 {
		t.Error(raw)
	}
}

func TestAStatementThatTheHubRefusesStaysHere(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	s.said("one", "Hello.", "make hub-secret", "")
	s.said("two", "Hello.", "make two", "")
	s.run()
	wantTexts(t, "refused", h, passed("anna", "make first-anna-1"), passed("anna", "make two"))
	want := []team.Held{{Session: "codex:one", Project: appKey, Why: "the hub finds a secret (some-rule)"}}
	if now := s.status().Team; !slices.Equal(now.Held, want) || now.Waiting != 0 || !now.Failing.IsZero() {
		t.Errorf("%+v", now)
	}
	pushes := strings.Count(h.all.String(), "/v1/push")
	s.run()
	if strings.Count(h.all.String(), "/v1/push") != pushes {
		t.Error("it is sent again and again")
	}
	s.good("forget", "one", "--yes")
	s.run()
	if now := s.status().Team; len(now.Held) != 0 {
		t.Errorf("forgotten: %+v", now)
	}
}

func TestWhatTheMemberHasWithdrawnStaysHere(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	s.run()
	s.good("team", "leave", "--yes")
	s = joined(t, h.URL, "anna-2", "anna-1")
	_, _, said := s.memoir("team", "sync")
	want := []team.Held{{Session: "codex:first-anna-1", Project: appKey, Why: "withdrawn before; the hub does not take it again"}}
	if now := s.status().Team; !slices.Equal(now.Held, want) || now.Waiting != 0 || now.Shares[0].Sent != 0 || !strings.Contains(said, "0 statements sent") {
		t.Errorf("%+v\n%s", now, said)
	}
	wantTexts(t, "withdrawn", h)
}

// An earlier program left out what it did not know, and went on.
func TestWhatAnEarlierProgramLeftOutIsReceivedAgain(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	a, b := member(t, h, "anna-1"), member(t, h, "ben-1")
	a.run()
	st, err := store.Open(t.Context(), filepath.Join(b.home, "memoir.db"), store.Options{})
	must(t, err)
	shares, _, err := st.Shares(t.Context())
	must(t, err)
	_, _, err = st.Receive(t.Context(), shares[0].ProjectID, store.FromHub, "e1."+fmt.Sprint(len(h.changes[appKey])), nil)
	must(t, err)
	must(t, st.Close())
	for _, want := range []string{"1 received", "0 received"} {
		if _, _, said := b.memoir("team", "pull"); !strings.Contains(said, want) {
			t.Errorf("%s, want %s", said, want)
		}
	}
}

func TestAReaderOnlyReceives(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	s.good("team", "unshare", appKey, "--yes")
	s.good("team", "share", appKey, "--as", "read-only", "--yes")
	if said := s.run(); strings.Contains(said, "warning") {
		t.Error(said)
	}
	if now := s.status().Team; now.Waiting == 0 || !now.Failing.IsZero() {
		t.Errorf("%+v", now)
	}
}

func TestTheTokenGoesToNoOtherHost(t *testing.T) {
	t.Parallel()
	heard := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard++ }))
	defer other.Close()
	h := startHub(t)
	s := member(t, h, "anna-1")
	h.before = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	}
	code, _, said := s.memoir("team", "sync")
	if code != exitFailed || heard > 0 || !strings.Contains(said, "redirects to") {
		t.Errorf("%d, %d requests: %s", code, heard, said)
	}
}

func TestAHubWithACertificateOfItsOwnNeedsCA(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	secure := httptest.NewTLSServer(h.Config.Handler)
	t.Cleanup(secure.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	s := scene{t: t, home: filepath.Join(t.TempDir(), "home"), user: t.TempDir(), input: "anna-1"}
	if code, _, said := s.memoir("team", "join", secure.URL, "--code-file", "-"); code != exitFailed || !strings.Contains(said, "--ca FILE") {
		t.Errorf("%d %s", code, said)
	}
	s.good("team", "join", secure.URL, "--code-file", "-", "--ca", ca)
	must(t, os.Remove(ca))
	s.good("team", "sync")
}

// A container passes --ca, too. Only the proxy that HTTPS_PROXY names resolves the hub's name, and it sees no token.
func TestAContainerReachesAHubThroughAProxy(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	member(t, h, "anna-1").run()
	h.generation(t, appKey, nil)
	secure := httptest.NewTLSServer(h.Config.Handler)
	t.Cleanup(secure.Close)
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host+fmt.Sprint(r.Header["Authorization"], r.Header["Proxy-Authorization"]))
		to, err := http.DefaultTransport.(*http.Transport).DialContext(r.Context(), "tcp", secure.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		from, read, err := w.(http.Hijacker).Hijack() // the server may have read the first byte
		if err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		go func() { _, _ = io.Copy(to, read) }()
		_, _ = io.Copy(from, to)
	}))
	t.Cleanup(proxy.Close)
	ca, sessions := filepath.Join(t.TempDir(), "ca.pem"), t.TempDir()
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600))
	writeSession(t, sessions, "/srv/gone", 3, "Check it.")
	for _, of := range []struct {
		args []string
		said string
	}{
		{[]string{"pull", "--ca", ca}, "pulled generation 1 of " + appKey},
		{[]string{"push", "--ca", ca, "--transcripts", sessions}, "sent 1"},
		{[]string{"pull"}, "certificate signed by unknown authority"},
		{[]string{"push", "--transcripts", sessions}, "--ca FILE trusts"},
	} {
		asked = nil
		cmd := exec.Command(released(t), append(append([]string{"team"}, of.args...), "https://hub.example.com", "--token-env", "CI_TOKEN",
			"--as", appKey, "--home", filepath.Join(t.TempDir(), "home"))...)
		cmd.Env = []string{"HOME=" + t.TempDir(), "HTTPS_PROXY=" + proxy.URL, "CI_TOKEN=ben-1"}
		said, err := cmd.CombinedOutput()
		if !strings.Contains(string(said), of.said) || len(asked) == 0 || asked[0] != "CONNECT hub.example.com:443[] []" {
			t.Errorf("%q: %v %s; the proxy: %q", of.args, err, said, asked)
		}
	}
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		h := startHub(t)
		s := member(t, h, "anna-1")
		path := filepath.Join(s.home, "team", "hub.json")
		of, err := team.Load(s.home)
		must(t, err)
		of.Expires = time.Now().Add(29 * 24 * time.Hour)
		text, err := json.Marshal(of)
		must(t, err)
		must(t, os.WriteFile(path, text, 0o600))
		h.after = func(*http.Request) bool { return lost }
		if code, _, said := s.memoir("team", "sync"); (code == exitDone) == lost {
			t.Errorf("lost %v: %d %s", lost, code, said)
		}
		now, err := team.Load(s.home)
		must(t, err)
		if out := s.good("team", "status", "--json"); lost && strings.Contains(out, now.Next) {
			t.Error("the status shows a token")
		}
		h.after = nil
		s.good("team", "sync")
		now, err = team.Load(s.home)
		must(t, err)
		if now.Token == of.Token || now.Next != "" || now.Expires.Before(time.Now().Add(80*24*time.Hour)) || h.rotated[now.Token] != "anna" {
			t.Errorf("lost %v: %v until %v", lost, now.Token == of.Token, now.Expires)
		}
	}
}

func TestAStartSaysThatSyncHasFailedForMoreThanADay(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	h.Close()
	s.run()
	for hours, want := range map[int]bool{23: false, 25: true} {
		state, err := team.ReadState(s.home)
		must(t, err)
		if state.Failing.IsZero() || !state.Success.IsZero() {
			t.Fatalf("%+v", state)
		}
		state.Failing = time.Now().Add(-time.Duration(hours) * time.Hour)
		text, err := json.Marshal(state)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(s.home, "team", "sync.json"), text, 0o600))
		s.env = []string{"MEMOIR_MEMORIES_ENABLED=true"}
		s.input = `{"hook_event_name":"SessionStart","session_id":"new` + fmt.Sprint(hours) + `","cwd":"/srv/app","source":"startup"}`
		out := s.good("inject", "--agent", "claude")
		if said := gjson.Get(out, "systemMessage").String(); strings.Contains(said, "the team's memory is not synchronised since 20") != want {
			t.Errorf("after %d hours: %s", hours, out)
		}
		s.input, s.env = "", nil
	}
	if _, out, _ := s.memoir("status"); !strings.Contains(out, "failing since") {
		t.Error(out)
	}
}

// Pushes keep the bounds of the protocol, whatever the outbox has.
func TestALargeOutboxGoesInPushesWithinTheBounds(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	s := member(t, h, "anna-1")
	var most int
	h.before = func(_ http.ResponseWriter, r *http.Request) bool {
		most = max(most, int(r.ContentLength))
		return false
	}
	st := openStore(t, s.home)
	row, err := st.FindProject(t.Context(), appKey)
	must(t, err)
	for n := range 90 {
		var statements []memoir.Statement
		for i := range 8 {
			statements = append(statements, memoir.Statement{Kind: memoir.StatementFinding, By: memoir.ByAgent,
				Signal: memoir.SignalModel, Text: fmt.Sprint(n, i, strings.Repeat(" lorem", 1<<10))})
		}
		_, err := st.AddEntry(t.Context(), memoir.Entry{ProjectID: row.ID, Kind: memoir.EntryNote, Category: "fact", Author: memoir.AuthorUser, Text: "x"}, statements)
		must(t, err)
	}
	must(t, st.Close())
	out := s.good("team", "sync", "--json")
	if sent := gjson.Get(out, "sent").Int(); sent != 90*8+1 || most > hub.MaxBytes || most < hub.MaxBytes/2 {
		t.Errorf("%d sent, at most %d bytes", sent, most)
	}
}

// Searching finds what a member sent, with their name, also what MEMORY.md lacks, until it is withdrawn or left.
func TestSearchingFindsWhatAMemberSent(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	a, b := member(t, h, "anna-1"), member(t, h, "ben-1")
	for _, key := range []string{"one", "two"} {
		a.said(key, "Hello.", "make fetch-gpg-keys-"+key, "")
	}
	a.run()
	b.run()
	finds := func(text string) (snippet string) {
		t.Helper()
		return gjson.Get(b.good("search", text, "--all", "--json"), `hits.#(session%"team:*").snippet`).String()
	}
	for _, key := range []string{"one", "two"} {
		if got := finds("fetch gpg keys " + key); got != "run: `make fetch-gpg-keys-"+key+"` (from the team: anna)" {
			t.Errorf("%s: %q", key, got)
		}
	}
	a.good("forget", "one", "--yes")
	b.run()
	if got := finds("fetch-gpg-keys"); !strings.Contains(got, "keys-two") {
		t.Errorf("one is forgotten: %q", got)
	}
	b.good("team", "leave", "--yes")
	b.run()
	if got := finds("fetch-gpg-keys"); got != "" || strings.Contains(b.everything()["search.db"], "fetchgpgkeys") {
		t.Errorf("after leaving: %q", got)
	}
}
