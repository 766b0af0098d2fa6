package extract_test

import (
	"context"
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
)

// created is a session in which a command for a text for people was run.
func created(line, output string) *talk {
	return work().runs(line, 0, output)
}

func TestTextsForPeopleAreReadFromAnyFormOfTheCommand(t *testing.T) {
	t.Parallel()
	body := "## Summary\n- retry uploads that end in a `503` with a growing pause\n- keep the `Retry-After` header of the server\n\n## Tests\n- `go test ./upload` on two machines in a row"
	quoted := strings.ReplaceAll(body, "`", "\\`")
	escaped := strings.ReplaceAll(body, "\n", `\n`)
	url := "https://example.com/a/b/pull/9"
	for name, s := range map[string]*talk{
		"in double quotation marks": created(`gh pr create --title "fix: retry" --body "`+quoted+`"`, url),
		"in single ones":            created("gh pr create --title 'fix: retry' --body '"+body+"'", url),
		"with escapes":              created("gh pr create --title 'fix: retry' --body $'"+escaped+"'", url),
		"a substituted document":    created("gh pr create --title 'fix: retry' --body \"$(cat <<'EOF'\n"+body+"\nEOF\n)\"", url),
		"on standard input":         created("gh pr create --title 'fix: retry' --body-file - <<'EOF'\n"+body+"\nEOF", url),
		"in a file by the shell":    work().runs("cat > /tmp/body.md <<'EOF'\n"+body+"\nEOF", 0, "").runs("gh pr create --title='fix: retry' --body-file /tmp/body.md", 0, url),
		"in a file by the editor":   writes(work(), "/tmp/body.md", body).runs("gh pr create -t 'fix: retry' -F /tmp/body.md", 0, url),
		"for the other forge":       created("glab mr create --title 'fix: retry' --description '"+body+"'", "https://example.com/a/b/-/merge_requests/9"),
	} {
		got := of(s.answers("Done.").extract(t), memoir.StatementOutcome)
		if !holds(got, "PR #9 “fix: retry”: Retry uploads that end in a `503` with a growing pause; Keep the `Retry-After` header of the server") {
			t.Errorf("%s: got %q", name, got)
		}
		if holds(got, "two machines") {
			t.Errorf("%s: the list of tests is no summary: %q", name, got)
		}
	}
}

func TestAnEscapedQuotationMarkEndsNoText(t *testing.T) {
	t.Parallel()
	const body = `## Summary\n- keep the server\'s header of the pause\n- say \"paused\" in the log of uploads`
	for line, want := range map[string]string{
		"gh pr create --title 'fix: retry' --body $'" + body + "' && gh pr view":     "PR #9 “fix: retry”: Keep the server's header of the pause; Say \"paused\" in the log of uploads",
		`git commit -m $'fix: keep the server\'s pause\n\nIt was lost.' && git push`: "fix: keep the server's pause",
	} {
		output := "[main 1234abc] fix: keep the server's pause\nhttps://example.com/a/b/pull/9"
		if got := of(created(line, output).answers("Done.").extract(t), memoir.StatementOutcome); !holds(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// writes adds a call that writes a file.
func writes(s *talk, path, text string) *talk {
	text = strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(text)
	return s.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Write", Input: `{"file_path": "` + path + `", "content": "` + text + `"}`, Output: "ok"})
}

func TestWhyAChangeWasMadeIsAFinding(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a root cause": "gh pr create --title 'fix: retry' --body '## Root cause\nThe client closed the body before the pause was read. The next attempt got an empty header.\n\n## Summary\n- read the pause first and close the body then'",
		"a commit":     "git commit -m 'fix: retry' -m 'The client closed the body before the pause was read, so the next attempt got an empty header.'",
		"a reply":      "gh pr comment 7 --body 'I agree with the diagnosis: the client closed the body before the pause was read, so the next attempt got an empty header.'",
		"a review":     "gh api repos/a/b/pulls/7/comments/1/replies -f body='The client closed the body before the pause was read, because `Close` ran in a deferred call.'",
	} {
		got := of(created(line, "ok").answers("Done.").extract(t), memoir.StatementDecision)
		if !holds(got, "he client closed the body before the pause was read") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestOnlyTheTextThatStayedCounts(t *testing.T) {
	t.Parallel()
	create := "gh pr create --title 'fix: retry' --body '- pause for a fixed number of ten seconds'"
	for name, test := range map[string]struct {
		session   *talk
		want, not string
	}{
		"an edited description": {created(create, "https://example.com/a/b/pull/9").runs("gh pr edit 9 --body '- pause for as long as the server asks in its header'", 0, ""),
			"PR #9 “fix: retry”: Pause for as long as the server asks", "ten seconds"},
		"a closed pull request": {created(create, "https://example.com/a/b/pull/9").runs("gh pr close 9 --comment 'Superseded by #12, which leaves the pause to the server.'", 0, ""),
			"Closed PR #9: Superseded by #12", "ten seconds"},
		"a merged one":          {created(create, "https://example.com/a/b/pull/9").runs("gh pr merge 9 --squash", 0, ""), "PR #9 “fix: retry” (merged): Pause", ""},
		"a failed command":      {work().runs(create, 1, "no permission"), "", "ten seconds"},
		"an amended commit":     {created("git commit -m 'fix: pause'", "[main 1234abc] fix: pause").runs("git commit --amend -m 'fix: honour the pause'", 0, "[main 2234abc] fix: honour the pause"), "`2234abc` “fix: honour the pause”", "1234abc"},
		"two commits of a call": {created("git commit -m 'fix: pause'; git commit -am 'test: pause'", "[main 1234abc] fix: pause\n 1 file changed\n[main 2234abc] test: pause"), "`1234abc` “fix: pause”; `2234abc` “test: pause”", ""},
		"a reverted commit":     {created("git commit -m 'fix: pause'", "[main 1234abc] fix: pause").runs("git revert --no-edit 1234abc", 0, ""), "", "“fix: pause”"},
		"a signature":           {created("gh pr comment 9 --body 'Moved the pause of the `upload` client into its own file.\n\n*This comment was generated by a coding assistant of mine.*'", ""), "Moved the pause", "generated by"},
		"a push's advice":       {created("git push -u origin retry && gh pr create --fill", "remote: https://example.com/a/b/pull/new/retry\nhttps://example.com/a/b/pull/9"), "https://example.com/a/b/pull/9", "pull/new"},
	} {
		e := test.session.answers("Done.").extract(t)
		if !strings.Contains(e.RawMemory, test.want) || test.not != "" && strings.Contains(strings.Join(of(e, memoir.StatementOutcome), "\n"), test.not) {
			t.Errorf("%s: %q is missing, or %q is not, in\n%s", name, test.want, test.not, e.RawMemory)
		}
	}
}

func TestATextForAnotherRepositorySaysSo(t *testing.T) {
	t.Parallel()
	body := " --title 'fix: retry' --body '- pause for as long as the server asks in its header'"
	for line, other := range map[string]bool{
		"gh pr create" + body:                                   false,
		"gh pr create --repo ann/app" + body:                    false,
		"gh pr create --repo ann/uploads" + body:                true,
		"cd /src/uploads && gh pr create -R ann/uploads" + body: true,
	} {
		in := work().runs(line, 0, "https://example.com/ann/x/pull/9").answers("Done.").input()
		in.Session.Remote = "https://example.com/ann/app.git"
		e, _, err := extract.NewBuiltin().Extract(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(of(e, memoir.StatementOutcome), "\n"); strings.Contains(got, "(in another repository: uploads)") != other || !strings.Contains(got, "Pause for as long") {
			t.Errorf("%s: got %s", line, got)
		}
	}
}
