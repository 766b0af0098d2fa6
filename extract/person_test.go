package extract_test

import (
	"testing"

	"memoir"
)

func TestCommandsToTheAgentItselfAreNoTasks(t *testing.T) {
	t.Parallel()
	slash := func(s *talk, text string) *talk {
		return s.add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginSlashCommand, Text: text})
	}
	for _, text := range []string{"/compact keep the root cause", "/model opus", "/clear", "/exit", "/mcp", "/rename retries", "/unknown"} {
		if got := of(slash(work(), text).answers("Done.").extract(t), memoir.StatementTask); len(got) != 1 {
			t.Errorf("%s: tasks %q", text, got)
		}
	}
	for _, text := range []string{"/address-feedback of pull request 7", "/etc/app/main.conf is not read on start, fix it"} {
		if got := of(slash(work(), text).answers("Done.").extract(t), memoir.StatementTask); !holds(got, text) {
			t.Errorf("%s asks for something: %q", text, got)
		}
	}
}

func TestAnAcknowledgementIsNotTheOutcome(t *testing.T) {
	t.Parallel()
	done := "Released 0.4.0: lint, test and dist pass."
	for name, s := range map[string]*talk{
		"a rule that was noted": work().answers(done).says("Next time write the changelog before tagging, and always sign tags.").answers("Understood: the changelog comes before the tag."),
		"thanks":                work().answers(done).says("great, thanks").answers("You are welcome, any time."),
		"a rule in other words": work().answers(done).says("Never print keys.").answers("I will not print credentials again."),
	} {
		if got := of(s.extract(t), memoir.StatementOutcome); len(got) == 0 || got[0] != "done — "+done {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestAnOutcomeTellsWhatWasDoneNotWhoDidIt(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"I've updated both `docs/a.md` and `docs/b.md`.":                               "done — Updated both `docs/a.md` and `docs/b.md`.",
		"Done: the retry loop in `upload.go` stops after three attempts.":              "done — the retry loop in `upload.go` stops after three attempts.",
		"All checks are green. Moved the retry loop from `upload.go` into `retry.go`.": "done — Moved the retry loop from `upload.go` into `retry.go`.",
	} {
		if got := of(work().answers(answer).extract(t), memoir.StatementOutcome); len(got) == 0 || got[0] != want {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
}

func TestASessionThatEndsOnAFailureIsNotDone(t *testing.T) {
	t.Parallel()
	got := of(work().says("publish it").runs("npm publish", 1, "error: no such member `EditorTheme`").
		answers("These errors look like a mismatch between the two packages; one of them has another interface than the one that this repository was written against, it seems to me.").extract(t), memoir.StatementOutcome)
	if len(got) == 0 || got[0][:7] != "partial" {
		t.Errorf("got %q", got)
	}
}
