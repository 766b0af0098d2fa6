package consolidate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/consolidate"
)

func TestWhatRestoringAMemoryDecided(t *testing.T) {
	t.Parallel()
	note := func(action memoir.NoteAction, file, section, text string) memoir.Note {
		return memoir.Note{File: file, Action: action, Section: section, Text: text}
	}
	removed := func(section, text string) memoir.Note { return note(memoir.NoteRemoved, "MEMORY.md", section, text) }
	added := func(section, text string) memoir.Note { return note(memoir.NoteAdded, "MEMORY.md", section, text) }
	tests := []struct {
		name    string
		note    memoir.Note
		beside  []memoir.Note // of the same restoring
		earlier []memoir.Note
		kept    bool
	}{
		{"a line that went", removed("## Notes", "- use the fork [00001001 2026-07-01]"), nil, nil, true},
		{"a line that came comes from the sessions", added("## Notes", "- use the fork [00001001 2026-07-01]"), nil, nil, false},
		{"a line that came after a person had removed it", added("## Notes", "- use the fork [00001001 2026-07-01]"), nil,
			[]memoir.Note{removed("## Elsewhere", "- use the fork [00001002 2026-07-02]")}, true},
		{"a line of which only the sessions differ", removed("## Notes", "- use the fork [00001001 2026-07-01, 00001002 2026-07-02]"),
			[]memoir.Note{added("## Notes", "- use the fork [00001001 2026-07-01]")}, nil, false},
		{"a line of which a number differs that says something", removed("## C", "- the timeout is 30 [00001001 2026-07-01]"),
			[]memoir.Note{added("## C", "- the timeout is 20 [00001001 2026-07-01]")}, nil, true},
		{"the head", removed("# Memory of app", "From 3 sessions, 2026-07-01. A line cites its newest session; +N is how many more support it."), nil, nil, false},
		{"a line that a person put under the head", removed("# Memory of app", "Learned from experience: ask Ada."), nil, nil, true},
		{"the map", note(memoir.NoteRemoved, "memory_summary.md", "## Where to look", "- MEMORY.md › Sessions (3)"), nil, nil, false},
		{"a line of the briefing", note(memoir.NoteRemoved, "memory_summary.md", "## What the user wants", "- “be kind”"), nil, nil, true},
		{"a skill that went", note(memoir.NoteDeleted, "skills/a/SKILL.md", "", ""), nil, nil, true},
		{"a skill that is another", note(memoir.NoteFile, "skills/a/SKILL.md", "", "x"), nil, nil, false},
		{"a skill that a person had deleted", note(memoir.NoteFile, "skills/a/SKILL.md", "", "x"), nil,
			[]memoir.Note{note(memoir.NoteDeleted, "skills/a/SKILL.md", "", "")}, true},
		{"a skill, where a person had deleted another", note(memoir.NoteFile, "skills/a/SKILL.md", "", "x"), nil,
			[]memoir.Note{note(memoir.NoteDeleted, "skills/b/SKILL.md", "", "")}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var want []memoir.Note
			if test.kept {
				want = append(want, test.note)
			}
			var got []memoir.Note
			for _, n := range consolidate.Decided(append([]memoir.Note{test.note}, test.beside...), test.earlier) {
				if n == test.note {
					got = append(got, n)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
