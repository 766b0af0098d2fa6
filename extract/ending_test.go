package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestTheStatusIsThatOfTheWork(t *testing.T) {
	t.Parallel()
	fixed := "Fixed the retry loop in `upload.go`."
	for _, test := range []struct {
		name, want string
		talk       *talk
	}{
		{"an offer to commit", "done", work().answers(fixed + "\n\nWould you like me to commit this?")},
		{"an offer to open a pull request", "done", work().answers(fixed + "\n\nShould I push the branch and open a pull request?")},
		{"an offer that holds more work", "partial", work().answers(fixed + "\n\nMay I fix the formatting, commit it and push?")},
		{"a choice", "partial", work().answers(fixed + "\n\nWhich approach do you prefer for the pull request?")},
		{"a push that failed", "partial", work().answers(fixed).says("push it").runs("git push", 1, "error: no permission").answers("Done with the commit; the server gave no permission.")},
		{"a push that passed later", "done", work().answers(fixed).says("push it").runs("git push", 1, "error: no permission").runs("git push", 0, "").answers("Done, it is on the server.")},
		{"a commit and no word of it", "done", work().says("bitte einchecken").runs("git commit -am 'fix: retry'", 0, "[main 1234abc] fix: retry").answers("Erledigt.")},
	} {
		if got := of(test.talk.extract(t), memoir.StatementOutcome); len(got) == 0 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%s: got %q, want %s", test.name, got, test.want)
		}
	}
}

func TestALineOfTheOutcomeNamesWhatItTellsOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		talk      *talk
		want, not string
	}{
		{"all is well", work().answers("The branch now has no outstanding issues. Fixed the retry loop in `upload.go`."), "Fixed the retry loop", "outstanding"},
		{"an answer that was broken off", work().answers("Fixed the retry loop in `upload.go`.\n\nAdded the header to `client.go` and the pause,").says("stop, that will do"), "Fixed the retry loop", "the pause,"},
	} {
		got := strings.Join(of(test.talk.extract(t), memoir.StatementOutcome), "\n")
		if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: %q is missing, or %q is not, in\n%s", test.name, test.want, test.not, got)
		}
	}
}
