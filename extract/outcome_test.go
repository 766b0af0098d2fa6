package extract_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
)

func TestWhatWasDoneComesFromTurnsThatDidSomething(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		talk      *talk
		want, not string
	}{
		{"a proposal", work().answers("Added the retry loop in `upload.go`.").says("how would you word the warning?").answers("A shorter text:\n\n- Removed the word `danger` from the first line of it\n- Made it clear that nothing is lost by `--force`"),
			"Added the retry loop", "danger"},
		{"a list behind a line", work().answers("The `upload` client now sends:\n\n- the id of the attempt in `X-Attempt`\n- the pause that the server asked for"),
			"The `upload` client now sends: the id of the attempt in `X-Attempt`; the pause that the server asked for", ""},
		{"a list under an entry", work().answers("Files changed:\n\n- `upload.go` (the client):\n  - Lines 12-20: dropped the fixed pause of ten seconds\n  - reads the header of the server"),
			"`upload.go` (the client): dropped the fixed pause of ten seconds; reads the header of the server", "Lines 12"},
		{"lists under headings", work().answers("## Summary\n\n### The client\n- Added the retry loop\n- Removed the fixed pause\n\n### `upload.go`\nSplit into modules:\n- `retry.go` for the attempts\n- `pause.go` for the time between them"),
			"The client: Added the retry loop; Removed the fixed pause", ""},
		{"a list with a line under a heading", work().answers("## The uploader\nSplit into modules:\n- `retry.go` for the attempts\n- `pause.go` for the time between them"),
			"The uploader: Split into modules: `retry.go` for the attempts; `pause.go` for the time between them", ""},
		{"what is left to do", work().answers("Added the retry loop to the `upload` client.\n\nChanges to try:\n- Run `make upload` against the server of the fair"), "Added the retry loop", "against the server"},
		{"its handling", work().answers("Moved the retry loop from `upload.go` into `retry.go`, committed it as `abc1234`, and pushed the branch."),
			"Moved the retry loop from `upload.go` into `retry.go`.", "abc1234"},
		{"without a referent", work().answers("Added the retry loop to the `upload` client. Updated it to look for `Retry-After` instead."), "", "done — Updated it"},
		{"a thing renamed later", work().answers("Added `RetryLoop` to the `upload` client as a type.").says("call it differently").edits("/src/app/upload.go").answers("Renamed `RetryLoop` to `Attempts` in `upload.go`."),
			"Renamed `RetryLoop`", "as a type"},
		{"a file deleted later", work().edits("/src/app/docs/plan.md").answers("Created `docs/plan.md` with all the steps of the retry.").says("that file is not needed any more").runs("git rm docs/plan.md", 0, "").answers("Removed it from the tree."),
			"", "with all the steps"},
		{"an objection", work().answers("Changed the `upload` client to wait ten seconds between attempts.").says("the server says how long an attempt has to wait").edits("/src/app/upload.go").answers("You're right. The `upload` client now waits as long as `Retry-After` says."),
			"Retry-After", "ten seconds"},
	} {
		got := strings.Join(of(test.talk.extract(t), memoir.StatementOutcome), "\n")
		if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: %q is missing, or %q is not, in\n%s", test.name, test.want, test.not, got)
		}
	}
}

func TestTheHeadlineIsTheWorkAskedFor(t *testing.T) {
	t.Parallel()
	s := new(talk).says("make the uploader retry when the server is busy").edits("/src/app/upload.go").edits("/src/app/retry.go").runs("go test ./...", 0, "ok").
		answers("Added a test for the pause and fixed a comment in `retry_test.go`. Changed the uploader to retry in `upload.go` when the server is busy.").
		says("fix the typo in the changelog").edits("/src/app/CHANGELOG.md").answers("Fixed the typo in `CHANGELOG.md` that you saw.")
	if got := of(s.extract(t), memoir.StatementOutcome); len(got) == 0 || !strings.HasPrefix(got[0], "done — Changed the uploader to retry") {
		t.Errorf("got %q", got)
	}
}

func TestAWordTypedByMistakeIsNotTheEnd(t *testing.T) {
	t.Parallel()
	s := work().answers("Fixed the retry loop in `upload.go`.").says("htop").answers("That looks like a command for your shell; I can run it for you if you tell me so.")
	if got := of(s.extract(t), memoir.StatementOutcome); len(got) == 0 || got[0] != "done — Fixed the retry loop in `upload.go`." {
		t.Errorf("got %q", got)
	}
}

func TestOutcomesLeaveRoomForTheRest(t *testing.T) {
	t.Parallel()
	s := work()
	for i := range 40 {
		part := strings.Repeat(string(rune('a'+i%26)), 5+i/26)
		answer := "Moved `" + part + "`"
		for _, end := range []string{"reader", "writer", "header", "parser", "client", "server", "timer", "buffer", "logger", "worker", "handler"} {
			answer += ", " + part + end
		}
		s.edits("/src/app/" + part + ".go").answers(answer + " into one.")
	}
	e := s.answers("Done.").extract(t)
	total := 0
	for _, text := range of(e, memoir.StatementOutcome) {
		total += len(text)
	}
	if len(e.RawMemory) == 0 || total < 1500 || total > 4800+400 {
		t.Errorf("%d bytes of outcomes in %d", total, len(e.RawMemory))
	}
}

func TestAQuestionAtTheEndStaysOpen(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"Added the retry loop to `upload.go`. All tests pass.\n\nWould you like me to commit this?": "the agent asked “Would you like me to commit this?”, unanswered",
		"Two ways are open to us here.\n\nWhich one do you prefer? Or should I try both?":           "“Which one do you prefer? Or should I try both?”",
		"Added the retry loop to `upload.go`. Is there anything else?":                              "",
	} {
		got := of(work().answers(answer).extract(t), memoir.StatementOutcome)
		if holds(got, "Open at the end: ") != (want != "") || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
	if got := of(work().answers("Shall I commit this?").says("yes").runs("git commit -m 'fix: retry the upload'", 0, "").answers("Committed it to the branch.").extract(t), memoir.StatementOutcome); holds(got, "Open at the end") {
		t.Errorf("the question was answered: %q", got)
	}
}

func TestChangesWithoutACommitAreNamed(t *testing.T) {
	t.Parallel()
	left := "Not committed in the session: changes of `upload.go`"
	for name, test := range map[string]struct {
		talk *talk
		want bool
	}{
		"changed and looked at":       {work().runs("git diff", 0, ""), true},
		"committed":                   {work().runs("git commit -am 'fix: retry'", 0, ""), false},
		"a commit that a hook stayed": {work().runs("git commit -am 'fix: retry'", 1, "hook failed"), true},
		"changed once more":           {work().runs("git commit -am 'fix: retry'", 0, "").edits("/src/app/upload.go"), true},
		"thrown away":                 {work().runs("git checkout -- upload.go", 0, ""), false},
		"no command of git":           {work(), true},
		"a pull request by a tool":    {work().add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "create_pull_request", Input: `{"title": "fix: retry", "body": "- wait for the server"}`}), false},
	} {
		if got := of(test.talk.answers("Done.").extract(t), memoir.StatementOutcome); holds(got, left) != test.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := of(work().edits("/src/app/retry.go").edits("/src/app/upload.go").answers("Fixed it.").extract(t), memoir.StatementOutcome); !strings.HasPrefix(got[len(got)-1], "Not committed in the session: changes of `retry.go`, `upload.go`") {
		t.Errorf("the last edits stand at the end: %q", got)
	}
	in := work().answers("Done.").input()
	in.Session.Branch = ""
	if e, _, err := extract.NewBuiltin().Extract(t.Context(), in); err != nil || holds(of(e, memoir.StatementOutcome), left) {
		t.Errorf("in no repository: %v %s", err, e.RawMemory)
	}
}

func TestATaskIsTheRequestInALongMessage(t *testing.T) {
	t.Parallel()
	long := "The uploader lives in one file of more than a thousand lines, and every change of it takes a whole day of reading. " +
		"Nobody has looked after it since the first release, which was made in a hurry for a fair in the spring of that year. Split `upload.go` into two files."
	for _, test := range []struct {
		name      string
		talk      *talk
		want, not string
	}{
		{"a long message", new(talk).says(long).edits("/src/app/upload.go").answers("Both files build."), "Split `upload.go` into two files.", "thousand lines"},
		{"a report that was mended", work().answers("Done.").says("the upload test fails on my side").edits("/src/app/upload.go").answers("Fixed the pause in `upload.go`; all tests pass."), "the upload test fails on my side (fixed in the session)", ""},
		{"a report that was not", work().answers("Done.").says("the upload test fails on my side").edits("/src/app/upload.go").answers("It still fails, I could not find out why."), "the upload test fails on my side", "fixed in"},
		{"a question on the way", work().answers("Done.").says("where is the pause read?").answers("In `upload.go`, before the loop."), "add retries", "where is the pause"},
		{"a credential", work().answers("Done.").says("take [REDACTED:token] to publish the first release").edits("/src/app/upload.go").answers("Released it."), "add retries", "REDACTED"},
		{"an objection", work().answers("Done.").says("no, that is wrong for a server that is busy").edits("/src/app/upload.go").answers("Fixed it."), "add retries", "that is wrong"},
	} {
		got := strings.Join(of(test.talk.extract(t), memoir.StatementTask), "\n")
		if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: %q is missing, or %q is not, in\n%s", test.name, test.want, test.not, got)
		}
	}
}
