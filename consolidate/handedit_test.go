package consolidate_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/consolidate"
	"memoir/memoirtest"
	"memoir/memory"
)

func note(id int64, action memoir.EditAction, section, after, text string) memoir.HandEdit {
	return memoir.HandEdit{ID: id, File: "MEMORY.md", Action: action, Section: section, After: after, Text: text}
}

func TestAHandWrittenLineStaysWhereItWasPut(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second, third))
	prefs := under(c.MemoryMD, "## User preferences")
	for _, test := range []struct {
		name   string
		note   memoir.HandEdit
		before string // the line that it must stand behind
	}{
		{"behind its neighbour", note(1, memoir.EditAdded, "## User preferences", prefs[0], "- mine"), prefs[0]},
		{"citations of the neighbour aside", note(1, memoir.EditAdded, "## User preferences", "- “Never open PRs against release!!!” [0000aaaa 2020-01-01]", "- mine"), prefs[0]},
		{"first of its section", note(1, memoir.EditAdded, "## User preferences", "", "- mine"), "## User preferences"},
		{"at the end, its neighbour being gone", note(1, memoir.EditAdded, "## User preferences", "- gone", "- mine"), prefs[len(prefs)-1]},
		{"under notes, its section being gone", note(1, memoir.EditAdded, "## Deployment", "", "- mine"), "## Notes"},
	} {
		got := consolidate.ApplyHandEdits(c, []memoir.HandEdit{test.note})
		var last string
		found := false
		for line := range strings.Lines(got.MemoryMD) {
			line = strings.TrimSpace(line)
			if line == "- mine" {
				found = true
				break
			}
			if line != "" {
				last = line
			}
		}
		if !found || last != test.before {
			t.Errorf("%s: it stands behind %q, want %q", test.name, last, test.before)
		}
		if again := consolidate.ApplyHandEdits(got, []memoir.HandEdit{test.note}); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%s: applying it twice differs", test.name)
		}
	}
}

func TestAnUnconfirmedLineIsOnlyInMEMORY(t *testing.T) {
	t.Parallel()
	in := input(first, second, third)
	claim := "- push to main" + memoir.Unconfirmed
	in.HandEdits = []memoir.HandEdit{note(1, memoir.EditAdded, "## User preferences", "", claim)}
	c := build(t, in)
	if !contains(under(c.MemoryMD, "## User preferences"), claim) || strings.Contains(c.MemorySummary, "push to main") {
		t.Errorf("got\n%s\n%s", c.MemoryMD, c.MemorySummary)
	}
}

func TestARewordedLineReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	notes := []memoir.HandEdit{
		note(1, memoir.EditRemoved, "## User preferences", "", "- “Never open PRs against release!!!” [00001002 2026-07-02]"),
		note(2, memoir.EditAdded, "## User preferences", "", "- “Never open PRs against release, nor against main”"),
	}
	got := consolidate.ApplyHandEdits(build(t, input(first, second, third)), notes)
	lines := under(got.MemoryMD, "## User preferences")
	if !contains(lines, "nor against main") || contains(lines, "release!!!") {
		t.Errorf("got %q", lines)
	}
	if again := consolidate.ApplyHandEdits(got, notes); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Error("applying them twice differs")
	}
}

func TestWholeFilesAndSkillsFollowTheirNotes(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second, third))
	got := consolidate.ApplyHandEdits(c, []memoir.HandEdit{
		{ID: 1, File: "skills/deploy/SKILL.md", Action: memoir.EditFile, Text: "---\nname: deploy\n---\n"},
		{ID: 2, File: "skills/deploy/scripts/run.sh", Action: memoir.EditFile, Text: "make deploy\n"},
		{ID: 3, File: "skills/make-pr/SKILL.md", Action: memoir.EditDeleted},
		{ID: 4, File: "../outside.md", Action: memoir.EditFile, Text: "no"},
		{ID: 5, File: "skills/Bad Name/SKILL.md", Action: memoir.EditFile, Text: "no"},
	})
	if len(got.Skills) != 1 || got.Skills[0].Name != "deploy" || len(got.Skills[0].Scripts) != 1 || got.Skills[0].Scripts[0].Path != "run.sh" {
		t.Errorf("got %+v", got.Skills)
	}
}

// What a person wrote takes the place of a file that cannot be beside it on every system.
func TestAFileOfAPersonsTakesThePlaceOfItsTwin(t *testing.T) {
	t.Parallel()
	made := memoir.Consolidation{MemoryMD: "m\n", MemorySummary: "s\n", Skills: []memoir.Skill{{Name: "deploy", Content: "x\n",
		Scripts: []memoir.SkillFile{{Path: "run.sh", Content: "a model's"}, {Path: "lib/a", Content: "a model's"}, {Path: "data", Content: "a model's"}}}}}
	notes := []memoir.HandEdit{
		{ID: 1, File: "skills/deploy/scripts/Run.sh", Action: memoir.EditFile, Text: "mine\n"},
		{ID: 2, File: "skills/deploy/scripts/Lib/b", Action: memoir.EditFile, Text: "mine\n"},
		{ID: 3, File: "skills/deploy/scripts/data/x", Action: memoir.EditFile, Text: "mine\n"},
	}
	out := consolidate.ApplyHandEdits(made, notes)
	want := []memoir.SkillFile{{Path: "Lib/b", Content: "mine\n"}, {Path: "Run.sh", Content: "mine\n"}, {Path: "data/x", Content: "mine\n"}}
	if diff := cmp.Diff(want, out.Skills[0].Scripts); diff != "" {
		t.Error(diff)
	}
	if err := consolidate.Verify(out, input(first)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(out, consolidate.ApplyHandEdits(out, notes)); diff != "" {
		t.Errorf("the second time: %s", diff)
	}
}

func TestOnlyLinesThatRestOnForgottenSessionsGo(t *testing.T) {
	t.Parallel()
	in := input(first, third)
	in.Withdrawn = []string{second.SessionKey, "claude:abc"}
	in.Known = []string{"codex:" + id(9)}
	for text, want := range map[string]string{
		"- mine [00001002 2026-07-02]":                       "",
		"- mine [00001002-aaaa 2026-07-02]":                  "",
		"- mine [codex-" + id(2) + " 2026-07-02]":            "",
		"- mine [abc 2026-07-02]":                            "",
		"- mine [00001002 2026-07-02], as was said":          "",
		"- mine, see " + id(2):                               "",
		"- mine [00001002 2026-07-02, 00001001 2026-07-01]":  "- mine [00001001 2026-07-01]",
		"- mine [00001002 2026-07-02] [00001009 2026-07-09]": "- mine [00001009 2026-07-09]",
		"- mine [00001001 2026-07-01]":                       "- mine [00001001 2026-07-01]",
		"- mine [00001009 2026-07-09]":                       "- mine [00001009 2026-07-09]", // not selected
		"- mine [cafe0000 2026-07-09]":                       "- mine [cafe0000 2026-07-09]", // nobody's
		"- Code freeze begins [release 2026-12-01]":          "- Code freeze begins [release 2026-12-01]",
		"- Decided in the standup [Ann 2026-10-10]":          "- Decided in the standup [Ann 2026-10-10]",
		"- Decided [Ann 2026-10-10, Bob 2026-10-11]":         "- Decided [Ann 2026-10-10, Bob 2026-10-11]",
		"- mine, without any citation":                       "- mine, without any citation",
		"- mine [see the issue 7 there]":                     "- mine [see the issue 7 there]",
	} {
		in.HandEdits = []memoir.HandEdit{note(1, memoir.EditAdded, "## User preferences", "", text)}
		c := build(t, in)
		if want == "" && contains([]string{c.MemoryMD, c.MemorySummary}, "mine") {
			t.Errorf("%q is still there", text)
		}
		if want != "" && (!strings.Contains(c.MemoryMD, "\n"+want+"\n") || !strings.Contains(c.MemorySummary, "\n"+inSummary(want)+"\n")) {
			t.Errorf("%q: %q is missing in\n%s%s", text, want, c.MemoryMD, c.MemorySummary)
		}
	}
}

// inSummary is a line of MEMORY.md as the summary repeats it: without citations of sessions.
func inSummary(line string) string {
	if at := strings.Index(line, " [0"); at >= 0 {
		return line[:at]
	}
	return strings.TrimSuffix(line, " [cafe0000 2026-07-09]")
}

func TestLinesThatDifferInABracketOfTheirOwnAreTwo(t *testing.T) {
	t.Parallel()
	notes := []memoir.HandEdit{
		note(1, memoir.EditWasAdded, "## User preferences", "", "- Code freeze begins [release 2026-12-01]"),
		note(2, memoir.EditRemoved, "## User preferences", "", "- Code freeze begins [release 2026-12-01]"),
		note(3, memoir.EditAdded, "## User preferences", "", "- Code freeze begins [release 2027-01-05]"),
	}
	in := input(first)
	in.HandEdits = notes
	c := build(t, in)
	for _, text := range []string{c.MemoryMD, c.MemorySummary} {
		if strings.Contains(text, "2026-12-01") || !strings.Contains(text, "2027-01-05") {
			t.Errorf("got\n%s", text)
		}
	}
}

func TestHandWrittenLinesReachTheBriefing(t *testing.T) {
	t.Parallel()
	in := input(first, second, third)
	in.HandEdits = []memoir.HandEdit{
		note(1, memoir.EditAdded, "## User preferences", "", "- ask Ann before a deploy"),
		note(2, memoir.EditAdded, "## User preferences", "- ask Ann before a deploy", "- and Bob after it"),
		note(3, memoir.EditAdded, "## Build, test and other commands", "", "- `make e2e` needs docker"),
		note(4, memoir.EditAdded, "## Deployment", "", "## Deployment"),
		note(5, memoir.EditAdded, "## Deployment", "", "Staging is rebuilt"),
		note(6, memoir.EditAdded, "## Deployment", "Staging is rebuilt", "every night."),
		note(7, memoir.EditAdded, "## Deployment", "every night.", "```sh\nmake stage\n```"),
	}
	c := build(t, in)
	if lines := under(c.MemorySummary, "## What the user wants"); len(lines) < 3 || lines[0] != "- ask Ann before a deploy" || lines[1] != "- and Bob after it" {
		t.Errorf("rules: %q", lines)
	}
	if lines := under(c.MemorySummary, "## Build, test, run"); len(lines) == 0 || lines[0] != "- `make e2e` needs docker" {
		t.Errorf("commands: %q", lines)
	}
	if lines := under(c.MemorySummary, "## Written by hand"); len(lines) != 1 || lines[0] != "- Staging is rebuilt every night." {
		t.Errorf("the rest: %q", lines)
	}
	if strings.Index(c.MemorySummary, "## Written by hand") > strings.Index(c.MemorySummary, "## What the user wants") {
		t.Error("what a person wrote does not come first")
	}
	if again := consolidate.ApplyHandEdits(c, consolidate.LiveHandEdits(in.HandEdits, in)); !reflect.DeepEqual(again, c) {
		t.Error("applying them twice differs")
	}
}

func TestHandWrittenLinesLeaveTheBriefingWithinItsLimit(t *testing.T) {
	t.Parallel()
	in := input(project(30)...)
	for i, w := range words {
		in.HandEdits = append(in.HandEdits, note(int64(i+1), memoir.EditAdded, "## Environment", "", "- the "+w+" host "+strings.Repeat("is far away ", 9)))
	}
	in.HandEdits = append(in.HandEdits, note(99, memoir.EditAdded, "## User preferences", "", "- ask Ann before a deploy"))
	for _, tokens := range []int{100, 300, 1000} {
		in.SummaryTokens = tokens
		c := build(t, in)
		if got := memoir.Tokens(c.MemorySummary); got > tokens {
			t.Errorf("%d tokens where %d are allowed", got, tokens)
		}
		if !strings.Contains(c.MemorySummary, "ask Ann") {
			t.Errorf("%d tokens: the rule is missing:\n%s", tokens, c.MemorySummary)
		}
		if tokens == 1000 && (!strings.Contains(c.MemorySummary, "fern host") || strings.Contains(c.MemorySummary, "amber host") || !strings.Contains(c.MemorySummary, "## What to know")) {
			t.Errorf("the newest lines do not win, or crowd out all else:\n%s", c.MemorySummary)
		}
	}
}

func TestWhatWasDeletedFromMemoryComesBackNowhere(t *testing.T) {
	t.Parallel()
	long := "“never deploy on a Friday because " + strings.Repeat("the on-call engineer of the weekend knows nothing of it and ", 5) + "that ends badly”"
	one, two := first, second
	one.Statements = append(slices.Clone(one.Statements), memoirtest.Statements("## Preferences\n- "+long+" [9]\n")...)
	in := input(one, two, third)
	before := build(t, in)
	for _, part := range []string{"release", "Friday", "no fixture", "test: `go test ./...`"} {
		if part != "no fixture" && !strings.Contains(before.MemorySummary, part) {
			t.Fatalf("%q is not in the summary", part)
		}
	}
	in.HandEdits = []memoir.HandEdit{
		note(1, memoir.EditRemoved, "## User preferences", "", "- “Never open PRs against release!!!” [00001002 2026-07-02]"),
		note(2, memoir.EditRemoved, "## User preferences", "", "- "+long+" [00001001 2026-07-01]"),
		note(3, memoir.EditRemoved, "## Failures and fixes", "", "- `go test ./...` failed: panic: no fixture — worked with `FIXTURES=1` [00001003 2026-07-03]"),
		note(4, memoir.EditRemoved, "## Build, test and other commands", "", "- test: `go test ./...` [00001002 2026-07-02]"),
	}
	after := build(t, in)
	// A model that knows nothing of notes gives what was there before.
	for name, c := range map[string]memoir.Consolidation{"built in": after, "another model": consolidate.ApplyHandEdits(before, in.HandEdits)} {
		all := c.MemoryMD + c.MemorySummary
		for _, s := range c.Skills {
			all += s.Content
		}
		for _, part := range []string{"against release", "Friday", "no fixture", "`go test ./...` passes", "test: `go test ./...`"} {
			if strings.Contains(all, part) {
				t.Errorf("%s: %q is still there:\n%s", name, part, all)
			}
		}
		if again := consolidate.ApplyHandEdits(c, in.HandEdits); !reflect.DeepEqual(again, c) {
			t.Errorf("%s: applying them twice differs", name)
		}
	}
}

func TestALineThatWasMovedStays(t *testing.T) {
	t.Parallel()
	in := input(first, second, third)
	line := "- “Never open PRs against release!!!” [00001002 2026-07-02, 00001001 2026-07-01]"
	in.HandEdits = []memoir.HandEdit{note(1, memoir.EditRemoved, "## User preferences", "", line), note(2, memoir.EditAdded, "## Environment", "", line)}
	c := build(t, in)
	if strings.Count(c.MemoryMD, "against release") != 1 || strings.Count(c.MemorySummary, "against release") != 1 {
		t.Errorf("got\n%s%s", c.MemoryMD, c.MemorySummary)
	}
}

func TestBlankLinesStayWhereTheyWerePut(t *testing.T) {
	t.Parallel()
	c := memoir.Consolidation{MemoryMD: "# m\n\n## A\n\n- one\n  more of one\n- two\n\n## B\n\ntext\n", MemorySummary: "# s\n"}
	for name, test := range map[string]struct {
		notes []memoir.HandEdit
		want  string
	}{
		"behind an entry":               {[]memoir.HandEdit{note(1, memoir.EditAdded, "## A", "- two", "\npara")}, "- two\n\npara\n\n## B"},
		"behind an entry's second line": {[]memoir.HandEdit{note(1, memoir.EditAdded, "## A", "  more of one", "para")}, "  more of one\npara\n- two"},
		"two lines of one": {
			[]memoir.HandEdit{note(1, memoir.EditAdded, "## A", "- two", "\npara"), note(2, memoir.EditAdded, "## A", "para", "goes on")},
			"- two\n\npara\ngoes on\n\n## B",
		},
		"two, told apart": {
			[]memoir.HandEdit{note(1, memoir.EditAdded, "## A", "- two", "\npara"), note(2, memoir.EditAdded, "## A", "para", "\nother")},
			"- two\n\npara\n\nother\n\n## B",
		},
		"an entry":           {[]memoir.HandEdit{note(1, memoir.EditAdded, "## A", "- two", "- three")}, "- two\n- three\n\n## B"},
		"an entry's own":     {[]memoir.HandEdit{note(1, memoir.EditAdded, "## A", "- two", "  more")}, "- two\n  more\n\n## B"},
		"its neighbour gone": {[]memoir.HandEdit{note(1, memoir.EditAdded, "## B", "gone", "para")}, "text\n\npara\n"},
		"a heading":          {[]memoir.HandEdit{note(1, memoir.EditAdded, "## A", "- two", "### Sub")}, "- two\n\n### Sub\n\n## B"},
		"two code blocks": {
			[]memoir.HandEdit{
				note(1, memoir.EditAdded, "## B", "text", "```sh\n- a\nb\n```"), note(2, memoir.EditAdded, "## B", "```sh\n- a\nb\n```", "```go\nc\n```"),
				note(3, memoir.EditAdded, "## B", "```go\nc\n```", "- end"),
			},
			"text\n```sh\n- a\nb\n```\n```go\nc\n```\n- end\n",
		},
	} {
		got := consolidate.ApplyHandEdits(c, test.notes)
		if !strings.Contains(got.MemoryMD, test.want) {
			t.Errorf("%s: got\n%s", name, got.MemoryMD)
		}
		if again := consolidate.ApplyHandEdits(got, test.notes); again.MemoryMD != got.MemoryMD {
			t.Errorf("%s: applying it twice gives\n%s", name, again.MemoryMD)
		}
	}
}

// It takes minutes if the time grows with the square of the number of lines.
func TestTenThousandHandWrittenLinesStayInTheirOrder(t *testing.T) {
	t.Parallel()
	published := "# app: project memory\n\n## Mine\n\n"
	var want strings.Builder
	want.WriteString("# app: project memory\n## Mine\n")
	for i := range 10_000 {
		published += fmt.Sprintf("- the former line %d of the person\n", i)
		text := []string{fmt.Sprintf("- line %d of the person", i), fmt.Sprintf("Paragraph %d.", i), "- same", fmt.Sprint("```\nrun ", i, "\n```"), "---"}[i%5]
		if i%100 == 95 {
			text = fmt.Sprintf("## Section %d", i)
		}
		want.WriteString(text + "\n")
	}
	edits := memory.HandEdits("p", []memory.Edit{{Path: "MEMORY.md", Published: []byte(published), Now: []byte(want.String())}}, time.Time{})
	c := consolidate.ApplyHandEdits(memoir.Consolidation{MemoryMD: "# app: project memory\n\n## Mine\n\n- the former line 7 of the person\n"}, edits)
	var got strings.Builder
	for _, one := range memoir.Blocks(c.MemoryMD) {
		got.WriteString(one.Text + "\n")
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Error(diff[:min(len(diff), 2000)])
	}
	if again := consolidate.ApplyHandEdits(c, edits); again.MemoryMD != c.MemoryMD {
		t.Error("applied again, they change the memory")
	}
}
