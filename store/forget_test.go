package store

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

func TestForgettingIsBegunAndFinished(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t) // s00 is extracted
	const key = "codex:s00"
	must(t, s.RecordHandEdits(t.Context(), project, 1, []memoir.HandEdit{
		{File: "MEMORY.md", Action: memoir.EditAdded, Text: "- theirs"}, {File: "MEMORY.md", Action: memoir.EditAdded, Text: "- of it"},
	}))
	must(t, s.BeginRun(t.Context(), "r", lease.Self()))
	must(t, s.EndRun(t.Context(), "r", RunEnd{Outcome: RunFailed, Reason: "it quotes s00", Hint: "x"}))
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{key}, Text: "of it", Projects: []string{project}, Purge: true}))
	if last, err := s.LastRun(t.Context()); err != nil || last.RunEnd != (RunEnd{Outcome: RunFailed}) {
		t.Errorf("the run says %+v, %v", last, err)
	}
	row := projectRow(t, s, project)
	if !row.Due || len(inputs(t, s)) != 0 {
		t.Errorf("begun: %+v", row)
	}
	left, err := s.Withdrawals(t.Context())
	must(t, err)
	if len(left) != 1 || left[0].ProjectID != project || !slices.Equal(left[0].Texts, []string{"of it"}) || !left[0].Purge || left[0].Seq != row.ChangeSeq {
		t.Errorf("left %+v", left)
	}
	if known, err := s.WithdrawnExtractions(t.Context()); err != nil || len(known) != 1 || known[0].SessionKey != key {
		t.Errorf("what was extracted: %+v, %v", known, err)
	}
	found, err := s.FindSessions(t.Context(), key)
	must(t, err)
	if se := found[0]; se.Title+se.CWD+se.Branch+se.ProjectID != "" || se.Reason != memoir.ReasonForgotten {
		t.Errorf("its row says %+v", se)
	}
	must(t, s.FinishForgetting(t.Context(), project, row.ChangeSeq-1, func(n memoir.HandEdit) (memoir.HandEdit, bool) { return n, true }))
	if left, err := s.Withdrawals(t.Context()); err != nil || len(left) != 1 {
		t.Errorf("what was begun later is taken for finished: %+v, %v", left, err)
	}
	must(t, s.FinishForgetting(t.Context(), project, row.ChangeSeq, func(n memoir.HandEdit) (memoir.HandEdit, bool) { return n, n.Text != "- of it" }))
	if left, err := s.Withdrawals(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left %+v, %v", left, err)
	}
	if notes, err := s.HandEdits(t.Context(), project); err != nil || len(notes) != 1 || notes[0].Text != "- theirs" {
		t.Errorf("notes %+v, %v", notes, err)
	}
	if known, err := s.WithdrawnExtractions(t.Context()); err != nil || len(known) != 0 {
		t.Errorf("what was extracted is kept: %+v, %v", known, err)
	}
	if tombstones, err := s.ForgottenOf(t.Context(), project); err != nil || len(tombstones) != 1 {
		t.Errorf("%+v, %v", tombstones, err)
	}
	if purging, err := s.Purging(t.Context()); err != nil || !purging {
		t.Errorf("purging %v, %v", purging, err)
	}
}

func TestSubagentsAreForgottenWithTheirSession(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	child := func(parent string) func(*memoir.Session) {
		return func(se *memoir.Session) { se.Kind, se.ParentID = memoir.KindSubagent, parent }
	}
	fork := func(se *memoir.Session) { se.ParentID = "top" }
	scan(t, s, session("top"), session("below", child("top")), session("deeper", child("below")), session("fork", fork), session("else", child("other")))
	must(t, s.Unforget(t.Context(), "codex:else")) // never forgotten: nothing happens
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{"codex:top"}}))
	forgotten, err := s.Forgotten(t.Context())
	must(t, err)
	if keys := slices.Sorted(maps.Keys(forgotten)); !slices.Equal(keys, []string{"codex:below", "codex:deeper", "codex:top"}) {
		t.Errorf("forgotten: %v", keys)
	}
}

func TestADirectoryOfForgottenSessionsGoesWithThem(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	must(t, s.UpsertProject(t.Context(), memoir.Project{ID: project, Name: "p", Identity: "host/p", Directories: []string{"/src/a", "/src/a-b", "/src/own"}}))
	in := func(dir string) func(*memoir.Session) { return func(se *memoir.Session) { se.CWD = dir } }
	scan(t, s, session("a", in("/src/a")), session("b", in("/src/a-b/deep")), session("c", in("/src/a-b")), session("d", in("/src/own/deep")))
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{"codex:b", "codex:d"}}))
	if left := projectRow(t, s, project).Directories; !slices.Equal(left, []string{"/src/a", "/src/a-b"}) {
		t.Errorf("left: %q", left)
	}
}

func TestAWaitingProjectThatForgetsSaysStillThatItFailed(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	fail(t, s, claimProject(t, s), Failure{Message: "line 3, “ask Ada”, cites nobody", Transient: true}, Policy{Base: time.Hour})
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{"codex:s00"}}))
	if c := wantDeclined(t, s, DeclinedBackoff); c.LastError == "" || strings.Contains(c.LastError, "Ada") {
		t.Errorf("its last error is %q", c.LastError)
	}
}

func TestForgettingAProjectForgetsItsSessions(t *testing.T) {
	t.Parallel()
	s, _ := newFull(t)
	scan(t, s, session("x", grown, theirs))
	late := claimOne(t, s)
	must(t, s.BeginForgetting(t.Context(), Forgetting{Project: other}))
	if reason := reasonOf(t, s, "x"); reason != memoir.ReasonForgotten {
		t.Errorf("its session is %s", reason)
	}
	wantCode(t, s.StoreExtraction(t.Context(), late, worth("late")), memoir.CodeLeaseLost)
	if rows, err := s.Projects(t.Context()); err != nil || len(rows) != 1 || rows[0].ID != project || rows[0].Extractions != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	if removed, err := s.RemovedFolders(t.Context()); err != nil || !maps.Equal(removed, map[string]string{other: ""}) {
		t.Errorf("%v, %v", removed, err)
	}
	// A later session begins anew; one that was forgotten comes back as one.
	register(t, s, other)
	scan(t, s, session("new", theirs), session("x", grown, grown, theirs))
	if row := projectRow(t, s, other); row.Generation != 0 || row.Extractions != 0 || reasonOf(t, s, "x") != memoir.ReasonForgotten || reasonOf(t, s, "new") != memoir.ReasonEligible {
		t.Errorf("%+v", row)
	}
	if found, err := s.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	// Remembered again, it is scanned again.
	must(t, s.Unforget(t.Context(), "codex:x"))
	files, err := s.Files(t.Context())
	if must(t, err); files["/sessions/x.jsonl"].ModTime.UnixNano() != 0 || files["/sessions/s00.jsonl"].ModTime.UnixNano() == 0 {
		t.Errorf("%+v", files)
	}
}

// rows counts what every table holds.
func rows(t testing.TB, s *Store) map[string]int {
	t.Helper()
	n := map[string]int{}
	must(t, s.read(background(), func(tx tx) {
		for _, table := range tx.texts(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`) {
			var rows int
			tx.get(`SELECT count(*) FROM `+table, nil, &rows)
			n[table] = rows
		}
	}))
	return n
}

// newFull returns a store with two projects that have something of everything.
func newFull(t testing.TB) (*Store, *fakeClock) {
	t.Helper()
	s, clock := newQueue(t, 3)
	register(t, s, other)
	scan(t, s, session("x", ended(1), theirs))
	for _, id := range []string{other, project} {
		r := worth(id)
		r.Redactions = map[string]int{"aws": 1}
		extracted(t, s, r)
		must(t, s.RecordHandEdits(t.Context(), id, 1, []memoir.HandEdit{{ProjectID: id, File: "MEMORY.md", Action: memoir.EditAdded, Text: "x"}}))
		must(t, s.UpsertProject(t.Context(), memoir.Project{ID: id, Name: id, Aliases: []string{"alias"}}))
		publish(t, s, claimAs(t, s, id, forMinutes), GenerationRecord{N: 1, Inputs: map[string]string{"codex:" + id: "h"},
			Redactions: map[string]int{"jwt": 1}})
	}
	forget(t, s, "codex:s01")
	must(t, s.SetDisabled(t.Context(), "codex:s02", true))
	return s, clock
}

func TestClearingAProjectRemovesExactlyItsRows(t *testing.T) {
	t.Parallel()
	s, _ := newFull(t)
	// A claim that is under way loses.
	scan(t, s, session("s00", grown))
	running := claimOne(t, s)
	before := rows(t, s)
	must(t, s.Clear(t.Context(), project))
	must(t, s.Clear(t.Context(), project))
	wantCode(t, s.StoreExtraction(t.Context(), running, worth("late")), memoir.CodeLeaseLost)
	after := rows(t, s)
	left := map[string]int{
		"project": 1, "session": 1, "file": 1, "job": 2, "extraction": 1, "generation": 1, "generation_input": 1, "hand_edit": 1, "redaction": 2, "project_directory": 1,
		"searchable": 1, "message": 2,
		"removed_folder": 1, // the folder is yet to be removed
	}
	for table, n := range before {
		want, listed := left[table]
		switch {
		case table == "project_alias":
			want = n / 2
		case !listed: // mark, ledger, counter
			want = n
		}
		if after[table] != want {
			t.Errorf("%s: %d rows of %d left, want %d", table, after[table], n, want)
		}
	}
	if row := projectRow(t, s, other); row.Generation != 1 || row.Extractions != 1 || row.Sessions != 1 {
		t.Errorf("the other project: %+v", row)
	}

	// What was forgotten or disabled stays so when everything is found again.
	register(t, s, project)
	scan(t, s, session("s00"), session("s01"), session("s02"))
	wantIDs(t, claim(t, s, claimOptions(9)), "s00")
	if a, b := reasonOf(t, s, "s01"), reasonOf(t, s, "s02"); a != memoir.ReasonForgotten || b != memoir.ReasonDisabled {
		t.Errorf("found again they are %s and %s", a, b)
	}
}

func TestClearingAllLeavesMarksAndLedger(t *testing.T) {
	t.Parallel()
	s, _ := newFull(t)
	before := rows(t, s)
	must(t, s.Clear(t.Context(), "", project, other))
	for table, n := range rows(t, s) {
		want := 0
		switch table {
		case "mark", "ledger", "counter":
			want = before[table]
		case "removed_folder": // the folders are yet to be removed
			want = before["project"]
		}
		if n != want {
			t.Errorf("%s: %d rows left, want %d", table, n, want)
		}
	}
}

// noText are the columns that Texts leaves out on purpose: ids, hashes, words of the
// program's own, paths by which files are found, and what is stored for moments.
var noText = strings.Fields(`
	extraction.session_key extraction.project_id extraction.content_hash extraction.model
	file.path file.session_key
	removed_folder.project_id removed_folder.files_to
	generation.project_id generation.manifest_hash generation_input.project_id generation_input.session_key generation_input.hash
	job.kind job.key job.status job.purpose job.owner job.holder job.input_version job.done_version job.done_hash job.model
	ledger.run ledger.phase ledger.session_key ledger.project_id ledger.model ledger.outcome ledger.call ledger.work
	mark.session_key mark.directory mark.project_id hand_edit.project_id hand_edit.action counter.name
	project_alias.project_id project_alias.kind project_directory.project_id
	share.project_id share.key share.cursor sent.key sent.hash sent.session_key outbox.session_key
	received.project_id received.origin received.hash received.session received.day
	redaction.scope redaction.key redaction.rule review.project_id review.key run.run run.holder run.outcome
	session.key session.source session.thread_id session.project_id session.kind session.parent
	session.version session.taken session.reason searchable.session_key said.session_key fallback.session_key entry.session_key entry.kind entry.category entry.author skipped_record.session_key skipped_record.why skipped_record.type
	withdrawal.project_id withdrawal.texts`)

// A column that a migration adds must be either scanned for secrets or named here.
func TestEveryTextColumnIsScannedOrExcused(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	var listed []string
	for _, table := range textTables {
		for _, column := range table.columns {
			listed = append(listed, table.name+"."+column)
		}
	}
	var columns []string
	must(t, s.read(t.Context(), func(t tx) {
		columns = t.texts(`SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name <> 'sqlite_sequence' AND upper(c.type) IN ('TEXT', 'BLOB', 'TIMESTAMP', 'VARCHAR')`)
	}))
	for _, column := range columns {
		if slices.Contains(listed, column) == slices.Contains(noText, column) {
			t.Errorf("%s must be either scanned or excused", column)
		}
	}
	for _, column := range listed {
		if !slices.Contains(columns, column) {
			t.Errorf("%s is listed and does not exist", column)
		}
	}
}

func TestReplacingTextsLeavesWhatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	scan(t, s, session("one"), session("two"))
	extracted(t, s, worth("a word"))
	find := func(projectID string) (texts []Text) {
		must(t, s.Texts(t.Context(), projectID, func(text Text) error {
			if strings.Contains(text.Value, "word") {
				texts = append(texts, text)
			}
			return nil
		}))
		return texts
	}
	texts := find(project)
	if len(texts) == 0 || len(find("another")) > 0 {
		t.Fatalf("%+v", texts)
	}
	for i := range texts {
		texts[i].New = strings.ReplaceAll(texts[i].Value, "word", "[REDACTED]")
	}
	stale := texts[0]
	stale.Value = "something else"
	if n, err := s.ReplaceTexts(t.Context(), []Text{stale}); err != nil || n != 0 {
		t.Errorf("%d texts, %v", n, err)
	}
	if n, err := s.ReplaceTexts(t.Context(), texts); err != nil || n != len(texts) || len(find("")) > 0 {
		t.Errorf("%d texts, %v, left %+v", n, err, find(""))
	}
}
