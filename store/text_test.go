package store

import (
	"slices"
	"strings"
	"testing"
)

// noText are the columns that Texts leaves out on purpose: ids, hashes, words of the
// program's own, paths by which files are found, and what is stored for moments.
var noText = strings.Fields(`
	extraction.session_key extraction.project_id extraction.cwd extraction.content_hash extraction.model
	file.path file.session_key
	removed_folder.project_id
	generation.project_id generation.manifest_hash generation.inputs
	job.kind job.key job.status job.owner job.holder job.input_version job.done_version job.done_hash job.model
	ledger.run ledger.phase ledger.session_key ledger.project_id ledger.model ledger.outcome ledger.call ledger.work
	mark.session_key mark.project_id note.project_id note.action counter.name
	project.id project.name project.identity project.remote project_alias.alias project_alias.project_id project_alias.kind
	project_directory.path project_directory.project_id
	redaction.scope redaction.key redaction.rule run.run run.holder run.outcome
	session.key session.source session.thread_id session.project_id session.kind session.parent session.cwd session.remote
	session.version session.reason skipped_record.session_key skipped_record.why skipped_record.type
	withdrawal.project_id withdrawal.text withdrawal.error`)

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
	must(t, s.read(t.Context(), func(t tx) (err error) {
		columns, err = t.texts(`SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name <> 'sqlite_sequence' AND upper(c.type) IN ('TEXT', 'TIMESTAMP', 'VARCHAR')`)
		return err
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
	stale := texts[0]
	stale.Value = "something else"
	edit := func(text Text) string { return strings.ReplaceAll(text.Value, "word", "[REDACTED]") }
	if n, err := s.ReplaceTexts(t.Context(), []Text{stale}, edit); err != nil || n != 0 {
		t.Errorf("%d texts, %v", n, err)
	}
	if n, err := s.ReplaceTexts(t.Context(), texts, edit); err != nil || n != len(texts) || len(find("")) > 0 {
		t.Errorf("%d texts, %v, left %+v", n, err, find(""))
	}
}
