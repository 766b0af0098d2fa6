package consolidate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/consolidate"
)

func note(id int64, action memoir.NoteAction, section, after, text string) memoir.Note {
	return memoir.Note{ID: id, File: "MEMORY.md", Action: action, Section: section, After: after, Text: text}
}

func TestAHandWrittenLineStaysWhereItWasPut(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second, third))
	prefs := under(c.MemoryMD, "## User preferences")
	for _, test := range []struct {
		name   string
		note   memoir.Note
		before string // the line that it must stand behind
	}{
		{"behind its neighbour", note(1, memoir.NoteAdded, "## User preferences", prefs[0], "- mine"), prefs[0]},
		{"citations of the neighbour aside", note(1, memoir.NoteAdded, "## User preferences", "- “Never open PRs against release!!!” [0000aaaa 2020-01-01]", "- mine"), prefs[0]},
		{"first of its section", note(1, memoir.NoteAdded, "## User preferences", "", "- mine"), "## User preferences"},
		{"at the end, its neighbour being gone", note(1, memoir.NoteAdded, "## User preferences", "- gone", "- mine"), prefs[len(prefs)-1]},
		{"under notes, its section being gone", note(1, memoir.NoteAdded, "## Deployment", "", "- mine"), "## Notes"},
	} {
		got := consolidate.ApplyNotes(c, []memoir.Note{test.note})
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
		if again := consolidate.ApplyNotes(got, []memoir.Note{test.note}); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%s: applying it twice differs", test.name)
		}
	}
}

func TestARewordedLineReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	notes := []memoir.Note{
		note(1, memoir.NoteRemoved, "## User preferences", "", "- “Never open PRs against release!!!” [00001002 2026-07-02]"),
		note(2, memoir.NoteAdded, "## User preferences", "", "- “Never open PRs against release, nor against main”"),
	}
	got := consolidate.ApplyNotes(build(t, input(first, second, third)), notes)
	lines := under(got.MemoryMD, "## User preferences")
	if !contains(lines, "nor against main") || contains(lines, "release!!!") {
		t.Errorf("got %q", lines)
	}
	if again := consolidate.ApplyNotes(got, notes); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Error("applying them twice differs")
	}
}

func TestWholeFilesAndSkillsFollowTheirNotes(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second, third))
	got := consolidate.ApplyNotes(c, []memoir.Note{
		{ID: 1, File: "skills/deploy/SKILL.md", Action: memoir.NoteFile, Text: "---\nname: deploy\n---\n"},
		{ID: 2, File: "skills/deploy/scripts/run.sh", Action: memoir.NoteFile, Text: "make deploy\n"},
		{ID: 3, File: "skills/make-pr/SKILL.md", Action: memoir.NoteDeleted},
		{ID: 4, File: "../outside.md", Action: memoir.NoteFile, Text: "no"},
		{ID: 5, File: "skills/Bad Name/SKILL.md", Action: memoir.NoteFile, Text: "no"},
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
	notes := []memoir.Note{
		{ID: 1, File: "skills/deploy/scripts/Run.sh", Action: memoir.NoteFile, Text: "mine\n"},
		{ID: 2, File: "skills/deploy/scripts/Lib/b", Action: memoir.NoteFile, Text: "mine\n"},
		{ID: 3, File: "skills/deploy/scripts/data/x", Action: memoir.NoteFile, Text: "mine\n"},
	}
	out := consolidate.ApplyNotes(made, notes)
	want := []memoir.SkillFile{{Path: "Lib/b", Content: "mine\n"}, {Path: "Run.sh", Content: "mine\n"}, {Path: "data/x", Content: "mine\n"}}
	if diff := cmp.Diff(want, out.Skills[0].Scripts); diff != "" {
		t.Error(diff)
	}
	if err := consolidate.Verify(out, input(first)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(out, consolidate.ApplyNotes(out, notes)); diff != "" {
		t.Errorf("the second time: %s", diff)
	}
}
