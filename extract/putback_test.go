package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestAnOfferOrWhatWasUndoneIsNoOutcome(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		talk      *talk
		want, not string
	}{
		{"an offer", work().answers("Fixed the retry loop in `upload.go`. I could also make the client fall back to the mirror."), "Fixed the retry loop", "mirror"},
		{"an offer in a clause", work().answers("Fixed the retry loop in `upload.go` — I can also add a flag for the pause."), "Fixed the retry loop", "a flag"},
		{"an offer in German", work().answers("Fixed the retry loop in `upload.go`. Wenn du willst, baue ich `mirror.go` auch noch um."), "Fixed the retry loop", "mirror"},
		{"put back", work().answers("Set `queue.enableMirror` to `false` in the defaults of the client.").says("the mirror goes back to true, the field office needs it").edits("/src/app/client.go").answers("Done, it is as before."),
			"", "Set `queue.enableMirror` to `false`"},
		{"spoken of, but not put back", work().answers("Set `queue.enableMirror` to `false` in the defaults of the client.").says("add a test for the mirror").edits("/src/app/client_test.go").answers("Added the test of `client.go` that you asked for."),
			"Set `queue.enableMirror` to `false`", ""},
		{"a later state", work().answers("The pause in `upload.go` now is ten seconds long.").says("make it follow the server").edits("/src/app/upload.go").answers("The pause in `upload.go` now is as long as the server says."),
			"as long as the server says", "ten seconds"},
		{"a count", work().answers("Fixed the retry loop in `upload.go`. Three commits are ahead of the server."), "Fixed the retry loop", "Three commits"},
	} {
		got := strings.Join(of(test.talk.extract(t), memoir.StatementOutcome), "\n")
		if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: %q is missing, or %q is not, in\n%s", test.name, test.want, test.not, got)
		}
	}
}

func TestARetryThatPassedSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	denied := "error: access denied for https://files.example.test: credentials were not provided"
	alone := new(talk).says("push the strings").runs("npm run push-strings", 1, denied).runs("npm run push-strings", 0, "ok").answers("Pushed.")
	if got := of(alone.extract(t), memoir.StatementFailure); !holds(got, "passed when run again; what had changed is not known") {
		t.Errorf("got %q", got)
	}
	told := new(talk).says("push the strings").runs("npm run push-strings", 1, denied).answers("The server denies the access.").says("the tunnel was down, it is up now").runs("npm run push-strings", 0, "ok").answers("Pushed.")
	if got := of(told.extract(t), memoir.StatementFailure); !holds(got, "after the user said: “the tunnel was down, it is up now”") {
		t.Errorf("got %q", got)
	}
}
