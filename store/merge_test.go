package store

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"memoir"
)

const third = "third-ba9876fedcba"

// newThree returns a store with three projects, each with a session, a note, a line of a journal, hand edits and names.
func newThree(t *testing.T) *Store {
	t.Helper()
	s, _ := newStore(t)
	for i, id := range []string{project, other, third} {
		register(t, s, id)
		must(t, s.UpsertProject(t.Context(), memoir.Project{ID: id, Name: id[:len(id)-13], Identity: "host/" + id,
			Aliases: []string{"/was/" + id, "nick" + id}, Inodes: []string{"inode:1:" + id}}))
		se := session(id, ended(1), func(se *memoir.Session) { se.ProjectID, se.CWD = id, "/src/"+id })
		must(t, s.SaveScan(t.Context(), []SessionScan{{Session: se, Identity: "host/" + id}}, nil))
		extracted(t, s, worth(id))
		for _, e := range []memoir.Entry{{Kind: memoir.EntryNote, Category: "fact"}, {Kind: memoir.EntryJournal}} {
			e.ProjectID, e.Author, e.Text, e.CreatedAt = id, memoir.AuthorUser, "of "+id, noon
			_, err := s.AddEntry(t.Context(), e, findings(e.Text))
			must(t, err)
		}
		must(t, s.RecordHandEdits(t.Context(), id, int64(i+1), []memoir.HandEdit{
			{File: "MEMORY.md", Action: memoir.EditAdded, Text: "by hand in " + id},
			{File: "skills/deploy/SKILL.md", Action: memoir.EditFile, Text: "how " + id + " is deployed"}}))
	}
	return s
}

// holdings are what projects have, by id.
func holdings(t *testing.T, s *Store, ids ...string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, id := range ids {
		must(t, s.read(t.Context(), func(tx tx) {
			out[id] = tx.texts(`SELECT what FROM (SELECT key || ' ' || origin AS what FROM session WHERE project_id = ?1
				UNION ALL SELECT 'extraction of ' || session_key FROM extraction WHERE project_id = ?1
				UNION ALL SELECT kind || ' ' || alias || ' ' || origin FROM project_alias WHERE project_id = ?1
				UNION ALL SELECT path || ' ' || origin FROM project_directory WHERE project_id = ?1
				UNION ALL SELECT text || ' ' || origin FROM hand_edit WHERE project_id = ?1
				UNION ALL SELECT 'forgotten ' || session_key FROM mark WHERE project_id = ?1)
				WHERE what NOT LIKE '%memoir:journal-%'`, id)
		}))
	}
	return out
}

func merge(t *testing.T, s *Store, from, into string) {
	t.Helper()
	must(t, s.Merge(t.Context(), claimAs(t, s, from, forMinutes), into))
}

func split(t *testing.T, s *Store, from string) {
	t.Helper()
	found, err := s.Parts(t.Context(), from)
	must(t, err)
	var parts []memoir.Project
	for identity := range found {
		id := identity[len("host/"):]
		parts = append(parts, memoir.Project{ID: id, Name: id[:len(id)-13], Identity: identity})
	}
	must(t, s.Split(t.Context(), claimAs(t, s, from, forMinutes), parts))
}

func TestSplitsUndoMergesInTurn(t *testing.T) {
	t.Parallel()
	s := newThree(t)
	sorted := cmpopts.SortSlices(cmp.Less[string])
	before := holdings(t, s, project, other, third)
	merge(t, s, project, other)
	one := holdings(t, s, other, third)
	merge(t, s, other, third)
	all := holdings(t, s, third)[third]
	if len(all) < len(slices.Concat(before[project], before[other], before[third])) {
		t.Errorf("something is lost: %q", all)
	}
	split(t, s, third)
	if diff := gocmp.Diff(one, holdings(t, s, other, third), sorted); diff != "" {
		t.Errorf("the first split:\n%s", diff)
	}
	split(t, s, other)
	if diff := gocmp.Diff(before, holdings(t, s, project, other, third), sorted); diff != "" {
		t.Errorf("both splits:\n%s", diff)
	}
	for _, id := range []string{project, other} {
		if row := projectRow(t, s, id); !row.Due || row.Identity != "host/"+id || row.Remote != "host/"+id {
			t.Errorf("%+v", row)
		}
	}
	if parts, err := s.Parts(t.Context(), other); err != nil || len(parts) > 0 {
		t.Errorf("there is more to split: %v, %v", parts, err)
	}
}

func TestALineThatWasRemovedAfterAMergeStaysAwayAfterTheSplit(t *testing.T) {
	t.Parallel()
	s := newThree(t)
	gone := memoir.HandEdit{File: "MEMORY.md", Action: memoir.EditRemoved, Text: "by hand in " + project}
	must(t, s.RecordHandEdits(t.Context(), other, 8, []memoir.HandEdit{gone}))
	merge(t, s, project, other)
	texts := func(id string) (added []string) {
		edits, err := s.HandEdits(t.Context(), id)
		must(t, err)
		for _, n := range edits {
			if n.Action == memoir.EditAdded {
				added = append(added, n.Text)
			}
		}
		return added
	}
	if added := texts(other); !slices.Contains(added, gone.Text) {
		t.Errorf("another project's earlier removal took a line: %q", added)
	}
	must(t, s.RecordHandEdits(t.Context(), other, 9, []memoir.HandEdit{gone}))
	split(t, s, other)
	if added := slices.Concat(texts(project), texts(other)); slices.Contains(added, gone.Text) {
		t.Errorf("it is back: %q", added)
	}
}

func TestAMergeKeepsWhatIsWrittenByHand(t *testing.T) {
	t.Parallel()
	s := newThree(t)
	must(t, s.RecordHandEdits(t.Context(), other, 7, []memoir.HandEdit{{File: "MEMORY.md", Action: memoir.EditAdded, Text: "later"}}))
	merge(t, s, project, other)
	merge(t, s, third, other)
	// The next consolidation replaces only those of the live generation.
	must(t, s.RecordHandEdits(t.Context(), other, 7, []memoir.HandEdit{{File: "MEMORY.md", Action: memoir.EditAdded, Text: "later still"}}))
	edits, err := s.HandEdits(t.Context(), other)
	must(t, err)
	var got []string
	for _, n := range edits {
		got = append(got, n.File+": "+n.Text)
	}
	want := []string{"MEMORY.md: by hand in " + third, "skills/fedcba-deploy/SKILL.md: how " + third + " is deployed",
		"MEMORY.md: by hand in " + project, "skills/6789ab-deploy/SKILL.md: how " + project + " is deployed",
		"MEMORY.md: by hand in " + other, "skills/deploy/SKILL.md: how " + other + " is deployed", "MEMORY.md: later still"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if row := projectRow(t, s, other); row.Extractions != 3 || row.Notes != 3 || !row.Due {
		t.Errorf("%+v", row)
	}
	// Sessions of the merged project are found, whatever they are found by.
	for _, p := range []memoir.Project{{ID: project, Identity: "host/" + project}, {ID: "x", Identity: "/was/" + project},
		{ID: "x", Identity: "host/x", Remote: "host/x", Inodes: []string{"inode:1:" + project}}} {
		if row, err := s.Resolve(t.Context(), p); err != nil || row.ID != other {
			t.Errorf("%s is in %s, %v", p.Identity, row.ID, err)
		}
	}
}

func TestAProjectThatIsForgettingIsNotMerged(t *testing.T) {
	t.Parallel()
	s := newThree(t)
	before := rows(t, s)
	c := claimAs(t, s, project, forMinutes)
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{"codex:" + project}}))
	wantCode(t, s.Merge(t.Context(), c, other), memoir.CodeBusy)
	if after := rows(t, s); after["project"] != before["project"] || after["hand_edit"] != before["hand_edit"] {
		t.Errorf("before %v, after %v", before, after)
	}
}
