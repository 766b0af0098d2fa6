package hub_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir/hub/hubtest"
	"memoir/team/wire"
)

// machine is a client with the token of a machine; empty: none.
type machine struct {
	t          testing.TB
	url, token string
	version    string // of the protocol; empty: says none
}

// do sends a request, and decodes the answer into out if it is 2xx. Else it returns the Problem.
func (m machine) do(method, path string, in, out any) (int, wire.Problem) {
	m.t.Helper()
	body, ok := in.([]byte)
	if !ok && in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			m.t.Fatal(err)
		}
	}
	r, err := http.NewRequest(method, m.url+path, bytes.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	if m.token != "" {
		r.Header.Set("Authorization", "Bearer "+m.token)
	}
	if m.version != "" {
		r.Header.Set(wire.VersionHeader, m.version)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	if header, ok := out.(*http.Header); ok {
		*header, out = answer.Header, nil
	}
	var problem wire.Problem
	if answer.StatusCode >= 300 {
		out = &problem
	}
	if out != nil {
		if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
			m.t.Fatalf("%s %s: %d: %v", method, path, answer.StatusCode, err)
		}
	}
	return answer.StatusCode, problem
}

// must is do for what has to succeed.
func (m machine) must(method, path string, in, out any) {
	m.t.Helper()
	if status, problem := m.do(method, path, in, out); status >= 300 {
		m.t.Fatalf("%s %s: %d %+v", method, path, status, problem)
	}
}

// refused is do for what has to fail with a code.
func (m machine) refused(code string, method, path string, in any) {
	m.t.Helper()
	if status, problem := m.do(method, path, in, nil); status < 400 || problem.Code != code {
		m.t.Errorf("%s %s: %d %+v, not the code %s", method, path, status, problem, code)
	}
}

func (m machine) push(project string, items ...any) wire.Pushed {
	m.t.Helper()
	var out wire.Pushed
	m.must("POST", "/v1/push", pushOf(project, items...), &out)
	return out
}

func (m machine) pull(project string, after wire.Cursor) wire.Page {
	m.t.Helper()
	var page wire.Page
	m.must("GET", pullPath(project, after, 0), nil, &page)
	return page
}

// pushOf is a push of statements, and of the hashes of tombstones.
func pushOf(project string, items ...any) wire.Push {
	p := wire.Push{Project: project}
	for _, item := range items {
		switch item := item.(type) {
		case wire.Statement:
			p.Statements = append(p.Statements, item)
		case string:
			p.Tombstones = append(p.Tombstones, item)
		}
	}
	return p
}

func pullPath(project string, after wire.Cursor, limit int) string {
	q := url.Values{"project": {project}, "after": {string(after)}}
	if limit > 0 {
		q.Set("limit", fmt.Sprint(limit))
	}
	return "/v1/pull?" + q.Encode()
}

// statement returns one whose body has a text.
func statement(text string) wire.Statement {
	body, _ := json.Marshal(map[string]string{"kind": "Findings", "text": text})
	return withBody(string(body), false)
}

func withBody(body string, own bool) wire.Statement {
	s := wire.Statement{Session: wire.SessionHash("codex:"+body, ""), Own: own, Day: "2026-11-28", Body: []byte(body)}
	s.Hash = wire.Of(s.Session, s.Own, s.Day, s.Body)
	return s
}

func join(t testing.TB, url, code string) machine {
	t.Helper()
	var joined wire.Joined
	machine{t: t, url: url}.must("POST", "/v1/join", wire.Join{Code: code, Machine: "laptop"}, &joined)
	return machine{t: t, url: url, token: joined.Token}
}

func texts(page wire.Page) (out []string) {
	for _, c := range page.Items {
		text := c.Member + ": " + string(c.Body)
		if c.Gone {
			text = c.Member + " withdrew " + c.Hash
		}
		out = append(out, text)
	}
	return out
}

func wantTexts(t testing.TB, page wire.Page, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, texts(page)); diff != "" {
		t.Error(diff)
	}
}

const shop = "github.com/acme/shop"

func TestWhatOneMachinePushesAnotherPullsByteForByte(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	ben := join(t, url, d.Member(t, "ben", wire.Reader))

	odd := `{"text":"<b> \u00e9 é  & \u0000 \ud800","new field":[1.50,{"a":1,"a":2}]}`
	p := pushOf(shop, withBody(odd, false), statement("two"))
	first := []byte(`{"project":"` + shop + `","statements":[` + strings.Join([]string{written(p.Statements[0]), written(p.Statements[1])}, ",") + `]}`)
	var pushed wire.Pushed
	anna.must("POST", "/v1/push", first, &pushed)
	if pushed.New != 2 || pushed.Epoch == "" {
		t.Errorf("pushed %+v, not two", pushed)
	}
	page := ben.pull(shop, "")
	wantTexts(t, page, "anna: "+odd, "anna: "+string(p.Statements[1].Body))
	for i, c := range page.Items {
		if diff := cmp.Diff(p.Statements[i], c.Statement); diff != "" {
			t.Error(diff)
		}
	}
	blank := written(withBody(`{"text": "x"}`, false))
	anna.refused(wire.CodeUsage, "POST", "/v1/push", []byte(`{"project":"`+shop+`","statements":[`+blank+`]}`))
	if again := anna.push(shop, p.Statements[1]); again.New != 0 {
		t.Errorf("what is known is new: %+v", again)
	}
	next := ben.pull(shop, page.Cursor)
	wantTexts(t, next)
	anna.push(shop, statement("three"))
	wantTexts(t, ben.pull(shop, next.Cursor), `anna: {"kind":"Findings","text":"three"}`)
}

// written is a statement as a client may write it: its body byte for byte.
func written(s wire.Statement) string {
	return fmt.Sprintf(`{"hash":%q,"session":%q,"day":%q,"body":%s}`, s.Hash, s.Session, s.Day, s.Body)
}

func TestAPageHasTheNextCursor(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	var want, got []string
	for i := range 5 {
		s := statement(fmt.Sprint(i))
		anna.push(shop, s)
		want = append(want, s.Hash)
	}
	page := wire.Page{More: true}
	for page.More {
		path := pullPath(shop, page.Cursor, 2)
		page = wire.Page{}
		anna.must("GET", path, nil, &page)
		for _, c := range page.Items {
			got = append(got, c.Hash)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestALargePageIsCut(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	long := strings.Repeat("a wide field of words ", 2700)
	for batch := range 2 {
		var items []any
		for i := range 60 {
			items = append(items, statement(fmt.Sprint(batch, i, long)))
		}
		anna.push(shop, items...)
	}
	page := anna.pull(shop, "")
	rest := anna.pull(shop, page.Cursor)
	if !page.More || len(page.Items)+len(rest.Items) != 120 || rest.More {
		t.Errorf("pages of %d and %d changes", len(page.Items), len(rest.Items))
	}
}

func TestATombstoneHidesAStatementForEver(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	ben := join(t, url, d.Member(t, "ben", wire.Writer))
	s, other := statement("said"), statement("not sent yet")
	anna.push(shop, s)
	ben.push(shop, s)
	seen := ben.pull(shop, "")
	if pushed := anna.push(shop, s.Hash, other.Hash); pushed.New != 2 {
		t.Errorf("two tombstones: %+v", pushed)
	}
	if pushed := anna.push(shop, s, other, s.Hash); pushed.New != 0 || len(pushed.Withdrawn) != 2 {
		t.Errorf("withdrawn statements came back: %+v", pushed)
	}
	wantTexts(t, ben.pull(shop, seen.Cursor), "anna withdrew "+s.Hash, "anna withdrew "+other.Hash)
	wantTexts(t, ben.pull(shop, ""), "ben: "+string(s.Body), "anna withdrew "+s.Hash, "anna withdrew "+other.Hash)
}

func TestWhatIsOwnGoesToTheMembersMachinesOnly(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	ben := join(t, url, d.Member(t, "ben", wire.Admin))
	code, err := d.Admin.NewCode(t.Context(), "anna")
	if err != nil {
		t.Fatal(err)
	}
	second := join(t, url, code)
	anna.push(shop, withBody(`{"text":"mine"}`, true))
	wantTexts(t, second.pull(shop, ""), `anna: {"text":"mine"}`)
	if page := ben.pull(shop, ""); len(page.Items) > 0 || page.Cursor != second.pull(shop, "").Cursor {
		t.Errorf("ben sees %v, or passes over it again", texts(page))
	}
}

func TestACodeIsUsedOnce(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url, code := d.Hub(t), d.Member(t, "anna", wire.Writer)
	statuses := make([]int, 8)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			statuses[i], _ = machine{t: t, url: url}.do("POST", "/v1/join", wire.Join{Code: code, Machine: "m"}, &wire.Joined{})
		})
	}
	all.Wait()
	if n := strings.Count(fmt.Sprint(statuses), "200"); n != 1 {
		t.Errorf("%d of %v joined", n, statuses)
	}
	late := d.Member(t, "late", wire.Writer)
	d.Must(t, "UPDATE memoir.code SET expires = now()")
	machine{t: t, url: url}.refused(wire.CodeUnauthorised, "POST", "/v1/join", wire.Join{Code: late, Machine: "m"})
}

func TestATokenIsRotatedAndRevoked(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	var joined wire.Joined
	anna.must("POST", "/v1/rotate", nil, &joined)
	rotated := machine{t: t, url: url, token: joined.Token}
	anna.refused(wire.CodeUnauthorised, "GET", "/v1/me", nil)
	rotated.push(shop, statement("one"))
	next := random(26) // the machine's own, known if the answer is lost
	rotated.refused(wire.CodeUsage, "POST", "/v1/rotate", wire.Rotate{Token: "guess"})
	rotated.refused(wire.CodeUsage, "POST", "/v1/rotate", wire.Rotate{Token: rotated.token})
	rotated.must("POST", "/v1/rotate", wire.Rotate{Token: next}, nil)
	rotated.refused(wire.CodeUnauthorised, "POST", "/v1/rotate", wire.Rotate{Token: next})
	rotated.token = next

	var me wire.Joined
	rotated.must("GET", "/v1/me", nil, &me)
	if me.Machine != joined.Machine || me.Member != "anna" || me.Organisation != "acme" || me.Token != "" {
		t.Errorf("%+v", me)
	}
	ben := join(t, url, d.Member(t, "ben", wire.Admin))
	rotated.must("DELETE", "/v1/me", nil, nil)
	ben.must("GET", "/v1/me", nil, &me)
	rotated.refused(wire.CodeRevoked, "GET", pullPath(shop, "", 0), nil)
	rotated.refused(wire.CodeRevoked, "POST", "/v1/push", pushOf(shop, statement("two")))

	if n := d.Number(t, `SELECT count(*) FROM memoir.audit WHERE address = '127.0.0.1'
		AND action IN ('join', 'rotate', 'revoke')`); n != 5 {
		t.Errorf("%d of 5 rows have the address", n)
	}

	d.Must(t, "UPDATE memoir.token SET expires = now()")
	ben.refused(wire.CodeUnauthorised, "GET", "/v1/me", nil)
}

// Who takes over a container with its token neither keeps it for ever nor ends another machine's.
func TestATokenOfContainersReplacesAndRevokesNone(t *testing.T) {
	t.Parallel()
	d := hubtest.NewDatabase(t)
	laptop := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	_, token, err := d.Admin.NewToken(t.Context(), "anna", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	shared := machine{t: t, url: laptop.url, token: token}
	measured(t, d, `memoir_hub_tokens_ending{of="containers"} 1`, `!memoir_hub_tokens_ending{of="machine"}`)
	if status, err := d.Owner.Status(t.Context()); err != nil || status.Objects()[0]["ending"] != int64(1) {
		t.Error(status, err)
	}
	var me wire.Joined
	laptop.must("GET", "/v1/me", nil, &me)
	shared.refused(wire.CodeUnauthorised, "POST", "/v1/rotate", wire.Rotate{Token: random(26)})
	shared.refused(wire.CodeNotFound, "DELETE", "/v1/machines/"+me.Machine, nil)
	shared.refused(wire.CodeNotFound, "DELETE", "/v1/me", nil)
	var all []wire.Machine
	if shared.must("GET", "/v1/machines", nil, &all); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	shared.must("GET", "/v1/me", nil, &me)
	laptop.must("GET", "/v1/me", nil, &me)
	d.Must(t, "UPDATE memoir.token SET expires = now() - interval '1 day' WHERE shared")
	measured(t, d, `memoir_hub_tokens_ending{of="containers"} 1`)
}
