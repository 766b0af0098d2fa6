package hubtest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"memoir/hub"
	"memoir/team/wire"
)

var (
	shared      *Cluster
	sharedErr   error
	starting    sync.Once
	migratedErr error
	migrating   sync.Once
	databases   atomic.Int64
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
	Owner *hub.Hub     // as the owner of the tables
	Log   *slog.Logger // of hubs and workers; nil: they log nothing
}

// NewDatabase returns a database of the shared cluster, a copy of one that was migrated once.
func NewDatabase(t testing.TB) *Database {
	t.Helper()
	c := Shared(t)
	migrating.Do(func() {
		d, err := c.NewDatabase("migrated")
		if migratedErr = err; err == nil {
			d.Owner.Close() // PostgreSQL copies no database that is in use
		}
	})
	d, err := (*Database)(nil), migratedErr
	if err == nil {
		d, err = c.database(fmt.Sprintf("hub%d", databases.Add(1)), " TEMPLATE migrated")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Owner.Close)
	d.Must(t, `UPDATE memoir.hub SET epoch = replace(gen_random_uuid()::text, '-', ''),
		fingerprint = memoir.fingerprint()`)
	return d
}

// NewDatabase creates a database with the schema and an organisation.
func (c *Cluster) NewDatabase(name string) (*Database, error) {
	d, err := c.database(name, "")
	if err == nil {
		_, err = d.Owner.Migrate(context.Background(), Serve)
	}
	if err == nil {
		err = d.Owner.AddOrganisation(context.Background(), "acme")
	}
	return d, err
}

// database creates a database with options of CREATE DATABASE, and opens it as its owner.
func (c *Cluster) database(name, options string) (*Database, error) {
	if err := c.Exec("postgres", "CREATE DATABASE "+name+" OWNER "+Owner+options); err != nil {
		return nil, err
	}
	owner, err := hub.Open(context.Background(), hub.Options{Database: c.URL(Owner, name, false)})
	if err != nil {
		return nil, err
	}
	return &Database{Cluster: c, Name: name, Admin: owner.Admin("acme"), Owner: owner}, nil
}

// ServeURL returns the address of the database for the serving role, through PgBouncer.
func (d *Database) ServeURL() string { return d.URL(Serve, d.Name, true) }

// Dump returns what pg_dump writes of the database.
func (d *Database) Dump(t testing.TB, options ...string) []byte {
	t.Helper()
	dump, err := d.Tool("pg_dump", append(options, d.URL("postgres", d.Name, false))...)
	if err != nil {
		t.Fatal(err)
	}
	return dump
}

// Load runs a dump in the database.
func (d *Database) Load(t testing.TB, dump []byte) {
	t.Helper()
	file := filepath.Join(d.Dir(), d.Name+".sql")
	err := os.WriteFile(file, dump, 0o644)
	if err == nil {
		_, err = d.Tool("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, d.URL("postgres", d.Name, false))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Restored loads a dump into a new database of the cluster, and returns it without an owner.
func (d *Database) Restored(t testing.TB, dump []byte) *Database {
	t.Helper()
	to := &Database{Cluster: d.Cluster, Name: d.Name + "restored", Log: d.Log}
	if err := d.Exec("postgres", "CREATE DATABASE "+to.Name+" OWNER "+Owner); err != nil {
		t.Fatal(err)
	}
	to.Load(t, dump)
	return to
}

// Texts returns every value of the database as text, and what its transcripts and archives have, unpacked.
func (d *Database) Texts(t testing.TB) (out []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.URL("postgres", d.Name, false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	query := func(sql string) []string {
		rows, _ := conn.Query(t.Context(), sql)
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(sql, err)
		}
		return values
	}
	for _, table := range query(`SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables
		WHERE schemaname IN ('memoir', 'river')`) {
		out = append(out, query("SELECT t::text FROM "+table+" t")...)
	}
	for _, packed := range query(`SELECT encode(items, 'hex') FROM memoir.transcript WHERE items IS NOT NULL
		UNION ALL SELECT encode(body, 'hex') FROM memoir.archive`) {
		content, err := hex.DecodeString(packed)
		if err == nil {
			content, err = unpacker.DecodeAll(content, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(content))
	}
	return out
}

var unpacker, _ = zstd.NewReader(nil) // without options, it does not fail

// Hub serves the database until the test ends, and returns its address.
func (d *Database) Hub(t testing.TB) string {
	t.Helper()
	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL(), Log: d.Log})
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
	h, err := hub.Open(t.Context(), hub.Options{Database: d.URL(Serve, d.Name, o.PollOnly), Log: d.Log})
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
	code, err := d.Admin.AddMember(t.Context(), name, role, projects, true)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// Number is Query in a test.
func (d *Database) Number(t testing.TB, sql string) int64 {
	t.Helper()
	n, err := d.Query(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	return n
}

// Query returns a number from the database, as superuser.
func (d *Database) Query(sql string) (n int64, err error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, d.URL("postgres", d.Name, false))
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, sql).Scan(&n)
	return n, err
}

// Must runs SQL in the database, as superuser.
func (d *Database) Must(t testing.TB, sql string) {
	t.Helper()
	if err := d.Exec(d.Name, sql); err != nil {
		t.Fatal(sql, err)
	}
}
