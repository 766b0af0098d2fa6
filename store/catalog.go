package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// table is a table as the migrations make it, for reading its rows without SQLite.
type table struct {
	name    string
	withID  bool     // it has row ids, so that its tree is one of a table
	columns []column // in the order in which a row holds them
	key     []string // columns of the primary key
}

type column struct {
	name    string
	kind    string // INTEGER, REAL, TEXT or BLOB
	notNull bool
	rowID   bool // its value is the row id
}

// object is an entry of a schema.
type object struct{ kind, name, table string }

// catalog is what a version of the schema consists of.
type catalog struct {
	tables  map[string]*table
	objects []object
	// columns of the indexes that cover every row of their table, in order
	indexes map[string][]string
}

// newDatabase makes an empty database of a version of the schema in an empty file, and
// says what it consists of. The connection is in no transaction.
func newDatabase(ctx context.Context, db *sql.DB, migrations fs.FS, version int64) (*catalog, error) {
	if err := apply(ctx, db, migrations, version); err != nil {
		return nil, err
	}
	for _, statement := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", version),
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return readCatalog(tx{ctx: ctx, on: db})
}

func readCatalog(t tx) (*catalog, error) {
	c := &catalog{tables: map[string]*table{}, indexes: map[string][]string{}}
	err := t.each(`SELECT s.type, s.name, s.tbl_name, coalesce(l.wr, 0) FROM sqlite_schema s
		LEFT JOIN pragma_table_list l ON l.name = s.name AND l.schema = 'main' ORDER BY s.name`, nil,
		func(scan func(...any) error) error {
			var o object
			var without bool
			if err := scan(&o.kind, &o.name, &o.table, &without); err != nil {
				return err
			}
			c.objects = append(c.objects, o)
			if o.kind == "table" && !strings.HasPrefix(o.name, "sqlite_") && o.name != "goose_db_version" {
				c.tables[o.name] = &table{name: o.name, withID: !without}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	for _, tb := range c.tables {
		if err := tb.readColumns(t); err != nil {
			return nil, err
		}
		err := t.each(`SELECT l.name, i.name FROM pragma_index_list(?1) l, pragma_index_info(l.name) i WHERE NOT l.partial ORDER BY l.name, i.seqno`,
			[]any{tb.name}, func(scan func(...any) error) error {
				var index, name string
				err := scan(&index, &name)
				c.indexes[index] = append(c.indexes[index], name)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (tb *table) readColumns(t tx) error {
	at := map[string]int{} // place in the primary key, from 1
	err := t.each(`SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?) ORDER BY cid`, []any{tb.name},
		func(scan func(...any) error) error {
			var c column
			var pk int
			err := scan(&c.name, &c.kind, &c.notNull, &pk)
			if pk > 0 {
				at[c.name] = pk
				tb.key = append(tb.key, c.name)
				c.notNull = true
			}
			tb.columns = append(tb.columns, c)
			return err
		})
	slices.SortFunc(tb.key, func(a, b string) int { return cmp.Compare(at[a], at[b]) })
	if tb.withID {
		for i, c := range tb.columns {
			tb.columns[i].rowID = len(tb.key) == 1 && at[c.name] > 0 && c.kind == "INTEGER"
		}
		return err
	}
	// A table without row ids holds its key first.
	slices.SortStableFunc(tb.columns, func(a, b column) int {
		place := func(c column) int { return cmp.Or(at[c.name], len(tb.columns)+1) }
		return cmp.Compare(place(a), place(b))
	})
	return err
}

// keyColumns are the places in a row of the columns of the primary key.
func (tb *table) keyColumns() []int {
	var places []int
	for _, name := range tb.key {
		places = append(places, slices.IndexFunc(tb.columns, func(c column) bool { return c.name == name }))
	}
	return places
}
