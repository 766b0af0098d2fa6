package extract_test

import (
	"context"
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
)

func TestAnAddressStandsBehindItsPullRequest(t *testing.T) {
	t.Parallel()
	const one, two = "gh pr create --title 'fix: retry' --body '- pause for as long as the server asks in its header'", "gh pr create --title 'docs: mirror' --body '- say how a mirror of the files is chosen by the client'"
	a, b := "https://example.com/ann/app/pull/8", "https://example.com/ann/app/pull/9"
	for _, test := range []struct {
		name      string
		talk      *talk
		want, not string
	}{
		{"two of one call", work().runs(one+"; "+two, 0, a+"\n"+b), "PR #9 “docs: mirror”: Say how a mirror of the files is chosen by the client (" + b + ")", ""},
		{"two of one call, one address", work().runs(one+"; "+two, 0, a), "“docs: mirror”: Say how", "PR #8 “docs: mirror”"},
		{"the line of another", work().runs(one, 0, a).runs(two, 0, b), "PR #8 “fix: retry”: Pause for as long as the server asks in its header (" + a + ")", a + ", " + b},
		{"no line of its own", work().runs("gh pr create --fill", 0, a).runs("gh pr create --fill", 0, b).answers("Fixed the retry loop in `upload.go`."), "Opened " + a + ", " + b, ""},
		{"the only one", work().runs("gh pr create --fill", 0, a).answers("Fixed the retry loop in `upload.go`."), "Fixed the retry loop in `upload.go`. (" + a + ")", ""},
		{"an announcement", work().runs(one, 0, a).answers("Opened [PR #8](" + a + ") with commit `1234abc`. Replied to the review."), "PR #8 “fix: retry”: Pause", "with commit"},
		{"an announcement that says more", work().runs(one, 0, a).answers("Opened [PR #8](" + a + ") against the `legacy` branch of the uploader."), "against the `legacy` branch", ""},
		{"an announcement of work on another's", work().answers("Addressed the feedback on [PR #7](https://example.com/ann/app/pull/7)."), "#7", ""},
		{"in another repository", work().runs(one, 0, "https://example.com/ann/uploads/pull/3"), "(in another repository: uploads)", ""},
	} {
		in := test.talk.answers("Done.").input()
		in.Session.Remote = "https://example.com/ann/app.git"
		e, _, err := extract.NewBuiltin().Extract(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(of(e, memoir.StatementOutcome), "\n")
		if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: %q is missing, or %q is not, in\n%s", test.name, test.want, test.not, got)
		}
	}
}

func TestACommitGoesByTheNameThatItHasAtTheEnd(t *testing.T) {
	t.Parallel()
	commit := func() *talk { return work().runs("git commit -m 'fix: retry'", 0, "[retry 1234abc] fix: retry") }
	for _, test := range []struct {
		name      string
		talk      *talk
		want, not string
	}{
		{"as it was made", commit(), "Committed `1234abc` “fix: retry”", ""},
		{"after a rebase", commit().runs("git rebase origin/main", 0, "Successfully rebased and updated refs/heads/retry."), "Committed “fix: retry”", "1234abc"},
		{"listed after a rebase", commit().runs("git rebase origin/main && git log --oneline -2", 0, "Successfully rebased and updated refs/heads/retry.").runs("git log --oneline -2", 0, "2234abc (HEAD -> retry) fix: retry\n3234abc docs: mirror"), "Committed `2234abc` “fix: retry”", "1234abc"},
		{"made anew", commit().runs("git switch -c again main && git commit -m 'fix: retry'", 0, "[again 2234abc] fix: retry").runs("git branch -D retry", 0, "Deleted branch retry (was 1234abc)."), "Committed `2234abc` “fix: retry”", "1234abc"},
		{"given up", commit().runs("gh pr create --head retry --title 'fix: retry' --body '- pause for as long as the server asks'", 0, "https://example.com/a/b/pull/9").runs("gh pr close 9", 0, ""), "", "1234abc"},
	} {
		got := strings.Join(of(test.talk.answers("Done.").extract(t), memoir.StatementOutcome), "\n")
		if !strings.Contains(got, test.want) || test.not != "" && strings.Contains(got, test.not) {
			t.Errorf("%s: %q is missing, or %q is not, in\n%s", test.name, test.want, test.not, got)
		}
	}
}
