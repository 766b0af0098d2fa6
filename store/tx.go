package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir/lease"
)

// tx is a transaction. Only the wait for its begin can be cancelled: transactions are short. Its first failure, of a
// statement or by fail, ends it: statements after that do nothing and find nothing, and it is rolled back. So only what
// has an effect outside the database asks whether all is ok.
type tx struct {
	ctx    context.Context
	on     *sql.Conn
	failed *error
}

// fail ends the transaction if err is not nil.
func (t tx) fail(err error) { *t.failed = cmp.Or(*t.failed, err) }

func (t tx) ok() bool { return *t.failed == nil }

// exec runs one statement and returns the number of rows it changed.
func (t tx) exec(query string, args ...any) (n int64) {
	if !t.ok() {
		return 0
	}
	res, err := t.on.ExecContext(t.ctx, query, args...)
	if err == nil {
		n, err = res.RowsAffected()
	}
	t.fail(err)
	return n
}

// execEach runs statements that take the same argument, in order.
func (t tx) execEach(arg any, statements ...string) { t.execAll([]any{arg}, statements...) }

// execAll runs statements that take the same arguments, in order. The last ones may be left unused.
func (t tx) execAll(args []any, statements ...string) {
	for _, statement := range statements {
		t.exec(statement, args...)
	}
}

// find reads one row, and reports whether there is one.
func (t tx) find(query string, args []any, into ...any) bool {
	if !t.ok() {
		return false
	}
	err := t.on.QueryRowContext(t.ctx, query, args...).Scan(into...)
	if !errors.Is(err, sql.ErrNoRows) {
		t.fail(err)
	}
	return err == nil
}

// get reads one row. It fails if there is none.
func (t tx) get(query string, args []any, into ...any) {
	if !t.find(query, args, into...) {
		t.fail(sql.ErrNoRows)
	}
}

// scanner reads the columns of a row.
type scanner = func(into ...any)

// rows yields the rows of a query, up to the first failure.
func (t tx) rows(query string, args ...any) iter.Seq[scanner] {
	return func(yield func(scan scanner) bool) {
		if !t.ok() {
			return
		}
		rows, err := t.on.QueryContext(t.ctx, query, args...)
		if err != nil {
			t.fail(err)
			return
		}
		defer rows.Close()
		for t.ok() && rows.Next() {
			if !yield(func(into ...any) { t.fail(rows.Scan(into...)) }) {
				return
			}
		}
		t.fail(rows.Err())
	}
}

// collect reads every row of a query with read. It returns an empty slice if there is no row.
func collect[T any](t tx, read func(scan scanner, into *T), query string, args ...any) []T {
	all := []T{}
	for scan := range t.rows(query, args...) {
		var one T
		read(scan, &one)
		all = append(all, one)
	}
	return all
}

// texts reads the first column of every row.
func (t tx) texts(query string, args ...any) []string {
	return collect(t, func(scan scanner, text *string) { scan(text) }, query, args...)
}

// fill adds every row of a query, a key and a value, to a map, which it returns.
func fill[K ~string, V any](t tx, into map[K]V, query string, args ...any) map[K]V {
	for scan := range t.rows(query, args...) {
		var key string
		var value V
		scan(&key, &value)
		into[K(key)] = value
	}
	return into
}

func (t tx) exists(query string, args ...any) (found bool) {
	t.get(`SELECT EXISTS (`+query+`)`, args, &found)
	return found
}

// read runs fn on one snapshot of the database.
func (s *Store) read(ctx context.Context, fn func(tx)) error {
	// A plain BEGIN takes no lock. The first read of the schema takes the snapshot, and waits if it must.
	return s.transact(ctx, s.readers, "BEGIN; SELECT count(*) FROM sqlite_schema WHERE rowid = 0", fn)
}

// fetch returns the result of fn on one snapshot of the database. doing describes the operation for errors.
func fetch[T any](ctx context.Context, s *Store, fn func(tx) T, doing string, args ...any) (found T, err error) {
	err = s.read(ctx, func(t tx) { found = fn(t) })
	return found, s.explain(err, doing, args...)
}

// fetchAll returns the rows of a query, each read with read. doing is as in fetch.
func fetchAll[T any](
	ctx context.Context, s *Store, doing string, read func(scan scanner, into *T), query string, args ...any,
) ([]T, error) {
	return fetch(ctx, s, func(t tx) []T { return collect(t, read, query, args...) }, "%s", doing)
}

// fetchTexts returns the first column of the rows of a query. doing is as in fetch.
func fetchTexts(ctx context.Context, s *Store, doing, query string, args ...any) ([]string, error) {
	return fetch(ctx, s, func(t tx) []string { return t.texts(query, args...) }, "%s", doing)
}

// fetchMap returns the rows of a query, each a key and a value. doing is as in fetch.
func fetchMap[V any](ctx context.Context, s *Store, doing, query string, args ...any) (map[string]V, error) {
	return fetch(ctx, s, func(t tx) map[string]V { return fill(t, map[string]V{}, query, args...) }, "%s", doing)
}

func (s *Store) transact(ctx context.Context, db *sql.DB, begin string, fn func(tx)) error {
	var conn *sql.Conn
	var t tx
	err := s.patiently(ctx, func() (err error) {
		if conn, err = db.Conn(ctx); err != nil {
			return err
		}
		t = tx{context.WithoutCancel(ctx), conn, new(error)}
		if t.exec(begin); t.ok() {
			return nil
		}
		rollback(t.ctx, conn) // BEGIN may have succeeded before a later statement failed
		if err = *t.failed; db == s.readers && isBusy(err) {
			discard(conn)
			return err
		}
		return errors.Join(err, conn.Close())
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	committed := false
	defer func() {
		if !committed { // also when fn panics
			rollback(t.ctx, conn)
		}
	}()
	fn(t)
	t.exec("COMMIT")
	committed = t.ok()
	return *t.failed
}

// onWriter runs fn on the writing connection, outside a transaction.
func (s *Store) onWriter(ctx context.Context, fn func(tx)) error {
	return s.patiently(ctx, func() error {
		conn, err := s.writer.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		t := tx{context.WithoutCancel(ctx), conn, new(error)}
		fn(t)
		return *t.failed
	})
}

// rollback ends a transaction that SQLite may already have ended, for instance because the disk was full.
// A connection that stays in its transaction is closed.
func rollback(ctx context.Context, conn *sql.Conn) {
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err == nil {
		return
	}
	_ = conn.Raw(func(c any) error {
		if c, ok := c.(*sqlite3.SQLiteConn); ok && c.AutoCommit() {
			return nil
		}
		return driver.ErrBadConn
	})
}

// discard closes a connection that waits for its first lock, so that the next try opens the file again: the
// lock may be that of a repair, which replaces the file.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// patiently repeats try while the database is locked by others, until the busy
// timeout or the context ends. SQLite waits inside try, so there is no pause here.
func (s *Store) patiently(ctx context.Context, try func() error) error {
	start := time.Now()
	deadline, reported := start.Add(s.busy), s.waiting == nil
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		began := time.Now()
		err := try()
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return context.Cause(ctx)
		}
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		if !reported && time.Since(start) > reportWait {
			reported = true
			s.waiting()
		}
		// Some locks (recovery, a change of journal mode) are refused at once.
		if rest := time.Millisecond - time.Since(began); rest > 0 {
			time.Sleep(rest)
		}
	}
}

// timeColumn reads a time from a column of unix milliseconds; 0 is the zero time.
type timeColumn struct{ *time.Time }

// Scan implements sql.Scanner.
func (c timeColumn) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", value)
	}
	*c.Time = unixMillis(ms)
	return nil
}

// holderColumn reads the holder of a job or run; the zero Holder if it cannot be parsed.
type holderColumn struct{ *lease.Holder }

// Scan implements sql.Scanner.
func (c holderColumn) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("a holder is stored as %T", value)
	}
	*c.Holder, _ = lease.ParseHolder(text)
	return nil
}

// millis is the stored form of a time: unix milliseconds, which can represent every year that a session
// file may contain; 0 is the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func unixMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// condition is a part of a WHERE clause with its argument.
type condition struct {
	sql string
	set bool // otherwise it does not apply
	arg any
}

// and returns the conditions that apply, to follow others.
func and(conditions ...condition) (where string, args []any) {
	for _, c := range conditions {
		if c.set {
			where, args = where+` AND `+c.sql, append(args, c.arg)
		}
	}
	return where, args
}

// jsonList encodes a list for json_each.
func jsonList(values []string) string {
	if values == nil {
		return "[]"
	}
	return jsonOf(values)
}

// jsonOf encodes texts and numbers for json_each.
func jsonOf(values any) string {
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // they always marshal
	}
	return string(b)
}
