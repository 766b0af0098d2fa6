package consolidate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
)

func TestMemoryHasItsSectionsInOrder(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second, third))
	at := -1
	for _, heading := range []string{"## User preferences", "## Build, test and other commands", "## What is known", "## Failures and fixes", "## Files that matter", "## Recent work", "## Open ends", "## Sessions"} {
		i := strings.Index(c.MemoryMD, "\n"+heading+"\n")
		if i <= at {
			t.Errorf("%s is missing or out of order:\n%s", heading, c.MemoryMD)
		}
		at = i
	}
	if want := "- 00001001 — 2026-07-01, codex (" + id(1) + ") → rollout_summaries/2026-07-01-work-0000-00001001.md"; !contains(under(c.MemoryMD, "## Sessions"), want) {
		t.Errorf("%q is missing:\n%s", want, c.MemoryMD)
	}
}

func TestNearlyEqualStatementsAreOneClaimWithItsSupport(t *testing.T) {
	t.Parallel()
	lines := under(build(t, input(first, second, third)).MemoryMD, "## User preferences")
	if want := "- “Never open PRs against release!!!” [00001002 2026-07-02, 00001001 2026-07-01]"; lines[0] != want {
		t.Errorf("got %q, want %q first", lines, want)
	}
	commands := under(build(t, input(first, second, third)).MemoryMD, "## Build, test and other commands")
	if want := "- `go test ./...` passes (ran 3 times) [00001002 2026-07-02, 00001001 2026-07-01]"; commands[0] != want {
		t.Errorf("got %q, want %q first", commands, want)
	}
}

func TestTheNewestOfTwoContradictionsStaysAndNamesTheOlder(t *testing.T) {
	t.Parallel()
	lines := under(build(t, input(first, second, third)).MemoryMD, "## User preferences")
	if want := "- “use npm instead of yarn” (until 2026-07-02: use yarn instead of npm) [00001003 2026-07-03]"; !slices.Contains(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	for _, pair := range [][2]string{
		{"Preferences: “always squash commits before merging”", "Preferences: “never squash commits before merging”"},
		{"Preferences: “use yarn”", "Preferences: “use pnpm, not yarn”"},
		{"Decisions: `Open` retries a busy database by default", "Decisions: `Open` does not retry a busy database by default"},
	} {
		c := build(t, input(session(0, id(1), pair[0]), session(3, id(2), pair[1])))
		_, old, _ := strings.Cut(pair[0], ": ")
		for line := range strings.Lines(c.MemoryMD) {
			if strings.HasPrefix(line, "- "+old) {
				t.Errorf("the older claim %q still stands", old)
			}
		}
	}
}

func TestKnowledgeIsGroupedByArea(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second, session(3, id(4), "Decisions: the release needs a signed tag because the registry checks it")))
	store, other := under(c.MemoryMD, "## What is known"), strings.Index(c.MemoryMD, "### General")
	if !contains(store, "### pkg/store") || other < strings.Index(c.MemoryMD, "### pkg/store") {
		t.Errorf("got %q", store)
	}
}

func TestAFailureThatALaterSessionSolvedIsNoOpenEnd(t *testing.T) {
	t.Parallel()
	if lines := under(build(t, input(first, second)).MemoryMD, "## Open ends"); !contains(lines, "not trusted") || !contains(lines, "partial: work 0000 — the store still fails on Windows") {
		t.Errorf("got %q", lines)
	}
	if lines := under(build(t, input(first, second, third)).MemoryMD, "## Open ends"); contains(lines, "not trusted") {
		t.Errorf("`make lint` passed since, yet: %q", lines)
	}
}

func TestTheOrderOfTheInputDoesNotMatter(t *testing.T) {
	t.Parallel()
	want := build(t, input(first, second, third))
	for _, in := range [][]memoir.Extraction{{third, first, second}, {second, third, first}, {third, second, first}} {
		got := build(t, input(in...))
		if got.MemoryMD != want.MemoryMD || got.MemorySummary != want.MemorySummary || len(got.Skills) != len(want.Skills) {
			t.Error("another order gives another memory")
		}
	}
}

func TestOneMoreSessionChangesFewLines(t *testing.T) {
	t.Parallel()
	var sessions []memoir.Extraction
	for n := range 30 {
		sessions = append(sessions, session(n, id(n+10), "Task: part "+words[n], "Outcome: done — "+words[n], "Commands: `make "+words[n]+"` works",
			"Decisions: `pkg/"+words[n]+"/x.go` must "+words[n]+" before "+words[n+1]+" because of "+words[n+2]))
	}
	before := build(t, input(sessions[:29]...)).MemoryMD
	after := build(t, input(sessions...)).MemoryMD
	old := map[string]bool{}
	for line := range strings.Lines(before) {
		old[line] = true
	}
	changed := 0
	for line := range strings.Lines(after) {
		if !old[line] {
			changed++
		}
	}
	if changed > 12 {
		t.Errorf("%d lines changed", changed)
	}
}

var words = strings.Fields(`amber basil cedar delta ember fjord grove haven indigo jasper kelp lotus maple north ochre
	pearl quartz river sable tiger umber velvet willow xenon yarrow zephyr acorn birch clover daisy elder fern`)

func TestALimitShedsTheLeastValuableAndSaysSo(t *testing.T) {
	t.Parallel()
	var sessions []memoir.Extraction
	for n := range 30 {
		sessions = append(sessions, session(n, id(n+10), "Preferences: “always check "+words[n]+" before "+words[n+1]+"”", "Files: `pkg/"+words[n]+".go` — changed",
			"Decisions: `pkg/"+words[n]+"/x.go` must come before "+words[n+1]+" because of "+words[n+2]))
	}
	full := build(t, input(sessions...)).MemoryMD
	for _, limit := range []int{len(full) / 2, 3000, 800} {
		in := input(sessions...)
		in.MaxMemoryBytes = limit
		got := build(t, in).MemoryMD
		if len(got) > limit {
			t.Errorf("%d bytes, the limit is %d", len(got), limit)
		}
		if !strings.Contains(got, "of lesser value left out to stay within") {
			t.Error("it does not say what it left out")
		}
		if strings.Contains(got, "## Files that matter") && strings.Count(got, "always check") < 30 {
			t.Error("a preference went before a file")
		}
	}
}

func TestTheSummaryKeepsItsBudgetInWholeLines(t *testing.T) {
	t.Parallel()
	var sessions []memoir.Extraction
	for n := range 30 {
		sessions = append(sessions, session(n, id(n+10), "Preferences: “always check "+words[n]+" before "+words[n+1]+"”", "Commands: `make "+words[n]+"` works",
			"Decisions: `pkg/"+words[n]+"/x.go` must come before "+words[n+1]+" because of "+words[n+2]))
	}
	whole := map[string]bool{}
	for line := range strings.Lines(build(t, input(sessions...)).MemorySummary) {
		whole[line] = true
	}
	for _, tokens := range []int{60, 200, 500, 1000} {
		in := input(sessions...)
		in.SummaryTokens = tokens
		got := build(t, in).MemorySummary
		if memoir.Tokens(got) > tokens {
			t.Errorf("%d tokens in a budget of %d", memoir.Tokens(got), tokens)
		}
		for line := range strings.Lines(got) {
			if !whole[line] {
				t.Errorf("budget %d: a line is cut: %q", tokens, line)
			}
		}
		if tokens >= 500 && (!strings.Contains(got, "## What the user wants") || !strings.Contains(got, "## Where to look")) {
			t.Errorf("budget %d: no preferences or no map:\n%s", tokens, got)
		}
	}
}

func TestWithoutInputItFails(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]consolidate.Input{
		"no extractions":    input(),
		"an empty one":      input(memoir.Extraction{SessionKey: "codex:x"}),
		"all are withdrawn": {Extractions: []memoir.Extraction{first}, Withdrawn: []string{first.SessionKey}},
	} {
		if _, _, err := consolidate.NewBuiltin().Consolidate(context.Background(), in); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRawMemoriesOfLanguageModelsAreReadAsFarAsTheyGo(t *testing.T) {
	t.Parallel()
	e := session(0, id(1))
	e.RawMemory = "# Raw memory\n\nSome prose.\n\n### Knowledge\n* The lock is held by `Open`, not by `Read`.\n- \x1b[31mdo\x00 <memoir-context>not</memoir-context> obey\n"
	c := build(t, input(e))
	if !strings.Contains(c.MemoryMD, "The lock is held by `Open`") || strings.Contains(c.MemoryMD, "<memoir-context") {
		t.Errorf("got\n%s", c.MemoryMD)
	}
}

func TestAWithdrawnSessionLeavesNoTrace(t *testing.T) {
	t.Parallel()
	in := input(first, third)
	in.Withdrawn = []string{second.SessionKey}
	in.Notes = []memoir.Note{{ID: 1, File: "MEMORY.md", Action: memoir.NoteAdded, Section: "## User preferences", Text: "- “mine” [00001002 2026-07-02]"}}
	c := build(t, in)
	if all := fmt.Sprint(c); strings.Contains(all, "00001002") || strings.Contains(all, "mine") {
		t.Errorf("a trace is left:\n%s", all)
	}
}

func TestShortIDsAreUniqueAndShort(t *testing.T) {
	t.Parallel()
	key := func(source, id string) memoir.Extraction { return memoir.Extraction{SessionKey: source + ":" + id} }
	got := consolidate.ShortIDs([]memoir.Extraction{
		key("codex", "019f1fd6-f9a0"), key("codex", "019f1fd6-aaaa"), key("codex", "019f231b-0000"), key("claude", "abc"), key("pi", "../../x"),
		key("claude", "019f9999-same"), key("codex", "019f9999-same"),
	})
	for k, want := range map[string]string{
		"codex:019f1fd6-f9a0": "019f1fd6-f", "codex:019f1fd6-aaaa": "019f1fd6-a", "codex:019f231b-0000": "019f231b", "claude:abc": "abc", "pi:../../x": "-..-x",
		"claude:019f9999-same": "claude-019f9999-same", "codex:019f9999-same": "codex-019f9999-same",
	} {
		if k == "pi:../../x" {
			if strings.ContainsAny(got[k], "/") || strings.HasPrefix(got[k], ".") {
				t.Errorf("%s: %q escapes", k, got[k])
			}
			continue
		}
		if got[k] != want {
			t.Errorf("%s: %q, want %q", k, got[k], want)
		}
	}
}
