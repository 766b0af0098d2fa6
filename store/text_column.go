package store

import (
	"fmt"
	"slices"
	"strings"
)

// Why a column of the database is not passed to who looks for secrets.
const (
	isWord  = "one of a few words of the program's own"
	isHash  = "a hash or a number"
	isToken = "made at random"
	isProc  = "host, process id and boot id of a process"
	isRule  = "the id of a rule"
)

// notText are the columns that hold no words of anybody's. All others whose type is
// not a number's are texts: a column that is added is one until it is named here.
var notText = map[string]string{
	"session.source": isWord, "session.kind": isWord, "session.reason": isWord, "session.version": isHash,
	"job.kind": isWord, "job.status": isWord, "job.owner": isToken, "job.holder": isProc,
	"job.input_version": isHash, "job.done_version": isHash, "job.done_hash": isHash,
	"extraction.content_hash": isHash, "extraction.text_sum": isHash, "extraction_mark.hash": isHash,
	"ledger.run": isToken, "ledger.work": isToken, "ledger.phase": isWord, "ledger.outcome": isWord, "ledger.call": isWord,
	"generation.manifest_hash": isHash,
	"generation.inputs":        "session keys, which are looked at in their own rows, and hashes",
	"note.action":              isWord, "redaction.scope": isWord, "redaction.rule": isRule, "counter.name": isWord,
	"project_alias.kind": isWord, "skipped_record.why": isWord,
	"goose_db_version.tstamp": "a time", "sqlite_sequence.name": "the name of a table",
}

// Why a text stays as it is, whatever it holds.
const (
	keptID   = "it is an id: rows, folders and other homes go by it"
	keptFile = "it is the path of an agent's own file, by which that is opened"
)

// identities are the columns by which rows are found. They are looked at, and stay.
var identities = map[string]string{
	"project.id": keptID, "project_directory.project_id": keptID, "project_alias.project_id": keptID,
	"session.key": keptID, "session.thread_id": keptID, "session.parent": keptID, "session.project_id": keptID,
	"mark.session_key": keptID, "mark.project_id": keptID, "file.path": keptFile, "file.session_key": keptID,
	"job.key": keptID, "extraction.session_key": keptID, "extraction.project_id": keptID, "extraction_mark.session_key": keptID,
	"ledger.session_key": keptID, "ledger.project_id": keptID, "generation.project_id": keptID, "note.project_id": keptID,
	"redaction.key": keptID, "skipped_record.session_key": keptID, "draft.project_id": keptID, "withdrawal.project_id": keptID,
	"project_union.from_id": keptID, "project_union.into_id": keptID, "folder_move.project_id": keptID, "folder_move.into_id": keptID,
}

// asName are the texts that are names of files.
var asName = []string{"extraction.rollout_slug", "note.file"}

// textTable is one table with its columns.
type textTable struct {
	name string
	key  []string // columns that name a row
	text []string // that hold text, identities included
	all  []string
}

// textTables lists the tables that hold text, by name, as the database itself says.
func textTables(t tx) ([]textTable, error) {
	names, err := keysOf(t, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	var tables []textTable
	for _, name := range names {
		one := textTable{name: name}
		err := t.each(`SELECT name, upper(type), pk FROM pragma_table_info(?) ORDER BY cid`, []any{name}, func(scan func(...any) error) error {
			var column, kind string
			var pk int
			if err := scan(&column, &kind, &pk); err != nil {
				return err
			}
			one.all = append(one.all, column)
			if pk > 0 {
				one.key = append(one.key, column)
			}
			number := kind == "INTEGER" || kind == "REAL" || kind == "INT"
			if _, none := notText[name+"."+column]; !none && !number {
				one.text = append(one.text, column)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(one.key) == 0 {
			one.key = []string{"rowid"}
		}
		if len(one.text) > 0 {
			tables = append(tables, one)
		}
	}
	return tables, nil
}

// of is the condition for rows of a project, with ?1 for its id; false: the table has
// none that are a project's.
func (t textTable) of() (condition string, ok bool) {
	const sessions = `(SELECT key FROM session WHERE project_id = ?1 UNION SELECT session_key FROM extraction WHERE project_id = ?1)`
	has := func(column string) bool { return slices.Contains(t.all, column) }
	switch {
	case t.name == "project":
		return `id = ?1`, true
	case t.name == "job", t.name == "redaction":
		return `(key = ?1 OR key IN ` + sessions + `)`, true
	case t.name == "project_union":
		return `(from_id = ?1 OR into_id = ?1)`, true
	case has("project_id") && has("session_key"):
		return `(project_id = ?1 OR session_key IN ` + sessions + `)`, true
	case has("project_id"):
		return `project_id = ?1`, true
	case has("session_key"):
		return `session_key IN ` + sessions, true
	}
	return "", false
}

// query selects the columns that name a row, and then its texts.
func (t textTable) query(projectID string) (sql string, args []any, ok bool) {
	var columns []string
	for _, c := range append(slices.Clone(t.key), t.text...) {
		columns = append(columns, quoted(c))
	}
	sql = fmt.Sprintf(`SELECT %s FROM %s`, strings.Join(columns, ", "), quoted(t.name))
	if projectID != "" {
		condition, some := t.of()
		if !some {
			return "", nil, false
		}
		sql, args = sql+` WHERE `+condition, []any{projectID}
	}
	return sql, args, true
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
