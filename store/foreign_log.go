package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/store/page"
)

// foreignMark stands between the name of a log that was another database's and when it
// was moved aside.
const foreignMark = "-wal.foreign-"

// ForeignLog reports that the log beside the database, opened ReadOnly, is another
// database's. What is read is the file alone.
func (s *Store) ForeignLog() bool { return s.foreign }

// LogBreaksOff reports that the log of the database at path ends in the middle of a
// transaction: what is written right now, or what a process could not end.
func LogBreaksOff(path string) bool {
	file, closeFiles, err := readPages(path)
	if err != nil {
		return false
	}
	defer closeFiles()
	return file.LogCut()
}

// hasForeignLog reports whether the log beside a database is another's. SQLite takes
// the pages of any log for the database's, if only the log's own checksums are right,
// and overwrites the database with them.
func hasForeignLog(path string) (bool, error) {
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		return false, nil // why it can't be looked at is told by who opens the database
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return false, nil
	}
	for range 8 {
		before := beginnings(path)
		file, closeFiles, err := readPages(path)
		if err != nil {
			return false, nil
		}
		foreign := file.ForeignLog()
		closeFiles()
		if !foreign || before == beginnings(path) {
			return foreign, nil
		}
	}
	return false, nil // one that others write to all the time is their own
}

// beginnings are the headers of a database and its log. While other processes write, a
// log may be begun anew between the reading of the one and the other: then they are
// others before and after.
func beginnings(path string) (heads [2][100]byte) {
	for i, name := range []string{path, path + "-wal"} {
		if f, _, err := openRegular(name, i == 0); err == nil && f != nil {
			_, _ = io.ReadFull(io.NewSectionReader(f, 0, int64(len(heads[i]))), heads[i][:])
			if f != held(path) {
				f.Close()
			}
		}
	}
	return heads
}

// ignoreOtherHome leaves a log out that is of another home's database: the key that each
// has of its own is another one with it.
func ignoreOtherHome(file *page.File, db io.ReaderAt, size int64) error {
	if file.ForeignLog() {
		return nil
	}
	alone, err := page.Open(db, size, nil, 0)
	if err != nil {
		return err
	}
	if a, b := keyIn(alone), keyIn(file); a != nil && b != nil && !bytes.Equal(a, b) {
		file.IgnoreLog()
	}
	return nil
}

// keyIn is the key in a database; nil if there is none that can be read.
func keyIn(file *page.File) (key []byte) {
	roots, _ := rootsOf(file)
	if file.Header.ApplicationID != applicationID || roots[keyTable] == 0 {
		return nil
	}
	file.Tree(roots[keyTable], false, func(found page.Found) {
		for _, row := range found.Rows {
			if len(row.Values) == 2 && row.ID == 1 {
				if b, ok := row.Values[1].([]byte); ok && len(b) == keySize {
					key = b
				}
			}
		}
	})
	return key
}

// moveLog moves a log aside that is another database's, while nobody has the database
// open. It returns where the log is then; empty if another process was quicker.
func moveLog(path string) (to string, err error) {
	unlock, err := lockDatabase(path)
	if errors.Is(err, errLocked) {
		return "", memoir.Errorf(memoir.CodeBusy, "end that process, move the log aside, and try again; nothing was changed",
			"%s-wal is the log of another database, and another process has %s open", path, path)
	}
	if err != nil {
		return "", memoir.Errorf(memoir.CodeCorrupt, "move the log aside, and try again; nothing was changed",
			"%s-wal is the log of another database: %w", path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if foreign, err := hasForeignLog(path); err != nil || !foreign {
		return "", err
	}
	for at := time.Now(); ; at = at.Add(time.Second) {
		if to = path + foreignMark + at.UTC().Format(damagedTime); !exists(to) {
			break
		}
	}
	err = errors.Join(failpoint.Rename(path+"-wal", to), syncDir(filepath.Dir(path)))
	if err == nil {
		if failpoint.Before("protect log") == nil {
			_ = os.Chmod(to, 0o600)
		}
		return to, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return "", storageError(err, "moving the log of another database aside, %s", fmt.Sprint(path, "-wal"))
}
