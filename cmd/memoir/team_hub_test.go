package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"memoir/hub"
	"memoir/hub/hubtest"
	hubwire "memoir/team/wire"
)

// Two members, one of them with two machines, share a project through a hub on PostgreSQL, behind PgBouncer.
func TestMembersAndMachinesShareAProjectThroughAHub(t *testing.T) {
	t.Parallel()
	cluster, err := hubtest.Start(false)
	if errors.Is(err, hubtest.ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(cluster.Stop)
	d, err := cluster.NewDatabase("shared")
	must(t, err)
	t.Cleanup(d.Owner.Close)
	var serving atomic.Pointer[hub.Hub]
	serve := func(url string) {
		h, err := hub.Open(context.Background(), hub.Options{Database: url})
		must(t, err)
		t.Cleanup(h.Close)
		serving.Store(h)
	}
	serve(d.ServeURL())
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serving.Load().Handler().ServeHTTP(w, r) }))
	t.Cleanup(front.Close)

	a := joined(t, front.URL, d.Member(t, "anna", hubwire.Writer), "a")
	second, err := d.Admin.NewCode(t.Context(), "anna")
	must(t, err)
	c := joined(t, front.URL, second, "c")
	b := joined(t, front.URL, d.Member(t, "ben", hubwire.Writer), "b")
	all := []scene{a, b, c}
	sync := func() {
		for range 2 {
			for _, s := range all {
				s.run()
			}
		}
	}
	a.said("one", "From now on always use canary-wish for tests.", "make one", "")
	a.said("both", "Hello.", "make both", "") // on both of Anna's machines
	c.said("both", "Hello.", "make both", "")
	sync()
	for _, s := range all {
		raw, text := s.memory()
		for _, command := range []string{"make first-a", "make first-b", "make first-c", "make one", "make both"} {
			if n := strings.Count(raw, "run: `"+command+"`"); n != 1 {
				t.Errorf("%s: %d times in\n%s", command, n, raw)
			}
		}
		if strings.Contains(text, "canary-wish") != (s.home != b.home) || s.home != b.home && strings.Contains(text, "from the team: anna") {
			t.Errorf("a wish, or whose line it is:\n%s", text)
		}
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.statement WHERE body->>'text' LIKE '%make both%'"); n != 1 {
		t.Errorf("the hub has what both machines sent %d times", n)
	}

	// A dump that is restored has what was forgotten since, and lacks what was sent since.
	dump, err := d.Tool("pg_dump", d.URL("postgres", d.Name, false))
	must(t, err)
	a.good("forget", "one", "--yes")
	b.said("later", "Hello.", "make later", "")
	sync()
	must(t, cluster.Exec("postgres", "CREATE DATABASE restored OWNER "+hubtest.Owner))
	file := filepath.Join(cluster.Dir(), "dump.sql")
	must(t, os.WriteFile(file, dump, 0o644))
	if _, err := d.Tool("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, d.URL("postgres", "restored", false)); err != nil {
		t.Fatal(err)
	}
	serve(cluster.URL(hubtest.Serve, "restored", true))
	sync()
	for _, s := range all {
		if text, _ := s.memory(); strings.Contains(text, "make one") || strings.Contains(text, "canary-wish") || strings.Count(text, "make later") != 1 {
			t.Errorf("after the dump:\n%s", text)
		}
		for path, text := range files(t, s.home) {
			if s.home != a.home && strings.Contains(text, "canary-wish") {
				t.Errorf("%s has what was forgotten", path)
			}
		}
	}
	if again, err := d.Tool("pg_dump", d.URL("postgres", "restored", false)); err != nil || bytes.Contains(again, []byte("make one")) || bytes.Contains(again, []byte("canary")) {
		t.Errorf("the hub has what was forgotten: %v", err)
	}

	// A machine whose token an operator revokes keeps what it has.
	owner, err := hub.Open(t.Context(), hub.Options{Database: cluster.URL(hubtest.Owner, "restored", false)})
	must(t, err)
	defer owner.Close()
	must(t, owner.Admin("acme").Remove(t.Context(), "ben"))
	if said := b.run(); !strings.Contains(said, "revoked") {
		t.Error(said)
	}
	if raw, _ := b.memory(); !strings.Contains(raw, "make first-a") {
		t.Error("a revoked machine lost what it had received")
	}
}
