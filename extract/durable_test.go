package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

// kept tells whether an answer's sentence became a finding that a project's memory keeps.
func kept(texts []string, part string) bool {
	for _, t := range texts {
		if strings.Contains(t, part) && !strings.Contains(t, "(in passing)") {
			return true
		}
	}
	return false
}

func TestWhatIsOfTheSessionIsNoFinding(t *testing.T) {
	t.Parallel()
	for name, sentence := range map[string]string{
		"a pull request":                "The PR is blocked by the `test` workflow because `lint` fails.",
		"a diff":                        "The final diff is larger because `Task.Render` has an entry point now.",
		"feedback":                      "The only actionable feedback is a failed `lint` check, so `cargo fmt` must run.",
		"a test run":                    "The test passed, because `broken.sh` must be skipped.",
		"a command that stopped":        "The publish command stopped before staging because `hk` is not on the PATH.",
		"a clean state":                 "Formatting is clean and `template` passes, so nothing must be done.",
		"a verdict":                     "The final `DirectoryNotEmpty` suppression is important, and it must stay.",
		"a preference of the agent":     "My preference is a strict helper named `removeAll`, because it is reusable.",
		"its own doing":                 "I also corrected `archive/tar`, because sparse versions are accepted there.",
		"an entry without a subject":    "Covers `onProgress`, `onEntry` and every `Summary` counter, because they must be tested.",
		"another such entry":            "Reduces `lib.rs` from 1,370 to 670 lines, so that it must not be split.",
		"a thing done":                  "Replaced `Config` with a context, because that is `faster` to build.",
		"a file's entry":                "`hooks_test.go` - Updated `TestHooks` to expect the new format instead of the old.",
		"a file's entry in bold":        "**`hooks_test.go`** - Updated `TestHooks` to expect the new format instead of the old.",
		"a commit":                      "`e39406f94` adds tests for `versions`, because malformed shapes must fail.",
		"lines of a file":               "Lines 228 and 331 must not change because `Strategy` is set there.",
		"a label":                       "Small note: `mise run test:bats` reached bats, so the file must be run directly.",
		"a step of the story":           "`test-ci` then fails because it sees that `lint` failed.",
		"something that hangs in air":   "That also explains why `test-ci` must say so.",
		"what the person did":           "You typed `ls` without a prefix, so `bash` must run it.",
		"a reviewer":                    "The reviewer says that `Close` must be called because connections leak.",
		"an offer":                      "The next big task is `WP15`, which must come before `WP16`.",
		"an agent's plan":               "We'd need to add a `linkUrl` token because `link` must stay.",
		"what a proposal would look at": "A regression test should cover `url` without `url_api`.",
	} {
		if got := of(work().answers(sentence).extract(t), memoir.StatementDecision); kept(got, "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWhatHoldsInAMonthIsAFinding(t *testing.T) {
	t.Parallel()
	for _, sentence := range []string{
		"go-git doesn't use the system's credential helpers (like `git-credential-manager` on Windows).",
		"The issue is that Ghostty has `TERM=xterm-ghostty` but VS Code has `TERM=xterm-256color`.",
		"The root cause is that `Config::load` caches the first caller's environment.",
		"The workflow marks `nightly` as `continue-on-error: true`, so it must not block a release.",
		"npm `12.0.0` has a breaking change: `npm view --json` now always returns an array.",
		"The wrapper script requires `bash` 5 because it uses `wait -p`.",
		"`daemon.rs` sends `Clear` to one socket, because the socket's hash includes the profile.",
		"The API requires `tool_result` to follow `tool_use` immediately.",
	} {
		if got := of(work().answers(sentence).extract(t), memoir.StatementDecision); !kept(got, strings.TrimSuffix(sentence, ".")[:40]) {
			t.Errorf("lost: %q, got %q", sentence, got)
		}
	}
}

func TestAChoiceWithItsReasonCountsWhereverItWasSaid(t *testing.T) {
	t.Parallel()
	got := of(work().narrates("I decided on one file per scene, because people edit scenes by hand.").runs("go test ./...", 0, "ok").answers("Done.").extract(t), memoir.StatementDecision)
	if len(got) != 1 || got[0] != "Decided on one file per scene, because people edit scenes by hand." {
		t.Errorf("got %q", got)
	}
	for _, no := range []string{"I decided to look at the tests first, because they fail.", "I decided on one file per scene.", "Maybe we decided on one file because of that."} {
		if got := of(work().narrates(no).runs("go test ./...", 0, "ok").answers("Done.").extract(t), memoir.StatementDecision); len(got) > 0 {
			t.Errorf("%q is no decision with a reason: %q", no, got)
		}
	}
}

func TestAnAcceptedProposalBecomesARule(t *testing.T) {
	t.Parallel()
	proposal := "I would not put this into the general `file::remove_all`; many callers need strict deletion, because they check the error."
	rule := "Do not put this into the general `file::remove_all`"
	for _, test := range []struct {
		name string
		next []string
		want bool
	}{
		{"an assent", []string{"ok make a pr"}, true},
		{"a question, then an assent", []string{"should we have a new helper?", "yes"}, true},
		{"a request to go on", []string{"implement it"}, true},
		{"nothing", nil, false},
		{"a question alone", []string{"should we have a new helper?"}, false},
		{"a refusal", []string{"no, don't"}, false},
	} {
		s := work().answers(proposal)
		for _, n := range test.next {
			s.says(n).answers("Understood it.")
		}
		if got := of(s.extract(t), memoir.StatementDecision); kept(got, rule) != test.want {
			t.Errorf("%s: got %q, want it: %v", test.name, got, test.want)
		}
	}
}

func TestAnAnswerThatNeedsItsQuestionTakesItAlong(t *testing.T) {
	t.Parallel()
	got := of(work().answers("Done.").says("Why is the fade computed in the daemon?").answers("Because bulbs with old firmware drop a running transition.").extract(t), memoir.StatementDecision)
	if want := "Why is the fade computed in the daemon? Because bulbs with old firmware drop a running transition."; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAStateThatWasChangedAfterwardsIsNotTold(t *testing.T) {
	t.Parallel()
	sentence := "`npm.go` parses the old shape, because `versions` is expected at the top."
	if got := of(work().answers(sentence).says("fix it").edits("/src/app/npm.go").answers("Fixed it.").extract(t), memoir.StatementDecision); len(got) > 0 {
		t.Errorf("mended since, and nobody said how: %q", got)
	}
	for name, s := range map[string]*talk{
		"another file changed": work().answers(sentence).says("fix it").edits("/src/app/other.go").answers("Fixed it."),
		"changed before":       work().edits("/src/app/npm.go").answers(sentence),
	} {
		if got := of(s.extract(t), memoir.StatementDecision); len(got) != 1 || holds(got, "(before") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWhatIsOnlyStatedIsNotedInPassing(t *testing.T) {
	t.Parallel()
	got := of(work().answers("The `id` package has a private `checkpointRegex`. The `id` package must stay private because `trailers` imports it.").extract(t), memoir.StatementDecision)
	if len(got) != 2 || !strings.Contains(got[0], "must stay private") || !strings.HasSuffix(got[1], "`checkpointRegex`. (in passing)") {
		t.Errorf("the weightier first, the other marked: %q", got)
	}
}

func TestAConclusionStandsByItself(t *testing.T) {
	t.Parallel()
	got := of(work().answers("So the `tar` dependency is still required, mainly because `oci` writes archives.").extract(t), memoir.StatementDecision)
	if !kept(got, "The `tar` dependency is still required") {
		t.Errorf("got %q", got)
	}
}

func TestADemandWithItsReasonIsKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typed string
		want  bool
	}{
		{"hmmm, the theme selector needs to push the update to the next tick, or else we get rendering artifacts", true},
		{"the queue component breaks the invariant that every line must not be wider than the width passed in", true},
		{"the header needs to be a little bit larger on the left side today", false},
		{"maybe the header should be larger because it looks odd on my screen", false},
		{"should the header be larger because it looks odd on the small screens?", false},
	} {
		got := of(work().answers("Done.").says(test.typed).answers("Understood it.").extract(t), memoir.StatementDecision)
		if holds(got, "the user: “"+test.typed+"”") != test.want {
			t.Errorf("%q: got %q, want it: %v", test.typed, got, test.want)
		}
	}
}
