package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/store/page"
)

const (
	// unfinishedSuffix is of a new database that is being filled. One that is left was
	// never complete.
	unfinishedSuffix = ".repairing"
	// repairedSuffix is of a new database that is complete. As long as it is there
	// nobody opens the old one, and the next repair puts it in its place.
	repairedSuffix = ".repaired"
	// damagedMark stands between the name of a database that was replaced and when.
	damagedMark = ".damaged-"
	damagedTime = "20060102T150405Z"
)

const repairHint = "`memoir doctor --repair` makes a new database of what can be read, and keeps the old one; nothing was changed"

// RepairOptions says how a database is repaired.
type RepairOptions struct {
	Now         func() time.Time // names what is kept; nil means time.Now
	BusyTimeout time.Duration    // as in Options
}

// Repair is a new database that stands ready to take the place of a damaged one. The
// old one is locked meanwhile, so that no other process uses it.
type Repair struct {
	Damage []string   // what is wrong, a line each; empty: the database is sound, and there is nothing to repair
	Tables []Salvaged // what was read; empty if Resumed
	Kept   string     // where Finish moves the old database, with its log; empty if there is none
	// Missing says that there was no database, or an empty one.
	Missing bool
	// Resumed says that an earlier repair was interrupted after it was complete: Finish
	// puts that one in place.
	Resumed bool
	// LogCut says that the end of the log can't be used: the last transactions are lost.
	LogCut bool

	path   string
	busy   time.Duration
	unlock []func() error
}

// BeginRepair examines the database at path and, if it is damaged or missing, makes a new
// one beside it of all that can be read, migrated to this program's schema. The old
// one is not changed. Whoever calls it ends it with Finish or Abandon.
//
// Errors have the codes CodeBusy (another process uses the database), CodeNewer,
// CodeStorage, or CodeCorrupt for a database of another program.
func BeginRepair(ctx context.Context, path string, o RepairOptions) (r *Repair, err error) {
	migrations, err := fs.Sub(embedded, "migration")
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage, "", "finding database %s: %w", path, err)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := checkKind(path); err != nil {
		return nil, err
	}
	r = &Repair{path: path, busy: o.BusyTimeout}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Abandon())
		}
	}()
	if err := r.lock(filepath.Dir(path), lockFolder); err != nil {
		return r, err
	}
	if info, err := os.Lstat(path + repairedSuffix); err == nil {
		r.Resumed, r.Kept = true, keptName(path, info.ModTime())
		return r, r.lock(path, lockDatabase)
	}
	if r.Damage, r.Missing, err = examine(ctx, path, migrations, o.BusyTimeout); err != nil {
		return r, err
	}
	if len(r.Damage) == 0 && !r.Missing {
		return r, nil
	}
	if err := r.lock(path, lockDatabase); err != nil {
		return r, err
	}
	now := o.Now()
	for exists(keptName(path, now)) {
		now = now.Add(time.Second)
	}
	if Exists(path) {
		r.Kept = keptName(path, now)
	}
	if err := r.build(ctx, migrations); err != nil {
		return r, err
	}
	// The time of the file says what the old one will be called, also to the process
	// that finishes what this one leaves.
	if err := os.Chtimes(path+unfinishedSuffix, now, now); err != nil {
		return r, storageError(err, "repairing database %s", path)
	}
	return r, nil
}

// Exists reports whether there is a database at path, be it no more than its log or
// what a repair left.
func Exists(path string) bool {
	return exists(path) || exists(path+"-wal") || exists(path+repairedSuffix)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func keptName(path string, at time.Time) string {
	return path + damagedMark + at.UTC().Format(damagedTime)
}

func (r *Repair) lock(path string, lock func(string) (func() error, error)) error {
	unlock, err := lock(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, errLocked) {
		return memoir.Errorf(memoir.CodeBusy, "wait until it has ended, or end it, and try again; nothing was changed",
			"database %s is in use by another process", r.path)
	}
	if err != nil {
		return storageError(err, "locking database %s", r.path)
	}
	r.unlock = append(r.unlock, unlock)
	return nil
}

// examine says what is wrong with a database.
func examine(ctx context.Context, path string, migrations fs.FS, busy time.Duration) (damage []string, missing bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, true, nil
	}
	s, err := open(ctx, path, Options{ReadOnly: true, BusyTimeout: busy}, migrations)
	if errors.Is(err, ErrOutdated) {
		return examineOlder(ctx, path, migrations, busy)
	}
	if memoir.CodeOf(err) == memoir.CodeNotFound { // no more than a header
		return nil, true, nil
	}
	if err == nil {
		damage, err = s.Check(ctx)
		err = errors.Join(err, s.Close())
	}
	if memoir.CodeOf(err) == memoir.CodeCorrupt {
		return []string{err.Error()}, false, nil
	}
	return damage, false, err
}

// examineOlder is for a database that waits for a migration.
func examineOlder(ctx context.Context, path string, migrations fs.FS, busy time.Duration) (damage []string, missing bool, err error) {
	s := &Store{path: path, now: time.Now, busy: busy}
	if s.foreign, err = hasForeignLog(path); err != nil {
		return nil, false, err
	}
	s.readers = sql.OpenDB(s.connector(forReading))
	damage, err = s.Check(ctx)
	err = errors.Join(err, s.Close())
	if memoir.CodeOf(err) == memoir.CodeCorrupt {
		return []string{err.Error()}, false, nil
	}
	return damage, false, err
}

// build makes the new database.
func (r *Repair) build(ctx context.Context, migrations fs.FS) error {
	at := r.path + unfinishedSuffix
	if err := removeAll(at); err != nil {
		return storageError(err, "repairing database %s", r.path)
	}
	if failpoint.Before("make new database") != nil {
		return storageError(errFull, "repairing database %s", r.path)
	}
	file, closeFiles, err := readPages(r.path)
	if err != nil {
		return err
	}
	defer closeFiles()
	r.LogCut = file.LogCut()
	want, err := newest(migrations)
	if err != nil {
		return err
	}
	version := want
	if said := int64(file.Header.UserVersion); !file.Unusual && file.Header.ApplicationID == applicationID {
		if said > want {
			return (&Store{path: r.path}).newer(said, want)
		}
		version = max(said, 1)
	}
	f, err := os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return storageError(err, "repairing database %s", r.path)
	}
	defer f.Close()
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(at), OmitHost: true, RawQuery: "mode=rw&_foreign_keys=off&_journal_mode=MEMORY&_synchronous=OFF"}
	db, err := sql.Open("sqlite3", dsn.String())
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	c, err := newDatabase(ctx, db, migrations, version)
	if err != nil {
		return r.explain(err)
	}
	s, err := copyReadable(ctx, file, db, c, r.earlier())
	if errors.Is(err, errForeign) {
		return memoir.Errorf(memoir.CodeCorrupt, "choose another folder with --home, or move the file aside", "%s is a database of another program", r.path)
	}
	if err != nil {
		return r.explain(err)
	}
	if r.Tables, err = s.report(); err != nil {
		return r.explain(err)
	}
	if version < want {
		if err := apply(ctx, db, migrations, want); err != nil {
			return r.explain(err)
		}
		if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", want)); err != nil {
			return r.explain(err)
		}
	}
	if err := checkNew(ctx, db); err != nil {
		return r.explain(err)
	}
	if failpoint.Before("write new database") != nil {
		return storageError(errFull, "repairing database %s", r.path)
	}
	if err := errors.Join(db.Close(), f.Sync(), f.Close()); err != nil {
		return storageError(err, "repairing database %s", r.path)
	}
	failpoint.After("write new database")
	return nil
}

func (r *Repair) explain(err error) error {
	return (&Store{path: r.path + unfinishedSuffix, busy: r.busy}).explain(err, "repairing database %s", r.path)
}

// checkNew makes sure that what was written is sound.
func checkNew(ctx context.Context, db *sql.DB) error {
	t := tx{ctx: ctx, on: db}
	var verdict string
	if err := t.get("PRAGMA integrity_check", nil, &verdict); err != nil || verdict != "ok" {
		return errors.Join(err, fmt.Errorf("the new database is not sound: %s", verdict))
	}
	return t.each(`SELECT "table" || ' refers to a row of ' || parent FROM pragma_foreign_key_check`, nil, func(scan func(...any) error) error {
		var line string
		return errors.Join(scan(&line), fmt.Errorf("the new database is not sound: %s", line))
	})
}

// readPages opens the files of a database for reading without SQLite. That there is
// none is no error.
func readPages(path string) (file *page.File, closeFiles func(), err error) {
	readers, sizes := [2]io.ReaderAt{}, [2]int64{}
	var files []*os.File
	closeFiles = func() {
		for _, f := range files {
			f.Close()
		}
	}
	for i, name := range []string{path, path + "-wal"} {
		f, info, err := openRegular(name, i == 0)
		if err != nil {
			closeFiles()
			return nil, nil, storageError(err, "reading database %s", path)
		}
		if f == nil {
			readers[i] = emptyFile{}
			continue
		}
		if f != held(path) {
			files = append(files, f)
		}
		readers[i], sizes[i] = f, info.Size()
	}
	if file, err = page.Open(readers[0], sizes[0], readers[1], sizes[1]); err == nil && sizes[1] > 0 {
		err = ignoreOtherHome(file, readers[0], sizes[0])
	}
	if err != nil {
		closeFiles()
		return nil, nil, storageError(err, "reading database %s", path)
	}
	return file, closeFiles, nil
}

type emptyFile struct{}

// ReadAt is at the end, wherever it reads.
func (emptyFile) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

// openRegular opens a file for reading; nil if there is none, or something else there.
func openRegular(name string, database bool) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if f := held(name); database && f != nil {
		return f, info, nil
	}
	f, err := os.Open(name)
	return f, info, err
}

// earlier lists the databases that stand beside this one: copies from before
// migrations, and what earlier repairs kept.
func (r *Repair) earlier() (paths []string) {
	for _, pattern := range []string{".v*.bak", damagedMark + "*Z"} {
		found, err := filepath.Glob(globQuoted(r.path) + pattern)
		if err == nil {
			paths = append(paths, found...)
		}
	}
	return paths
}

// removeAll removes a database that nobody uses, with the files beside it.
func removeAll(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", "-reserve"} {
		if err := failpoint.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
