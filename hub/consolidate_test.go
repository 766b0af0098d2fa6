package hub_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"memoir"
	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/memory"
	"memoir/team/wire"
)

// finding is a statement that a consolidation uses.
func finding(text string) wire.Statement {
	return withBody(fmt.Sprintf(`{"kind":"Findings","text":%q,"signal":"model","by":"agent"}`, text), false)
}

// fetched is an answer to a request for an archive.
type fetched struct {
	status         int
	etag, number   string
	body           []byte
	text, sessions string // MEMORY.md and statements.jsonl
}

// archives keeps 64 connections.
var archives = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func (m machine) fetchRaw(project, etag string) (status int, header http.Header, body []byte) {
	m.t.Helper()
	return m.fetchFrom("/v1/archive?"+url.Values{"project": {project}}.Encode(), etag)
}

func (m machine) fetchFrom(path, etag string) (status int, header http.Header, body []byte) {
	m.t.Helper()
	r, err := http.NewRequest("GET", m.url+path, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+m.token)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	answer, err := archives.Do(r)
	if err == nil {
		defer answer.Body.Close()
		body, err = io.ReadAll(answer.Body)
	}
	if err != nil {
		m.t.Error(err)
		return 0, nil, nil
	}
	return answer.StatusCode, answer.Header, body
}

func (m machine) fetch(project, etag string) (f fetched) {
	m.t.Helper()
	status, header, body := m.fetchRaw(project, etag)
	f = fetched{status: status, etag: header.Get("ETag"), number: header.Get(wire.GenerationHeader), body: body}
	files, _, _ := memory.Unpack(bytes.NewReader(f.body)) // of a test of walls, it is none
	f.text, f.sessions = string(files[memoir.MemoryFile]), string(files[memory.StatementsFile])
	return f
}

// wants fails unless the newest generation has a number, and its two files have some texts and lack others ("!").
func (f fetched) wants(t testing.TB, number string, texts ...string) {
	t.Helper()
	if f.status != http.StatusOK || f.number != number {
		t.Fatalf("%d, generation %s, not %s: %s", f.status, f.number, number, f.body)
	}
	for _, text := range texts {
		text, lacks := strings.CutPrefix(text, "!")
		if strings.Contains(f.text, text) == lacks || strings.Contains(f.sessions, text) == lacks {
			t.Errorf("generation %s: %q, lacking %t:\n%s\n%s", number, text, lacks, f.text, f.sessions)
		}
	}
}

func TestAHubMakesGenerationsOfWhatMembersShare(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	ben := join(t, url, d.Member(t, "ben", wire.Writer))
	if f := anna.fetch(shop, ""); f.status != http.StatusForbidden && f.status != http.StatusNotFound {
		t.Errorf("%d before a push", f.status)
	}
	said := finding("The parser drops tabs in lists.")
	anna.push(shop, said, finding("The cache needs an hour to warm."),
		withBody(`{"kind":"Findings","text":"Only for me.","signal":"model","by":"agent"}`, true))
	ben.push(shop, finding("The gateway retries twice."))
	if f := anna.fetch(shop, ""); f.status != http.StatusNotFound {
		t.Errorf("%d before a consolidation", f.status)
	}
	d.Workers(t, hub.WorkOptions{Workers: 2, PollOnly: true})
	d.Idle(t)
	first := ben.fetch(shop, "")
	first.wants(t, "1", "drops tabs", "hour to warm", "retries twice", "anna-", "ben-", "!Only for me")
	if again := ben.fetch(shop, first.etag); again.status != http.StatusNotModified || len(again.body) > 0 ||
		again.etag != first.etag {
		t.Errorf("the same again: %d with %d bytes", again.status, len(again.body))
	}
	if n := d.Number(t, "SELECT consumed FROM memoir.project WHERE key = '"+shop+"'"); n != 4 {
		t.Errorf("consumed %d", n)
	}

	anna.push(shop, withBody(`{"kind":"Findings","text":"Mine again.","signal":"model","by":"agent"}`, true))
	d.Idle(t)
	if f := ben.fetch(shop, ""); f.etag != first.etag {
		t.Error("what is own made another generation")
	}
	anna.push(shop, said.Hash)
	d.Idle(t)
	ben.fetch(shop, first.etag).wants(t, "2", "!drops tabs", "hour to warm", "retries twice")
	if n := d.Number(t, "SELECT count(*) FROM memoir.archive"); n != 1 {
		t.Errorf("%d archives after a withdrawal", n)
	}
	if _, err := d.Admin.Erase(t.Context(), "ben"); err != nil {
		t.Fatal(err)
	}
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "3", "hour to warm", "!retries twice")
	for _, item := range anna.pull(shop, "").Items {
		if !item.Gone && !item.Own {
			anna.push(shop, item.Hash)
		}
	}
	d.Idle(t)
	if f := anna.fetch(shop, ""); f.number != "4" || f.sessions != "" || !strings.Contains(f.text, "Nothing is left") {
		t.Errorf("generation %s of nothing:\n%s", f.number, f.text)
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.generation WHERE number = parent + 1 AND (archive IS NULL) = (number < 4)"); n != 4 {
		t.Errorf("%d sound rows of generations", n)
	}
}

func TestTheSameStatementsGiveTheSameBytes(t *testing.T) {
	var bodies [][]byte
	for times := range 2 {
		d := hubtest.NewDatabase(t)
		url := d.Hub(t)
		anna := join(t, url, d.Member(t, "anna", wire.Writer))
		ben := join(t, url, d.Member(t, "ben", wire.Writer))
		push := []func(){
			func() { anna.push(shop, finding("The parser drops tabs."), finding("The cache is slow.")) },
			func() { ben.push(shop, finding("The gateway retries twice.")) },
			func() { ben.push(shop, finding("The parser drops tabs.")) },
		}
		for _, once := range push {
			for range times + 1 { // what is known takes numbers alone
				once()
			}
		}
		d.Workers(t, hub.WorkOptions{Workers: 1})
		d.Idle(t)
		bodies = append(bodies, anna.fetch(shop, "").body)
	}
	if !bytes.Equal(bodies[0], bodies[1]) {
		t.Error("two workers made different archives")
	}
}

func TestOfADayWhatArrivedLaterWins(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna, ben := join(t, url, d.Member(t, "anna", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Writer))
	d.Workers(t, hub.WorkOptions{Workers: 2})
	push := func(m machine, kind, signal, fix string, sessions ...string) {
		for _, id := range sessions {
			s := withBody(fmt.Sprintf(`{"kind":%q,"text":"e2e failed: no host; %s","signal":%q,"by":"tool","command":"e2e","error":"no host","signature":"no host","fix":%[2]q}`, kind, fix, signal), false)
			s.Session = wire.SessionHash(id, "")
			s.Hash = wire.Of(s.Session, s.Own, s.Day, s.Body)
			m.push(shop, s)
		}
		d.Idle(t)
	}
	push(ben, "Failures", "repaired", "make a", "1", "2")
	push(anna, "Failures", "repaired", "make b", "3", "4")
	if f := ben.fetch(shop, ""); !strings.Contains(f.text, "make b") || strings.Contains(f.text, "make a") {
		t.Errorf("after the later fix:\n%s", f.text)
	}
	push(ben, "Claims of the agent, not verified", "vain", "make b", "5")
	if f := ben.fetch(shop, ""); strings.Contains(f.text, "make b") {
		t.Errorf("after it repaired nothing:\n%s", f.text)
	}
}

func TestAMembersManyStatementsLeaveRoomForThoseOfOthers(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna, ci := join(t, url, d.Member(t, "anna", wire.Writer)), join(t, url, d.Member(t, "ci", wire.Writer))
	anna.push(shop, finding("The parser drops tabs."))
	ci.push(shop, finding("The gateway retries twice."))
	d.Must(t, `INSERT INTO memoir.statement SELECT organisation, project, member, sha256(n::text::bytea), seq - n, session, own,
		day + n, to_json(repeat('x', 60000)) FROM memoir.statement s, generate_series(10, 150) AS n
		WHERE member = (SELECT id FROM memoir.member WHERE name = 'ci')`)
	d.Workers(t, hub.WorkOptions{Workers: 1})
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "1", "The parser drops tabs.")
}

func TestAGenerationWaitsForItsReview(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	if err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Review = true }); err != nil {
		t.Fatal(err)
	}
	d.Workers(t, hub.WorkOptions{Workers: 1})
	gone := finding("The gateway retries twice.")
	for _, one := range []wire.Statement{finding("The parser drops tabs."), finding("The cache is slow."), gone} {
		anna.push(shop, one)
		d.Idle(t)
	}
	if f := anna.fetch(shop, ""); f.status != http.StatusNotFound {
		t.Errorf("%d before a review", f.status)
	}
	if text, err := d.Admin.Show(t.Context(), shop, 2); err != nil || !strings.Contains(text, "cache is slow") {
		t.Errorf("%v: %s", err, text)
	}
	measured(t, d, "memoir_hub_generations_waiting 1")
	if err := d.Admin.Accept(t.Context(), shop, 1); err != nil {
		t.Fatal(err)
	}
	anna.fetch(shop, "").wants(t, "1", "drops tabs", "!cache is slow")
	if err := d.Admin.Accept(t.Context(), shop, 2); err != nil {
		t.Fatal(err)
	}
	anna.fetch(shop, "").wants(t, "2", "drops tabs", "cache is slow")
	anna.push(shop, gone.Hash)
	d.Idle(t)
	for n, why := range map[int64]string{1: "is before the published one", 2: "is published", 3: "has what was withdrawn", 5: "is not there"} {
		if err := d.Admin.Accept(t.Context(), shop, n); memoir.CodeOf(err) != memoir.CodeNotFound {
			t.Errorf("a generation that %s: %v", why, err)
		}
	}
	if err := d.Admin.Accept(t.Context(), shop, 4); err != nil {
		t.Fatal(err)
	}
	anna.fetch(shop, "").wants(t, "4", "drops tabs", "!retries twice")
	measured(t, d, "memoir_hub_generations_waiting 0")

	// What is withdrawn is not served until somebody accepts the next one.
	anna.push(shop, finding("Zebras are striped."))
	d.Idle(t)
	anna.push(shop, finding("The cache is slow.").Hash)
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "6", "drops tabs", "!cache is slow", "!Zebras")
	if err := d.Admin.Accept(t.Context(), shop, 5); memoir.CodeOf(err) != memoir.CodeNotFound {
		t.Errorf("a generation with what was withdrawn: %v", err)
	}
	if err := d.Admin.Accept(t.Context(), shop, 7); err != nil {
		t.Fatal(err)
	}
	anna.fetch(shop, "").wants(t, "7", "drops tabs", "Zebras", "!cache is slow")
	anna.push(shop, finding("Zebras are striped.").Hash, finding("The parser drops tabs.").Hash)
	d.Idle(t)
	if f := anna.fetch(shop, ""); f.number != "8" || f.sessions != "" || !strings.Contains(f.text, "Nothing is left") {
		t.Errorf("generation %s of nothing:\n%s", f.number, f.text)
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.generation WHERE number = parent + 1"); n != 8 {
		t.Errorf("%d generations", n)
	}
	d.Must(t, "ALTER FUNCTION memoir.measures RENAME TO gone") // what the database does not say is missing, and no more
	measured(t, d, "memoir_hub_stored_total", "!memoir_hub_generations_waiting")
}

// TestAPurgeMissesNoAcceptance is of one that runs while a generation is published, which queues no second purge then.
func TestAPurgeMissesNoAcceptance(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	gone := finding("The parser drops tabs.")
	anna.push(shop, gone, finding("The cache is slow."))
	d.Workers(t, hub.WorkOptions{Workers: 1})
	d.Idle(t)
	if err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Review = true }); err != nil {
		t.Fatal(err)
	}
	anna.push(shop, gone.Hash)
	d.Idle(t)
	conn := connect(t, d.URL("postgres", d.Name, false))
	tx, err := conn.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), `SELECT FROM memoir.project FOR NO KEY UPDATE`)
	}
	if err == nil {
		_, err = tx.Exec(t.Context(), `UPDATE memoir.generation SET state = 'published'`)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.Must(t, `UPDATE river.river_job SET state = 'available', finalized_at = NULL, scheduled_at = now()
		WHERE id = (SELECT max(id) FROM river.river_job WHERE kind = 'purge')`)
	const ran = `SELECT (SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())
		+ (SELECT count(*) FROM river.river_job WHERE state = 'completed' AND id = (SELECT max(id) FROM river.river_job WHERE kind = 'purge'))`
	for d.Number(t, ran) == 0 && t.Context().Err() == nil {
		continue // until the purge waits, or has ended
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Idle(t)
	if n := d.Number(t, "SELECT count(*) FROM memoir.archive"); n != 1 {
		t.Errorf("%d archives, also of what was withdrawn", n)
	}
}

// waiting returns what accepts the generation of shop that waits, if published is the one before; none: zero.
func (m machine) waiting(published int64) (a wire.Accept) {
	m.t.Helper()
	if status, header, _ := m.fetchFrom("/v1/archive?waiting=true&project="+shop, ""); status == http.StatusOK {
		a = wire.Accept{Project: shop, Hash: strings.Trim(header.Get("ETag"), `"`), Published: published}
		a.Generation, _ = strconv.ParseInt(header.Get(wire.GenerationHeader), 10, 64)
	} else if status != http.StatusNotFound {
		m.t.Errorf("what waits: %d", status)
	}
	return a
}

func TestAnAdminAcceptsAGenerationAsItWasShown(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	writer := join(t, url, d.Member(t, "writer", wire.Writer))
	anna := join(t, url, d.Member(t, "anna", wire.Admin, shop))
	if err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Review = true }); err != nil {
		t.Fatal(err)
	}
	d.Workers(t, hub.WorkOptions{Workers: 1})
	share := func(items ...any) {
		t.Helper()
		writer.push(shop, items...)
		d.Idle(t)
	}
	said := func(m machine) string {
		_, header, _ := m.fetchRaw(shop, "")
		return header.Get(wire.WaitingHeader)
	}
	reader := join(t, url, d.Member(t, "reader", wire.Reader))
	elsewhere := join(t, url, d.Member(t, "elsewhere", wire.Admin, "github.com/acme/site"))
	share(finding("The parser drops tabs."))
	first := anna.waiting(0)
	for _, m := range []machine{reader, writer, elsewhere} {
		m.refused(wire.CodeForbidden, "GET", "/v1/archive?waiting=true&project="+shop, nil)
		m.refused(wire.CodeForbidden, "POST", "/v1/accept", first)
		if said(m) != "" {
			t.Error("who may not accept is told that a generation waits")
		}
	}
	if first.Generation != 1 || said(anna) != "1" {
		t.Errorf("%q, %+v", said(anna), first)
	}

	other := first // what is not as it was shown stays
	other.Hash = strings.Repeat("0", wire.HashDigits)
	anna.refused(wire.CodeNotFound, "POST", "/v1/accept", other)
	anna.must("POST", "/v1/accept", first, nil)
	anna.refused(wire.CodeNotFound, "POST", "/v1/accept", first)
	reader.fetch(shop, "").wants(t, "1", "drops tabs")
	if w := anna.waiting(1); w.Generation != 0 || said(anna) != "" {
		t.Errorf("nothing waits: %+v", w)
	}
	secret := finding("The gateway retries twice.")
	share(finding("The cache is slow."))
	second := anna.waiting(1)
	share(secret)
	third := anna.waiting(1)
	anna.must("POST", "/v1/accept", second, nil)
	anna.refused(wire.CodeNotFound, "POST", "/v1/accept", third) // it was compared with the first
	writer.push(shop, secret.Hash)
	third.Published = 2
	anna.refused(wire.CodeNotFound, "POST", "/v1/accept", third) // it has what was withdrawn
	d.Idle(t)
	share(finding("Zebras are striped."))
	anna.must("POST", "/v1/accept", anna.waiting(2), nil)
	reader.fetch(shop, "").wants(t, "5", "Zebras", "!retries twice")
	if n := d.Number(t, `SELECT count(*) FROM memoir.audit a JOIN memoir.member m ON m.id = a.member JOIN memoir.token t ON t.id = a.machine
		WHERE action = 'generation accept' AND m.name = 'anna' AND address = '127.0.0.1' AND detail IN ('`+shop+` 1', '`+shop+` 2', '`+shop+` 5')`); n != 3 {
		t.Errorf("%d of 3 acceptances are in the audit", n)
	}
	d.Idle(t)
	if n := d.Number(t, "SELECT count(*) FROM memoir.archive"); n != 2 { // an acceptance purges those before the fourth
		t.Errorf("%d archives", n)
	}
	share(finding("Yaks are slow."))
	share(statement("nobody's").Hash) // it changes no generation
	if w := anna.waiting(5); w.Generation != 6 {
		t.Errorf("%+v", w)
	}
}
