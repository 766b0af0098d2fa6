package consolidate_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"memoir"
)

func TestAProcedureThatRecursBecomesASkill(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second, third))
	if len(c.Skills) != 1 {
		t.Fatalf("%d skills", len(c.Skills))
	}
	s := c.Skills[0]
	if s.Name != "make-pr" {
		t.Errorf("name %q", s.Name)
	}
	parts := strings.SplitN(s.Content, "---\n", 3)
	var front struct{ Name, Description string }
	if len(parts) != 3 || yaml.Unmarshal([]byte(parts[1]), &front) != nil || front.Name != s.Name || !strings.Contains(front.Description, "Use when") {
		t.Errorf("frontmatter %+v of\n%s", front, s.Content)
	}
	at := 0
	for _, want := range []string{
		"[00001002 2026-07-02, 00001001 2026-07-01]", "## Before you start", "release", "## Steps", "1. `git switch`", "2. `go fmt ./...`", "3. `go test ./...`", "4. `git commit`", "5. `gh pr create`",
		"## What goes wrong", "no fixture", "## How to verify", "`go test ./...` passes",
	} {
		i := strings.Index(s.Content[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing or out of order:\n%s", want, s.Content)
		}
		at += i
	}
	if !strings.Contains(c.MemorySummary, "skills/make-pr/SKILL.md") {
		t.Error("the summary does not name the skill")
	}
}

func TestWhatDoesNotRecurIsNoSkill(t *testing.T) {
	t.Parallel()
	once := session(0, id(1), "Procedure: “make a pr”: `go fmt ./...` → `go test ./...` → `git push`", "Procedure: “make a pr”: `go fmt ./...` → `go test ./...` → `git push`")
	other := session(1, id(2), "Procedure: “publish”: `npm ci` → `npm test` → `npm publish`")
	onlyGit := session(2, id(3), "Procedure: “land it”: `git commit` → `git push` → `gh pr create`")
	again := session(3, id(4), "Procedure: “land it”: `git commit` → `git push` → `gh pr create`")
	if c := build(t, input(once, other, onlyGit, again)); len(c.Skills) != 0 {
		t.Errorf("got %+v", c.Skills)
	}
}

// described returns the description of the only skill of sessions.
func described(t *testing.T, c memoir.Consolidation) string {
	t.Helper()
	if len(c.Skills) != 1 {
		t.Fatalf("%d skills", len(c.Skills))
	}
	var front struct{ Description string }
	if err := yaml.Unmarshal([]byte(strings.SplitN(c.Skills[0].Content, "---\n", 3)[1]), &front); err != nil {
		t.Fatal(err)
	}
	return front.Description
}

func TestADescriptionSaysWhenToUseTheSkill(t *testing.T) {
	t.Parallel()
	checks, other := "`make fmt` → `make lint` → `make test`", "`app export` → `app reindex` → `app verify`"
	for _, test := range []struct {
		procedures []string
		want       string
	}{
		{[]string{"“make a pr”: " + checks, "“render_task is terrifying”: " + checks, "“ok make a pr”: " + checks}, "Use when the user asks for something like “make a pr”: make fmt"},
		{[]string{"after a change in `cmd/app/cli`: " + checks, "after a change in `cmd/app/log`: " + checks}, "Use before a commit and after changes in cmd/app: make fmt, make lint, make test, as in 2 sessions"},
		{[]string{"after a change: " + checks, "in order: " + checks}, "Use before a commit: make fmt"},
		{[]string{"after a change in `data`: " + other, "after a change in `data/en`: " + other}, "Use after changes in data: app export"},
		{[]string{"in order: " + other, "“go.”: " + other}, "Use when one of its steps is due, since they go together: app export"},
	} {
		var sessions []memoir.Extraction
		for n, p := range test.procedures {
			sessions = append(sessions, session(n, id(n+1), "Procedure: "+p))
		}
		if got := described(t, build(t, input(sessions...))); !strings.HasPrefix(got, test.want) {
			t.Errorf("%q:\ngot  %s\nwant %s", test.procedures, got, test.want)
		}
	}
}

func TestASkillSaysHowManyRunsTookAStep(t *testing.T) {
	t.Parallel()
	c := build(t, input(recur([]string{"make a pr", "make a pr", "make a pr"},
		"go fmt ./... > go test ./a > make gen > git commit > git push", "go fmt ./... > go test ./b > git commit > git push", "go fmt ./... > git commit > git push")...))
	if len(c.Skills) != 1 {
		t.Fatalf("%d skills", len(c.Skills))
	}
	for _, want := range []string{"1. `go fmt ./...`\n", "2. `go test <test>` (2 of 3 runs), e.g. `go test ./b`\n", "3. `git commit`\n"} {
		if !strings.Contains(c.Skills[0].Content, want) {
			t.Errorf("%q is missing:\n%s", want, c.Skills[0].Content)
		}
	}
	if strings.Contains(c.Skills[0].Content, "make gen") {
		t.Errorf("what one session did is a step:\n%s", c.Skills[0].Content)
	}
}

func TestASkillWarnsOfItsOwnStepsOnly(t *testing.T) {
	t.Parallel()
	sessions := recur([]string{"make a pr", "make a pr"}, "go fmt ./... > go test ./a > git commit > gh pr create")
	sessions = append(sessions, session(2, id(3),
		"Failures: `go test ./a` failed: error: no fixture — worked with `FIXTURES=1`",
		"Failures: `go test ./other` failed: error: no docker — worked with `DOCKER=0`",
		"Failures: `go fmt ./...` failed: error: no main — unresolved",
		"Preferences: “never open a pr against release”", "Preferences: asked for 3 times: “make a pr” — each time the agent ran `go fmt ./...`, `git commit`",
		"Preferences: “the theme must be blue”"))
	c := build(t, input(sessions...))
	if len(c.Skills) != 1 {
		t.Fatalf("%d skills", len(c.Skills))
	}
	content := c.Skills[0].Content
	if got := under(content, "## What goes wrong"); len(got) != 1 || !strings.Contains(got[0], "FIXTURES=1") {
		t.Errorf("what goes wrong: %q", got)
	}
	if got := under(content, "## Before you start"); len(got) != 1 || !strings.Contains(got[0], "against release") {
		t.Errorf("before you start: %q", got)
	}
}
