package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	_ "github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

// printedStatus returns the standard output and standard error of status.
func printedStatus(t *testing.T, s operation.Status, verbose bool) (results, words string) {
	t.Helper()
	u, said := captured(t)
	var out bytes.Buffer
	u.out, u.verbose = bufio.NewWriter(&out), verbose
	(&program{ui: u}).printStatus(s)
	must(t, u.close())
	return out.String(), said.String()
}

func TestStatusSaysAllOfAJobInALine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 13, 51, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { return operation.Time(now.Add(d)) }
	text, hints := printedStatus(t, operation.Status{
		Queue: operation.Queue{Running: []operation.Running{{Kind: "extract", Key: "codex:1", Holder: "process 7 on host", Since: at(-2 * time.Minute), Until: at(time.Minute),
			Title: "fix the build"}, {Kind: "extract", Key: "codex:2", Holder: "process 8 on host", Stale: true}},
			Failed: []store.FailedJob{{Kind: "extract", Key: "codex:3", Error: "429", Attempts: 1, Next: at(12 * time.Minute)},
				{Kind: "extract", Key: "codex:4", Error: "process 7 on host ended", Crashes: 1, Suspect: true}},
			Dead:    []store.FailedJob{{Kind: "extract", Key: "codex:5", Error: "no", Attempts: 3, Title: "a title \x1b[31mthat lies\u202e"}},
			LastRun: &operation.LastRun{Holder: "process 7 on host", EndedAt: at(-3 * time.Minute), Outcome: "partly", Reason: "stopped by a limit"}},
		Projects:   []operation.Project{{ID: "a", Due: true}, {ID: "b"}},
		Unfinished: []operation.Unfinished{{What: "forgetting", Project: "p", Detail: "not verified: x", Hint: "do y"}},
		Limits:     []pipeline.LimitLeft{{Limit: "limits.costPerDay", Most: 1, Spent: 0.25, Left: 0.75}},
		Next: operation.Next{Sessions: 2, Projects: 1, Left: 36, Hint: "raise it",
			Estimate: &memoir.Usage{Calls: 3, InputTokens: 100, OutputTokens: 10, Cost: 0.5}},
	}, false)
	for _, want := range []string{
		"projects   2, 1 due: a\n",
		"limit      limits.costPerDay: 0.25 spent today, 0.75 left\n",
		"last run   2026-07-01 13:48 UTC by process 7 on host: partly: stopped by a limit\n",
		"next run   would extract from 2 sessions and consolidate 1 project; the cap leaves 36 sessions unread; about 3 calls, 100 tokens in, 10 out, $0.5000\n",
		"running    extract codex:1 by process 7 on host since 2026-07-01 13:49 UTC, lease until 2026-07-01 13:52 UTC, “fix the build”\n",
		"running    extract codex:2 by process 8 on host, stale: the next run takes over\n",
		"failed     extract codex:3 (1 attempt, next attempt at 2026-07-01 14:03 UTC): 429\n",
		"failed     extract codex:4 (0 attempts, 1 of 3 crashes, next attempt last and alone): process 7 on host ended\n",
		"dead       extract codex:5 (3 attempts): no, “a title [31mthat lies”\n",
		"unfinished forgetting p: not verified: x (do y)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	stopped, _ := printedStatus(t, operation.Status{Queue: operation.Queue{LastRun: &operation.LastRun{
		Holder: "process 7 on host", EndedAt: at(0), Outcome: "interrupted", Reason: "stopped by --timeout 1s"}}}, false)
	if !strings.Contains(stopped, "by process 7 on host: stopped by --timeout 1s\n") {
		t.Errorf("a run that --timeout stopped is\n%s", stopped)
	}
	for _, want := range []string{"hint: `memoir retry SESSION`", "hint: raise it"} {
		if !strings.Contains(hints, want) {
			t.Errorf("%q is not in\n%s", want, hints)
		}
	}
}

func TestStatusFitsATerminalHoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	var s operation.Status
	for i := range 500 {
		s.Failed = append(s.Failed, store.FailedJob{Kind: "extract", Key: fmt.Sprint("codex:", i), Error: strings.Repeat("the server said no ", 60)})
	}
	text, _ := printedStatus(t, s, false)
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > maxText+20 {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(text, "… and 490 more failed: -v shows all") || strings.Count(text, "\n") > 30 {
		t.Errorf("got\n%s", text)
	}
	for i := range 8 {
		s.Projects = append(s.Projects, operation.Project{ID: fmt.Sprint("p", i), Due: true})
	}
	if text, _ := printedStatus(t, s, false); !strings.Contains(text, "8, 8 due: p0, p1, p2, p3, p4 and 3 more\n") {
		t.Errorf("got\n%s", text)
	}
	if text, _ := printedStatus(t, s, true); strings.Count(text, "failed     extract") != 500 ||
		!strings.Contains(text, "8, 8 due: p0, p1, p2, p3, p4, p5, p6, p7\n") {
		t.Error("-v leaves some out")
	}
}

func TestAProjectThatFailedBeforeIsToldOnce(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]pipeline.ProjectReport{
		"app: failed before (no room); next attempt at noon": {Name: "app", Outcome: pipeline.OutcomeBackoff, Detail: "failed before (no room); next attempt at noon"},
		"app: failed before, retried later":                  {Name: "app", Outcome: pipeline.OutcomeBackoff},
	} {
		if got := sayProject(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A database with several sessions needs the name of one.
func TestShowOfADatabaseSaysWhichSessionsItHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode.db")
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	insert := func(id string, at int) {
		t.Helper()
		if _, err := db.Exec(`INSERT INTO session (id, directory, title, time_created, time_updated) VALUES (?, '/srv/app', 'Work', ?, ?)`, id, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`CREATE TABLE session (id, directory, title, time_created, time_updated, parent_id, revert, permission);
		CREATE TABLE message (id, session_id, time_created, time_updated, data); CREATE TABLE part (id, message_id, time_updated, data)`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := onlySession(t.Context(), path); err == nil || exitCode(err) != exitUsage {
		t.Errorf("without sessions: %v", err)
	}
	insert("ses_old", 1_770_000_000_000)
	session, parts, err := onlySession(t.Context(), path)
	if err != nil || session.ID != "ses_old" || len(parts) != 1 || parts[0].Path != path+"#ses_old" {
		t.Errorf("the only one: %+v, %v, %v", session, parts, err)
	}
	insert("ses_new", 1_780_000_000_000)
	_, _, err = onlySession(t.Context(), path)
	if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "2 sessions, newest first: ses_new, ses_old") ||
		!strings.Contains(memoir.HintOf(err), path+"#ses_new") {
		t.Errorf("of several: %v, hint %q", err, memoir.HintOf(err))
	}
}
