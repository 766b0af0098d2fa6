package search

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/internal/disk"
)

// fileName is the name of the index below the home. The index is built from the database and the memories only,
// so it may be deleted.
const fileName = "search.db"

// indexVersion is the PRAGMA user_version of the indexes that this program reads. It changes with the schema,
// the tokenisation and the redaction.
const indexVersion = 9

//go:embed schema.sql
var schema string

// index is an open index file. Its version is 0 before the first update.
type index struct {
	*sql.DB
	version int
	passes  func(kind) bool // the kinds of passages that a query looks at
}

// errUnusable means that the index is missing, or must be rebuilt.
var errUnusable = memoir.Errorf(memoir.CodeBusy, "wait for the process that builds it, and try again",
	"no search index of this version")

// openIndex opens the index of a home. Its transactions wait for those of other processes, for at most patience.
func openIndex(ctx context.Context, home string, patience time.Duration) (*index, error) {
	path, err := filepath.Abs(filepath.Join(home, fileName))
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errUnusable
	}
	query := url.Values{}
	query.Set("_busy_timeout", fmt.Sprint(patience.Milliseconds()))
	query.Set("_secure_delete", "true")
	query.Set("_txlock", "immediate")
	query.Set("_stmt_cache_size", "16")
	query.Set("_synchronous", "NORMAL")
	query.Set("mode", "rw") // also for reads: the first reader after a killed writer rolls its journal back
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode(), OmitHost: true}
	db, err := sql.Open("sqlite3", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	x := &index{DB: db}
	err = db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&x.version)
	_, gone := os.Lstat(path) // discarded since
	if isDamage(err) || err != nil && gone != nil || err == nil && x.version != 0 && x.version != indexVersion {
		err = errUnusable
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return x, nil
}

// state returns the stateOf that was indexed last; "" before the first update.
func (x *index) state(ctx context.Context) (state string, err error) {
	if x.version != 0 {
		err = x.QueryRowContext(ctx, `SELECT state FROM indexed`).Scan(&state)
	}
	return state, err
}

// Discard removes the index of a home. The next run or search builds it again.
func Discard(home string) error {
	// The journal goes first: SQLite would roll it back into a new index.
	for _, name := range []string{fileName + "-journal", fileName} {
		if err := disk.Discard(filepath.Join(home, name)); err != nil {
			return explain(err, "remove the index")
		}
	}
	return nil
}

// isDamage reports whether an error of SQLite means that the index is damaged.
func isDamage(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB ||
		e.Code == sqlite3.ErrFormat || e.Code == sqlite3.ErrError)
}

// isGone reports whether a purge discarded the index, or removed rows of it, while it was read or written.
func isGone(err error) bool {
	var e sqlite3.Error
	return errors.Is(err, sql.ErrNoRows) || errors.As(err, &e) &&
		(e.ExtendedCode == sqlite3.ErrReadonlyDbMoved || e.SystemErrno == syscall.ENOENT)
}

func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

// explain wraps an error with the failed operation, and adds a code to errors of SQLite and of file systems.
func explain(err error, doing string) error {
	var e sqlite3.Error
	var code memoir.Code
	var hint string
	switch {
	case err == nil:
		return nil
	case isBusy(err):
		code, hint, doing = memoir.CodeBusy, "wait for it and try again", doing+": another process writes it"
	case errors.As(err, &e):
		code, hint = memoir.CodeStorage, "delete "+fileName+" below the home: the next run makes it again"
	case disk.Hint(err) != "":
		code, hint = memoir.CodeStorage, disk.HintOr(err, "--home")
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
	return memoir.Errorf(code, hint, "%s: %w", doing, err)
}
