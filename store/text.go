package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Text is one text that the database keeps.
type Text struct {
	Table, Column string
	Key           string // names the row: the values of its key, separated by spaces
	Value         string
	Name          bool   // it is the name of a file
	Kept          string // why Rewrite leaves it as it is; empty: it does not
}

// Texts calls fn for every text of every table, all of one moment: those of a project, or
// of the whole database for "". What is a text is told by the schema, not by a list.
func (s *Store) Texts(ctx context.Context, projectID string, fn func(Text) error) error {
	err := s.read(ctx, func(t tx) error {
		return eachRow(t, projectID, func(tab textTable, row []any) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for i := range tab.text {
				if text := tab.at(row, i); text.Value != "" {
					if err := fn(text); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
	return s.explain(err, "reading all texts")
}

func eachRow(t tx, projectID string, fn func(textTable, []any) error) error {
	tables, err := textTables(t)
	if err != nil {
		return err
	}
	for _, tab := range tables {
		query, args, ok := tab.query(projectID)
		if !ok {
			continue
		}
		err := t.each(query, args, func(scan func(...any) error) error {
			row := make([]any, len(tab.key)+len(tab.text))
			into := make([]any, len(row))
			for i := range row {
				into[i] = &row[i]
			}
			if err := scan(into...); err != nil {
				return err
			}
			return fn(tab, row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// at is the text of a row's i-th text column.
func (t textTable) at(row []any, i int) Text {
	var key []string
	for _, v := range row[:len(t.key)] {
		key = append(key, plainValue(v))
	}
	column := t.name + "." + t.text[i]
	return Text{Table: t.name, Column: t.text[i], Key: strings.Join(key, " "), Value: plainValue(row[len(t.key)+i]),
		Name: slices.Contains(asName, column), Kept: identities[column]}
}

func plainValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// rewriteBatch bounds how many rows one transaction of Rewrite changes.
const rewriteBatch = 200

// Rewrite replaces each text that is no identity by what edit makes of it, in
// transactions of at most rewriteBatch rows, each durable. A row that another process changed in
// between is left to the next call. What a consolidator left to itself is deleted
// instead: it may be lost at any time. It returns how many rows changed.
func (s *Store) Rewrite(ctx context.Context, projectID string, edit func(Text) string) (changed int, err error) {
	var batch []rewriting
	flush := func() error {
		err := s.durably(ctx, func(t tx) error {
			for _, r := range batch {
				n, err := r.apply(t)
				if err != nil {
					return err
				}
				changed += int(n)
			}
			return nil
		})
		batch = batch[:0]
		return err
	}
	err = s.read(ctx, func(t tx) error {
		return eachRow(t, projectID, func(tab textTable, row []any) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r := rewriting{table: tab, row: row, edited: map[int]string{}}
			for i := range tab.text {
				text := tab.at(row, i)
				if text.Kept != "" || text.Value == "" {
					continue
				}
				if now := edit(text); now != text.Value {
					r.edited[i] = now
				}
			}
			if len(r.edited) == 0 {
				return nil
			}
			if batch = append(batch, r); len(batch) < rewriteBatch {
				return nil
			}
			return flush()
		})
	})
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	return changed, s.explain(err, "rewriting texts")
}

// rewriting is one row and the texts of it that change, by their place among the
// table's texts.
type rewriting struct {
	table  textTable
	row    []any
	edited map[int]string
}

func (r rewriting) apply(t tx) (int64, error) {
	var where, set []string
	var to, is []any
	for i, column := range r.table.key {
		where = append(where, quoted(column)+" = ?")
		is = append(is, r.row[i])
	}
	for i := range r.table.text {
		now, edited := r.edited[i]
		if !edited {
			continue
		}
		set = append(set, quoted(r.table.text[i])+" = ?")
		if _, blob := r.row[len(r.table.key)+i].([]byte); blob {
			to = append(to, []byte(now))
		} else {
			to = append(to, now)
		}
		where = append(where, quoted(r.table.text[i])+" = ?")
		is = append(is, r.row[len(r.table.key)+i])
	}
	if r.table.name == "draft" {
		return t.exec(`DELETE FROM draft WHERE `+strings.Join(where, " AND "), is...)
	}
	// Two rows may differ in what was taken out alone: then one of them stays.
	n, err := t.exec(fmt.Sprintf(`UPDATE OR REPLACE %s SET %s WHERE %s`, quoted(r.table.name), strings.Join(set, ", "), strings.Join(where, " AND ")),
		append(to, is...)...)
	if err == nil && n > 0 && r.table.name == "extraction" {
		err = sumUp(t, plainValue(r.row[0]))
	}
	return n, err
}
