package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each column of the schema that can hold text is passed to who looks for secrets, or
// is named as no text. One that a migration adds is looked at without a list.
func TestEveryTextOfTheDatabaseIsLookedAt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "memoir.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	columns := map[string]bool{}
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column, kind string
		if err := rows.Scan(&table, &column, &kind); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(strings.ToUpper(kind), "INT") && strings.ToUpper(kind) != "REAL" {
			columns[table+"."+column] = true
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var tables []textTable
	if err := s.read(t.Context(), func(t tx) (err error) { tables, err = textTables(t); return err }); err != nil {
		t.Fatal(err)
	}
	looked := map[string]bool{}
	for _, tab := range tables {
		for _, column := range tab.text {
			looked[tab.name+"."+column] = true
		}
	}
	for name := range columns {
		if _, named := notText[name]; looked[name] == named {
			t.Errorf("%s is looked at: %v, and named as no text: %v", name, looked[name], named)
		}
	}
	for name := range notText {
		if !columns[name] && name != "sqlite_sequence.name" {
			t.Errorf("%s is named as no text, and is no column", name)
		}
	}
	for _, name := range append(slices.Clone(asName), keys(identities)...) {
		if !looked[name] {
			t.Errorf("%s is named, and is not looked at", name)
		}
	}
}

func keys(m map[string]string) (all []string) {
	for name := range m {
		all = append(all, name)
	}
	return all
}

func TestAColumnThatIsAddedIsLookedAtAndRewritten(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "memoir.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.durably(t.Context(), func(t tx) error {
		for _, statement := range []string{
			`CREATE TABLE "later added" (a INTEGER PRIMARY KEY, said TEXT, blob BLOB) STRICT`,
			`INSERT INTO "later added" (said, blob) VALUES ('one', x'6f6e65')`,
			`ALTER TABLE project ADD COLUMN motto TEXT NOT NULL DEFAULT ''`,
			`INSERT INTO project (id, name, identity, remote, motto) VALUES ('one', 'one', 'one', '', 'one')`,
			`INSERT INTO withdrawal (project_id, text, seq, purge) VALUES ('one', 'one', 1, 0), ('one', 'two', 1, 0)`,
			`INSERT INTO draft (project_id, model, data) VALUES ('one', 'm', x'6f6e65')`,
		} {
			if _, err := t.exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Rewrite(t.Context(), "", func(t Text) string { return strings.ReplaceAll(t.Value, "one", "two") })
	if err != nil || n != 4 {
		t.Fatalf("%d rows, %v", n, err)
	}
	var left []string
	err = s.Texts(t.Context(), "", func(t Text) error {
		if strings.Contains(t.Value, "one") {
			left = append(left, fmt.Sprintf("%s.%s %s", t.Table, t.Column, t.Kept))
		}
		return nil
	})
	if want := []string{"project.id " + keptID, "withdrawal.project_id " + keptID}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q is left, %v", left, err)
	}
}

// What another process wrote between the reading and the writing is not undone.
func TestARowThatChangedMeanwhileIsLeft(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "memoir.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	set := func(name string) error {
		return s.durably(t.Context(), func(t tx) error {
			_, err := t.exec(`INSERT INTO project (id, name, identity, remote) VALUES ('p', ?, '', '') ON CONFLICT DO UPDATE SET name = excluded.name`, name)
			return err
		})
	}
	if err := set("one"); err != nil {
		t.Fatal(err)
	}
	n, err := s.Rewrite(t.Context(), "", func(text Text) string {
		if text.Column == "name" {
			if err := set("another"); err != nil {
				t.Error(err)
			}
			return "redacted"
		}
		return text.Value
	})
	if err != nil || n != 0 {
		t.Fatalf("%d rows, %v", n, err)
	}
	row, err := s.FindProject(t.Context(), "p")
	if err != nil || row.Name != "another" {
		t.Errorf("%q, %v", row.Name, err)
	}
}
