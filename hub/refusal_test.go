package hub_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"memoir/hub/hubtest"
	"memoir/team/wire"
)

// state is what refused requests must not change.
const state = `SELECT ('x' || left(md5(concat(
	(SELECT string_agg(s::text, '' ORDER BY seq) FROM memoir.statement s), (SELECT string_agg(g::text, '' ORDER BY seq) FROM memoir.tombstone g),
	(SELECT string_agg(p::text, '' ORDER BY id) FROM memoir.project p), (SELECT string_agg(a::text, '' ORDER BY member) FROM memoir.access a),
	(SELECT string_agg(t::text, '' ORDER BY id) FROM memoir.token t), (SELECT string_agg(m::text, '' ORDER BY id) FROM memoir.member m),
	(SELECT count(*) FROM memoir.code))), 15))::bit(60)::bigint`

func TestARefusalChangesNothingAndIsInTheAudit(t *testing.T) {
	w := newTwo(t)
	w.Member(t, "waiting", wire.Writer)
	reader := join(t, w.url, w.Member(t, "reader", wire.Reader))
	limited := join(t, w.url, w.Member(t, "limited", wire.Writer, "github.com/acme/site"))
	revoked := join(t, w.url, w.Member(t, "revoked", wire.Writer))
	revoked.must("DELETE", "/v1/me", nil, nil)
	boss := join(t, w.url, w.Member(t, "boss", wire.Admin))
	elsewhere := join(t, w.url, w.Member(t, "elsewhere", wire.Admin, "github.com/acme/site"))
	deposed := join(t, w.url, w.Member(t, "deposed", wire.Admin))
	deposed.must("DELETE", "/v1/me", nil, nil)
	boss.must("POST", "/v1/grant", wire.Grant{Member: "deposed", Project: "*", Role: wire.None}, nil)
	code, err := w.Owner.Admin("other").AddMember(t.Context(), "stranger", wire.Admin, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	stranger := join(t, w.url, code)
	stranger.push("github.com/other/secret", statement("secret"))
	_, containers, err := w.Admin.NewToken(t.Context(), "boss", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	shared := machine{t: t, url: w.url, token: containers}
	grants := func(member, project string, role wire.Role) wire.Grant {
		return wire.Grant{Member: member, Project: project, Role: role}
	}
	unknown, nobody := machine{t: t, url: w.url, token: "guess"}, machine{t: t, url: w.url}
	newer := w.ours
	newer.version = "9"

	forged := statement("said")
	forged.Body = []byte(`{"text":"forged"}`)
	early := statement("early")
	early.Day = "0000-01-01"
	early.Hash = wire.Of(early.Session, early.Own, early.Day, early.Body)
	// The first statement is good: a push is stored whole or not at all.
	secret := pushOf(shop, statement("good"), statement("deploys with AKIA"+random(16)))

	for name, try := range map[string]struct {
		by                 machine
		code, method, path string
		in                 any
	}{
		"no token":                    {nobody, wire.CodeUnauthorised, "GET", pullPath(shop, "", 0), nil},
		"an unknown token":            {unknown, wire.CodeUnauthorised, "POST", "/v1/push", pushOf(shop, statement("x"))},
		"an unknown token rotates":    {unknown, wire.CodeUnauthorised, "POST", "/v1/rotate", nil},
		"an unknown code":             {nobody, wire.CodeUnauthorised, "POST", "/v1/join", wire.Join{Code: "guess", Machine: "m"}},
		"a machine without a name":    {nobody, wire.CodeUsage, "POST", "/v1/join", wire.Join{Code: "guess", Machine: "a\x00b"}},
		"a revoked token pushes":      {revoked, wire.CodeRevoked, "POST", "/v1/push", pushOf(shop, statement("x"))},
		"a revoked token rotates":     {revoked, wire.CodeRevoked, "POST", "/v1/rotate", nil},
		"a reader pushes":             {reader, wire.CodeForbidden, "POST", "/v1/push", pushOf(shop, statement("x"))},
		"no access, to withdraw":      {limited, wire.CodeForbidden, "POST", "/v1/push", pushOf(shop, w.said.Hash)},
		"a reader's new project":      {reader, wire.CodeForbidden, "POST", "/v1/push", pushOf("new", statement("x"))},
		"no access, to pull":          {limited, wire.CodeForbidden, "GET", pullPath(shop, "", 0), nil},
		"no access, to push":          {limited, wire.CodeForbidden, "POST", "/v1/push", pushOf(shop, statement("x"))},
		"no access, a new project":    {limited, wire.CodeForbidden, "POST", "/v1/push", pushOf("new", statement("x"))},
		"an unknown token leaves":     {unknown, wire.CodeUnauthorised, "DELETE", "/v1/me", nil},
		"a hash of something else":    {w.ours, wire.CodeUsage, "POST", "/v1/push", pushOf(shop, statement("good"), forged)},
		"a tombstone that is no hash": {w.ours, wire.CodeUsage, "POST", "/v1/push", pushOf(shop, "'; DROP TABLE memoir.statement")},
		"no JSON":                     {w.ours, wire.CodeUsage, "POST", "/v1/push", []byte(`{"project":`)},
		"nothing to push":             {w.ours, wire.CodeUsage, "POST", "/v1/push", pushOf(shop)},
		"a key with a line break":     {w.ours, wire.CodeUsage, "POST", "/v1/push", pushOf("a\nb", statement("x"))},
		"a day before the calendar":   {w.ours, wire.CodeUsage, "POST", "/v1/push", pushOf(shop, early)},
		"a secret":                    {w.ours, wire.CodeSecret, "POST", "/v1/push", secret},
		"a large body":                {w.ours, wire.CodeTooLarge, "POST", "/v1/push", make([]byte, 100<<20)},
		"a large code":                {nobody, wire.CodeTooLarge, "POST", "/v1/join", make([]byte, 5<<10)},
		"a large body of nobody":      {unknown, wire.CodeUnauthorised, "POST", "/v1/push", make([]byte, 100<<20)},
		"another version":             {newer, wire.CodeVersion, "GET", pullPath(shop, "", 0), nil},
		"no cursor":                   {w.ours, wire.CodeUsage, "GET", pullPath(shop, "1'; --", 0), nil},
		"a page too long":             {w.ours, wire.CodeUsage, "GET", pullPath(shop, "", wire.MaxPage+1), nil},

		"a reader grants":             {reader, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", shop, wire.Admin)},
		"a writer grants":             {w.ours, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", shop, wire.Writer)},
		"a writer ends a role":        {w.ours, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", "*", wire.None)},
		"a writer erases":             {w.ours, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "reader"}},
		"a writer erases themselves":  {w.ours, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "anna"}},
		"a revoked admin grants":      {deposed, wire.CodeRevoked, "POST", "/v1/grant", grants("reader", shop, wire.Writer)},
		"a revoked admin erases":      {deposed, wire.CodeRevoked, "POST", "/v1/erase", wire.Erase{Member: "reader"}},
		"an unknown token grants":     {unknown, wire.CodeUnauthorised, "POST", "/v1/grant", grants("reader", shop, wire.Writer)},
		"an unknown token erases":     {unknown, wire.CodeUnauthorised, "POST", "/v1/erase", wire.Erase{Member: "reader"}},
		"a container grants":          {shared, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", shop, wire.Writer)},
		"a container grants all":      {shared, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", "*", wire.Writer)},
		"a container erases":          {shared, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "reader"}},
		"another's admin grants":      {stranger, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", shop, wire.Writer)},
		"another's admin erases":      {stranger, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "reader"}},
		"another's admin, all":        {stranger, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", "*", wire.None)},
		"an admin of another project": {elsewhere, wire.CodeForbidden, "POST", "/v1/grant", grants("elsewhere", shop, wire.Admin)},
		"an admin of one, for all":    {elsewhere, wire.CodeForbidden, "POST", "/v1/grant", grants("elsewhere", "*", wire.Admin)},
		"an admin of one erases":      {elsewhere, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "limited"}},
		"another's member":            {boss, wire.CodeForbidden, "POST", "/v1/grant", grants("stranger", shop, wire.Reader)},
		"another's member, to erase":  {boss, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "stranger"}},
		"another's project":           {boss, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", "github.com/other/secret", wire.Reader)},
		"the last admin, to erase":    {boss, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "boss"}},
		"the last admin, to lower":    {boss, wire.CodeForbidden, "POST", "/v1/grant", grants("boss", "*", wire.Writer)},
		"the last admin, to end":      {boss, wire.CodeForbidden, "POST", "/v1/grant", grants("boss", "*", wire.None)},
		"a role that is not there":    {boss, wire.CodeForbidden, "POST", "/v1/grant", grants("reader", shop, wire.None)},
		"no role":                     {boss, wire.CodeUsage, "POST", "/v1/grant", grants("reader", shop, "erase")},
		"no member":                   {boss, wire.CodeUsage, "POST", "/v1/erase", wire.Erase{}},
		"no project, to grant":        {boss, wire.CodeUsage, "POST", "/v1/grant", grants("reader", "", wire.Reader)},
		"SQL for a member":            {boss, wire.CodeForbidden, "POST", "/v1/erase", wire.Erase{Member: "' OR true; --"}},
		"a large body, to erase":      {boss, wire.CodeTooLarge, "POST", "/v1/erase", make([]byte, 5<<10)},
	} {
		before, rows := w.Number(t, state), w.Number(t, "SELECT count(*) FROM memoir.audit")
		status, problem := try.by.do(try.method, try.path, try.in, nil)
		if status < 400 || problem.Code != try.code {
			t.Errorf("%s: %d %+v", name, status, problem)
		}
		if w.Number(t, state) != before {
			t.Errorf("%s: something changed", name)
		}
		if n := w.Number(t, "SELECT count(*) FROM memoir.audit WHERE code = '"+try.code+"' AND id > (SELECT max(id) - 1 FROM memoir.audit)"); n != 1 ||
			w.Number(t, "SELECT count(*) FROM memoir.audit") != rows+1 {
			t.Errorf("%s: not in the audit", name)
		}
		if try.code == wire.CodeSecret && (problem.Rule == "" || problem.Hash != secret.Statements[1].Hash) {
			t.Errorf("%s: %+v", name, problem)
		}
	}
	if n := w.Number(t, "SELECT count(*) FROM memoir.audit WHERE strpos(audit::text, 'AKIA') > 0 OR member IS NULL AND code = 'forbidden'"); n > 0 {
		t.Errorf("%d rows of the audit have the secret, or do not say who it was", n)
	}
}

func random(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	var b strings.Builder
	for range n {
		b.WriteByte(letters[rand.IntN(len(letters))])
	}
	return b.String()
}

func TestNobodyCanFillTheAudit(t *testing.T) {
	d := hubtest.NewDatabase(t)
	stranger := machine{t: t, url: d.Hub(t), token: "guess"}
	anna := join(t, stranger.url, d.Member(t, "anna", wire.Writer))
	for range 100 {
		stranger.refused(wire.CodeUnauthorised, "GET", "/v1/me", nil)
		anna.refused(wire.CodeUsage, "GET", pullPath("", "", 0), nil)
	}
	join(t, stranger.url, d.Member(t, "ben", wire.Reader)).refused(wire.CodeForbidden, "POST", "/v1/push", pushOf(shop, statement("x")))
	// A minute may end in between.
	for code, least := range map[string]int64{wire.CodeUnauthorised: 60, wire.CodeUsage: 60, wire.CodeForbidden: 1} {
		if n := d.Number(t, "SELECT count(*) FROM memoir.audit WHERE code = '"+code+"'"); n < least || n > 90 {
			t.Errorf("%s: %d rows", code, n)
		}
	}
}

// stalled is a body that does not come before its end.
type stalled struct {
	begun chan<- bool // gets a value once the hub reads
	end   <-chan struct{}
}

func (s stalled) Read([]byte) (int, error) {
	s.begun <- true
	<-s.end
	return 0, io.EOF
}

// A body that does not come holds one of few places of its member, and none of another's.
func TestStalledBodiesOfOneMemberAreFew(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna, ben := join(t, url, d.Member(t, "anna", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Writer))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	defer client.CloseIdleConnections()
	const places = 4
	begun, end := make(chan bool, places), make(chan struct{})
	var all sync.WaitGroup
	stall := func(path string) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, "POST", url+path, stalled{begun, end})
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+anna.token)
		r.Header.Set("Expect", "100-continue")
		all.Go(func() {
			if answer, err := client.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		})
	}
	isRead := func() {
		t.Helper()
		select {
		case <-begun:
		case <-ctx.Done():
			t.Fatal("a body is not read")
		}
	}
	for range places {
		stall("/v1/push")
		isRead()
	}
	anna.refused(wire.CodeUnavailable, "POST", "/v1/push", pushOf(shop, statement("the fifth")))
	ben.push(shop, statement("ben's"))
	stall("/v1/sessions")
	isRead()
	stall("/v1/sessions") // it waits, or ben soon would
	for n := range 50 {
		ben.send(session(t, fmt.Sprint(n), day, "make ben"))
	}
	close(end)
	all.Wait()
	anna.push(shop, statement("the fifth"))
	anna.send(session(t, "one", day, "make anna"))
}

// A hub that cannot write is not ready until a push succeeds. The disk is not full here: PostgreSQL only says so.
func TestAHubThatCannotWriteIsNotReady(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	anna.push(shop, statement("one"))
	anna.must("GET", "/readyz", nil, nil)
	d.Must(t, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER full_disk BEFORE INSERT ON memoir.statement EXECUTE FUNCTION full_disk()`)
	anna.refused(wire.CodeUnavailable, "POST", "/v1/push", pushOf(shop, statement("two")))
	anna.refused(wire.CodeUnavailable, "GET", "/readyz", nil)
	d.Must(t, "DROP TRIGGER full_disk ON memoir.statement")
	anna.push(shop, statement("two"))
	anna.must("GET", "/readyz", nil, nil)
}

func TestClientsOfTheReleaseBeforeAndAfterAreServed(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	odd := withBody(`{"kind":"Weather","text":"new kind","wind":{"from":"north"}}`, false)
	for version, served := range map[string]bool{"": true, "0": true, "1": true, "2": true, "3": false, "-1": false, "one": false} {
		anna.version = version
		status, problem := anna.do("GET", "/v1/me", nil, &wire.Joined{})
		if served != (status == 200) || !served && problem.Code != wire.CodeVersion {
			t.Errorf("version %q: %d %+v", version, status, problem)
		}
	}
	anna.version = "2"
	body := `{"project":"` + shop + `","priority":1,"statements":[` + strings.Replace(written(odd), "{", `{"colour":"red",`, 1) + `]}`
	anna.must("POST", "/v1/push", []byte(body), nil)
	anna.version = "0"
	wantTexts(t, anna.pull(shop, ""), "anna: "+string(odd.Body))
}
