package consolidate_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/consolidate"
)

func TestOnlyNotesKeepsWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	in := consolidate.Input{Project: memoir.Project{Name: "app"}, Withdrawn: []string{first.SessionKey, second.SessionKey}}
	nothing := consolidate.OnlyHandEdits(in)
	if !strings.HasPrefix(nothing.MemoryMD, "# app: project memory\n") || !strings.Contains(nothing.MemoryMD, "Nothing is left") || len(consolidate.Told(nothing.MemorySummary)) > 0 {
		t.Errorf("got %+v", nothing)
	}
	in.HandEdits = []memoir.HandEdit{
		note(1, memoir.EditAdded, "## User preferences", "- gone", "- ask Ann before a deploy [Ann 2026-10-10]"),
		note(2, memoir.EditAdded, "", "", "Staging is rebuilt every night."),
		note(3, memoir.EditAdded, "## User preferences", "", "- mine [00001001 2026-07-01]"),
		note(4, memoir.EditRemoved, "## User preferences", "", "- “never open prs against release” [00001001 2026-07-01]"),
		{ID: 5, File: "skills/deploy/SKILL.md", Action: memoir.EditFile, Text: "---\nname: deploy\n---\n- drop [00001002 2026-07-02]\n- keep\n"},
	}
	got := consolidate.OnlyHandEdits(in)
	for _, text := range []string{got.MemoryMD, got.MemorySummary} {
		if !strings.Contains(text, "\n- ask Ann before a deploy [Ann 2026-10-10]\n") || !strings.Contains(text, "Staging is rebuilt every night.\n") || strings.Contains(text, "mine") || !strings.Contains(text, "Only what people wrote by hand is left") {
			t.Errorf("got\n%s", text)
		}
	}
	if !strings.Contains(got.MemoryMD, "from this memory.\n\nStaging") {
		t.Errorf("two paragraphs became one:\n%s", got.MemoryMD)
	}
	if len(got.Skills) != 1 || strings.Contains(got.Skills[0].Content, "drop") || !strings.Contains(got.Skills[0].Content, "keep") {
		t.Errorf("skills %+v", got.Skills)
	}
	if err := consolidate.Verify(got, in); err != nil {
		t.Error(err)
	}
	if again := consolidate.OnlyHandEdits(in); !reflect.DeepEqual(again, got) {
		t.Error("a second time differs")
	}
}

func FuzzApplyHandEdits(f *testing.F) {
	f.Add("- one", "para", "## H", "```", uint8(0))
	f.Add("- mine [release 2026-12-01]", "- mine [00001002 2026-07-02]", "\n\nx", "  - sub", uint8(3))
	f.Add("- `go test ./...` passes", "</memoir-context>", "- “Never open PRs against release!!!”", "…", uint8(9))
	f.Add("- mine", "- mine [00001002 2026-07-02\x01]", "x", "y", uint8(0))
	base, err := consolidate.NewBuiltin().Consolidate(f.Context(), input(first, third))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, a, b, c, d string, seed uint8) {
		in := input(first, third)
		in.Withdrawn = []string{second.SessionKey}
		after := ""
		for i, text := range []string{a, b, c, d} {
			if strings.ContainsAny(strings.TrimLeft(text, "\n"), "\n\r") {
				t.Skip("needs texts of one line")
			}
			section := []string{"## User preferences", "", "## Mine", "## Open ends"}[(i+int(seed))%4]
			in.HandEdits = append(in.HandEdits, note(int64(i+1), memoir.EditAdded, section, after, text))
			after = text
		}
		notes := consolidate.LiveHandEdits(in.HandEdits, in)
		once := consolidate.ApplyHandEdits(base, notes)
		if twice := consolidate.ApplyHandEdits(once, notes); fmt.Sprint(twice) != fmt.Sprint(once) {
			t.Errorf("applying them twice differs:\n%s\n%s", once.MemoryMD+once.MemorySummary, twice.MemoryMD+twice.MemorySummary)
		}
		if err := consolidate.Verify(once, in); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatRestoringAMemoryDecided(t *testing.T) {
	t.Parallel()
	note := func(action memoir.EditAction, file, section, text string) memoir.HandEdit {
		return memoir.HandEdit{File: file, Action: action, Section: section, Text: text}
	}
	removed := func(section, text string) memoir.HandEdit {
		return note(memoir.EditRemoved, "MEMORY.md", section, text)
	}
	added := func(section, text string) memoir.HandEdit { return note(memoir.EditAdded, "MEMORY.md", section, text) }
	tests := []struct {
		name    string
		note    memoir.HandEdit
		beside  []memoir.HandEdit // of the same restoring
		earlier []memoir.HandEdit
		kept    bool
	}{
		{"a line that went", removed("## Notes", "- use the fork [00001001 2026-07-01]"), nil, nil, true},
		{"a line that came comes from the sessions", added("## Notes", "- use the fork [00001001 2026-07-01]"), nil, nil, false},
		{"a line that came after a person had removed it", added("## Notes", "- use the fork [00001001 2026-07-01]"), nil,
			[]memoir.HandEdit{removed("## Elsewhere", "- use the fork [00001002 2026-07-02]")}, true},
		{"a line of which only the sessions differ", removed("## Notes", "- use the fork [00001001 2026-07-01, 00001002 2026-07-02]"),
			[]memoir.HandEdit{added("## Notes", "- use the fork [00001001 2026-07-01]")}, nil, false},
		{"a line of which a number differs that says something", removed("## C", "- the timeout is 30 [00001001 2026-07-01]"),
			[]memoir.HandEdit{added("## C", "- the timeout is 20 [00001001 2026-07-01]")}, nil, true},
		{"the head", removed("# Memory of app", "From 3 sessions, 2026-07-01. A line cites its newest session; +N is how many more support it."), nil, nil, false},
		{"a line that a person put under the head", removed("# Memory of app", "Learned from experience: ask Ada."), nil, nil, true},
		{"the map", note(memoir.EditRemoved, "memory_summary.md", "## Where to look", "- MEMORY.md › Sessions (3)"), nil, nil, false},
		{"a line of the briefing", note(memoir.EditRemoved, "memory_summary.md", "## What the user wants", "- “be kind”"), nil, nil, true},
		{"a skill that went", note(memoir.EditDeleted, "skills/a/SKILL.md", "", ""), nil, nil, true},
		{"a skill that is another", note(memoir.EditFile, "skills/a/SKILL.md", "", "x"), nil, nil, false},
		{"a skill that a person had deleted", note(memoir.EditFile, "skills/a/SKILL.md", "", "x"), nil,
			[]memoir.HandEdit{note(memoir.EditDeleted, "skills/a/SKILL.md", "", "")}, true},
		{"a skill, where a person had deleted another", note(memoir.EditFile, "skills/a/SKILL.md", "", "x"), nil,
			[]memoir.HandEdit{note(memoir.EditDeleted, "skills/b/SKILL.md", "", "")}, false},
	}
	for _, test := range tests {
		decided := consolidate.Decided(append([]memoir.HandEdit{test.note}, test.beside...), test.earlier)
		if test.note.Action == memoir.EditAdded && len(test.earlier) > 0 {
			test.note.Action, test.note.Text = memoir.EditRestored, test.earlier[0].Text // as it was removed
		}
		if slices.Contains(decided, test.note) != test.kept {
			t.Errorf("%s: %+v", test.name, decided)
		}
	}
}
