package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Text is one text of the database that was made of sessions, or that a person wrote.
type Text struct {
	Table, Column string
	Key           string // of the row
	ProjectID     string // the project that it belongs to; empty: none
	Value         string
	Name          bool // it is the name of a file
}

// textTable is a table with columns that hold such texts. Key and project are SQL
// expressions.
type textTable struct {
	name, key, project string
	columns            []string
}

// textTables lists the columns that Texts reads and ReplaceTexts writes. Ids and paths by
// which rows and files are found are not among them.
var textTables = []textTable{
	{"extraction", `session_key`, `coalesce(project_id, '')`, []string{"raw_memory", "rollout_summary", "rollout_slug", "title", "branch"}},
	{"note", `id`, `project_id`, []string{"file", "section", "after", "text"}},
	{"session", `key`, `coalesce(project_id, '')`, []string{"title", "branch", "error"}},
	{"file", `path`, `coalesce((SELECT project_id FROM session WHERE key = session_key), '')`, []string{"head", "error"}},
	{"job", `kind || ' ' || key`, `coalesce((SELECT project_id FROM session WHERE session.key = job.key), key)`, []string{"last_error"}},
	{"run", `id`, `''`, []string{"reason", "hint"}},
}

// nameColumns are the texts that are names of files.
var nameColumns = []string{"extraction.rollout_slug", "note.file"}

// Texts calls fn for every text that is not empty, of one project or of all for "". All
// are read from one snapshot of the database.
func (s *Store) Texts(ctx context.Context, projectID string, fn func(Text) error) error {
	err := s.read(ctx, func(t tx) error {
		for _, table := range textTables {
			query := fmt.Sprintf(`SELECT %s, %s AS project, %s FROM %s WHERE ?1 = '' OR project = ?1`,
				table.key, table.project, strings.Join(table.columns, ", "), table.name)
			err := t.each(query, []any{projectID}, func(scan func(...any) error) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				var key, project string
				values := make([]string, len(table.columns))
				into := []any{&key, &project}
				for i := range values {
					into = append(into, &values[i])
				}
				if err := scan(into...); err != nil {
					return err
				}
				for i, column := range table.columns {
					if values[i] == "" {
						continue
					}
					text := Text{table.name, column, key, project, values[i], slices.Contains(nameColumns, table.name+"."+column)}
					if err := fn(text); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "reading all texts")
}

// ReplaceTexts gives texts that Texts returned another value, in one durable transaction. A
// text that another process changed in between is left as it is. Drafts of consolidations
// are deleted. It returns how many texts it changed.
func (s *Store) ReplaceTexts(ctx context.Context, texts []Text, value func(Text) string) (changed int, err error) {
	err = s.durably(ctx, func(t tx) error {
		changed = 0
		for _, text := range texts {
			n, err := replaceText(t, text, value(text))
			if err != nil {
				return err
			}
			changed += int(n)
		}
		_, err := t.exec(`DELETE FROM draft`)
		return err
	})
	return changed, s.explain(err, "rewriting texts")
}

func replaceText(t tx, text Text, value string) (int64, error) {
	i := slices.IndexFunc(textTables, func(table textTable) bool { return table.name == text.Table })
	// Two notes may differ in their secret alone: then one of them stays.
	n, err := t.exec(fmt.Sprintf(`UPDATE OR REPLACE %s SET %s = ?1 WHERE %s = ?2 AND %s = ?3`,
		text.Table, text.Column, textTables[i].key, text.Column), value, text.Key, text.Value)
	return n, err
}
