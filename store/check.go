package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// Check examines the whole database and returns what is wrong with it, a line
// each; nothing if all is well. It reads every page.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := s.read(ctx, func(t tx) error {
		err := t.each(`PRAGMA integrity_check`, nil, func(scan func(...any) error) error {
			var line string
			err := scan(&line)
			if line != "ok" {
				found = append(found, line)
			}
			return err
		})
		if err != nil {
			return err
		}
		err = t.each(`SELECT "table" || ' refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check
			WHERE "table" <> 'extraction_mark'`, nil, // which does no harm: LostExtractions tells why
			func(scan func(...any) error) error {
				var line string
				err := scan(&line)
				found = append(found, line)
				return err
			})
		if err != nil {
			return err
		}
		missing, err := missingObjects(ctx, t)
		found = append(found, missing...)
		if err != nil || len(found) > 0 {
			return err
		}
		if found, err = unreadableIndexes(t); err != nil {
			return err
		}
		return t.each(`SELECT 'the inputs of generation ' || n || ' of project ' || project_id || ' cannot be read' FROM generation WHERE NOT json_valid(inputs)
			UNION ALL SELECT 'session ' || key || ' goes by another key' FROM session WHERE key <> source || ':' || thread_id`, nil,
			func(scan func(...any) error) error {
				var line string
				err := scan(&line)
				found = append(found, line)
				return err
			})
	})
	return found, s.explain(err, "checking database")
}

// unreadableIndexes reads each index by itself: that a page of another kind stands where
// a partial index without rows begins is nothing that SQLite's own check looks for.
func unreadableIndexes(t tx) (found []string, err error) {
	reads := map[string]string{}
	err = t.each(`SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND sql <> ''`, nil, func(scan func(...any) error) error {
		var name, table, statement string
		err := scan(&name, &table, &statement)
		_, where, partial := strings.Cut(statement, "WHERE ")
		if reads[name] = `SELECT count(*) FROM "` + table + `" INDEXED BY "` + name + `"`; partial {
			reads[name] += ` WHERE ` + where
		}
		return err
	})
	for _, name := range slices.Sorted(maps.Keys(reads)) {
		var n int
		if err := t.get(reads[name], nil, &n); err != nil {
			if e, ok := errors.AsType[sqlite3.Error](err); !ok || e.Code != sqlite3.ErrCorrupt {
				return nil, err
			}
			found = append(found, "the index "+name+" can't be read")
		}
	}
	return found, err
}

// missingObjects lists the tables and indexes that the database's version of the schema
// has and the database has not.
func missingObjects(ctx context.Context, t tx) (missing []string, err error) {
	migrations, err := fs.Sub(embedded, "migration")
	if err != nil {
		return nil, err
	}
	var version int64
	if err := t.get(`PRAGMA user_version`, nil, &version); err != nil {
		return nil, err
	}
	want, err := newest(migrations)
	if err != nil || version < 1 || version > want {
		return nil, err
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	c, err := newDatabase(ctx, db, migrations, version)
	if err != nil {
		return nil, err
	}
	var has []object
	err = t.each(`SELECT type, name, tbl_name FROM sqlite_schema`, nil, func(scan func(...any) error) error {
		var o object
		err := scan(&o.kind, &o.name, &o.table)
		has = append(has, o)
		return err
	})
	for _, o := range c.objects {
		if !slices.Contains(has, o) {
			missing = append(missing, "the "+o.kind+" "+o.name+" is missing")
		}
	}
	return missing, err
}
