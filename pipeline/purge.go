package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/store"
)

// logFiles are what runs in the background said. They may quote what they worked on.
var logFiles = []string{"log/run.log", "log/run.log.1", "log/startup.log", "log/startup.log.1"}

// Purge takes what was deleted out of the places where it may have been left: free
// pages and the log of the database, its copies, the logs of background runs. It
// returns the files that it removed.
func Purge(ctx context.Context, st *store.Store, home string) (removed []string, err error) {
	removed = []string{}
	for _, name := range logFiles {
		path := filepath.Join(home, filepath.FromSlash(name))
		switch err := failpoint.Remove(path); {
		case err == nil:
			removed = append(removed, path)
		case !errors.Is(err, fs.ErrNotExist):
			return removed, memoir.Errorf(memoir.CodeStorage, "", "remove the log: %w", err)
		}
	}
	copies, err := st.Purge(ctx)
	return append(removed, copies...), err
}
