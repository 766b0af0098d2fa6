package hubtest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"memoir/hub"
	"memoir/team/wire"
)

var (
	shared    *Cluster
	sharedErr error
	starting  sync.Once
	databases atomic.Int64
)

// Main runs the tests of a package, and stops the cluster that they share. Call it as TestMain.
func Main(m *testing.M) {
	code := m.Run()
	Stop()
	os.Exit(code)
}

// Stop stops the cluster that the tests of a package share.
func Stop() {
	if shared != nil {
		shared.Stop()
	}
}

// Shared returns the cluster that all tests of a package share. Without PostgreSQL the test is skipped.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	starting.Do(func() { shared, sharedErr = Start(false) })
	if errors.Is(sharedErr, ErrMissing) {
		t.Skip(sharedErr)
	}
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared
}

// Database is a database of its own, migrated, with an organisation.
type Database struct {
	*Cluster
	Name  string
	Admin hub.Admin
	Owner *hub.Hub // as the owner of the tables
}

// NewDatabase returns a database of the shared cluster.
func NewDatabase(t testing.TB) *Database {
	t.Helper()
	d, err := Shared(t).NewDatabase(fmt.Sprintf("hub%d", databases.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Owner.Close)
	return d
}

// NewDatabase creates a database with the schema and an organisation.
func (c *Cluster) NewDatabase(name string) (*Database, error) {
	ctx := context.Background()
	if err := c.Exec("postgres", "CREATE DATABASE "+name+" OWNER "+Owner); err != nil {
		return nil, err
	}
	owner, err := hub.Open(ctx, hub.Options{Database: c.URL(Owner, name, false), Debounce: -1})
	if err != nil {
		return nil, err
	}
	if _, err := owner.Migrate(ctx, Serve); err != nil {
		return nil, err
	}
	if err := owner.AddOrganisation(ctx, "acme"); err != nil {
		return nil, err
	}
	return &Database{c, name, owner.Admin("acme"), owner}, nil
}

// ServeURL returns the address of the database for the serving role, through PgBouncer.
func (d *Database) ServeURL() string { return d.URL(Serve, d.Name, true) }

// Hub serves the database until the test ends, and returns its address.
func (d *Database) Hub(t testing.TB) string {
	t.Helper()
	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL(), Debounce: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.CheckServing(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() { server.Close(); h.Close() })
	return server.URL
}

// Workers starts workers on the database, which end with the test; with PollOnly, behind PgBouncer. A project is
// consolidated soon after a push.
func (d *Database) Workers(t testing.TB, o hub.WorkOptions) {
	t.Helper()
	h, err := hub.Open(t.Context(), hub.Options{Database: d.URL(Serve, d.Name, o.PollOnly), Debounce: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Work(ctx, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		h.Close()
	})
}

// Idle waits until no job is left, except those that wait for a minute or longer.
func (d *Database) Idle(t testing.TB) {
	t.Helper()
	for d.Number(t, `SELECT count(*) FROM river.river_job WHERE state IN ('available', 'running')
		OR state IN ('scheduled', 'retryable') AND scheduled_at < now() + interval '1 minute'`) > 0 {
		d.Must(t, `UPDATE river.river_job SET state = 'available', scheduled_at = now()
			WHERE state IN ('scheduled', 'retryable') AND scheduled_at < now() + interval '1 minute'`)
		select {
		case <-t.Context().Done():
			t.Fatal("jobs are left")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Member adds a member, and returns a code to join with.
func (d *Database) Member(t testing.TB, name string, role wire.Role, projects ...string) string {
	t.Helper()
	code, err := d.Admin.AddMember(t.Context(), name, role, projects)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// Number returns a number from the database, as superuser.
func (d *Database) Number(t testing.TB, sql string) (n int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.URL("postgres", d.Name, false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(sql, err)
	}
	return n
}

// Must runs SQL in the database, as superuser.
func (d *Database) Must(t testing.TB, sql string) {
	t.Helper()
	if err := d.Exec(d.Name, sql); err != nil {
		t.Fatal(sql, err)
	}
}
