package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
)

// meddler runs something of its own just before a statement.
type meddler struct {
	*sql.Conn
	before string
	meddle func()
}

func (m *meddler) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if query == m.before {
		m.meddle()
	}
	return m.Conn.QueryRowContext(ctx, query, args...)
}

func TestADatabaseThatAnotherProcessIsJustFillingIsNoOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_schema"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(newHome(t), "memoir.db")
			must(t, create(path))
			s := &Store{path: path}
			db := sql.OpenDB(s.connector(forWriting))
			defer db.Close()
			conn, err := db.Conn(t.Context())
			must(t, err)
			defer conn.Close()
			_, err = conn.ExecContext(t.Context(), "PRAGMA journal_mode = WAL")
			must(t, err)

			on := &meddler{Conn: conn, before: before, meddle: func() { openAt(t, path, Options{}) }}
			now, err := s.schemaAtOnce(tx{ctx: t.Context(), on: on})
			must(t, err)
			if now.empty == (now.version > 0) {
				t.Errorf("seen as neither empty nor filled: %+v", now)
			}
		})
	}
}
