package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"memoir"
)

// GenerationRecord is one published state of a project's memory.
type GenerationRecord struct {
	N            int64
	ManifestHash string
	Inputs       map[string]string // session key -> content hash of its extraction
	At           time.Time
	Seq          int64 // change sequence that it consumes; set by Publish
	Fence        int64 // of the claim under which it was published; set by Publish

	// Redactions is recorded with the generation: number of redactions in the published files, by rule.
	Redactions map[string]int
}

// Publication says what a publication ends.
type Publication int

// The publications.
const (
	PublishLast Publication = iota // ends the claim; the change sequence of the claim is consumed
	PublishPart                    // the claim stays, and no outcome is entered into the ledger
	// PublishOpen is PublishPart, and ends the request of Enqueue: from now on the inputs tell which extractions are
	// still to be consolidated.
	PublishOpen
)

// Publish makes a generation the live one. In one durable transaction it checks that token and fence are
// still ours and the lease has not expired, records the generation, and calls swap as its last step.
// swap replaces the link and must be quick. If swap fails, nothing is recorded, and its error is in the
// chain. If the check fails, the error has the code memoir.CodeLeaseLost, and swap is not called.
//
// The commit follows swap. If it fails, or the process is killed before it, the link is ahead of the
// database; the next start calls RecordGeneration.
func (s *Store) Publish(
	ctx context.Context, c ProjectClaim, how Publication, g GenerationRecord, swap func() error,
) error {
	if g.Fence = c.Fence; how == PublishLast {
		g.Seq = c.Seq
	}
	return s.explain(s.durably(ctx, func(t tx) {
		c.unexpired(t, s.ticks())
		var live int64
		if t.get(`SELECT generation FROM project WHERE id = ?`, []any{c.ProjectID}, &live); g.N <= live {
			t.fail(memoir.Errorf(memoir.CodeChanged, "run again", "generation %d is already live", live))
		}
		s.insertGeneration(t, c.ProjectID, g)
		setRedactions(t, kindConsolidate, c.ProjectID, g.Redactions)
		switch how {
		case PublishLast:
			endWork(t, c.Token, c.ProjectID, "published")
			s.finishProject(t, c)
		case PublishOpen:
			t.exec(`UPDATE project SET forced_seq = min(forced_seq, consumed_seq)
				WHERE id = ? AND change_seq > consumed_seq`, c.ProjectID)
		}
		if t.ok() {
			t.fail(swap())
		}
	}), "publishing generation %d of project %s", g.N, c.ProjectID)
}

// insertGeneration records a generation as the live one. It does not change an existing record of its number.
func (s *Store) insertGeneration(t tx, projectID string, g GenerationRecord) {
	added := t.exec(`INSERT INTO generation (project_id, n, fence, manifest_hash, seq, at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (project_id, n) DO NOTHING`,
		projectID, g.N, g.Fence, g.ManifestHash, g.Seq, millis(g.At))
	if added > 0 {
		t.exec(`INSERT INTO generation_input (project_id, n, session_key, hash)
			SELECT ?, ?, key, value FROM json_each(?) WHERE key IS NOT NULL`, projectID, g.N, jsonOf(g.Inputs))
	}
	t.exec(`UPDATE project SET generation = ?1, published_at = ?2,
		consumed_seq = max(consumed_seq, min(?3, change_seq))
		WHERE id = ?4 AND generation < ?1`, g.N, millis(g.At), g.Seq, projectID)
}

// RecordGeneration records a generation that is already live, because a process was killed or the disk
// was full between the replacement of the link and the commit. A recorded generation is not changed.
func (s *Store) RecordGeneration(ctx context.Context, projectID string, g GenerationRecord) error {
	return s.explain(s.durably(ctx, func(t tx) {
		mustExist(t, projectID)
		s.insertGeneration(t, projectID, g)
	}), "recording generation %d of project %s", g.N, projectID)
}

// LastInputs returns the inputs of the live generation: session key -> content hash. It is empty before
// the first generation.
func (s *Store) LastInputs(ctx context.Context, projectID string) (map[string]string, error) {
	return fetchMap[string](ctx, s, "reading the last inputs of project "+projectID, `SELECT i.session_key, i.hash
		FROM project p JOIN generation_input i ON i.project_id = p.id AND i.n = p.generation WHERE p.id = ?`, projectID)
}

// RecordHandEdits records the hand edits of one generation of a project's memory. They replace those that an
// earlier attempt to consolidate recorded of the same generation.
func (s *Store) RecordHandEdits(ctx context.Context, projectID string, generation int64,
	edits []memoir.HandEdit) error {
	return s.explain(s.durably(ctx, func(t tx) {
		// The hub may have another generation by now.
		sent := fill(t, map[string]int64{}, `SELECT text, hub FROM hand_edit WHERE project_id = ? AND base = ? AND hub <> 0`,
			projectID, generation)
		t.exec(`DELETE FROM hand_edit WHERE project_id = ? AND base = ?`, projectID, generation)
		for _, n := range edits {
			if n.Action == memoir.EditRemoved {
				n.Hub = cmp.Or(int(sent[n.Text]), n.Hub)
			}
			if n.At.IsZero() {
				n.At = s.now()
			}
			putHandEdit(t, projectID, generation, n)
		}
		resend(t, `SELECT session_key FROM extraction JOIN share USING (project_id)
			WHERE project_id = ? AND ?`, projectID, len(edits) > 0)
		t.execAll([]any{projectID, generation}, // what was merged with a line is about it, too
			`WITH merged AS MATERIALIZED (SELECT DISTINCT file, ltrim(text, char(10)) AS line, origin FROM hand_edit
					WHERE project_id = ?1 AND base <> ?2 AND origin <> '' AND action = 'added')
				UPDATE hand_edit AS n SET origin = m.origin FROM merged AS m WHERE n.project_id = ?1 AND n.base = ?2
					AND m.file = n.file AND m.line = ltrim(n.text, char(10)) AND n.action IN ('added', 'removed')`)
	}), "recording the hand edits of project %s", projectID)
}

func putHandEdit(t tx, projectID string, base int64, n memoir.HandEdit) {
	t.exec(`INSERT INTO hand_edit (project_id, base, file, action, section, after, nth, text, others, at, hub)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		projectID, base, n.File, string(n.Action), n.Section, n.After, n.Nth, n.Text, n.Others, millis(n.At), n.Hub)
}

// Answered returns when a person answered about lines of a project's memory, in milliseconds by key; see Answer. A line
// that a person wrote by hand is answered.
func (s *Store) Answered(ctx context.Context, projectID string) (map[string]int64, error) {
	return fetch(ctx, s, func(t tx) map[string]int64 {
		written := fill(t, map[string]int64{}, `SELECT text, at FROM hand_edit
			WHERE project_id = ? AND file = 'MEMORY.md' AND action = 'added'`, projectID)
		out := fill(t, map[string]int64{}, `SELECT key, at FROM review WHERE project_id = ?`, projectID)
		for line, at := range written {
			if !strings.HasSuffix(line, memoir.Unconfirmed) { // else an agent did
				out[memoir.LineKey(line)] = at
			}
		}
		return out
	}, "reading the review of project %s", projectID)
}

// Answer records that a person answered about lines with some keys and about the statements behind them. Lines that no
// generation has, and none is to have, count as removed by hand.
func (s *Store) Answer(ctx context.Context, projectID string, keys, never []string) error {
	return s.explain(s.durably(ctx, func(t tx) {
		t.exec(`INSERT OR REPLACE INTO review (project_id, key, at) SELECT ?, value, ? FROM json_each(?)`,
			projectID, millis(s.now()), jsonList(keys))
		for _, line := range never {
			putHandEdit(t, projectID, -1, memoir.HandEdit{File: memoir.MemoryFile, Action: memoir.EditRemoved, Text: line,
				At: s.now()})
		}
	}), "recording the review of project %s", projectID)
}

// HandEdits returns the hand edits of a project, oldest first. For whole files only the last edit counts, written or
// deleted. A later opposite edit of the same line makes EditWasAdded or EditWasRemoved of one. A removal that leaves
// fewer equal lines than were added is opposite to the last addition, if possible in its section, but not to that of
// a project that was merged later. An addition is opposite to all removals.
func (s *Store) HandEdits(ctx context.Context, projectID string) ([]memoir.HandEdit, error) {
	return fetch(ctx, s, func(t tx) []memoir.HandEdit {
		edits := []memoir.HandEdit{}
		var origins []string
		earlier := map[[2]string][]int{} // by file and line, the edits in effect
		added := map[[2]string]bool{}    // files and lines that a person ever added
		for scan := range t.rows(`SELECT id, project_id, file, action, section, after, nth, text, others, at, origin, hub
			FROM hand_edit WHERE project_id = ? ORDER BY base, id`, projectID) {
			var n memoir.HandEdit
			var origin string
			scan(&n.ID, &n.ProjectID, &n.File, (*string)(&n.Action), &n.Section, &n.After, &n.Nth, &n.Text,
				&n.Others, timeColumn{&n.At}, &origin, &n.Hub)
			line := lineOf(n)
			one, left := -1, -n.Others // the addition that a removal undoes
			for _, i := range earlier[line] {
				merged := origins[i] != "" && origin == ""
				if n.Action == memoir.EditRemoved && edits[i].Action == memoir.EditAdded && !merged {
					if left++; one < 0 || edits[i].Section == n.Section || edits[one].Section != n.Section {
						one = i
					}
				}
			}
			earlier[line] = slices.DeleteFunc(earlier[line], func(i int) bool {
				switch old := &edits[i].Action; {
				case whole(n.Action), n.Action == memoir.EditRestored && *old == memoir.EditRemoved:
					*old = ""
				case n.Action == memoir.EditAdded && *old == memoir.EditRemoved:
					*old = memoir.EditWasRemoved
				case i == one && left > 0:
					*old = memoir.EditWasAdded
				default:
					return false
				}
				return true
			})
			switch {
			case n.Action == memoir.EditAdded:
				added[line] = true
			case n.Action == memoir.EditRestored && !added[line]:
				continue
			case n.Action == memoir.EditRestored:
				n.Action = memoir.EditAdded
			}
			earlier[line] = append(earlier[line], len(edits))
			edits, origins = append(edits, n), append(origins, origin)
		}
		return slices.DeleteFunc(edits, func(n memoir.HandEdit) bool { return n.Action == "" })
	}, "reading hand edits")
}

func whole(a memoir.EditAction) bool { return a == memoir.EditFile || a == memoir.EditDeleted }

// lineOf returns the file and the line that an edit is about, whoever's it is, or only the file.
func lineOf(n memoir.HandEdit) [2]string {
	if whole(n.Action) {
		return [2]string{n.File, "\x00"} // no line
	}
	return [2]string{n.File, memoir.WithoutTeam(memoir.BlockKey(n.Text))}
}
