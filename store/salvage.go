package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mattn/go-sqlite3"

	"memoir/store/page"
)

// Salvaged says what was read of one table of a damaged database.
type Salvaged struct {
	Table string
	Rows  int // that were read
	Lost  int // that are known to have been there, and could not be read
	// Unknown says that more rows may be lost than Lost counts: nothing is left that
	// tells how many there were.
	Unknown bool
}

// Damaged reports whether rows of the table are lost, or may be.
func (s Salvaged) Damaged() bool { return s.Lost > 0 || s.Unknown }

// salvage copies what can be read of a damaged database into a new one.
type salvage struct {
	file    *page.File
	catalog *catalog
	into    tx
	roots   map[string]uint32          // of tables and indexes, as far as the schema can be read
	read    map[uint32]bool            // pages whose rows were taken
	damaged map[string]bool            // tables of which a part could not be read
	known   map[string]map[string]bool // by table: keys of rows that an index names
	counted map[string]int             // by table: rows that a sound index counts
	lost    map[string]int             // by table: keys that are known and were not read
	sure    map[string]bool            // tables of which all keys are known
	hasKey  bool                       // the key of the hashes of what was forgotten was read
	stones  map[string]string          // what was forgotten, session key -> project, wherever it says so
}

// isForeign reports whether a database that can be read is one of another program.
func (s *salvage) isForeign() bool {
	if s.file.Unusual || s.file.Header.ApplicationID == applicationID || len(s.roots) == 0 {
		return false
	}
	for name := range s.roots {
		if s.catalog.tables[name] != nil {
			return false
		}
	}
	return true
}

// readSchema finds the roots of the trees. An entry that can't be read leaves its tree
// without a name: its pages are then told by what their rows look like.
func (s *salvage) readSchema() {
	var pages []uint32
	s.roots, pages = rootsOf(s.file)
	for _, n := range pages {
		s.read[n] = true
	}
}

// rootsOf lists the roots of a database's trees by name, and the pages that tell them.
func rootsOf(file *page.File) (roots map[string]uint32, pages []uint32) {
	roots = map[string]uint32{}
	file.Tree(1, false, func(found page.Found) {
		for _, row := range found.Rows {
			if len(row.Values) != 5 {
				continue
			}
			name, isName := row.Values[1].(string)
			root, isRoot := row.Values[3].(int64)
			if isName && isRoot && root > 1 && root <= int64(file.Pages()) {
				roots[name] = uint32(root)
			}
		}
		pages = append(pages, found.Page)
	})
	return roots, pages
}

// all copies every table.
func (s *salvage) all() error {
	s.read, s.damaged, s.stones = map[uint32]bool{}, map[string]bool{}, map[string]string{}
	s.known, s.counted, s.lost = map[string]map[string]bool{}, map[string]int{}, map[string]int{}
	s.sure = map[string]bool{}
	s.readSchema()
	if s.isForeign() {
		return errForeign
	}
	for _, name := range slices.Sorted(maps.Keys(s.catalog.tables)) {
		if err := s.table(s.catalog.tables[name]); err != nil {
			return err
		}
	}
	for _, o := range s.catalog.objects {
		if o.kind == "index" {
			s.index(o)
		}
	}
	if err := s.notice(); err != nil {
		return err
	}
	if len(s.damaged) > 0 {
		if err := s.strays(); err != nil {
			return err
		}
	}
	if err := s.mendIDs(); err != nil {
		return err
	}
	if err := s.dropStrangers(); err != nil {
		return err
	}
	return s.compare()
}

var errForeign = errors.New("another program's")

// table copies the rows that its tree leads to.
func (s *salvage) table(tb *table) error {
	root := s.roots[tb.name]
	if root == 0 {
		s.damaged[tb.name] = true
		return nil
	}
	var failed error
	bad := s.file.Tree(root, !tb.withID, func(found page.Found) {
		if failed == nil {
			_, failed = s.take(tb, found)
		}
	})
	if len(bad) > 0 {
		s.damaged[tb.name] = true
	}
	return failed
}

// take stores the rows of a page that fit a table, and returns how many did.
func (s *salvage) take(tb *table, found page.Found) (fits int, err error) {
	for _, row := range found.Rows {
		values, ok := tb.fit(row)
		if !ok {
			s.damaged[tb.name] = true
			continue
		}
		fits++
		if err := s.insert(tb, values); err != nil {
			return fits, err
		}
	}
	if fits > 0 {
		s.read[found.Page] = true
	}
	return fits, nil
}

// insert stores a row. One that is there already was read before: trees are read before
// strays, and a page of garbage may lead to rows twice.
func (s *salvage) insert(tb *table, values []any) error {
	var names []string
	for _, c := range tb.columns[:len(values)] {
		names = append(names, `"`+c.name+`"`)
	}
	conflict := "DO NOTHING"
	switch tb.name { // a new database has rows of these
	case "counter":
		conflict = "DO UPDATE SET n = max(n, excluded.n)"
	case keyTable:
		conflict, s.hasKey = "DO UPDATE SET key = excluded.key", true
	}
	_, err := s.into.exec(`INSERT INTO "`+tb.name+`" (`+strings.Join(names, ", ")+`) VALUES (?`+strings.Repeat(", ?", len(values)-1)+`)
		ON CONFLICT `+conflict, values...)
	if e, ok := errors.AsType[sqlite3.Error](err); ok && e.Code == sqlite3.ErrConstraint {
		s.damaged[tb.name] = true // a row that the schema would never have let in
		return nil
	}
	return err
}

// index reads an index for what it tells of its table: how many rows there were, and
// their keys.
func (s *salvage) index(o object) {
	root, tb := s.roots[o.name], s.catalog.tables[o.table]
	if root == 0 || tb == nil {
		return
	}
	rows := 0
	columns, whole := s.catalog.indexes[o.name]
	isKey := whole && slices.Equal(columns, tb.key)
	bad := s.file.Tree(root, true, func(found page.Found) {
		s.read[found.Page] = true
		rows += len(found.Rows)
		for _, row := range found.Rows {
			switch {
			case o.name == "mark_forgotten" && len(row.Values) == 2:
				project, isID := row.Values[0].(string)
				key, isKey := row.Values[1].(string)
				if isID && isKey && isSessionKey(key) && (project == "" || projectIDForm.MatchString(project)) {
					s.stones[key] = project
				}
			case isKey && len(row.Values) > len(columns):
				if s.known[tb.name] == nil {
					s.known[tb.name] = map[string]bool{}
				}
				s.known[tb.name][fmt.Sprint(row.Values[:len(columns)])] = true
			}
		}
	})
	if whole && len(bad) == 0 {
		s.counted[tb.name] = max(s.counted[tb.name], rows)
		s.sure[tb.name] = s.sure[tb.name] || isKey
	}
}

// notice counts a table as damaged that has fewer rows than a sound index of it: a page
// that took the place of another leads to other rows, and nothing about it looks wrong.
func (s *salvage) notice() error {
	for name, rows := range s.counted {
		var read int
		if err := s.into.get(`SELECT count(*) FROM "`+name+`"`, nil, &read); err != nil {
			return err
		}
		if read < rows {
			s.damaged[name] = true
		}
	}
	return nil
}

// strays looks through the pages that no tree led to. A page belongs to the damaged
// table that all of its rows fit, if there is one such table only.
func (s *salvage) strays() error {
	free := s.file.Free()
	for n := uint32(2); n <= s.file.Pages(); n++ {
		if s.read[n] || free[n] {
			continue
		}
		found, ok := s.file.Rows(n)
		if !ok {
			continue
		}
		var fitting []*table
		for _, name := range slices.Sorted(maps.Keys(s.damaged)) {
			if tb := s.catalog.tables[name]; tb.withID != found.Index && tb.fitsAll(found.Rows) {
				fitting = append(fitting, tb)
			}
		}
		if len(fitting) != 1 {
			continue
		}
		if _, err := s.take(fitting[0], found); err != nil {
			return err
		}
	}
	return nil
}

// fitsAll reports whether all rows can be the table's, and nothing shorter: an index
// has rows that begin like those of a table.
func (tb *table) fitsAll(rows []page.Row) bool {
	return !slices.ContainsFunc(rows, func(row page.Row) bool {
		_, ok := tb.fit(row)
		return !ok || len(row.Values) < min(len(tb.columns), 4) || len(row.Values) < len(tb.key)
	})
}

// compare counts the rows of each table, and those that an index knows to be missing.
func (s *salvage) compare() error {
	for name := range s.damaged {
		tb := s.catalog.tables[name]
		keys := map[string]bool{}
		err := s.into.each(`SELECT `+strings.Join(tb.key, ", ")+` FROM "`+name+`"`, nil, func(scan func(...any) error) error {
			key := make([]any, len(tb.key))
			into := make([]any, len(tb.key))
			for i := range key {
				into[i] = &key[i]
			}
			err := scan(into...)
			keys[fmt.Sprint(key)] = true
			return err
		})
		if err != nil {
			return err
		}
		for key := range s.known[name] {
			if !keys[key] {
				s.lost[name]++
			}
		}
		s.lost[name] = max(s.lost[name], s.counted[name]-len(keys))
	}
	return nil
}

// lostKeys lists the keys of a table with one key column that an index names and that
// were not read.
func (s *salvage) lostKeys(name string) (keys []string, err error) {
	for key := range s.known[name] {
		key = strings.TrimSuffix(strings.TrimPrefix(key, "["), "]")
		var one int
		err := s.into.get(`SELECT 1 FROM "`+name+`" WHERE "`+s.catalog.tables[name].key[0]+`" = ?`, []any{key}, &one)
		if errors.Is(err, sql.ErrNoRows) {
			keys = append(keys, key)
		} else if err != nil {
			return nil, err
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// report says what became of each table.
func (s *salvage) report() ([]Salvaged, error) {
	var out []Salvaged
	for _, name := range slices.Sorted(maps.Keys(s.catalog.tables)) {
		row := Salvaged{Table: name, Lost: s.lost[name]}
		_, counted := s.counted[name]
		row.Unknown = s.damaged[name] && !counted
		if err := s.into.get(`SELECT count(*) FROM "`+name+`"`, nil, &row.Rows); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b Salvaged) int {
		return cmp.Compare(slices.Index(tableOrder, a.Table), slices.Index(tableOrder, b.Table))
	})
	return out, nil
}

// tableOrder is that of a report: what can't be had again comes first. Tables that are
// not named come before those.
var tableOrder = []string{"project", "mark", "note", "extraction", "generation", "ledger", "session", "job"}

// copyReadable copies what can be read of a file into a new database. Earlier databases
// are looked into for what was forgotten, if this one may not know all of that.
func copyReadable(ctx context.Context, file *page.File, db *sql.DB, c *catalog, earlier []string) (s *salvage, err error) {
	if _, err := db.ExecContext(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	s = &salvage{file: file, catalog: c, into: tx{ctx: ctx, on: db}}
	if err := s.all(); err != nil {
		return nil, err
	}
	if err := s.recallForgotten(earlier); err != nil {
		return nil, err
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, "COMMIT")
	return s, err
}
