package hub_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/hub/hubtest"
	"memoir/team/wire"
)

func TestErasingAMemberLeavesHashesOnly(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna, ben := join(t, url, d.Member(t, "anna", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Writer))
	s, own := statement("anna's"), withBody(`{"text":"own"}`, true)
	anna.push(shop, s)
	anna.push("github.com/acme/site", own)
	ben.push(shop, statement("ben's"))
	seen := ben.pull(shop, "")
	if n, err := d.Admin.Erase(t.Context(), "anna"); n != 2 || err != nil {
		t.Errorf("%d erased, %v", n, err)
	}
	anna.refused(wire.CodeUnauthorised, "POST", "/v1/push", pushOf(shop, s))
	wantTexts(t, ben.pull(shop, seen.Cursor), "anna withdrew "+s.Hash)
	wantTexts(t, ben.pull(shop, ""), `ben: {"kind":"Findings","text":"ben's"}`, "anna withdrew "+s.Hash)
	if n := d.Number(t, "SELECT count(*) FROM memoir.token JOIN memoir.member m ON m.id = member WHERE name = 'anna'"); n != 0 {
		t.Errorf("%d tokens are left", n)
	}
	// Who comes back gets a new start, and what was erased stays so.
	again := join(t, url, d.Member(t, "anna", wire.Writer))
	if pushed := again.push(shop, s); pushed.New != 0 {
		t.Errorf("%+v", pushed)
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
