package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

const (
	// backupSuffix ends the name of the copy that replaces a damaged database.
	backupSuffix = ".backup"
	// unfinishedSuffix ends the name of a copy that is being written.
	unfinishedSuffix = ".tmp"
	// damagedSuffix names the file that marks a database in which SQLite found damage.
	damagedSuffix = ".damaged"
	// backupAge is the age at which a run that published replaces the backup.
	backupAge = 24 * time.Hour
)

// LockFolder locks a folder against other callers of LockFolder until unlock is called or the process ends. If
// another process holds the lock, the error has the code memoir.CodeBusy.
func LockFolder(dir string) (unlock func() error, err error) {
	if unlock, err = lockFolder(dir); errors.Is(err, errLocked) {
		return nil, memoir.Errorf(memoir.CodeBusy, "wait until it ends, or answer its question, then try again",
			"another memoir process is changing files in %s", dir)
	}
	return unlock, err
}

// Backup copies the database, as last committed, to a file beside it. It does nothing if the existing
// copy is younger than a day, unless now is set. Now is set after something was forgotten, so that a
// restored database does not bring it back.
func (s *Store) Backup(ctx context.Context, now bool) error {
	path := s.path + backupSuffix
	if info, err := os.Stat(path); err == nil && !now && time.Since(info.ModTime()) < backupAge {
		return nil
	}
	unlock, err := lockFolder(filepath.Dir(s.path))
	if errors.Is(err, errLocked) {
		return nil // another process makes it
	}
	if err != nil {
		return storageError(err, "locking the directory of database %s", s.path)
	}
	return errors.Join(s.copyTo(ctx, path), unlock())
}

// dropBackup removes the backup before something is forgotten: if the process is killed, no copy may
// bring the text back. Backup makes a new one afterwards.
func (s *Store) dropBackup() error {
	for _, path := range []string{s.path + backupSuffix, s.path + backupSuffix + unfinishedSuffix} {
		if err := disk.Discard(path); err != nil {
			return storageError(err, "removing the backup of database %s", s.path)
		}
	}
	return nil
}

// copyTo writes the database, as last committed, to a path in one durable step.
func (s *Store) copyTo(ctx context.Context, path string) error {
	unfinished := path + unfinishedSuffix
	defer failpoint.Remove(unfinished)
	// SQLite writes into an existing empty file and keeps its mode.
	err := failpoint.WriteFile(unfinished, nil, 0o600)
	if err == nil {
		err = failpoint.Before("copy")
	}
	if err != nil {
		return storageError(err, "copying database %s", s.path)
	}
	if _, err := s.readers.ExecContext(ctx, "VACUUM INTO ?", unfinished); err != nil {
		return s.explain(err, "copying database to %s", path)
	}
	if err = disk.Flush(unfinished, 0o600); err == nil {
		err = failpoint.Rename(unfinished, path)
	}
	if err = errors.Join(err, disk.SyncDir(filepath.Dir(path))); err != nil {
		return storageError(err, "copying database %s", s.path)
	}
	return nil
}

// markDamaged records that SQLite found damage in a database. The next process that opens it for
// writing checks it, and replaces it by the backup if it is damaged.
func markDamaged(path string) {
	if _, err := os.Stat(path + damagedSuffix); err != nil {
		_ = failpoint.WriteFile(path+damagedSuffix, nil, 0o600)
	}
}

// replaceDamaged moves a damaged database and its log aside, and puts the backup in its place. A
// missing or empty database is replaced as well. aside is the new path of the damaged database, empty
// if it was missing or empty. The error has the code memoir.CodeCorrupt if no backup is sound, and memoir.CodeBusy
// while another process has the database open; both change nothing.
func replaceDamaged(ctx context.Context, path string, busy time.Duration) (aside string, replaced bool, err error) {
	if !Exists(path+damagedSuffix) && !isGone(path) {
		return "", false, nil
	}
	unlock, err := lockFolder(filepath.Dir(path))
	if errors.Is(err, errLocked) {
		return "", false, memoir.Errorf(memoir.CodeBusy, busyHint, "another process replaces the damaged database %s", path)
	}
	if err != nil {
		return "", false, storageError(err, "locking the directory of database %s", path)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	sound, err := isSound(ctx, path, busy)
	if err != nil {
		return "", false, err
	}
	if !sound {
		if sound, err = isSound(ctx, path+backupSuffix, busy); err == nil && !sound && Exists(path) {
			err = memoir.Errorf(memoir.CodeCorrupt, "move it aside: the next run makes a new one, adopts what the memories "+
				"hold and reads the sessions again", "database %s is damaged, and there is no sound backup of it", path)
		}
		if err != nil {
			return "", false, err
		}
		if sound { // else a new one is made
			if aside, err = restoreBackup(path); err != nil {
				return "", false, err
			}
			replaced = true
		}
	}
	if err := disk.Discard(path + damagedSuffix); err != nil {
		return aside, replaced, storageError(err, "clearing the mark of database %s", path)
	}
	return aside, replaced, nil
}

// isGone reports whether a database is missing or empty although there is a backup of it.
func isGone(path string) bool {
	info, err := os.Stat(path)
	return (errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0) && Exists(path+backupSuffix)
}

// isSound reports whether Check finds nothing wrong with a database that is not empty.
func isSound(ctx context.Context, path string, busy time.Duration) (bool, error) {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 || checkHeader(path) != nil {
		return false, nil
	}
	s := &Store{path: path, now: time.Now, busy: busy}
	s.openReaders()
	defer s.readers.Close()
	found, err := fetch(ctx, s, faults, "checking database")
	if memoir.CodeOf(err) == memoir.CodeCorrupt {
		return false, nil
	}
	return len(found) == 0, err
}

// restoreBackup replaces a damaged database, which no other process has open, by the backup. The log is
// moved first: a log beside another database would be replayed into it.
func restoreBackup(path string) (aside string, err error) {
	unlock, err := lockDatabase(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case errors.Is(err, errLocked):
		return "", memoir.Errorf(memoir.CodeBusy, busyHint, "the damaged database %s is in use by another process", path)
	case err != nil:
		return "", storageError(err, "locking database %s", path)
	default:
		defer func() {
			// A process that waits for the lock keeps the old file open until its try ends. If it
			// got the lock, it would use the new log with the old file.
			time.Sleep(3 * lockWait)
			err = errors.Join(err, unlock())
		}()
	}
	kept := path + damagedSuffix + time.Now().UTC().Format("-20060102-150405")
	moved := []string{"-wal", "-shm"}
	if !isGone(path) {
		moved, aside = append(moved, ""), kept
	}
	for _, suffix := range moved {
		err := failpoint.Rename(path+suffix, kept+suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", storageError(err, "moving database %s aside", path)
		}
	}
	if err := errors.Join(failpoint.Rename(path+backupSuffix, path), disk.SyncDir(filepath.Dir(path))); err != nil {
		return "", storageError(err, "restoring the backup of database %s", path)
	}
	return aside, nil
}
