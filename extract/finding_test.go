package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestFindingsAreSentencesThatTeach(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want bool
	}{
		{"`lint` fails at `cargo deny check` because new advisories were issued for `quick-xml`.", true},
		{"The root cause is that `Config::load` caches the environment of the first caller.", true},
		{"`nightly` has `continue-on-error: true`, so that job must not block a merge.", true},
		{"Callers of `file::remove_all` need strict deletion, so a best-effort variant must be another function.", true},
		{"npm 12.0.0 always returns an array from `npm view --json`.", true},

		{"I'll check `main.go` because the test fails there.", false},
		{"Let me look at `cargo deny` since it fails.", false},
		{"All checks are passing on `main` because of the fix.", false},
		{"Pushed to `fix/retry` because it was green.", false},
		{"Should I bump `quick-xml` because it is vulnerable?", false},
		{"Perfect, that works because we tried hard.", false},
		{"If you want, I can bump `plist` because it is old.", false},
		{"It failed because of that.", false},
		{"If the `direct` section shows both lines, then the `pty` itself is broken because it must pass colours.", false},
		{"In Go, `strings.Builder` must not be copied, because it holds its own address.", false},
	} {
		got := of(work().answers(test.text).extract(t), memoir.StatementDecision)
		if holds(got, strings.TrimSuffix(test.text, ".")) != test.want {
			t.Errorf("%q: findings %q, want it: %v", test.text, got, test.want)
		}
	}
}

func TestARefusedProposalIsNoDecision(t *testing.T) {
	t.Parallel()
	proposal := "I'd put the cache into `redis` instead of `sqlite`, because the server already requires it."
	if got := of(work().answers(proposal).says("no, that's horrible").answers("OK.").extract(t), memoir.StatementDecision); holds(got, "redis") {
		t.Errorf("refused, yet kept: %q", got)
	}
	if got := of(work().answers(proposal).says("ok, do it").answers("Done.").extract(t), memoir.StatementDecision); !holds(got, "redis") {
		t.Errorf("accepted, yet lost: %q", got)
	}
	if got := of(work().answers(proposal).extract(t), memoir.StatementDecision); holds(got, "redis") {
		t.Errorf("nobody accepted it: %q", got)
	}
}

func TestOnlyTheLastStateOfAFindingStays(t *testing.T) {
	t.Parallel()
	got := of(work().answers("The timeout of `Client.Fetch` is 30 seconds because the proxy requires it.").says("check again").
		answers("The timeout of `Client.Fetch` is 90 seconds because the proxy requires it.").extract(t), memoir.StatementDecision)
	if holds(got, "30 seconds") || !holds(got, "90 seconds") {
		t.Errorf("got %q", got)
	}
}

func TestAListBehindAColonIsOneFinding(t *testing.T) {
	t.Parallel()
	got := of(work().answers("The dependency paths are:\n\n- `xml 0.37` via `menu`\n- `xml 0.38` via `update`\n\nMore later.").extract(t), memoir.StatementDecision)
	if !holds(got, "The dependency paths are: `xml 0.37` via `menu`; `xml 0.38` via `update`") {
		t.Errorf("got %q", got)
	}
}

func TestOutcomesAreJudgedCautiously(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"finished", work().answers("Fixed the retry loop in `upload.go`."), "done — Fixed the retry loop"},
		{"confirmed", work().answers("It may work now, please try `make run`.").says("works, thanks"), "done"},
		{"a question of the agent", work().answers("The fix is clear. Should I apply it?"), "partial"},
		{"an unanswered ask", work().answers("Done, added it.").says("now write the documentation for the flag"), "partial"},
		{"no closing answer", work().narrates("I'll run the tests.").runs("go test ./...", 0, "ok"), "unknown"},
		{"given up", work().answers("I was unable to reproduce the crash in `upload.go`."), "failed"},
		{"a part only", work().answers("Added the flag, but `TestUpload` still fails."), "partial"},
	} {
		got := of(test.talk.extract(t), memoir.StatementOutcome)
		if len(got) == 0 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestFilesAreRelativeAndCounted(t *testing.T) {
	t.Parallel()
	s := work().edits("/src/app/upload.go").edits("/etc/passwd")
	s.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "apply_patch", Input: "*** Begin Patch\n*** Update File: cmd/main.go\n@@\n-a\n+b\n*** End Patch"})
	for range 4 {
		s.runs("sed -n '1,40p' docs/retry.md", 0, "text")
	}
	got := of(s.answers("Done.").extract(t), memoir.StatementFile)
	for _, want := range []string{"`upload.go` — changed 2 times", "`cmd/main.go` — changed", "`docs/retry.md` — read 4 times"} {
		if !holds(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if holds(got, "passwd") {
		t.Errorf("a file outside the repository: %q", got)
	}
}

func TestEnvironmentNamesVersionsAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	got := of(work().runs("node --version", 0, "v23.4.0\n").runs("mise run test", 127, "bash: line 1: parallel: command not found").answers("Done.").extract(t), memoir.StatementEnvironment)
	if !holds(got, "node v23.4.0") || !holds(got, "`parallel` is not installed") {
		t.Errorf("got %q", got)
	}
}

func TestTwoMissingProgramsAreToldApart(t *testing.T) {
	t.Parallel()
	got := of(work().runs("make docs", 127, "sh: dot: command not found").runs("make site", 127, "sh: hugo: command not found").answers("Done.").extract(t), memoir.StatementEnvironment)
	if !holds(got, "`dot` is not installed here") || !holds(got, "`hugo` is not installed here") {
		t.Errorf("got %q", got)
	}
}

func TestWhatWasTakenBackIsNotFound(t *testing.T) {
	t.Parallel()
	claim := "`Selector.apply` must defer its update, because it draws while the screen is drawn."
	s := work().says("the picker flickers").edits("/src/app/pick.go").answers(claim)
	if got := of(s.extract(t), memoir.StatementDecision); !holds(got, "must defer its update") {
		t.Errorf("nobody took it back: %q", got)
	}
	for _, typed := range []string{"you can undo that, it was the logger", "revert this please", "mach das rückgängig"} {
		s := work().says("the picker flickers").edits("/src/app/pick.go").answers(claim).says(typed).edits("/src/app/pick.go").answers("Undone.")
		if got := of(s.extract(t), memoir.StatementDecision); holds(got, "must defer its update") {
			t.Errorf("%q: got %q", typed, got)
		}
	}
}

func TestTheClosingAnswerReplacesTheDraftsOfIt(t *testing.T) {
	t.Parallel()
	got := of(work().says("why is the mixer slow?").narrates("`Mixer.play` must take `queueLock` twice, since both callers of the old buffer ask for it.").
		runs("grep -n queueLock mix.go", 0, "3: queueLock").
		answers("`Mixer.play` takes `queueLock` once for each channel, because the buffer of each must be whole.").extract(t), memoir.StatementDecision)
	if holds(got, "twice") || !holds(got, "once for each channel") {
		t.Errorf("got %q", got)
	}
}
