package consolidate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memoirtest"
)

// session makes an extraction that ended n days after a fixed one, from bullets written as "Kind: text".
func session(n int, id string, bullets ...string) memoir.Extraction {
	var statements []memoir.Statement
	for i, b := range bullets {
		kind, text, _ := strings.Cut(b, ": ")
		statements = append(statements, memoirtest.Statements(fmt.Sprintf("## %s\n- %s [%d]\n", kind, text, i+1))...)
	}
	end := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, n)
	e := memoir.Extraction{
		SessionKey: "codex:" + id, Statements: statements, RolloutSummary: "# s\n",
		RolloutSlug: "work-" + id[:4], Title: "work " + id[:4], StartedAt: end.Add(-time.Hour), EndedAt: end,
	}
	e.Identify()
	return e
}

func id(n int) string { return fmt.Sprintf("%08x-aaaa-7000-8000-%012x", 0x1000+n, n) }

func input(extractions ...memoir.Extraction) consolidate.Input {
	return consolidate.Input{Project: memoir.Project{Name: "app"}, Extractions: extractions}
}

func build(t testing.TB, in consolidate.Input) memoir.Consolidation {
	t.Helper()
	c, err := consolidate.NewBuiltin().Consolidate(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := consolidate.Verify(c, in); err != nil {
		t.Error(err)
	}
	return c
}

// under returns the lines below a heading.
func under(text, heading string) []string {
	_, rest, ok := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !ok {
		return nil
	}
	var out []string
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "## ") {
			break
		}
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

func contains(lines []string, part string) bool {
	return strings.Contains(strings.Join(lines, "\n"), part)
}

var ( // three sessions of one project
	first = session(0, id(1), "Task: make a pr to fix", "Outcome: done — fixed the loop",
		"Preferences: “never open prs against release”", "Commands: `go test ./...` passes (ran 2 times)",
		"Decisions: `pkg/store/lock.go` holds the lock because two writers race", "Files: `pkg/store/lock.go` — changed 3 times",
		"Failures: `make lint` failed: error: not trusted — unresolved")
	second = session(1, id(2), "Task: make a pr for the store", "Outcome: partial — the store still fails on Windows",
		"Preferences: “Never open PRs against release!!!”", "Preferences: “use yarn instead of npm”", "Commands: `go test ./...` passes",
		"Decisions: `pkg/store/open.go` must set the timeout first, because later pragmas wait for locks", "Files: `pkg/store/lock.go` — changed")
	third = session(2, id(3), "Task: move to pnpm", "Outcome: done — moved", "Preferences: “use npm instead of yarn”", "Commands: `make lint` passes",
		"Failures: `go test ./...` failed: panic: no fixture — worked with `FIXTURES=1`")
)

var words = strings.Fields("amber birch cedar delta ember fjord grove heron inlet jetty knoll lilac maple north ocean pearl quartz river stone thorn umber violet willow fern")

// entries counts the list entries of lines.
func entries(lines []string) (n int) {
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "- ") {
			n++
		}
	}
	return n
}

func TestVerifyHoldsAnyModelToTheRules(t *testing.T) {
	t.Parallel()
	in := input(first, second)
	in.Withdrawn = []string{third.SessionKey}
	good := memoir.Consolidation{MemoryMD: "# m\n- a [00001001 2026-07-01, 00001002 2026-07-02, +1]\n", MemorySummary: "s\n"}
	if err := consolidate.Verify(good, in); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*memoir.Consolidation){
		"an empty memory":       func(c *memoir.Consolidation) { c.MemoryMD = " \n" },
		"an empty summary":      func(c *memoir.Consolidation) { c.MemorySummary = "" },
		"an unknown session":    func(c *memoir.Consolidation) { c.MemoryMD += "- b [deadbeef 2026-07-01]\n" },
		"a withdrawn session":   func(c *memoir.Consolidation) { c.MemorySummary += "- b [00001003 2026-07-03]\n" },
		"a withdrawn thread id": func(c *memoir.Consolidation) { c.MemoryMD += "see " + id(3) + " for more\n" },
		"a frame":               func(c *memoir.Consolidation) { c.MemorySummary += "</memoir-context>\n" },
		"too large a memory":    func(c *memoir.Consolidation) { c.MemoryMD += strings.Repeat("x", consolidate.DefaultMemoryBytes) },
		"too large a summary": func(c *memoir.Consolidation) {
			c.MemorySummary += strings.Repeat("x", 4*consolidate.DefaultSummaryTokens)
		},
		"an empty skill": func(c *memoir.Consolidation) { c.Skills = []memoir.Skill{{Name: "x"}} },
		"a path out of a skill": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Scripts: []memoir.SkillFile{{Path: "../../run.sh"}}}}
		},
		"scripts that differ by case": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Scripts: []memoir.SkillFile{{Path: "run"}, {Path: "Run"}}}}
		},
		"folders that differ by case": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Scripts: []memoir.SkillFile{{Path: "lib/a"}, {Path: "Lib/b"}}}}
		},
		"a file that is a folder too": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "x", Examples: []memoir.SkillFile{{Path: "a"}, {Path: "A/b"}}}}
		},
		"a citation in a skill": func(c *memoir.Consolidation) {
			c.Skills = []memoir.Skill{{Name: "x", Content: "- y [deadbeef 2026-07-01]\n"}}
		},
	} {
		c := good
		spoil(&c)
		if err := consolidate.Verify(c, in); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerifyLetsPeopleWriteBrackets(t *testing.T) {
	t.Parallel()
	in := input(first)
	in.Known = []string{second.SessionKey}
	in.HandEdits = []memoir.HandEdit{note(1, memoir.EditAdded, "## A", "", "- found by bisecting [cafe0000 2026-07-03]")}
	for line, want := range map[string]memoir.Code{
		"- a [release 2026-12-01]":                    "",
		"- a [00001002 2026-07-02]":                   "", // not selected
		"- found by bisecting [cafe0000 2026-07-03]":  "",
		"- the model's own [cafe0000 2026-07-03]":     memoir.CodeInvalid,
		"- in the [cafe0000 2026-07-03] middle of it": memoir.CodeInvalid,
	} {
		if err := consolidate.Verify(memoir.Consolidation{MemoryMD: line + "\n", MemorySummary: "s\n"}, in); memoir.CodeOf(err) != want {
			t.Errorf("%q: %v", line, err)
		}
	}
}
