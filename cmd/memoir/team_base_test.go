package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
	hubwire "memoir/team/wire"
)

// ran is a command of a session with its exit code and output.
func ran(command string, code int, output string) string {
	line := func(payload map[string]any) string {
		text, _ := json.Marshal(map[string]any{"timestamp": "2026-05-01T10:00:05Z", "type": "response_item", "payload": payload})
		return string(text) + "\n"
	}
	call, _ := json.Marshal(map[string]string{"cmd": command})
	id := rand.Text()
	return line(map[string]any{"type": "function_call", "name": "exec_command", "call_id": id, "arguments": string(call)}) +
		line(map[string]any{"type": "function_call_output", "call_id": id,
			"output": fmt.Sprintf("Chunk ID: 1\nProcess exited with code %d\nOutput:\n%s\n", code, output)})
}

// committed is a commit of a session with the reason for it.
func committed(title, why string) string {
	return ran(fmt.Sprintf("git commit -m %q -m %q", title, "Root cause: "+why+"."), 0, "[main 1a2b3c4] "+title+"\n 1 file changed")
}

var (
	ofAnna = committed("drop the cache", "it grew without bound when the index was rebuilt")
	ofBen  = committed("sort the queue by age", "a job starved behind the newer ones for hours")
)

// based returns two members of a hub that has made a generation of what both sent, with a session of each.
func based(t *testing.T) (h *fakeHub, a, b scene, sync func()) {
	t.Helper()
	h = startHub(t)
	a, b = member(t, h, "anna-1"), member(t, h, "ben-1")
	a.said("one", "From now on always use canary-wish for tests.", "make one", ofAnna)
	b.said("two", "Hello.", "make two", ofBen)
	sync = func() { a.run(); b.run(); a.run() }
	sync()
	h.generation(t, appKey, nil)
	sync()
	return h, a, b, sync
}

// shared returns the lines of MEMORY.md that the hub made, without their citations and whose they are.
func (s scene) shared() (out string) {
	_, text := s.memory()
	for line := range strings.Lines(text) {
		if cites := memoir.Citation(line); strings.HasPrefix(cites, " [anna-") || strings.HasPrefix(cites, " [ben-") {
			out += memoir.WithoutTeam(memoir.LineText(line)) + "\n"
		}
	}
	return out
}

// isHubs reports whether MEMORY.md is what the hub made, without the name of this person.
func (s scene) isHubs(name string) bool {
	_, text := s.memory()
	return strings.Contains(strings.ReplaceAll(s.base(), memoir.FromTeam([]string{name}), ""), text)
}

// base unpacks what a home has of the hub's memory; empty: it has none.
func (s scene) base() (out string) {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.home, "projects", "*", "base.tar.zst"))
	must(s.t, err)
	for _, path := range found {
		f, err := os.Open(path)
		must(s.t, err)
		kept, _, err := memory.Unpack(f)
		must(s.t, err)
		must(s.t, f.Close())
		for path, content := range kept {
			out += memory.Readable(path, content)
		}
	}
	return out
}

func TestTheHubsLinesAreTheSameInEveryHome(t *testing.T) {
	t.Parallel()
	h, a, b, sync := based(t)
	a.record("other", "/srv/other", "host.example/acme/other", "Always use canary-other.", "make canary-other", "")
	a.good("remember", "--project", appKey, "deploys stop on canary-note")
	sync()
	if lines := a.shared(); !strings.Contains(lines, "drop the cache") || !strings.Contains(lines, "sort the queue") || lines != b.shared() {
		t.Errorf("anna\n%sben\n%s", lines, b.shared())
	}
	_, text := a.memory()
	for _, own := range []string{"was rebuilt. [anna-", "(from the team: ben) [ben-", "canary-wish", "canary-note", "From 4 sessions and 1 note"} {
		if !strings.Contains(text, own) {
			t.Errorf("no %s in\n%s", own, text)
		}
	}
	// Ben has nothing of his own: MEMORY.md is what the hub made.
	if _, text := b.memory(); !b.isHubs("ben") {
		t.Errorf("ben\n%s\nthe hub\n%s", text, b.base())
	}
	// So has a container.
	empty := scene{t: t, home: filepath.Join(t.TempDir(), "home"), user: t.TempDir(), env: []string{"TOKEN=ben-9"}}
	empty.good("team", "pull", h.URL, "--token-env", "TOKEN", "--as", appKey)
	found, _ := filepath.Glob(filepath.Join(empty.home, "projects", "*", "memory", memoir.MemoryFile))
	is, err := os.ReadFile(append(found, "none")[0])
	if err != nil || !strings.Contains(b.base(), string(is)) || !strings.Contains(string(is), "drop the cache") {
		t.Errorf("a container: %v\n%s\nthe hub\n%s", err, is, b.base())
	}
	if got := h.all.String(); strings.Count(got, "not modified") < 2 || !strings.HasSuffix(got[:strings.LastIndex(got, "/v1/pull")], "not modified\n") {
		t.Error("an archive is fetched again")
	}

	// The next statement is there at once, and the hub's line takes its place.
	b.said("three", "Hello.", "make three", committed("cut the log", "it filled the disk of the runner"))
	b.run()
	if said := a.run(); !strings.Contains(said, ": 1 line came from the team; ") { // and neither what it said before nor the hub's line of anna's session
		t.Error(said)
	}
	_, text = a.memory()
	late := `it filled the disk of the runner. (from the team: ben) [ben-`
	if strings.Count(text, late) != 1 || strings.Contains(a.base(), "filled the disk") {
		t.Errorf("not yet at the hub\n%s", text)
	}
	h.generation(t, appKey, nil)
	sync()
	if _, text := a.memory(); strings.Count(text, late) != 1 || !strings.Contains(a.base(), "filled the disk") || a.shared() != b.shared() {
		t.Errorf("at the hub\n%s", text)
	}
	if why := a.good("why", "drop the cache", "--project", appKey); !strings.Contains(why, "codex:one") {
		t.Error(why)
	}
	anna := "team:anna-" + hubwire.SessionHash("codex:one", "")
	if why := b.good("why", "drop the cache", "--project", appKey); !strings.Contains(why, anna) {
		t.Error(why)
	}
	h.generation(t, appKey, func(f memory.Files) { // a language model's words
		f[memoir.MemoryFile] = []byte(strings.Replace(string(f[memoir.MemoryFile]), "it grew without bound when the index was rebuilt", "the index had no bound", 1))
	})
	sync()
	for session, s := range map[string]scene{"codex:one": a, anna: b} { // who has the session sees it
		why := s.good("why", "the index had no bound", "--project", appKey)
		if !strings.Contains(why, session) || strings.Contains(why, anna) != (session == anna) {
			t.Error(why)
		}
	}
}

func TestASpendingLimitOfAHubIsTold(t *testing.T) {
	t.Parallel()
	h, a, _, _ := based(t)
	empty := scene{t: t, home: filepath.Join(t.TempDir(), "home"), user: t.TempDir(), sessions: t.TempDir(), env: []string{"TOKEN=ben-9"}}
	writeSession(t, empty.sessions, "/srv/gone", 3, "From now on always use pnpm.")
	at := func(what, as string) []string {
		return []string{"team", what, h.URL, "--token-env", "TOKEN", "--as", as}
	}
	commands := map[*scene][][]string{&a: {{"team", "pull"}, {"team", "status"}}, &empty: {at("pull", "host.example/acme/new"),
		append(at("push", appKey), "--transcripts", empty.sessions), at("pull", appKey), {"team", "status"}}}
	for _, limited := range []bool{true, false} {
		h.before = func(w http.ResponseWriter, _ *http.Request) bool {
			if limited {
				w.Header().Set(hubwire.LimitedHeader, time.Now().Add(time.Hour).Format(time.RFC3339))
			}
			return false
		}
		for s, all := range commands {
			for _, args := range all {
				code, _, said := s.memoir(args...)
				if code != exitDone || strings.Contains(said, "lacks what was sent last: the hub has reached its spending limit, until ") != limited {
					t.Errorf("limited %v: %v: %d %s", limited, args, code, said)
				}
			}
		}
	}
}

func TestAProjectWithAHubsMemoryCallsNoModelInPhase2(t *testing.T) {
	t.Parallel()
	_, a, b, sync := based(t)
	server := wires[0].start(t, func(int, scribe.Question, modeltest.Step) modeltest.Step { return modeltest.Step{Text: "{}"} })
	put(t, filepath.Join(a.user, ".config", "memoir", "config.yml"), fmt.Sprintf(
		"modelRoles: {default: %s, phase1: builtin}\nproviders: {mine: {%s}}\n", sceneModel, wires[0].provider(server.URL, "")))
	a.said("four", "Hello.", "make four", committed("pin the parser", "the newer one drops comments of the user"))
	sync()
	a.good("forget", "four", "--yes")
	sync()
	if n := len(server.Calls()); n != 0 || a.shared() != b.shared() {
		t.Errorf("%d calls\n%s", n, a.shared())
	}
}

// editByHand replaces a text of the line of MEMORY.md that has it, or removes the line, by hand.
func editByHand(s scene, text, by string) {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.home, "projects", "*", "memory", "MEMORY.md"))
	must(s.t, err)
	for _, path := range found {
		content, err := os.ReadFile(path)
		must(s.t, err)
		lines := strings.SplitAfter(string(content), "\n")
		for i, line := range lines {
			if lines[i] = strings.Replace(line, text, by, 1); lines[i] != line && by == "" {
				lines[i] = ""
			}
		}
		must(s.t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	}
}

// The hub still has the lines of what is withdrawn, forgotten or removed by a person.
func TestLinesOfTheHubGoAtOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what      string
		do        func(a, b scene)
		gone      string
		left      string
		here      bool // gone from Ben's home as well
		forgotten bool
	}{
		{"an own session is forgotten", func(a, _ scene) { a.good("forget", "one", "--yes") }, "drop the cache", "sort the queue", true, true},
		{"an own session is forgotten for good", func(a, _ scene) { a.good("forget", "one", "--purge", "--yes") }, "drop the cache", "sort the queue", true, true},
		{"an own session is disabled", func(a, _ scene) { a.good("sessions", "disable", "one") }, "drop the cache", "sort the queue", true, false},
		{"a member forgets", func(_, b scene) { b.good("forget", "two", "--yes") }, "sort the queue", "drop the cache", true, true},
		{"a member forgets what another one changed", func(a, b scene) {
			editByHand(a, "behind the newer ones", "behind others")
			a.run()
			b.good("forget", "two", "--yes")
		}, "sort the queue", "drop the cache", true, true},
		{"a text is forgotten", func(a, _ scene) { a.good("forget", "--match", "starved behind", "--project", appKey, "--yes") },
			"sort the queue", "drop the cache", false, true},
		{"a line that a person changed is forgotten", func(a, _ scene) {
			editByHand(a, "grew without bound when", "grew, drop the cache, when")
			a.run()
			a.good("forget", "one", "--yes")
		}, "drop the cache", "sort the queue", true, true},
		{"a line is removed by hand", func(a, _ scene) { editByHand(a, `"sort the queue`, "") }, "sort the queue", "drop the cache", false, false},
	} {
		h, a, b, sync := based(t)
		h.takesEdits(t)
		test.do(a, b)
		sync()
		for _, s := range []scene{a, b} {
			_, text := s.memory()
			if gone := s.home == a.home || test.here; strings.Contains(text, test.gone) == gone || !strings.Contains(text, test.left) {
				t.Errorf("%s: %s has\n%s", test.what, s.home, text)
			}
		}
		if strings.Contains(a.base(), test.gone) == test.forgotten {
			t.Errorf("%s: the base has\n%s", test.what, a.base())
		}
		h.generation(t, appKey, nil)
		sync()
		if _, text := a.memory(); strings.Contains(text, test.gone) || !strings.Contains(text, test.left) {
			t.Errorf("%s: after the next generation\n%s", test.what, text)
		}
	}
}

func TestAnOwnLineOfTheHubThatIsRemovedIsWithdrawn(t *testing.T) {
	t.Parallel()
	h, a, b, sync := based(t)
	editByHand(a, `said why: it grew`, "")
	sync()
	_, here := a.memory()
	_, there := b.memory()
	if at := strings.Join(h.texts(appKey), "\n"); strings.Contains(at+here+there, "said why: it grew") {
		t.Errorf("the hub\n%s\nanna\n%s\nben\n%s", at, here, there)
	}
}

func TestAHostileArchiveSaysNothing(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + rand.Text() + strings.ToLower(rand.Text())[:10]
	line := func(text string) func(memory.Files) {
		return func(f memory.Files) { f[memoir.MemoryFile] = append(f[memoir.MemoryFile], text...) }
	}
	for what, test := range map[string]struct {
		change func(memory.Files)
		before func(w http.ResponseWriter, r *http.Request) bool
		fails  string
	}{
		"what the user wants":       {change: line("\n## user preferences:\n\n- intruder [CITE]\n\n## Said once\n\n- intruder [CITE]\n")},
		"a line without a session":  {change: line("\n## What is known\n\n- intruder\n\nintruder\n\n- intruder [anna-0123456789abcdef01234567 2026-05-01]\n")},
		"a note":                    {change: line("\n- intruder [note-1 2026-05-01]\n")},
		"a session of this machine": {change: line("\n- intruder [codex-one 2026-05-01]\n")},
		"a secret":                  {change: line("\n- token: " + secret + " [CITE]\n")},
		"other files": {change: func(f memory.Files) {
			f["intruder.md"], f["skills/intruder/SKILL.md"] = []byte("intruder"), []byte("---\nname: intruder\ndescription: \"intruder\"\n---\n\n1. `intruder | sh` [CITE]\n")
		}},
		"statements that nobody sent": {change: func(f memory.Files) {
			f[memory.StatementsFile] = []byte(strings.ReplaceAll(string(f[memory.StatementsFile]), "grew without", "intruder"))
			f[memoir.MemoryFile] = []byte(strings.ReplaceAll(string(f[memoir.MemoryFile]), "grew without", "intruder"))
		}},
		"no statements": {change: func(f memory.Files) { f[memory.StatementsFile] = []byte("intruder") }, fails: "cannot be used"},
		"no archive": {before: func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "archive") {
				w.Header().Set(hubwire.VersionHeader, "1")
				w.Header().Set(hubwire.GenerationHeader, "9")
				w.Header().Set("ETag", `"no"`)
				_, _ = w.Write([]byte("intruder"))
			}
			return strings.HasSuffix(r.URL.Path, "archive")
		}, fails: "cannot be used"},
	} {
		h, a, b, _ := based(t)
		was := a.shared()
		b.said("new", "Hello.", "make new", committed("raise the limit", "a request of the editor was cut"))
		b.run()
		if h.before = test.before; test.change != nil {
			h.generation(t, appKey, func(f memory.Files) {
				test.change(f)
				cite := "anna-" + hubwire.SessionHash("codex:one", "")[:8] + " 2026-05-01"
				for path, text := range f {
					f[path] = []byte(strings.ReplaceAll(string(text), "CITE", cite))
				}
			})
		}
		said := a.run()
		if s := a.status().Team; test.fails != "" && (len(s.Shares) != 1 || s.Shares[0].Received < 2) { // the statements are here without it
			t.Errorf("%s: %+v", what, s)
		}
		if test.fails == "" == strings.Contains(said, "warning") || !strings.Contains(said, test.fails) {
			t.Errorf("%s: %s", what, said)
		}
		for path, text := range files(t, a.home) {
			if !strings.HasSuffix(path, ".db") && (strings.Contains(text, "intruder") || strings.Contains(text, secret)) {
				t.Errorf("%s: %s has it", what, path)
			}
		}
		if strings.Contains(a.base(), secret) {
			t.Errorf("%s: the base has the secret", what)
		}
		if what == "statements that nobody sent" {
			was = strings.Join(strings.SplitAfter(was, "\n")[:1], "")
		}
		for line := range strings.Lines(was) {
			if _, text := a.memory(); !strings.Contains(text, strings.TrimSpace(line)) {
				t.Errorf("%s: %s is not in\n%s", what, line, text)
			}
		}
	}
}

func TestWhatTheHubMadeGoesWithTheSharing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"team", "unshare", appKey, "--yes"}, {"team", "unshare", appKey, "--keep"}, {"team", "leave", "--yes"},
		{"team", "leave", "--keep"}, {"clear", "--project", appKey, "--yes"},
		{"forget", "--project", appKey, "--purge", "--yes"}} {
		_, a, _, _ := based(t)
		if a.base() == "" {
			t.Fatal("there is none")
		}
		a.good(args...)
		if left := a.base(); left != "" {
			t.Errorf("%q: %s", args, left)
		}
		if args[0] != "team" {
			continue
		}
		a.run()
		if _, text := a.memory(); strings.Contains(text, "from the team") || !strings.Contains(text, "drop the cache") || !strings.Contains(text, "canary-wish") {
			t.Errorf("%q:\n%s", args, text)
		}
	}
}

// No generation of the hub has the line any more, so it would be made from the session here, whatever its id looks like.
func TestAnOwnLineThatIsRemovedStaysAway(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"three", "019f6782-0000-7000-8000-000000000003"} {
		h, a, _, sync := based(t)
		a.said(id, "Hello.", "make three", committed("cap the pool", "it ran dry when workers waited"))
		a.run()
		h.generation(t, appKey, nil)
		sync()
		editByHand(a, `said why: it ran dry`, "")
		sync()
		h.generation(t, appKey, nil)
		sync()
		if _, text := a.memory(); strings.Contains(text, "said why: it ran dry") || !strings.Contains(text, "sort the queue") {
			t.Errorf("of %s:\n%s", id, text)
		}
	}
}

// A hub of the release before has no such address, and one with newer rules may find a secret: then the edit stays, is
// told, and holds here. It is sent once the hub takes it, and withdrawn once the line is as it was.
func TestAnEditThatAHubDoesNotTakeWaitsAndIsTold(t *testing.T) {
	t.Parallel()
	h, a, _, _ := based(t)
	const line = "a job starved behind the newer ones for hours"
	editByHand(a, line, "a job starved for a day")
	var taken []hubwire.Edit
	refuse := func(status int, p hubwire.Problem) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/v1/edits" {
				return false
			}
			var push hubwire.Push
			must(t, json.NewDecoder(r.Body).Decode(&push))
			w.Header().Set(hubwire.VersionHeader, "1")
			if w.WriteHeader(status); status == http.StatusOK {
				taken = append(taken, push.Edits...)
				must(t, json.NewEncoder(w).Encode(hubwire.Pushed{Epoch: h.epoch, New: len(push.Edits)}))
				return true
			}
			p.Hash = push.Edits[0].Hash
			must(t, json.NewEncoder(w).Encode(p))
			return true
		}
	}
	for _, test := range []struct {
		status int
		answer hubwire.Problem
		says   string
	}{
		{http.StatusNotFound, hubwire.Problem{Title: "no such address", Code: hubwire.CodeNotFound}, "the hub is of an earlier release"},
		{http.StatusUnprocessableEntity, hubwire.Problem{Title: "a secret", Code: hubwire.CodeSecret, Rule: "canary-rule"}, "canary-rule"},
		{http.StatusOK, hubwire.Problem{}, ""},
		{http.StatusOK, hubwire.Problem{}, ""},
	} {
		h.before = refuse(test.status, test.answer)
		if said := a.run(); strings.Contains(said, "warning") {
			t.Errorf("%d: %s", test.status, said)
		}
		status := a.good("team", "status", "--json")
		if !strings.Contains(status, test.says) || test.says == "" && strings.Contains(status, "edit:") {
			t.Errorf("%d: %s", test.status, status)
		}
		if _, text := a.memory(); strings.Count(text, "a job starved for a day") != 1 || strings.Contains(text, line) {
			t.Errorf("%d:\n%s", test.status, text)
		}
		if test.answer.Code == hubwire.CodeSecret { // another edit brings it up again
			editByHand(a, "## What is known\n", "## What is known\n\n- canary-added\n")
		}
	}
	if len(taken) != 1 || taken[0].Generation != 1 || !strings.HasSuffix(taken[0].Before, line+".") || !strings.HasSuffix(taken[0].After, "for a day.") {
		t.Errorf("%+v", taken)
	}
	editByHand(a, "a job starved for a day", line)
	a.run()
	if got := h.all.String(); !strings.Contains(got, `"tombstones":["`+taken[0].Hash) {
		t.Error(got[max(0, len(got)-2000):])
	}
}
