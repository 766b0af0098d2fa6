package hub_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/jackc/pgx/v5"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/team/wire"
)

// two is a database with two organisations, each with a member "anna" and a project shop.
type two struct {
	*hubtest.Database
	url          string
	ours, theirs machine
	said         wire.Statement // theirs
}

func newTwo(t *testing.T) two {
	d := hubtest.NewDatabase(t)
	w := two{Database: d, url: d.Hub(t), said: statement("theirs")}
	w.ours = join(t, w.url, d.Member(t, "anna", wire.Writer))
	if err := d.Owner.AddOrganisation(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	code, err := d.Owner.Admin("other").AddMember(t.Context(), "anna", wire.Writer, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	w.theirs = join(t, w.url, code)
	w.theirs.push(shop, w.said)
	w.theirs.edit(edit(1, "2026-11-28", "theirs", ""))
	w.theirs.send(session(t, "theirs", day, "make theirs"))
	w.ours.push(shop, statement("ours"), withBody(`{"text":"mine"}`, true))
	w.ours.edit(edit(1, "2026-11-28", "ours", ""))
	d.Must(t, `INSERT INTO memoir.archive SELECT p.organisation, p.id, sha256(o.name::bytea), o.name::bytea
			FROM memoir.project p JOIN memoir.organisation o ON o.id = p.organisation;
		INSERT INTO memoir.generation SELECT organisation, project, 1, 0, 1, hash, 'builtin', 'published' FROM memoir.archive;
		INSERT INTO memoir.generation SELECT organisation, project, 2, 1, 1, hash, 'builtin', 'waiting' FROM memoir.archive;
		INSERT INTO memoir.ledger (organisation, project, model, tokens, cost) SELECT organisation, id, 'any', 1, 0
			FROM memoir.project`)
	return w
}

// check tries what the walls are for.
func (w two) check(t *testing.T) {
	t.Helper()
	wantTexts(t, w.ours.pull(shop, ""), `anna: {"kind":"Findings","text":"ours"}`, `anna: {"text":"mine"}`)
	w.ours.push(shop, w.said.Hash)
	wantTexts(t, w.theirs.pull(shop, ""), `anna: {"kind":"Findings","text":"theirs"}`)

	join(t, w.url, w.Member(t, "forger", wire.Writer)).push(shop, statement("ours").Hash)
	wantTexts(t, w.ours.pull(shop, ""), `anna: {"kind":"Findings","text":"ours"}`, `anna: {"text":"mine"}`,
		"anna withdrew "+w.said.Hash, "forger withdrew "+statement("ours").Hash)
	gone := join(t, w.url, w.Member(t, "gone", wire.Writer))
	w.Must(t, "UPDATE memoir.token SET revoked = now() WHERE id = (SELECT max(id) FROM memoir.token)")
	gone.refused(wire.CodeRevoked, "POST", "/v1/push", pushOf(shop, statement("too late")))
	gone.refused(wire.CodeRevoked, "GET", pullPath(shop, "", 0), nil)
	if n := w.Number(t, "SELECT count(*) FROM memoir.statement WHERE body->>'text' = 'too late'"); n > 0 {
		t.Error("a revoked token's push was stored")
	}

	reader := join(t, w.url, w.Member(t, "reader", wire.Reader))
	if page := reader.pull(shop, ""); len(page.Items) != 3 { // a statement and two tombstones
		t.Errorf("a reader sees %v", texts(page))
	}
	reader.refused(wire.CodeForbidden, "POST", "/v1/push", pushOf(shop, statement("reader's")))
	if f := reader.fetch(shop, ""); string(f.body) != "acme" || f.number != "1" {
		t.Errorf("a reader gets generation %s of %s", f.number, f.body)
	}
	gone.refused(wire.CodeRevoked, "GET", "/v1/archive?project="+shop, nil)
	limited := join(t, w.url, w.Member(t, "limited", wire.Writer, "github.com/acme/site"))
	limited.push("github.com/acme/site", statement("site"))
	for _, key := range []string{shop, "github.com/acme/new"} {
		limited.refused(wire.CodeForbidden, "GET", pullPath(key, "", 0), nil)
		limited.refused(wire.CodeForbidden, "GET", "/v1/archive?project="+key, nil)
		limited.refused(wire.CodeForbidden, "POST", "/v1/push", pushOf(key, statement("limited's")))
	}
	machine{t: t, url: w.url, token: "guess"}.refused(wire.CodeUnauthorised, "GET", pullPath(shop, "", 0), nil)
	machine{t: t, url: w.url}.refused(wire.CodeUnauthorised, "POST", "/v1/push", pushOf(shop, statement("nobody's")))

	join(t, w.url, w.Member(t, "taker", wire.Writer)).push(shop, edit(1, "2026-11-28", "theirs", "").Hash,
		edit(1, "2026-11-28", "ours", "").Hash)
	if n := w.Number(t, "SELECT count(*) FROM memoir.edit"); n != 2 {
		t.Errorf("%d edits are left", n)
	}
	w.Must(t, "UPDATE memoir.project SET consumed = seq") // it lacks what was withdrawn
	wait := wire.Accept{Project: shop, Generation: 2, Hash: hexOf("acme"), Published: 1}
	elsewhere := join(t, w.url, w.Member(t, "elsewhere", wire.Admin, "github.com/acme/site"))
	for _, m := range []machine{w.ours, w.theirs, reader, limited, elsewhere} {
		m.refused(wire.CodeForbidden, "POST", "/v1/accept", wait)
		m.refused(wire.CodeForbidden, "GET", "/v1/archive?waiting=true&project="+shop, nil)
		m.refused(wire.CodeForbidden, "POST", "/v1/grant", wire.Grant{Member: "anna", Project: shop, Role: wire.Admin})
		m.refused(wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "anna"})
	}
	boss := join(t, w.url, w.Member(t, "boss", wire.Admin))
	boss.must("POST", "/v1/accept", wait, nil)
	boss.must("POST", "/v1/grant", wire.Grant{Member: "anna", Project: "*", Role: wire.None}, nil) // of two with this name
	w.ours.refused(wire.CodeForbidden, "GET", pullPath(shop, "", 0), nil)
	w.theirs.pull(shop, "")
	boss.must("POST", "/v1/grant", wire.Grant{Member: "anna", Project: "*", Role: wire.Writer}, nil)
	boss.must("POST", "/v1/erase", wire.Erase{Member: "taker"}, nil)
	if f := reader.fetch(shop, ""); f.number != "2" || w.Number(t, "SELECT count(*) FROM memoir.generation WHERE state = 'waiting'") != 1 {
		t.Errorf("a reader gets generation %s", f.number)
	}
	var all []wire.Machine
	w.ours.must("GET", "/v1/machines", nil, &all)
	if len(all) != 1 || !all[0].This || all[0].Name != "laptop" {
		t.Errorf("anna's machines: %+v", all)
	}
	limited.refused(wire.CodeNotFound, "DELETE", "/v1/machines/"+all[0].ID, nil)
	w.theirs.refused(wire.CodeNotFound, "DELETE", "/v1/machines/"+all[0].ID, nil)
	if n := w.Number(t, `SELECT count(*) FROM memoir.audit JOIN memoir.member m ON m.id = member
		WHERE action = 'DELETE /v1/machines/{id}' AND code = 'not_found' AND name IN ('limited', 'ben')`); n < 1 {
		t.Error("who asks for another's machine is not in the audit")
	}
	w.ours.must("DELETE", "/v1/machines/"+all[0].ID, nil, nil)
	w.ours.refused(wire.CodeRevoked, "GET", "/v1/me", nil)
}

func hexOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func TestNobodyReachesWhatIsNotTheirs(t *testing.T) { newTwo(t).check(t) }

func TestThePredicatesHoldWithoutThePolicies(t *testing.T) {
	w := newTwo(t)
	for _, table := range tables {
		w.Must(t, "ALTER TABLE memoir."+table+" DISABLE ROW LEVEL SECURITY")
	}
	w.check(t)
}

// tables are all tables of the schema.
var tables = []string{"access", "archive", "audit", "code", "edit", "erased", "generation", "hub", "ledger", "member", "migration", "organisation", "project", "statement", "token",
	"tombstone", "transcript"}

func TestThePoliciesHoldWithoutThePredicates(t *testing.T) {
	w := newTwo(t)
	w.Member(t, "waiting", wire.Reader) // a code
	w.theirs.push(shop, statement("gone").Hash)
	ours, anna := w.Number(t, "SELECT id FROM memoir.organisation WHERE name = 'acme'"),
		w.Number(t, "SELECT id FROM memoir.member WHERE name = 'anna' ORDER BY id LIMIT 1")
	theirs, other := w.Number(t, "SELECT id FROM memoir.organisation WHERE name = 'other'"),
		w.Number(t, "SELECT id FROM memoir.member WHERE name = 'anna' ORDER BY id DESC LIMIT 1")
	project, foreign := w.Number(t, "SELECT id FROM memoir.project ORDER BY id LIMIT 1"),
		w.Number(t, "SELECT id FROM memoir.project ORDER BY id DESC LIMIT 1")
	ben := w.Number(t, "SELECT id FROM memoir.member WHERE name = 'waiting'")
	w.Member(t, "boss", wire.Admin, shop)
	if n := w.Number(t, `SELECT count(*) FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
		WHERE p.proname = 'administer' AND (a.grantee = 0 OR p.proconfig IS NULL)`); n > 0 {
		t.Error("who may only read the tables, with hashes of tokens, may act as an admin")
	}
	boss := w.Number(t, "SELECT id FROM memoir.member WHERE name = 'boss'")
	administer := func(token, change string) string {
		return fmt.Sprintf(`SELECT memoir.administer('\x%s', 'anna', '%s', '%s')`, hexOf(token), shop, change)
	}

	visible := map[string]int{"access": 1, "code": 0, "member": 3, "organisation": 1, "project": 1, "statement": 2, "token": 1,
		"tombstone": 0, "hub": 1, "migration": hub.SchemaVersion() - hub.First + 1,
		"archive": 1, "edit": 1, "generation": 1, "ledger": 0, "transcript": 0}
	for _, pooled := range []bool{false, true} {
		conn := connect(t, w.URL(hubtest.Serve, w.Name, pooled))
		for range 3 { // a connection is used again
			for table, n := range visible {
				if got := count(t, conn, 0, 0, table); got != 0 && table != "hub" && table != "migration" {
					t.Errorf("nobody sees %d rows of %s", got, table)
				}
				if got := count(t, conn, ours, anna, table); got != n {
					t.Errorf("anna sees %d rows of %s, not %d", got, table, n)
				}
			}
			if got := count(t, conn, ours, ben, "statement"); got != 1 { // not anna's own
				t.Errorf("a reader sees %d statements", got)
			}
			if got := count(t, conn, ours, ben, "edit"); got != 0 { // members get them by generations
				t.Errorf("a reader sees %d edits", got)
			}
			if got := count(t, conn, theirs, anna, "statement"); got != 0 {
				t.Errorf("a member of another organisation sees %d statements", got)
			}
			if got := count(t, conn, ours, boss, "generation"); got != 2 { // one waits
				t.Errorf("an admin sees %d generations", got)
			}
			if got := count(t, conn, ours, boss, "edit"); got != 1 { // what was removed since one was made
				t.Errorf("an admin sees %d edits", got)
			}
		}
		insert := func(org, project, member int64) string {
			return fmt.Sprintf(`INSERT INTO memoir.statement VALUES (%d, %d, %d, '\x01', 99, '', false, '2026-01-01', '{}')`,
				org, project, member)
		}
		change := func(org, project, member int64) string {
			return fmt.Sprintf(`INSERT INTO memoir.edit VALUES (%d, %d, %d, '\x01', 99, 1, '2026-01-01', 'a', 'b')`, org, project, member)
		}
		transcript := func(org, project, member int64) string {
			return fmt.Sprintf(`INSERT INTO memoir.transcript (organisation, project, member, machine, hash, session, source, ended,
				redacted) VALUES (%d, %d, %d, 1, '\x01', '', '', now(), 0)`, org, project, member)
		}
		for name, try := range map[string]struct {
			org, member int64
			sql         string
		}{
			"nobody writes":             {0, 0, insert(ours, project, anna)},
			"in another organisation":   {ours, anna, insert(theirs, foreign, other)},
			"as somebody else":          {ours, anna, insert(ours, project, ben)},
			"a reader writes":           {ours, ben, insert(ours, project, ben)},
			"somebody else's tombstone": {ours, anna, fmt.Sprintf(`INSERT INTO memoir.tombstone VALUES (%d, %d, %d, '\x01', 99)`, ours, project, ben)},
			"a reader's, of another":    {ours, ben, fmt.Sprintf(`INSERT INTO memoir.tombstone VALUES (%d, %d, %d, '\x01', 99)`, ours, project, anna)},
			"a reader's project":        {ours, ben, fmt.Sprintf(`INSERT INTO memoir.project (organisation, key) VALUES (%d, 'x')`, ours)},
			"somebody else's audit":     {ours, anna, fmt.Sprintf(`INSERT INTO memoir.audit (organisation, member, action) VALUES (%d, %d, 'x')`, theirs, other)},
			"an epoch":                  {ours, anna, `UPDATE memoir.hub SET epoch = 'x', fingerprint = 'x'`},
			"a generation":              {ours, anna, fmt.Sprintf(`INSERT INTO memoir.generation VALUES (%d, %d, 3, 2, 1, NULL, 'any', 'published')`, ours, project)},
			"an archive":                {ours, anna, fmt.Sprintf(`INSERT INTO memoir.archive VALUES (%d, %d, 'x', 'x')`, ours, project)},
			"the ledger":                {ours, anna, fmt.Sprintf(`INSERT INTO memoir.ledger (organisation, project, model, tokens, cost) VALUES (%d, %d, 'x', 1, 1)`, ours, project)},
			"a waiting generation":      {ours, anna, `UPDATE memoir.generation SET state = 'published'`},
			"a reader's acceptance":     {ours, ben, `UPDATE memoir.generation SET state = 'published'`},
			"another's acceptance":      {theirs, boss, `UPDATE memoir.generation SET state = 'published'`},
			"a published generation":    {ours, boss, `UPDATE memoir.generation SET state = 'published' WHERE state = 'published'`},
			"an admin's archive":        {ours, boss, `UPDATE memoir.generation SET state = 'published', archive = NULL`},
			"what waits":                {ours, boss, `UPDATE memoir.generation SET archive = archive`},
			"who has another's token":   {ours, boss, administer(w.ours.token, "admin")},
			"who knows no token":        {ours, boss, administer("guess", "admin")},
			"erasing without a token":   {ours, boss, administer("guess", "erase")},
			"erasing alone":             {ours, boss, fmt.Sprintf(`SELECT memoir.erase(%d)`, anna)},
			"removing alone":            {ours, boss, fmt.Sprintf(`SELECT memoir.remove(%d)`, anna)},
			"a granted role":            {ours, boss, fmt.Sprintf(`INSERT INTO memoir.access VALUES (%d, %d, %d, 'admin')`, ours, boss, foreign)},
			"an ended role":             {ours, boss, `DELETE FROM memoir.access`},
			"a policy":                  {ours, anna, `UPDATE memoir.organisation SET review = false`},
			"more rights":               {ours, anna, `UPDATE memoir.access SET role = 'admin'`},
			"the audit":                 {ours, anna, `SELECT count(*) FROM memoir.audit`},
			"another's edit":            {ours, anna, change(ours, project, ben)},
			"a reader's edit":           {ours, ben, change(ours, project, ben)},
			"a foreign edit":            {ours, anna, change(theirs, foreign, other)},
			"an edit of an edit":        {ours, anna, `UPDATE memoir.edit SET after = 'x'`},
			"another's transcript":      {ours, anna, transcript(ours, project, ben)},
			"a reader's transcript":     {ours, ben, transcript(ours, project, ben)},
			"a foreign transcript":      {ours, anna, transcript(theirs, foreign, other)},
			"another's token":           {ours, anna, fmt.Sprintf(`INSERT INTO memoir.token (hash, organisation, member, machine, expires) VALUES ('\x01', %d, %d, 'x', now())`, ours, ben)},
		} {
			if n, err := as(conn, try.org, try.member, try.sql); err == nil && n > 0 {
				t.Errorf("%s: done", name)
			}
		}
		for name, sql := range map[string]string{
			"statements": `DELETE FROM memoir.statement WHERE member <> ` + fmt.Sprint(anna),
			"edits":      `DELETE FROM memoir.edit WHERE member <> ` + fmt.Sprint(anna),
			"tokens":     `UPDATE memoir.token SET revoked = now() WHERE member <> ` + fmt.Sprint(anna),
			"projects":   `UPDATE memoir.project SET seq = 0 WHERE organisation <> ` + fmt.Sprint(ours),
			"codes":      `DELETE FROM memoir.code`,
			"sessions":   `UPDATE memoir.transcript SET items = NULL`,
			"archives":   `DELETE FROM memoir.archive`,
			"generation": `UPDATE memoir.generation SET archive = NULL`,
			"ledger":     `UPDATE memoir.ledger SET tokens = 0`,
			"row":        `UPDATE memoir.project SET consumed = 0 WHERE organisation <> ` + fmt.Sprint(ours),
		} {
			if n, err := as(conn, ours, anna, sql); err != nil || n != 0 {
				t.Errorf("somebody else's %s: %d changed, %v", name, n, err)
			}
		}
		const accept = `UPDATE memoir.generation SET state = 'published'` // ours alone
		if n, err := as(conn, ours, boss, accept+` WHERE number = 2`); err != nil || n != 1 {
			t.Errorf("an admin accepts %d generations, %v", n, err)
		}
		w.Must(t, `UPDATE memoir.generation SET state = 'waiting' WHERE number = 2`)
	}
}

// TestAWorkerReachesItsProjectAlone tries what a worker's transaction may do with the policies alone.
func TestAWorkerReachesItsProjectAlone(t *testing.T) {
	w := newTwo(t)
	w.ours.push("github.com/acme/site", statement("site"))
	w.ours.push(shop, statement("gone").Hash)
	ours := w.Number(t, "SELECT id FROM memoir.organisation WHERE name = 'acme'")
	project := w.Number(t, fmt.Sprintf("SELECT id FROM memoir.project WHERE key = '%s' AND organisation = %d", shop, ours))
	site := w.Number(t, "SELECT id FROM memoir.project WHERE key = 'github.com/acme/site'")
	conn := connect(t, w.URL(hubtest.Serve, w.Name, true))
	try := func(sql string) (int64, error) {
		b := &pgx.Batch{}
		b.Queue("SELECT memoir.work($1)", project)
		b.Queue(sql)
		done := conn.SendBatch(context.Background(), b)
		defer done.Close()
		_, _ = done.Exec()
		tag, err := done.Exec()
		return tag.RowsAffected(), err
	}
	for table, n := range map[string]int64{"access": 0, "code": 0, "token": 0, "member": 1, "organisation": 1, "project": 1,
		"statement": 1, "edit": 1, "tombstone": 1, "generation": 2, "archive": 1, "ledger": 1} {
		if got, err := try("SELECT * FROM memoir." + table); err != nil || got != n {
			t.Errorf("a worker sees %d rows of %s, not %d: %v", got, table, n, err)
		}
		if got := count(t, conn, 0, 0, table); got != 0 {
			t.Errorf("%d rows of %s are visible after a worker", got, table)
		}
	}
	for name, sql := range map[string]string{
		"a statement":       fmt.Sprintf(`INSERT INTO memoir.statement VALUES (%d, %d, 1, '\x01', 99, '', false, '2026-01-01', '{}')`, ours, project),
		"no statement":      `DELETE FROM memoir.statement`,
		"no edit":           `DELETE FROM memoir.edit`,
		"another's":         fmt.Sprintf(`INSERT INTO memoir.generation VALUES (%d, %d, 1, 0, 1, NULL, 'any', 'published')`, ours, site),
		"another's archive": fmt.Sprintf(`INSERT INTO memoir.archive VALUES (%d, %d, 'x', 'x')`, ours, site),
		"another's call":    fmt.Sprintf(`INSERT INTO memoir.ledger (organisation, project, model, tokens, cost) VALUES (%d, %d, 'x', 1, 1)`, ours, site),
		"another's row":     fmt.Sprintf(`UPDATE memoir.project SET consumed = 9 WHERE id <> %d`, project),
		"the policy":        `UPDATE memoir.organisation SET review = true`,
		"a name":            `UPDATE memoir.organisation SET id = DEFAULT`,
		"a gap":             fmt.Sprintf(`INSERT INTO memoir.generation VALUES (%d, %d, 4, 2, 1, NULL, 'any', 'published')`, ours, project),
		"a double":          fmt.Sprintf(`INSERT INTO memoir.generation VALUES (%d, %d, 2, 1, 1, NULL, 'any', 'published')`, ours, project),
	} {
		if n, err := try(sql); err == nil && n > 0 {
			t.Errorf("%s: done", name)
		}
	}
}

func TestAReusedConnectionRemembersNobody(t *testing.T) {
	w := newTwo(t)
	raw := connect(t, w.URL(hubtest.Serve, w.Name, true))
	// One connection for all, directly and behind the pooler, which itself has few.
	for _, pooled := range []bool{false, true} {
		h, err := hub.Open(t.Context(), hub.Options{Database: w.URL(hubtest.Serve, w.Name, pooled) + "&pool_max_conns=1"})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(h.Handler())
		ours, nobody := w.ours, machine{t: t, url: server.URL, token: "guess"}
		ours.url = server.URL
		for range 20 {
			if page := ours.pull(shop, ""); len(page.Items) != 2 {
				t.Fatalf("anna sees %v", texts(page))
			}
			nobody.refused(wire.CodeUnauthorised, "GET", pullPath(shop, "", 0), nil)
			if n := count(t, raw, 0, 0, "statement"); n > 0 {
				t.Fatalf("%d statements are visible on a connection that anna used", n)
			}
		}
		server.Close()
		h.Close()
	}
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// as runs SQL in a transaction of a member, and returns how many rows it changed. 0 sets nobody.
func as(conn *pgx.Conn, org, member int64, sql string) (int64, error) {
	ctx := context.Background()
	b := &pgx.Batch{}
	if member != 0 {
		b.Queue(`SELECT set_config('memoir.organisation', $1::bigint::text, true), set_config('memoir.member', $2::bigint::text, true)`,
			org, member)
	}
	b.Queue(sql)
	done := conn.SendBatch(ctx, b)
	defer done.Close()
	if member != 0 {
		if _, err := done.Exec(); err != nil {
			return 0, err
		}
	}
	tag, err := done.Exec()
	return tag.RowsAffected(), err
}

func count(t testing.TB, conn *pgx.Conn, org, member int64, table string) int {
	t.Helper()
	n, err := as(conn, org, member, "SELECT * FROM memoir."+table)
	if err != nil {
		t.Fatal(table, err)
	}
	return int(n)
}
