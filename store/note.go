package store

import (
	"context"
	"slices"

	"memoir"
)

// RecordNotes records how a person changed one generation of a project's memory,
// in place of what an earlier attempt to consolidate found changed in it: until
// the next generation is published, what the files say now is what counts.
func (s *Store) RecordNotes(ctx context.Context, projectID string, generation int64, notes []memoir.Note) error {
	err := s.durably(ctx, func(t tx) error {
		if _, err := t.exec(`DELETE FROM note WHERE project_id = ? AND base = ?`, projectID, generation); err != nil {
			return err
		}
		for _, n := range notes {
			if n.At.IsZero() {
				n.At = s.now()
			}
			_, err := t.exec(`INSERT INTO note (project_id, base, file, action, section, after, text, at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (project_id, base, file, action, section, text) DO UPDATE SET after = excluded.after`,
				projectID, generation, n.File, string(n.Action), n.Section, n.After, n.Text, millis(n.At))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "recording changes made by hand")
}

// NotesBefore returns what held of a project's notes before those on a generation.
func (s *Store) NotesBefore(ctx context.Context, projectID string, generation int64) ([]memoir.Note, error) {
	return s.notes(ctx, `AND base < ?2`, projectID, generation)
}

// Notes returns what holds of a project's notes, in the order in which they were
// made. The last word counts: a line that was added in a later generation takes the
// place of an earlier note that the same line of the same file was removed, in
// whatever section, and the other way round; likewise a file that was written and
// one that was deleted, of which only the last content is kept. Notes on one
// generation do not cancel each other: a line that was moved is both removed and added.
func (s *Store) Notes(ctx context.Context, projectID string) ([]memoir.Note, error) {
	return s.notes(ctx, ``, projectID)
}

func (s *Store) notes(ctx context.Context, which string, args ...any) ([]memoir.Note, error) {
	notes := []memoir.Note{}
	err := s.read(ctx, func(t tx) error {
		earlier, base := 0, int64(-1) // how many of notes are on earlier generations than base
		return t.each(`SELECT id, base, project_id, file, action, section, after, text, at FROM note
			WHERE project_id = ?1 `+which+` ORDER BY base, id`,
			args, func(scan func(...any) error) error {
				var n memoir.Note
				var at, on int64
				if err := scan(&n.ID, &on, &n.ProjectID, &n.File, (*string)(&n.Action), &n.Section, &n.After,
					&n.Text, &at); err != nil {
					return err
				}
				n.At = moment(at)
				if on != base {
					earlier, base = len(notes), on
				}
				kept := slices.DeleteFunc(slices.Clone(notes[:earlier]), func(old memoir.Note) bool { return outdates(n, old) })
				notes = append(append(kept, notes[earlier:]...), n)
				earlier = len(kept)
				return nil
			})
	})
	return notes, s.explain(err, "reading changes made by hand")
}

// outdates reports whether a note takes the place of an earlier one.
func outdates(n, old memoir.Note) bool {
	if n.File != old.File {
		return false
	}
	whole := func(a memoir.NoteAction) bool { return a == memoir.NoteFile || a == memoir.NoteDeleted }
	switch {
	case whole(n.Action) || whole(old.Action):
		return whole(n.Action) && whole(old.Action)
	case n.Text != old.Text:
		return false
	case n.Action != old.Action:
		return true
	}
	return n.Section == old.Section
}
