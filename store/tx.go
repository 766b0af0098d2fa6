package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir/lease"
)

// tx is a transaction. Only the wait for its begin can be cancelled: transactions are short.
type tx struct {
	ctx context.Context
	on  *sql.Conn
}

// exec runs one statement and returns the number of rows it changed.
func (t tx) exec(query string, args ...any) (int64, error) {
	res, err := t.on.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// run is exec for a caller that does not need the number.
func (t tx) run(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// execEach runs statements that take the same argument, in order.
func (t tx) execEach(arg any, statements ...string) error {
	return t.execAll([]any{arg}, statements...)
}

// execAll runs statements that take the same arguments, in order. The last ones may be left unused.
func (t tx) execAll(args []any, statements ...string) error {
	for _, statement := range statements {
		if _, err := t.exec(statement, args...); err != nil {
			return err
		}
	}
	return nil
}

// get reads one row; sql.ErrNoRows if there is none.
func (t tx) get(query string, args []any, into ...any) error {
	return t.on.QueryRowContext(t.ctx, query, args...).Scan(into...)
}

// errStop ends each early, without an error.
var errStop = errors.New("enough rows")

type scanner = func(into ...any) error

func (t tx) each(query string, args []any, fn func(scan scanner) error) error {
	rows, err := t.on.QueryContext(t.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err == errStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// collect reads every row of a query with read. It returns an empty slice if there is no row.
func collect[T any](t tx, query string, args []any, read func(scan scanner, into *T) error) ([]T, error) {
	all := []T{}
	err := t.each(query, args, func(scan scanner) error {
		var one T
		err := read(scan, &one)
		all = append(all, one)
		return err
	})
	return all, err
}

// texts reads the first column of every row.
func (t tx) texts(query string, args ...any) ([]string, error) {
	return collect(t, query, args, func(scan scanner, text *string) error { return scan(text) })
}

// fill adds every row of a query, a key and a value, to a map.
func fill[K ~string, V any](t tx, into map[K]V, query string, args ...any) error {
	return t.each(query, args, func(scan scanner) error {
		var key string
		var value V
		err := scan(&key, &value)
		into[K(key)] = value
		return err
	})
}

func (t tx) exists(query string, args ...any) (found bool, err error) {
	err = t.get(`SELECT EXISTS (`+query+`)`, args, &found)
	return found, err
}

// read runs fn on one snapshot of the database.
func (s *Store) read(ctx context.Context, fn func(tx) error) error {
	// A plain BEGIN takes no lock. The first read of the schema takes the snapshot, and waits if it must.
	return s.transact(ctx, s.readers, "BEGIN; SELECT count(*) FROM sqlite_schema WHERE rowid = 0", fn)
}

// fetch returns the result of fn on one snapshot of the database. doing describes the operation for errors.
func fetch[T any](
	ctx context.Context, s *Store, fn func(tx) (T, error), doing string, args ...any,
) (found T, err error) {
	err = s.read(ctx, func(t tx) (err error) {
		found, err = fn(t)
		return err
	})
	return found, s.explain(err, doing, args...)
}

func (s *Store) transact(ctx context.Context, db *sql.DB, begin string, fn func(tx) error) error {
	var conn *sql.Conn
	var t tx
	err := s.patiently(ctx, func() (err error) {
		if conn, err = db.Conn(ctx); err != nil {
			return err
		}
		t = tx{ctx: context.WithoutCancel(ctx), on: conn}
		if _, err = t.exec(begin); err != nil {
			rollback(t.ctx, conn) // BEGIN may have succeeded before a later statement failed
			if db == s.readers && isBusy(err) {
				discard(conn)
				return err
			}
			return errors.Join(err, conn.Close())
		}
		return nil
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
	if err := fn(t); err != nil {
		return err
	}
	_, err = t.exec("COMMIT")
	committed = err == nil
	return err
}

// onWriter runs fn on the writing connection, outside a transaction.
func (s *Store) onWriter(ctx context.Context, fn func(tx) error) error {
	return s.patiently(ctx, func() error {
		conn, err := s.writer.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		return fn(tx{ctx: context.WithoutCancel(ctx), on: conn})
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
