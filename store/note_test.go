package store

import (
	"slices"
	"testing"

	"memoir"
)

func TestTheLastWordOfAPersonCounts(t *testing.T) {
	t.Parallel()
	line := func(action memoir.NoteAction, section, text string) memoir.Note {
		return memoir.Note{ProjectID: project, File: "MEMORY.md", Action: action, Section: section, Text: text}
	}
	file := func(action memoir.NoteAction, text string) memoir.Note {
		return memoir.Note{ProjectID: project, File: "skills/a/SKILL.md", Action: action, Text: text}
	}
	const added, removed, whole, deleted = memoir.NoteAdded, memoir.NoteRemoved, memoir.NoteFile, memoir.NoteDeleted
	tests := []struct {
		name  string
		calls [][]memoir.Note
		want  []string
	}{
		{"nothing", [][]memoir.Note{nil}, []string{}},
		{"what is known is not added again", [][]memoir.Note{{line(added, "A", "x")}, {line(added, "A", "x")}}, []string{"added A x"}},
		{"the order of making is kept", [][]memoir.Note{{line(added, "A", "y"), line(added, "A", "x")}}, []string{"added A y", "added A x"}},
		{"a removal takes the place of an addition", [][]memoir.Note{{line(added, "A", "x")}, {line(removed, "A", "x")}}, []string{"removed A x"}},
		{"an addition takes the place of a removal, in whatever section", [][]memoir.Note{{line(removed, "A", "x")}, {line(added, "B", "x")}}, []string{"added B x"}},
		{"another line is another matter", [][]memoir.Note{{line(added, "A", "x")}, {line(removed, "A", "y")}}, []string{"added A x", "removed A y"}},
		{"a line that was moved is removed and added", [][]memoir.Note{{line(added, "B", "x"), line(removed, "A", "x")}}, []string{"added B x", "removed A x"}},
		{"and moved back", [][]memoir.Note{{line(removed, "A", "x"), line(added, "B", "x")}, {line(removed, "B", "x"), line(added, "A", "x")}}, []string{"removed B x", "added A x"}},
		{"of a file the last content", [][]memoir.Note{{file(whole, "1")}, {file(whole, "2")}}, []string{"file  2"}},
		{"a deleted file", [][]memoir.Note{{file(whole, "1")}, {file(deleted, "")}}, []string{"deleted  "}},
		{"a file that is back", [][]memoir.Note{{file(deleted, "")}, {file(whole, "1")}}, []string{"file  1"}},
		{"a file's lines are not the file", [][]memoir.Note{{line(added, "A", "x")}, {file(whole, "x")}}, []string{"added A x", "file  x"}},
	}
	for _, tt := range tests {
		s, _ := newStore(t)
		register(t, s, project)
		for i, notes := range tt.calls {
			must(t, s.RecordNotes(t.Context(), project, int64(i+1), notes))
		}
		notes, err := s.Notes(t.Context(), project)
		must(t, err)
		got := []string{}
		for _, n := range notes {
			got = append(got, string(n.Action)+" "+n.Section+" "+n.Text)
			if n.ID == 0 || !n.At.Equal(noon) || n.ProjectID != project {
				t.Errorf("%s: note %+v", tt.name, n)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAnAttemptThatDidNotPublishLeavesNoNotesBehind(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	line := func(action memoir.NoteAction, text string) memoir.Note {
		return memoir.Note{ProjectID: project, File: "MEMORY.md", Action: action, Text: text}
	}
	must(t, s.RecordNotes(t.Context(), project, 1, []memoir.Note{line(memoir.NoteRemoved, "old")}))
	must(t, s.RecordNotes(t.Context(), project, 2, []memoir.Note{line(memoir.NoteAdded, "half"), line(memoir.NoteAdded, "old")}))
	must(t, s.RecordNotes(t.Context(), project, 2, []memoir.Note{line(memoir.NoteAdded, "whole")}))
	notes, err := s.Notes(t.Context(), project)
	must(t, err)
	var got []string
	for _, n := range notes {
		got = append(got, string(n.Action)+" "+n.Text)
	}
	if want := []string{"removed old", "added whole"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
