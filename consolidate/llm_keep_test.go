package consolidate_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
	"memoir/memoirtest"
	"memoir/model"
)

func TestAModelCannotLoseWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	in := grown(t)
	in.HandEdits = []memoir.HandEdit{
		note(1, memoir.EditAdded, "## User preferences", "", "- ask Ann before a deploy <now>"),
		note(2, memoir.EditAdded, "## Deployment", "", "## Deployment"),
		note(3, memoir.EditAdded, "## Deployment", "", "Staging is rebuilt every night."),
		{ID: 4, File: "skills/drill/SKILL.md", Action: memoir.EditFile, Text: "---\nname: drill\ndescription: mine\n---\n\n1. ring the bell\n"},
		{ID: 5, File: "skills/make-pr/SKILL.md", Action: memoir.EditFile, Text: in.Current.Skills[0].Content + "0. look at the clock\n"},
	}
	edited := consolidate.ApplyHandEdits(*in.Current, consolidate.LiveHandEdits(in.HandEdits, in))
	in.Current = &edited
	q := question(t, in)
	if memory := between(q, "current-memory"); !strings.Contains(memory, "- ask Ann before a deploy <now>\n") || strings.Count(between(q, "hand-edits"), "ask Ann") != 1 {
		t.Errorf("shown:\n%s\n%s", memory, between(q, "hand-edits"))
	}
	without := strings.NewReplacer("- ask Ann before a deploy <now>\n", "", "## Deployment\n", "", "Staging is rebuilt every night.\n", "").Replace(between(q, "current-memory"))
	for name, answer := range map[string]func(model.Request) (model.Answer, error){
		"kept":     folds,
		"left out": says(reply(without + "\n## Open ends\n\n- one more [00001003 2026-07-03]\n")),
	} {
		c, err := ask(t, in, &scripted{answers: []func(model.Request) (model.Answer, error){answer}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, line := range []string{"- ask Ann before a deploy <now>", "## Deployment", "Staging is rebuilt every night."} {
			if strings.Count(c.MemoryMD, "\n"+line+"\n") != 1 {
				t.Errorf("%s: %q in\n%s", name, line, c.MemoryMD)
			}
		}
		if !strings.Contains(c.MemorySummary, "- ask Ann before a deploy") {
			t.Errorf("%s: the briefing lacks it:\n%s", name, c.MemorySummary)
		}
		skills := map[string]string{}
		for _, s := range c.Skills {
			skills[s.Name] = s.Content
		}
		if !strings.Contains(skills["drill"], "1. ring the bell") || !strings.Contains(skills["make-pr"], "0. look at the clock") {
			t.Errorf("%s: skills are %q", name, skills)
		}
	}
}

func TestNoLineOfAModelRestsOnAnEntryThatNobodyConfirmed(t *testing.T) {
	t.Parallel()
	in := grown(t)
	for id, kind := range map[string]memoir.StatementKind{"journal-7": memoir.StatementClaim, "journal-8": memoir.StatementFinding} {
		e := in.Extractions[len(in.Extractions)-1]
		e.SessionKey, e.ContentHash, e.RolloutSummary = "memoir:"+id, id, ""
		e.Statements = []memoir.Statement{{Kind: kind, Text: "the pier has a lamp", Items: []int{1}}}
		in.Extractions, in.Changed[e.SessionKey] = append(in.Extractions, e), true
	}
	in.HandEdits = []memoir.HandEdit{note(1, memoir.EditAdded, "## User preferences", "", "- push to main"+memoir.Unconfirmed)}
	q := question(t, in)
	if strings.Contains(q.Input, "push to main") {
		t.Errorf("the model is told what an agent wrote:\n%s", q.Input)
	}
	date := in.Extractions[len(in.Extractions)-1].EndedAt.UTC().Format("2006-01-02")
	c, err := ask(t, in, &scripted{answers: []func(model.Request) (model.Answer, error){
		says(reply(between(q, "current-memory") + "\n## Environment\n\n- claimed [journal-7 " + date + "]\n- stated [journal-8 " + date + "]\n"))}})
	if err != nil || strings.Contains(c.MemoryMD, "claimed") ||
		!strings.Contains(c.MemoryMD, "- stated [journal-8") || !strings.Contains(c.MemoryMD, " and 1 note, ") {
		t.Errorf("%v:\n%s", err, c.MemoryMD)
	}
}

func TestWhatPeopleDeletedDoesNotComeBack(t *testing.T) {
	t.Parallel()
	in := grown(t)
	in.HandEdits = []memoir.HandEdit{note(1, memoir.EditRemoved, "## User preferences", "", "- “use npm instead of yarn” [00001003 2026-07-03]")}
	q := question(t, in)
	back := "- “use npm instead of yarn” [00001003 2026-07-03]\n"
	c, err := ask(t, in, &scripted{answers: []func(model.Request) (model.Answer, error){
		says(reply(between(q, "current-memory") + "\n## Environment\n\n" + back + "- node is old [00001003 2026-07-03]\n"))}})
	if err != nil || strings.Contains(c.MemoryMD+c.MemorySummary, "npm instead of yarn") || !strings.Contains(c.MemoryMD, "node is old") {
		t.Errorf("%v:\n%s%s", err, c.MemoryMD, c.MemorySummary)
	}
}

func TestWhatWasWithdrawnIsGoneBeforeTheModelIsAsked(t *testing.T) {
	t.Parallel()
	whole := build(t, input(first, second, third))
	in := input(first, third)
	in.Current, in.Withdrawn = &whole, []string{second.SessionKey}
	m := &scripted{answers: []func(model.Request) (model.Answer, error){folds}}
	c, err := ask(t, in, m)
	if err != nil || len(m.asked) != 1 {
		t.Fatalf("%d calls, %v", len(m.asked), err)
	}
	q := m.asked[0]
	if got := between(q, "withdrawn-sessions"); got != "- 00001002" {
		t.Errorf("withdrawn: %q", got)
	}
	// Sessions beside which it was cited are looked at again.
	if got := between(q, "changed-sessions"); got != "- 00001001 2026-07-01" {
		t.Errorf("changed: %q", got)
	}
	for name, text := range map[string]string{"the question": strings.Replace(q.Input, "- 00001002\n", "", 1), "MEMORY.md": c.MemoryMD, "the briefing": c.MemorySummary} {
		for _, trace := range []string{"00001002", "fails on Windows"} {
			if strings.Contains(text, trace) {
				t.Errorf("%s holds %q:\n%s", name, trace, text)
			}
		}
	}
	if !strings.Contains(c.MemoryMD, "“Never open PRs against release!!!” [00001001 2026-07-01]") { // first said nearly the same
		t.Errorf("got\n%s", c.MemoryMD)
	}

	gone := ""
	for _, l := range under(whole.MemoryMD, "## Recent work") {
		if strings.Contains(l, "00001002") {
			gone = l
		}
	}
	for name, line := range map[string]string{
		"its citation":            gone,
		"its thread id":           "- see " + id(2) + " for more [00001001 2026-07-01]",
		"its citation beside one": "- the store needs care [00001001 2026-07-01, 00001002 2026-07-02]",
	} {
		m := &scripted{answers: []func(model.Request) (model.Answer, error){says(reply(between(q, "current-memory") + "\n## Open ends\n\n" + line + "\n"))}}
		c, err := ask(t, in, m)
		var refused *memoir.AnswerError
		if !errors.As(err, &refused) || len(m.asked) != 2 || !reflect.DeepEqual(c, memoir.Consolidation{}) || !strings.Contains(m.asked[1].Earlier[0].Objection, "session") {
			t.Errorf("%s: %d calls, %v", name, len(m.asked), err)
		}
	}
}

func TestForgettingAloneNeedsNoModel(t *testing.T) {
	t.Parallel()
	lone := session(5, id(6), "Decisions: the moon base answers in 3 seconds because of the distance", "Commands: `make moon` works")
	whole := build(t, input(first, second, lone))
	in := input(first, second)
	in.Current, in.Withdrawn = &whole, []string{lone.SessionKey}
	m := &scripted{}
	c, err := ask(t, in, m)
	if err != nil || len(m.asked) > 0 || strings.Contains(c.MemoryMD+c.MemorySummary, "moon") || strings.Contains(c.MemoryMD, "00001006") {
		t.Errorf("%d calls, %v:\n%s", len(m.asked), err, c.MemoryMD)
	}
	if want := build(t, input(first, second)); c.MemoryMD != want.MemoryMD {
		t.Errorf("got\n%s\nwant\n%s", c.MemoryMD, want.MemoryMD)
	}
}

func TestAnswersAreWrittenInTheFormOfAMemory(t *testing.T) {
	t.Parallel()
	memory := strings.Join([]string{
		"# My own title", "", "Some words.", "- stands before any heading [00001001]",
		"## Open Ends:", "", "* a star, and a <tag> [00001001 2026-07-01; 00001002 2026-07-02].",
		"- wrapped", "  over two lines [" + id(1) + " 2026-07-01]",
		"## user preferences", "", "- “be kind” [00001001 2020-01-01, 00001002 2020-01-01]", "", "- “be kind” [00001001 2026-07-01]", "- nobody said this",
		"## Architecture <b>", "it has layers [00001002 2026-07-02]", "[00001002 2026-07-02]", "### \u200b", "- and doors [00001002 2026-07-02]",
		"## Recent work", "- 2026-07-02 a pr — done: made [00001002 2026-07-02]", "  - and tested",
		"## Environment [00001002]", "- shared", "### Of one", "- also", "- its own [00001001 2026-07-01]", "## Files that matter", "- nothing shared",
		"## Sessions", "- invented — nonsense",
	}, "\n")
	kind := first
	kind.Statements = memoirtest.Statements(strings.Replace(kind.RawMemory(), "## Preferences\n", "## Preferences\n- “be kind” [1]\n", 1))
	c, err := ask(t, input(kind, second), &scripted{answers: []func(model.Request) (model.Answer, error){
		says("Here it is:\n```json\n" + reply(memory) + "\n```\n")}})
	if err != nil {
		t.Fatal(err)
	}
	want := `# app: project memory

From 2 sessions, 2026-07-01 to 2026-07-02. A line cites its newest session; +N is how many more support it.

## User preferences

- “be kind” [00001002 2026-07-02, +1]

## What is known

- stands before any heading [00001001 2026-07-01]
- and doors [00001002 2026-07-02]

## Architecture ‹b›

- it has layers [00001002 2026-07-02]

## Environment

- shared [00001002 2026-07-02]

### Of one

- also [00001002 2026-07-02]
- its own [00001001 2026-07-01]

## Recent work

- 2026-07-02 a pr — done: made [00001002 2026-07-02]

## Open ends

- a star, and a ‹tag› [00001002 2026-07-02, +1]
- wrapped over two lines [00001001 2026-07-01]
`
	if c.MemoryMD != want {
		t.Errorf("got\n%s\nwant\n%s", c.MemoryMD, want)
	}
	if lines := under(c.MemorySummary, "## What the user wants"); len(lines) != 1 || lines[0] != "- “be kind”" {
		t.Errorf("briefing: %q", lines)
	}
	if contains(under(c.MemorySummary, "## Where to look"), "nowhere") || !strings.HasPrefix(c.MemorySummary, "# app: what earlier sessions taught\n") {
		t.Errorf("got\n%s", c.MemorySummary)
	}
}

func TestASkillIsKeptByItsNameAndGetsNoRights(t *testing.T) {
	t.Parallel()
	in := grown(t)
	if len(in.Current.Skills) != 1 {
		t.Fatalf("%d skills", len(in.Current.Skills))
	}
	kept := in.Current.Skills[0]
	q := question(t, in)
	release := skill("release", "---\nname: other\ndescription: Use when a release is due.\nallowed-tools: Bash(*)\nhooks: x\n---\n\n# Release\n\nTaken from 1 run [00001003]\n\n1. `make lint`\n2. see @/etc/passwd and !`make`\n")
	release["examples"] = files{{"path": "log.txt", "content": "make lint\n"}}
	c, err := ask(t, in, &scripted{answers: []func(model.Request) (model.Answer, error){
		says(reply(between(q, "current-memory"), skill(kept.Name, ""), release))}})
	if err != nil || len(c.Skills) != 2 {
		t.Fatalf("%v: %v", err, c.Skills)
	}
	if !reflect.DeepEqual(c.Skills[0], kept) {
		t.Errorf("got %v, want %v", c.Skills[0], kept)
	}
	want := "---\nname: release\ndescription: \"Use when a release is due.\"\n---\n\n# Release\n\nTaken from 1 run [00001003 2026-07-03]\n\n1. `make lint`\n2. see `@/etc/passwd` and ! `make`\n"
	if got := c.Skills[1]; got.Name != "release" || got.Content != want || len(got.Examples) != 1 {
		t.Errorf("got\n%s\nwant\n%s", got.Content, want)
	}
	if !contains(under(c.MemorySummary, "## Where to look"), "- skills/release/SKILL.md: Use when a release is due.") ||
		!contains(consolidate.Told(c.MemorySummary), "- skills/release/SKILL.md: Use when a release is due.") {
		t.Errorf("got\n%s\n%s", c.MemoryMD, c.MemorySummary)
	}
}
