package search

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// fileName is the index's below the home. It holds nothing that is not made of the database and the
// memories: it may be deleted.
const fileName = "search.db"

// indexVersion is the PRAGMA user_version of an index that this program reads. It changes with the
// schema and with what makes words of a text.
const indexVersion = 1

//go:embed schema.sql
var schema string

// index is an open index file.
type index struct {
	path string
	db   *sql.DB
}

// errUnusable means that there is no index, or one that must be made anew.
var errUnusable = errors.New("the index is missing, damaged or of another version")

// openIndex opens the index of a home. A reader waits for a writer, and a writer for another, until the
// patience ends.
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
	query.Set("mode", "rw") // also to read: a killed writer leaves a journal, which the next reader takes back
	if f, err := os.OpenFile(path, os.O_RDWR, 0); err != nil {
		query.Set("mode", "ro")
	} else if err := f.Close(); err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode(), OmitHost: true}
	db, err := sql.Open("sqlite3", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	x := &index{path, db}
	var version int
	if err := x.get(ctx, `PRAGMA user_version`, nil, &version); err != nil || version != indexVersion {
		if err == nil || isDamage(err) {
			err = errUnusable
		}
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

// createIndex makes an empty index in the place of one that cannot be used.
func createIndex(ctx context.Context, home string) error {
	path := filepath.Join(home, fileName)
	fresh := path + ".new"
	if err := removeFiles(fresh); err != nil {
		return err
	}
	if err := failpoint.WriteFile(fresh, nil, 0o600); err != nil {
		return storageError(err, "create %s", fresh)
	}
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Path: filepath.ToSlash(fresh), OmitHost: true}).String())
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA page_size = 4096; BEGIN;"+schema+
		fmt.Sprintf("PRAGMA user_version = %d; COMMIT", indexVersion))
	if err = errors.Join(err, db.Close()); err != nil {
		return explain(errors.Join(err, removeFiles(fresh)), "create the index")
	}
	// A journal beside another file would be taken back into it.
	if err := removeFiles(path + "-journal"); err != nil {
		return err
	}
	if err := failpoint.Rename(fresh, path); err != nil {
		return storageError(err, "create %s", path)
	}
	return nil
}

// removeFiles removes what stands at paths, with the journals.
func removeFiles(paths ...string) error {
	for _, path := range paths {
		for _, name := range []string{path, path + "-journal"} {
			if err := failpoint.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return storageError(err, "remove %s", name)
			}
		}
	}
	return nil
}

func (x *index) close() error { return x.db.Close() }

func (x *index) get(ctx context.Context, query string, args []any, into ...any) error {
	return x.db.QueryRowContext(ctx, query, args...).Scan(into...)
}

// each calls fn for every row.
func (x *index) each(ctx context.Context, query string, args []any, fn func(scan func(...any) error) error) error {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// isDamage reports that SQLite met what no index holds.
func isDamage(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB ||
		e.Code == sqlite3.ErrFormat || e.Code == sqlite3.ErrError)
}

func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

// explain wraps an error with what was being done, and gives errors of SQLite a code.
func explain(err error, doing string) error {
	var e sqlite3.Error
	switch {
	case err == nil:
		return nil
	case isBusy(err):
		return memoir.Errorf(memoir.CodeBusy, "wait for it and try again", "%s: another process writes it: %w", doing, err)
	case errors.As(err, &e):
		return memoir.Errorf(memoir.CodeStorage, "delete "+fileName+" below the home: the next run makes it again",
			"%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func storageError(err error, doing string, args ...any) error {
	return memoir.Errorf(memoir.CodeStorage, disk.Hint(err), "%s: %w", fmt.Sprintf(doing, args...), err)
}
