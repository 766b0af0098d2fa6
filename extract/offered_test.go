package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestShortWordsAreToldWithWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	list := "Here is where the deadline belongs:\n\n**1. `upload.go`** - the client is at hand:\n```go\nctx := x\n```\n**2. `sync.go`** - several calls\n\n**3. `probe.go`** - optional\n\nWould you like me to add it?"
	for _, test := range []struct{ before, said, want string }{
		{list, "Implement 1 and 3.", "Implement 1 and 3. (`upload.go`; `probe.go`)"},
		{list, "Implement 1 and 7.", ""},
		{"The linter wants the expression on three lines.\n\nMay I reformat the expression and push it to the branch?", "fix it", "fix it (reformat the expression and push it to the branch)"},
		{"The linter wants the expression on three lines.", "fix it", ""},
		{"The linter wants the expression on three lines.", "fix the linter", "fix the linter"},
	} {
		got := of(work().answers(test.before).says(test.said).edits("/src/app/upload.go").answers("Changed it.").extract(t), memoir.StatementTask)
		if len(got) != 1+min(len(test.want), 1) || test.want != "" && got[len(got)-1] != test.want {
			t.Errorf("%q: got %q, want %q", test.said, got, test.want)
		}
	}
	got := of(work().answers("Done.").says("https://example.com/actions/runs/7").runs("gh run view 7", 0, "x").answers("The nightly compiler rejects twelve calls in `template.rs` that it accepted the day before.").extract(t), memoir.StatementTask)
	if !holds(got, "runs/7 — the agent found: “The nightly compiler rejects") {
		t.Errorf("an address: %q", got)
	}
}

func TestAQuestionAtTheEndNamesItsOptions(t *testing.T) {
	t.Parallel()
	got := of(work().answers("Some texts:\n\n**Option A: Short**\n```\nx\n```\n**Option B: With the name**\n\nWhich direction do you prefer?").extract(t), memoir.StatementOutcome)
	if !holds(got, "asked about: Option A: Short; Option B: With the name") {
		t.Errorf("got %q", got)
	}
}

func TestWordsOfTheAgentAreNotThePersons(t *testing.T) {
	t.Parallel()
	s := work().answers("Three remarks:\n\n**3. the builder is optional for five entries**").says("can you explain   3. the builder is optional for five entries").answers("A plain join would do for so few of them.")
	if got := of(s.extract(t), memoir.StatementDecision); holds(got, "the user: ") {
		t.Errorf("got %q", got)
	}
}

func TestOneMessageIsToldOnce(t *testing.T) {
	t.Parallel()
	e := work().answers("Opened.").says("never open pull requests against release!").runs("gh pr close 7", 0, "").answers("You're right, I made the wrong call there. Closed and fixed.").extract(t)
	if n := strings.Count(e.RawMemory, "against release"); n != 1 || !holds(of(e, memoir.StatementPreference), "against release") {
		t.Errorf("told %d times:\n%s", n, e.RawMemory)
	}
}

func TestARuleIsNoReportOfADefect(t *testing.T) {
	t.Parallel()
	got := of(new(talk).says("Stay with TOML. Names may only have lower-case letters; reject everything else.").edits("/src/app/a.go").answers("Done, all tests pass.").extract(t), memoir.StatementTask)
	if holds(got, "(fixed in the session)") {
		t.Errorf("got %q", got)
	}
}
