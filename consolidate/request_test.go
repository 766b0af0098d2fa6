package consolidate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoir"
)

// asking makes sessions in which these things were asked; those of one session are
// separated by |.
func asking(sessions ...string) []memoir.Extraction {
	var out []memoir.Extraction
	for n, asks := range sessions {
		var lines []string
		for ask := range strings.SplitSeq(asks, "|") {
			lines = append(lines, "Task: "+ask)
		}
		out = append(out, session(n, id(n+1), append(lines, fmt.Sprintf("Decisions: `a%d.go` must stay as it is because of reason %d", n, n))...))
	}
	return out
}

func TestWhatIsAskedTimeAndAgainLeadsTheBriefing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		asked []string
		want  []string
	}{
		{"courtesies and ends differ", []string{"address pr feedback", "ok, address pr feedback and failing checks if any", "please address pr feedback", "fix the crash"}, []string{"asked in 3 of 4 sessions: “address pr feedback”"}},
		{"links and a word differ", []string{"address pr feedback", "address feedback on https://git.test/a/b/pull/7", "do something else"}, []string{"asked in 2 of 3 sessions: “address pr feedback”"}},
		{"one request holds two", []string{"make a pr, reply to discussion", "reply to discussion|tidy up", "make a pr to fix it and reply to the discussion"}, []string{"asked in 3 of 3 sessions: “reply to discussion”", "asked in 2 of 3 sessions: “make a pr”"}},
		{"what is linked is not the request", []string{"thoughts on https://git.test/1", "thoughts on https://git.test/2"}, []string{"asked in 2 of 2 sessions: “thoughts on …”"}},
		{"versions differ", []string{"Release 0.4.0.", "Release 0.4.1 with the fix.", "release v0.5"}, []string{"asked in 3 of 3 sessions: “release …”"}},
		{"files differ", []string{"read @src/main.ts in full", "read docs/theme.md in full, then tell me", "read it"}, []string{"asked in 2 of 3 sessions: “read … in full”"}},
		{"another language", []string{"Bitte prüfe die Änderungen", "prüfe die Änderungen nochmal", "was anderes"}, []string{"asked in 2 of 3 sessions: “prüfe die Änderungen”"}},
		{"twice in one session", []string{"address pr feedback|address pr feedback", "other work"}, nil},
		{"going on", []string{"continue", "continue", "ok", "yes please", "yes please"}, nil},
		{"pasted", []string{"pasted: “panic: no fixture”", "pasted: “panic: no fixture”"}, nil},
	} {
		var got []string
		for _, l := range under(build(t, input(asking(test.asked...)...)).MemorySummary, "## How the user works") {
			l, _, _ = strings.Cut(strings.TrimPrefix(l, "- "), " [")
			got = append(got, l)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestARareRequestIsNoHabit(t *testing.T) {
	t.Parallel()
	asked := []string{"update the changelog", "update the changelog"}
	for i := range 30 {
		asked = append(asked, fmt.Sprintf("%s the %s", words[i%len(words)], words[(i*7+3)%len(words)]))
	}
	for _, l := range under(build(t, input(asking(asked...)...)).MemorySummary, "## How the user works") {
		if strings.Contains(l, "changelog") {
			t.Errorf("got %q", l)
		}
	}
}

func TestTheBriefingTellsThatTheUserWantsToBeHeard(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ asked, want string }{
		{"look at the branch, let me know what you think before doing anything: “it is slow”", "“let me know what you think before doing anything”"},
		{"measure it. don't change the code yet", "“don't change the code yet”"},
		{"mide antes de tocar nada", "“mide antes de tocar nada”"},
		{"先别改代码，量一下", "“先别改代码”"},
	} {
		got := strings.Join(under(build(t, input(asking(test.asked, "other work")...)).MemorySummary, "## How the user works"), "\n")
		if !strings.Contains(got, "in 1 of 2 sessions: "+test.want+" [") {
			t.Errorf("%s: got %q", test.asked, got)
		}
	}
	refused := func(n int) memoir.Extraction {
		return session(n, id(n+1), fmt.Sprintf("Decisions: the user: “the %s is not to be touched” (said on refusing an edit of `a.go`)", words[n]))
	}
	if got := under(build(t, input(refused(0), refused(1))).MemorySummary, "## How the user works"); len(got) != 1 || !strings.Contains(got[0], "refused an edit or a command to correct it in 2 of 2 sessions") {
		t.Errorf("got %q", got)
	}
}
