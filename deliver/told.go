package deliver

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// Injected is the folder below a home with a file for each text that a session got.
const Injected = "injected"

// maxAge is how long these files are kept.
const maxAge = 60 * 24 * time.Hour

// A Receipt says that a statement was told to a session. It has nothing of the hook's input.
type Receipt struct {
	At        time.Time `json:"at"`
	Event     string    `json:"event"`
	Project   string    `json:"project"`
	Session   string    `json:"session"`   // its key
	Statement string    `json:"statement"` // id

	path string
}

// RecordPath returns the file that records that something was told. Its name is a hash of the key.
func RecordPath(home string, key ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
	return filepath.Join(home, Injected, hex.EncodeToString(sum[:16]))
}

// Record makes the file that records that something was told. Of two calls with one key, the second one's error is
// fs.ErrExist.
func Record(home string, content []byte, now time.Time, key ...string) error {
	path := RecordPath(home, key...)
	dir := filepath.Dir(path)
	if err := failpoint.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := failpoint.Before("remember injection"); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	_ = f.Close()
	if path[len(path)-2:] < "08" { // for 1 of 32 sessions
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			if info, err := entry.Info(); err == nil && now.Sub(info.ModTime()) > maxAge {
				_ = failpoint.Remove(filepath.Join(dir, entry.Name()))
			}
		}
	}
	return err
}

// First reports whether a context gets a statement for the first time, and records that it has it now. A context is a
// session, or a sub-agent of it, until it is compacted or cleared. What cannot be recorded is not told.
func First(home string, r Receipt, subagent string) bool {
	_, session := memoir.SplitKey(r.Session)
	since := ""
	for _, reason := range []string{"compact", "clear"} {
		if info, err := os.Stat(RecordPath(home, session, reason)); err == nil {
			since += info.ModTime().UTC().Format(time.RFC3339Nano)
		}
	}
	content, err := json.Marshal(r)
	return err == nil && Record(home, content, r.At, session, subagent, r.Statement, since) == nil
}

// Receipts returns what was told, the newest first.
func Receipts(home string) ([]Receipt, error) {
	entries, err := os.ReadDir(filepath.Join(home, Injected))
	if os.IsNotExist(err) {
		return nil, nil
	}
	out := []Receipt{}
	for _, entry := range entries {
		var r Receipt
		r.path = filepath.Join(home, Injected, entry.Name())
		content, _ := os.ReadFile(r.path)
		if json.Unmarshal(content, &r) == nil && r.Statement != "" {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b Receipt) int { return b.At.Compare(a.At) })
	return out, err
}

// Forget removes the receipts of a project and of sessions, named by their keys.
func Forget(home, project string, sessions []string) error {
	all, err := Receipts(home)
	for _, r := range all {
		if r.Project == project || slices.Contains(sessions, r.Session) {
			err = cmp.Or(err, disk.Discard(r.path))
		}
	}
	return err
}
