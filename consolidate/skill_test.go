package consolidate_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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
