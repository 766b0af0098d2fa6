package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/pipeline"
)

func TestStatusSaysWhatBecomesOfStaleWork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stale bool
		state string
		hint  bool
	}{{true, "stale      extract codex:1 by process 7", true}, {false, "running    extract codex:1 by process 7", false}} {
		u, words := captured(t)
		var results bytes.Buffer
		u.out = bufio.NewWriter(&results)
		(&program{ui: u}).printStatus(statusJSON{Running: []runningJSON{
			{Kind: "extract", Key: "codex:1", Holder: "process 7", Stale: test.stale},
		}})
		if err := u.close(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(results.String(), test.state) || strings.Contains(words.String(), "hint: stale") != test.hint {
			t.Errorf("stale %v: got\n%s%s", test.stale, results.String(), words.String())
		}
	}
}

var statusNow = time.Date(2026, 7, 1, 13, 51, 0, 0, time.UTC)

// crowded is the state of a home with some of everything.
func crowded(n int) statusJSON {
	s := emptyStatus(statusNow)
	s.Sessions[memoir.ReasonEligible], s.Jobs["dead"] = n*20, n
	at := func(d time.Duration) *time.Time { return timeJSON(statusNow.Add(d)) }
	for i := range n {
		id := fmt.Sprintf("a-project-with-a-rather-long-name-%03d-0123456789ab", i)
		key := fmt.Sprintf("codex:019f1fd6-0000-7000-8000-%012d", i)
		p := projectStatusJSON{projectJSON: projectJSON{ID: id, Generation: 3, Due: i%2 == 0}, Inputs: 12, NewestInput: at(-24 * time.Hour),
			ConsolidatedAt: at(-time.Duration(i+1) * time.Hour), Why: []string{"3 new", "1 withdrawn"}}
		s.Projects = append(s.Projects, p)
		s.Next.Projects = append(s.Next.Projects, nextProjectJSON{Project: id, Sessions: 2, Consolidate: true, Why: p.Why})
		s.Failed = append(s.Failed,
			failedJSON{Kind: "extract", Session: key, Error: strings.Repeat("the server said no ", 60), Attempts: 1, Next: at(12 * time.Minute)},
			failedJSON{Kind: "extract", Session: key, Error: "process 7 on host ended while working on it", Crashes: 1, Suspect: true})
		s.Dead = append(s.Dead, failedJSON{Kind: "extract", Session: key, Error: "no", Title: "a title \x1b[31mthat lies\u202e"})
		s.Running = append(s.Running, runningJSON{Kind: "extract", Key: key, Holder: "process 7 on host", Since: at(-2 * time.Minute), Until: at(time.Minute), Title: "fix the build"})
	}
	s.Next.Sessions, s.Next.Left = 2*n, 36
	return s
}

func TestStatusFitsATerminalHoweverMuchThereIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ projects, lines int }{{1, 40}, {8, 200}, {500, 200}} {
		s := crowded(test.projects)
		v := statusText{width: 80}
		v.all(s)
		for _, line := range v.lines {
			if strings.ContainsAny(line, "\x1b\u202e") || !strings.Contains(line, "\n") && utf8.RuneCountInString(line) > maxError+160 {
				t.Errorf("%d projects: %q", test.projects, line)
			}
		}
		if len(v.lines) > test.lines {
			t.Errorf("%d projects: %d lines", test.projects, len(v.lines))
		}
		text := strings.Join(v.lines, "\n")
		if more := strings.Contains(text, "… and 490 more projects: -v shows all"); more != (test.projects == 500) {
			t.Errorf("%d projects:\n%s", test.projects, text)
		}
		all := statusText{verbose: true}
		all.all(s)
		if got := strings.Count(strings.Join(all.lines, "\n"), "dead       extract"); got != test.projects {
			t.Errorf("-v shows %d of %d", got, test.projects)
		}
	}
}

func TestStatusSaysAllOfAJobInALine(t *testing.T) {
	t.Parallel()
	s := crowded(1)
	s.Failed[0].Error, s.Failed[0].Model = "429", "mine/m"
	s.LastRun = &lastRunJSON{Holder: "process 7 on host", EndedAt: timeJSON(statusNow.Add(-3 * time.Minute)), Outcome: "partly", Reason: "stopped by a limit: no more", Left: 12}
	s.Unfinished = []unfinishedJSON{{"forgetting", "p", "not verified: x", "do y"}}
	s.Limits = []pipeline.LimitLeft{{Limit: "limits.costPerDay", Most: 1, Spent: 0.25, Left: 0.75}}
	s.Next.Estimate = &memoir.Usage{Calls: 3, InputTokens: 100, OutputTokens: 10, Cost: 0.5}
	s.Next.Warnings = []pipeline.Warning{{Message: "limits.costPerDay would stop this before its end", Hint: "raise it"}}
	v := statusText{}
	v.all(s)
	text := strings.Join(v.lines, "\n") + "\n" + strings.Join(v.hints, "\n")
	for _, want := range []string{
		"limit      limits.costPerDay $1.0000: $0.2500 spent today, $0.7500 left\n",
		"last run   2026-07-01 13:48 (3m ago) by process 7 on host: stopped by a limit: no more, 12 sessions left\n",
		"next run   would extract from 2 sessions in 1 project and consolidate 1 project; 36 sessions are left by the cap; about 3 calls, 100 tokens in, 10 out, $0.5000\n",
		"           warning: limits.costPerDay would stop this before its end\n",
		"extract from 2 sessions; consolidate (3 new, 1 withdrawn, newly extracted)\n",
		"running    extract codex:019f1fd6-0000-7000-8000-000000000000 by process 7 on host since 2026-07-01 13:49 (2m ago), lease until 13:52, “fix the build”\n",
		"failed     extract codex:019f1fd6-0000-7000-8000-000000000000: 429 (attempt 1, next in 12m (14:03))\n",
		"suspect    extract codex:019f1fd6-0000-7000-8000-000000000000: process 7 on host ended while working on it (1 of 3 crashes, next last and alone)\n",
		"dead       extract codex:019f1fd6-0000-7000-8000-000000000000: no, “a title [31mthat lies”\n",
		"unfinished forgetting p: not verified: x (do y)\n",
		"3           2026-07-01 12:51  12 sessions to 2026-06-30  3 new, 1 withdrawn\n",
		"`memoir retry SESSION` or `memoir retry --all` tries dead jobs again", "raise it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestMomentsAreToldFromNow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   time.Duration
		want string
	}{
		{-time.Minute, "at once"}, {30 * time.Second, "in less than 1m (13:51)"}, {12 * time.Minute, "in 12m (14:03)"},
		{5 * time.Hour, "in 5h (18:51)"}, {12 * time.Hour, "in 12h (2026-07-02 01:51)"}, {72 * time.Hour, "in 3d (2026-07-04 13:51)"},
	} {
		if got := until(statusNow, timeJSON(statusNow.Add(test.in))); got != test.want {
			t.Errorf("%v: %q, want %q", test.in, got, test.want)
		}
	}
	if got := until(statusNow, nil); got != "at once" {
		t.Error(got)
	}
}
