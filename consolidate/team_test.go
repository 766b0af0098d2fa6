package consolidate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/model"
)

// theirs is a session of a member that states what a session of the built-in model does.
func theirs(day int, bullets ...string) memoir.Extraction {
	e := session(day, id(40+day), bullets...)
	e.SessionKey = memoir.ReceivedKey("alice", strings.Repeat("ab", 12))
	e.Identify()
	return e
}

// of returns a session of a member on a day.
func of(member string, day int, bullets ...string) memoir.Extraction {
	e := session(day, id(day), bullets...)
	e.SessionKey = memoir.ReceivedKey(member, fmt.Sprintf("%024x", day))
	return e
}

func TestWhoSendsMuchDisplacesNobody(t *testing.T) {
	t.Parallel()
	says := func(n int) []string {
		return []string{fmt.Sprintf("Failures: `step%d` failed: no part%d; fixed by `fix%d`", n, n, n),
			fmt.Sprintf("Findings: the part%d leaks at place%d", n, n), fmt.Sprintf("Commands: test: `go test ./part%d`", n)}
	}
	var all []memoir.Extraction
	for n := range 3 {
		all = append(all, of("anna", n, says(n)...))
	}
	for n := range 60 {
		for _, bullets := range [][]string{says(100 + n), says(100 + n)} { // two sessions have each
			all = append(all, of("ci", 10+len(all), bullets...))
		}
	}
	all = append(all, of("ben", 5, says(5)...))
	text := build(t, input(all...)).MemoryMD
	for _, line := range []string{"no part0;", "no part1;", "no part2;", "no part5;", "part0 leaks", "part1 leaks", "part2 leaks",
		"part5 leaks", "./part2`", "./part5`"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q was displaced:\n%s", line, text)
		}
	}
}

func TestAPromotedStatementIsNoSession(t *testing.T) {
	t.Parallel()
	promoted := session(0, id(0), "Findings: the lane is closed")
	promoted.SessionKey = memoir.ReceivedKey("bob", strings.Repeat("ab", 12)+"0123456789")
	head := "From 1 session and 1 promoted statement, 2026-07-02. "
	if text := build(t, input(promoted, session(1, id(1), "Findings: the port is fixed"))).MemoryMD; !strings.Contains(text, head) {
		t.Errorf("no %q in\n%s", head, text)
	}
}

func TestLinesOfOthersAreMarkedAndStandBehindThePersons(t *testing.T) {
	t.Parallel()
	const own = "Findings: the queue of the scheduler drops a job when its worker restarts early"
	other := theirs(9, "Findings: the queue of the scheduler drops a job when its worker restarts late", "Findings: the cache is shared", "Findings: a log says [note-1 2026-05-01] there",
		"Open: their work goes on")
	c := build(t, input(session(1, id(1), own, "Open: the index is half done"), other))
	lines := under(c.MemoryMD, "## What is known")
	want := []string{"- the queue of the scheduler drops a job when its worker restarts early [alice-abababab",
		"- a log says (note-1 2026-05-01) there (from the team: alice) [alice-abababab",
		"- the cache is shared (from the team: alice) [alice-abababab"}
	if !slices.EqualFunc(lines, want, strings.HasPrefix) {
		t.Errorf("got %q", lines)
	}
	if !strings.Contains(c.MemoryMD, "the index is half done") || strings.Contains(c.MemoryMD, "their work") {
		t.Errorf("got\n%s", c.MemoryMD)
	}
	if !contains(under(c.MemorySummary, "## What to know"), "- the cache is shared (from the team: alice)") {
		t.Errorf("got\n%s", c.MemorySummary)
	}
	if removed := consolidate.Uncited(lines[2]); removed != "- the cache is shared (from the team: alice)" {
		t.Errorf("uncited: %q", removed)
	}
}

func TestASessionOfTwoMembersCountsOnce(t *testing.T) {
	t.Parallel()
	one, two := theirs(9, "Findings: the cache is shared"), theirs(9, "Findings: the cache is shared")
	two.SessionKey = memoir.ReceivedKey("bob", strings.Repeat("ab", 12))
	c := build(t, input(one, two))
	line := strings.Join(under(c.MemoryMD, "## What is known"), "\n")
	if !strings.HasPrefix(line, "- the cache is shared (from the team: bob, alice) [bob-abababab 2026-07-10]") ||
		!strings.Contains(c.MemoryMD, "\nFrom 1 session, 2026-07-10.") || len(consolidate.Cited(line, c.Citations)) != 2 {
		t.Errorf("%q in\n%s", line, c.MemoryMD)
	}
}

func TestASkillTakesFromOthersOnlyWhatAPersonAccepted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		accepted, dropped bool
		want              string
	}{
		"new": {}, "accepted": {accepted: true, want: "make deploy"}, "dropped": {accepted: true, dropped: true},
	} {
		in := grown(t)
		e := theirs(9, "Procedure: `make deploy`, then `make smoke`")
		in.Extractions = append(in.Extractions, e)
		in.Changed[e.SessionKey] = true
		if test.accepted {
			in.Accepted = map[string]int64{memoir.LineKey(e.Statements[0].Text): 1}
		}
		if test.dropped {
			in.HandEdits = append(in.HandEdits, memoir.HandEdit{ID: 9, File: memoir.MemoryFile, Action: memoir.EditRemoved,
				Text: "- " + e.Statements[0].Text + " (from the team: alice) [alice-abababab 2026-07-09]"})
		}
		q := question(t, in)
		deploy := skill("deploy", "---\nname: deploy\ndescription: Deploy.\n---\n\n# Deploy\n\nTaken from 1 run [alice-abababab 2026-07-10]\n\n1. `make deploy`\n2. `make smoke`\n")
		c, err := ask(t, in, &scripted{answers: []func(model.Request) (model.Answer, error){
			says(reply(between(q, "current-memory"), skill("make-pr", ""), deploy))}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		i := slices.IndexFunc(c.Skills, func(s memoir.Skill) bool { return s.Name == "deploy" })
		if got := i >= 0 && strings.Contains(c.Skills[i].Content, "make deploy"); got != (test.want != "") {
			t.Errorf("%s: %v", name, c.Skills)
		}
	}
}

func TestAMembersLineHidesTheirWorkAndNotThePersons(t *testing.T) {
	t.Parallel()
	work := func(e memoir.Extraction) memoir.Extraction {
		e.Statements = append(e.Statements, memoir.Statement{Kind: memoir.StatementOutcome, Signal: "posted", By: memoir.ByAgent,
			Text: `commit: "drop the cache"`, Outcome: `committed: "drop the cache"`, Detail: "it grew without bound"})
		return e
	}
	known := `Findings: "drop the cache" (commit): it grew without bound`
	for _, test := range []struct {
		own, theirs memoir.Extraction
		want        int
	}{
		{session(1, id(1), "Findings: the port is fixed"), work(theirs(9, known)), 0},
		{work(session(1, id(1), "Findings: the port is fixed")), theirs(9, known), 1},
	} {
		c := build(t, input(test.own, test.theirs))
		if got := strings.Count(c.MemoryMD, `commit: "drop the cache"`); got != test.want {
			t.Errorf("%d lines, want %d:\n%s", got, test.want, c.MemoryMD)
		}
	}
}

// A line of a failure cites the sessions that ran what it prints. In others, another command failed alike.
func TestALineOfAFailureCitesWhoRanWhatItPrints(t *testing.T) {
	t.Parallel()
	failed := func(e memoir.Extraction, test string) memoir.Extraction {
		e.Statements = []memoir.Statement{{Kind: memoir.StatementFailure, Signal: "repaired", By: memoir.ByTool, Signature: "E0433",
			Text: "`cargo test " + test + "` failed: error[E0433]: failed to resolve; fixed by `cargo clean`", Command: "cargo test " + test,
			Error: "error[E0433]: failed to resolve", Fix: "cargo clean"}}
		e.Identify()
		return e
	}
	own := []memoir.Extraction{failed(session(1, id(1), "x"), "retry"), failed(session(2, id(2), "x"), "retry"), failed(session(3, id(3), "x"), "backoff")}
	hers := failed(theirs(9, "x"), "remove")
	for what, test := range map[string]struct {
		all  []memoir.Extraction
		want string
	}{
		"another own command": {own, "`cargo test backoff` failed: error[E0433]: failed to resolve; fixed by `cargo clean` [00001003 2026-07-04]"},
		"her command":         {[]memoir.Extraction{own[0], own[1], hers}, "`cargo test retry` failed: error[E0433]: failed to resolve; fixed by `cargo clean` [00001002 2026-07-03, +1]"},
		"her command alone":   {[]memoir.Extraction{hers}, "`cargo test remove` failed: error[E0433]: failed to resolve; fixed by `cargo clean` (from the team: alice) [alice-abababab 2026-07-10]"},
	} {
		if got := under(build(t, input(test.all...)).MemoryMD, "## Failures and fixes"); !slices.Equal(got, []string{"- " + test.want}) {
			t.Errorf("%s: %q", what, got)
		}
	}
}
