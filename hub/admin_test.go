package hub_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/hub/hubtest"
	"memoir/team/wire"
)

// Operators and admins erase alike.
func TestErasingAMemberLeavesHashesOnly(t *testing.T) {
	for _, admin := range []bool{false, true} {
		d := hubtest.NewDatabase(t)
		url := d.Hub(t)
		anna, ben := join(t, url, d.Member(t, "anna", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Admin))
		s, own, line := statement("anna's"), withBody(`{"text":"own"}`, true), edit(1, "2026-11-28", "a line", "")
		anna.push(shop, s)
		anna.push("github.com/acme/site", own)
		anna.edit(line)
		anna.send(session(t, "anna's", day, "make anna"))
		ben.push(shop, statement("ben's"))
		d.Must(t, "DELETE FROM river.river_job") // of the pushes
		seen := ben.pull(shop, "")
		var done wire.Erased
		if admin {
			ben.must("POST", "/v1/erase", wire.Erase{Member: "anna"}, &done)
		} else if n, err := d.Admin.Erase(t.Context(), "anna"); err != nil {
			t.Fatal(err)
		} else {
			done.Erased = n
		}
		if done.Erased != 3 {
			t.Errorf("%d erased", done.Erased)
		}
		anna.refused(wire.CodeUnauthorised, "POST", "/v1/push", pushOf(shop, s))
		gone := []string{"anna withdrew " + s.Hash, "anna withdrew " + line.Hash}
		if s.Hash < line.Hash { // the last number is that of the smallest hash
			slices.Reverse(gone)
		}
		wantTexts(t, ben.pull(shop, seen.Cursor), gone...)
		wantTexts(t, ben.pull(shop, ""), append([]string{`ben: {"kind":"Findings","text":"ben's"}`}, gone...)...)
		if n := d.Number(t, `SELECT (SELECT count(*) FROM memoir.token t WHERE t.member = m.id)
				+ (SELECT count(*) FROM memoir.access a WHERE a.member = m.id) + (SELECT count(*) FROM memoir.transcript)
				+ (SELECT count(*) FROM memoir.edit) + (SELECT count(*) FROM memoir.statement s WHERE s.member = m.id)
			FROM memoir.member m WHERE name = 'anna' AND removed IS NOT NULL`); n != 0 {
			t.Errorf("%d rows of anna are left", n)
		}
		if n := d.Number(t, "SELECT count(*) FROM river.river_job WHERE kind = 'consolidate'"); n != 2 {
			t.Errorf("%d consolidations wait", n)
		}
		// Who comes back gets a new start, and what was erased stays so.
		again := join(t, url, d.Member(t, "anna", wire.Writer))
		if pushed := again.push(shop, s); pushed.New != 0 {
			t.Errorf("%+v", pushed)
		}
	}
}

func TestAnAdminGrantsInTheirProjects(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	boss, anna := join(t, url, d.Member(t, "boss", wire.Admin)), join(t, url, d.Member(t, "anna", wire.Reader, shop))
	lead := join(t, url, d.Member(t, "lead", wire.Admin, shop))
	const site = "github.com/acme/site"
	boss.push(site, statement("site"))
	grant := func(by machine, project string, role, counts wire.Role) {
		t.Helper()
		var now wire.Granted
		if by.must("POST", "/v1/grant", wire.Grant{Member: "anna", Project: project, Role: role}, &now); now.Role != counts {
			t.Errorf("%s in %s: %s counts", role, project, now.Role)
		}
	}
	try := func(project, want string) {
		t.Helper()
		_, read := anna.do("GET", pullPath(project, "", 0), nil, nil)
		_, write := anna.do("POST", "/v1/push", pushOf(project, statement("said")), nil)
		if got := read.Code + "/" + write.Code; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	try(shop, "/forbidden")
	grant(lead, shop, wire.Writer, wire.Writer)
	try(shop, "/")
	try(site, "forbidden/forbidden")
	grant(boss, "*", wire.Reader, wire.Reader)
	try(site, "/forbidden")
	grant(lead, shop, wire.None, wire.Reader) // the one for every project counts
	try(shop, "/forbidden")
	grant(boss, "*", wire.None, wire.None)
	try(shop, "forbidden/forbidden")
	if err := d.Admin.Alias(t.Context(), shop, "github.com/acme/store"); err != nil {
		t.Fatal(err)
	}
	grant(lead, "github.com/acme/store", wire.Admin, wire.Admin)
	grant(anna, shop, wire.Writer, wire.Writer) // she may, and then not any more
	anna.refused(wire.CodeForbidden, "POST", "/v1/grant", wire.Grant{Member: "anna", Project: shop, Role: wire.Admin})
	if n := d.Number(t, `SELECT count(*) FROM memoir.audit a JOIN memoir.member m ON m.id = a.member
		JOIN memoir.token t ON t.id = a.machine AND t.member = m.id WHERE a.code = '' AND a.address = '127.0.0.1'
		AND concat_ws(' ', m.name, action, detail) IN ('lead grant anna github.com/acme/shop writer', 'boss grant anna * reader',
			'lead revoke anna github.com/acme/shop', 'boss revoke anna *', 'lead grant anna github.com/acme/store admin',
			'anna grant anna github.com/acme/shop writer')`); n != 6 {
		t.Errorf("%d of 6 grants are in the audit", n)
	}
}

// Of two admins who end each other's role, or erase each other, at once, one stays.
func TestAnOrganisationKeepsAnAdmin(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	conn := connect(t, d.URL(hubtest.Owner, d.Name, false))
	for round := range 2 {
		var both [2]machine
		var all sync.WaitGroup
		for i := range both {
			both[i] = join(t, url, d.Member(t, fmt.Sprintf("admin%d.%d", round, i), wire.Admin))
		}
		tx, err := conn.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), "LOCK memoir.access IN ACCESS EXCLUSIVE MODE")
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range both {
			other := fmt.Sprintf("admin%d.%d", round, 1-i)
			path, in := "/v1/erase", any(wire.Erase{Member: other})
			if round == 0 {
				path, in = "/v1/grant", wire.Grant{Member: other, Project: "*", Role: wire.Writer}
			}
			all.Go(func() {
				if status, problem := m.do("POST", path, in, nil); status >= 500 {
					t.Errorf("%s: %+v", path, problem) // a deadlock
				}
			})
		}
		const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
		for d.Number(t, waiting) < 2 && t.Context().Err() == nil {
			continue // until both have begun
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		if n := d.Number(t, "SELECT count(*) FROM memoir.access WHERE role = 'admin'"); n != 1 {
			t.Fatalf("round %d: %d admins", round, n)
		}
		d.Must(t, "UPDATE memoir.access SET role = 'reader'")
	}
}

func TestARemovedMembersStatementsStay(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna, ben := join(t, url, d.Member(t, "anna", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Reader))
	code, err := d.Admin.NewCode(t.Context(), "anna")
	if err != nil {
		t.Fatal(err)
	}
	anna.push(shop, statement("said"))
	if err := d.Admin.Remove(t.Context(), "anna"); err != nil {
		t.Fatal(err)
	}
	anna.refused(wire.CodeRevoked, "GET", "/v1/me", nil)
	machine{t: t, url: url}.refused(wire.CodeUnauthorised, "POST", "/v1/join", wire.Join{Code: code, Machine: "m"})
	wantTexts(t, ben.pull(shop, ""), `anna: {"kind":"Findings","text":"said"}`)
	if _, err := d.Admin.NewCode(t.Context(), "anna"); err == nil {
		t.Error("a removed member gets a code")
	}
}

func TestRolesAreGrantedAndRevoked(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Reader, shop))
	try := func(want string) {
		t.Helper()
		_, read := anna.do("GET", pullPath(shop, "", 0), nil, nil)
		_, write := anna.do("POST", "/v1/push", pushOf(shop, statement("said")), nil)
		if got := read.Code + "/" + write.Code; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	step := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try("/forbidden")
	step(d.Admin.Grant(t.Context(), "anna", shop, wire.Writer, false))
	try("/")
	step(d.Admin.Grant(t.Context(), "anna", "*", wire.Reader, false))
	try("/")
	step(d.Admin.Revoke(t.Context(), "anna", shop))
	try("/forbidden")
	anna.push(shop, statement("said").Hash) // who only reads may withdraw
	wantTexts(t, anna.pull(shop, ""), "anna withdrew "+statement("said").Hash)
	if d.Admin.Revoke(t.Context(), "anna", shop) == nil {
		t.Error("a role that is not there was revoked")
	}
	step(d.Admin.Revoke(t.Context(), "anna", "*"))
	try("forbidden/forbidden")
	if d.Admin.Grant(t.Context(), "anna", shop, "owner", false) == nil {
		t.Error("there is no role owner")
	}
}

func TestAProjectHasSeveralKeys(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna, ben := join(t, url, d.Member(t, "anna", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Reader, shop))
	const renamed, other = "github.com/acme/store", "github.com/acme/outlet"
	s, both, gone := statement("one"), statement("both"), statement("gone")
	anna.push(shop, s, both)
	if err := d.Admin.Alias(t.Context(), shop, renamed); err != nil {
		t.Fatal(err)
	}
	if again := anna.push(renamed, s); again.New != 0 {
		t.Errorf("%+v", again)
	}
	before := ben.pull(renamed, "")
	if page := ben.pull(shop, before.Cursor); page.Epoch != before.Epoch {
		t.Error("another key alone began an epoch")
	}
	// Two machines pushed under another key before anybody said that it is the same project.
	anna.push(other, gone, both)
	anna.push(other, gone.Hash, s.Hash)
	if err := d.Admin.Alias(t.Context(), renamed, other); err != nil {
		t.Fatal(err)
	}
	page := ben.pull(other, before.Cursor)
	if page.Epoch == before.Epoch {
		t.Error("moved statements have the old epoch")
	}
	wantTexts(t, page, "anna: "+string(both.Body), "anna withdrew "+gone.Hash, "anna withdrew "+s.Hash)
	anna.push(renamed, statement("two"))
	wantTexts(t, ben.pull(shop, page.Cursor), `anna: {"kind":"Findings","text":"two"}`)

	rows, err := d.Admin.Projects(t.Context())
	want := [][]any{{shop, []any{other, renamed}, int64(2), int64(2)}}
	if diff := cmp.Diff(want, rows.Rows); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestWhatWasWithdrawnIsInNoFile looks for a text in PostgreSQL's files, except for the WAL.
func TestWhatWasWithdrawnIsInNoFile(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	canary := "canary " + random(12)
	found := func() (files []string) {
		t.Helper()
		d.Must(t, "ANALYZE; CHECKPOINT")
		if bytes.Contains(d.Dump(t), []byte(canary)) {
			files = append(files, "a dump")
		}
		err := filepath.WalkDir(filepath.Join(d.Dir(), "data"), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == "pg_wal" {
				return fs.SkipDir
			}
			if text, _ := os.ReadFile(path); bytes.Contains(text, []byte(canary)) { // PostgreSQL removes files meanwhile
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return files
	}
	for i := range 3 { // others stay on the same page
		anna.push(shop, statement("other"+random(i)), statement(canary+random(i)))
	}
	if len(found()) < 2 {
		t.Error("the search finds nothing")
	}
	for _, c := range anna.pull(shop, "").Items {
		if bytes.Contains(c.Body, []byte(canary)) {
			anna.push(shop, c.Hash)
		}
	}
	d.Must(t, "VACUUM FULL memoir.statement")
	if files := found(); len(files) > 0 {
		t.Errorf("it is still in %v", files)
	}
}
