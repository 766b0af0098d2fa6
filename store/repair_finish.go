package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memoir"
	"memoir/internal/failpoint"
)

// Fill calls fn with the new database, for what can be had from elsewhere.
func (r *Repair) Fill(ctx context.Context, fn func(*Store) error) error {
	s, err := Open(ctx, r.path+unfinishedSuffix, Options{BusyTimeout: r.busy})
	if err != nil {
		return err
	}
	err = errors.Join(fn(s), s.Close())
	// The database that takes the old one's place makes its own.
	if gone := failpoint.Remove(s.reservePath()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, storageError(gone, "repairing database %s", r.path))
	}
	return err
}

// Finish moves the old database aside, with its log, and puts the new one in its place.
// A process that is killed on the way leaves a database that nobody opens; the next
// repair goes on from there.
func (r *Repair) Finish(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.release()) }()
	if len(r.Damage) == 0 && !r.Missing && !r.Resumed {
		return nil
	}
	dir := filepath.Dir(r.path)
	if !r.Resumed {
		at := r.path + unfinishedSuffix
		info, err := os.Stat(at)
		if err != nil {
			return storageError(err, "repairing database %s", r.path)
		}
		named := info.ModTime()
		if r.Kept != "" {
			if named, err = time.Parse(damagedTime, r.Kept[len(r.path)+len(damagedMark):]); err != nil {
				return err
			}
		}
		if err := errors.Join(syncFile(at), os.Chtimes(at, named, named), step(at, r.path+repairedSuffix), syncDir(dir)); err != nil {
			return storageError(err, "repairing database %s", r.path)
		}
	}
	// The log goes first: a new database must never be found beside an old log.
	for _, suffix := range []string{"-shm", "-wal", "-journal", ""} {
		from := r.path + suffix
		if !exists(from) {
			continue
		}
		if err := step(from, r.Kept+suffix); err != nil {
			return storageError(err, "keeping database %s", from)
		}
		if suffix == "" {
			_ = os.Chmod(r.Kept, 0o600)
		}
	}
	if err := errors.Join(syncDir(dir), step(r.path+repairedSuffix, r.path), syncDir(dir)); err != nil {
		return storageError(err, "repairing database %s", r.path)
	}
	// Who was waiting for the lock has the old file open for as long as one try lasts,
	// and must not get it: it would then use the new log with the old file.
	if r.Kept != "" {
		select {
		case <-time.After(3 * patience):
		case <-ctx.Done():
			time.Sleep(3 * patience)
		}
	}
	return nil
}

func step(from, to string) error {
	if failpoint.Before("rename") != nil {
		return errFull
	}
	err := os.Rename(from, to)
	if err == nil {
		failpoint.After("renamed")
	}
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Abandon leaves everything as it was.
func (r *Repair) Abandon() error {
	err := removeAll(r.path + unfinishedSuffix)
	return errors.Join(err, r.release())
}

func (r *Repair) release() error {
	var errs []error
	for i := len(r.unlock) - 1; i >= 0; i-- {
		errs = append(errs, r.unlock[i]())
	}
	r.unlock = nil
	return errors.Join(errs...)
}

// checkRepair refuses a database whose repair was interrupted just before the end, and
// one of which nothing is left but its log: SQLite would throw that away.
func checkRepair(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
			return memoir.Errorf(memoir.CodeCorrupt, repairHint, "database %s is gone, but its log is there", path)
		}
	}
	if _, err := os.Lstat(path + repairedSuffix); err != nil { // why it can't be looked at is told by who opens the database
		return nil
	}
	return memoir.Errorf(memoir.CodeCorrupt, "`memoir doctor --repair` finishes it", "the repair of database %s is not finished", path)
}
