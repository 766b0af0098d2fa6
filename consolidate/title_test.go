package consolidate_test

import (
	"strings"
	"testing"
)

func TestAMemoryIsCalledByOwnerAndName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ remote, said, want string }{
		{"example.com/ann/app", "", "ann/app"},
		{"example.com/ann/lib", "done — Opened https://example.com/ann/app/pull/7 for the retry loop.", "app"},
		{"https://example.com/group/sub/app.git", "", "sub/app"},
		{"", "done — Opened https://example.com/ann/app/pull/7 for the retry loop.", "ann/app"},
		{"", "done — Answered ann/app#7 and closed https://example.com/bob/app/issues/2 too.", "app"},
		{"", "done — As https://example.com/bob/lib/issues/2 says, the loop never ends.", "app"},
		{"", "done — Moved src/app/main.go as they asked.", "app"},
	} {
		in := input(session(0, id(1), "Outcome: "+test.said, "Commands: `make test` passes"))
		in.Project.Remote = test.remote
		if c := build(t, in); !strings.HasPrefix(c.MemoryMD, "# Memory of "+test.want+"\n") {
			t.Errorf("%+v: got %.40q", test, c.MemoryMD)
		}
	}
}

func TestASessionIsCalledByWhatItDid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		title    string
		bullets  []string
		want     string
		unwanted string
	}{
		{"make a pr to fix", []string{"Task: make a pr to fix", "Task: reply to discussion", "Outcome: done — PR #7 “fix: retry uploads”: Try three times before giving up"},
			"2026-07-01 “fix: retry uploads” — done: PR #7: Try three times before giving up (asked: “make a pr to fix”, “reply to discussion”) [", ""},
		{"address feedback on ann/app#7", []string{"Outcome: done — Checks are green.", "Outcome: Committed `abc1234` “style: wrap lines”"}, "2026-07-01 “style: wrap lines” — done", ""},
		{"take a look at the PR comments?", []string{"Outcome: done — Fixed the `.env` file that overrode what was set already."}, "2026-07-01 — done: Fixed the `.env` file", "“take a look at the PR comments?” —"},
		{"retry uploads when the net is down", []string{"Task: retry", "Task: also write the log to a file", "Task: ok commit", "Outcome: done — PR #7 “fix: retry”: Try three times before giving up"},
			"“retry uploads when the net is down” — done", "write the log"},
	} {
		e := session(0, id(1), append(test.bullets, "Commands: `make test` passes")...)
		e.Title = test.title
		lines := under(build(t, input(e)).MemoryMD, "## Recent work")
		if len(lines) == 0 || !strings.Contains(lines[0], test.want) || test.unwanted != "" && strings.Contains(lines[0], test.unwanted) {
			t.Errorf("%s: got %q, want %q", test.title, lines, test.want)
		}
	}
}

func TestACommandThatWorksOnAnotherRepositoryIsToldThere(t *testing.T) {
	t.Parallel()
	e := session(0, id(1), "Commands: `gh pr list -R ann/app` works", "Commands: `gh pr merge N --repo ann/lib` works", "Commands: `gh api repos/ann/lib/pulls/N/comments` works",
		"Commands: `cd /src/ann/other && make ship` works", "Commands: `cd /src/ann/app/web && make site` works", "Commands: `cd /tmp/try && make it` works",
		"Decisions: The app needs the lib because it parses")
	e.CWD = "/src/ann/app"
	c := build(t, input(e))
	own, there := under(c.MemoryMD, "## Build, test and other commands"), under(c.MemoryMD, "## In other repositories")
	if contains(own, "ann/lib") || contains(own, "make ship") || !contains(own, "make site") || !contains(own, "-R ann/app") {
		t.Errorf("got %q", own)
	}
	if len(there) != 3 || there[0] != "### lib" || !contains(there, "- `gh pr merge N --repo ann/lib` works [") {
		t.Errorf("got %q", there)
	}
}
