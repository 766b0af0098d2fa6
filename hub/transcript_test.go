package hub_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/model/modeltest"
	"memoir/team/wire"
)

// session is a transcript of shop in which commands pass, each after a person asked for it.
func session(t testing.TB, id string, ended time.Time, commands ...string) wire.Transcript {
	t.Helper()
	var items []memoir.Item
	add := func(it memoir.Item) {
		it.N, it.At = len(items)+1, ended
		items = append(items, it)
	}
	for i, command := range commands {
		add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped,
			Text: fmt.Sprintf("Please make part %d. Never push to main from now on.", i)})
		add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash", CWD: ".",
			Input: command, Output: "ok", Exit: new(int)})
	}
	text, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Transcript{Project: shop, Session: wire.SessionHash("claude:"+id, ""), Source: memoir.SourceClaude,
		Ended: ended, Items: text}
}

var day = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func (m machine) send(tr wire.Transcript) bool {
	m.t.Helper()
	var done wire.Accepted
	m.must("POST", "/v1/sessions", tr, &done)
	return done.New
}

// wantCommands checks the commands that another member gets.
func wantCommands(t *testing.T, page wire.Page, want ...string) {
	t.Helper()
	var got []string
	for _, c := range page.Items {
		var st memoir.Statement
		if !c.Gone && json.Unmarshal(c.Body, &st) == nil {
			got = append(got, c.Member+": "+st.Text)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("a member gets %q, want %q", got, want)
	}
}

func TestALaterTranscriptOfASessionReplacesTheEarlierOne(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	ci, ben := join(t, url, d.Member(t, "ci", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Writer))
	d.Workers(t, hub.WorkOptions{Workers: 2})
	ben.push(shop, statement("ben's"))
	all := func(want ...string) {
		t.Helper()
		d.Idle(t)
		wantCommands(t, ben.pull(shop, ""), append([]string{"ben: ben's"}, want...)...)
	}
	ci.send(session(t, "one", day, "make a", "make b"))
	all("ci: run: `make a`", "ci: run: `make b`")
	ci.send(session(t, "two", day, "make a"))
	all("ci: run: `make a`", "ci: run: `make b`", "ci: run: `make a`")
	ci.send(session(t, "one", day.Add(time.Hour), "make c"))
	all("ci: run: `make a`", "ci: run: `make c`")
	ci.send(session(t, "one", day.Add(-time.Hour), "make d")) // an older state comes late
	all("ci: run: `make a`", "ci: run: `make c`")

	// What a transcript had before, it may have again.
	whole, part := session(t, "one", day.Add(2*time.Hour), "make a", "make b"), session(t, "one", day.Add(2*time.Hour), "make a")
	for range 2 {
		if !ci.send(whole) {
			t.Error("the hub knows a transcript that another one has replaced")
		}
		all("ci: run: `make a`", "ci: run: `make a`", "ci: run: `make b`")
		part.Ended = part.Ended.Add(time.Minute)
		ci.send(part)
		all("ci: run: `make a`", "ci: run: `make a`")
		whole.Ended = part.Ended
	}
	ci.send(whole)
	all("ci: run: `make a`", "ci: run: `make a`", "ci: run: `make b`")
	var gone []any
	for _, c := range ben.pull(shop, "").Items {
		if c.Member == "ci" && (c.Gone || strings.Contains(string(c.Body), "make b")) {
			gone = append(gone, c.Hash)
		}
	}
	ci.push(shop, gone...) // by a person, for ever
	ci.send(session(t, "one", day.Add(3*time.Hour), "make a", "make b"))
	all("ci: run: `make a`")
}

func TestASessionOfTheFutureEndedNow(t *testing.T) {
	d := hubtest.NewDatabase(t)
	ci := join(t, d.Hub(t), d.Member(t, "ci", wire.Writer))
	ci.send(session(t, "one", time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), "make a"))
	if d.Number(t, "SELECT count(*) FROM memoir.transcript WHERE ended <= now()") != 1 {
		t.Error("it would be the newest for ever")
	}
}

func TestTranscriptsAreRefused(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	ci, reader := join(t, url, d.Member(t, "ci", wire.Writer)), join(t, url, d.Member(t, "reader", wire.Reader))
	whole := session(t, "one", day, "make a")
	reader.refused(wire.CodeForbidden, "POST", "/v1/sessions", whole)
	machine{t: t, url: url, token: "guess"}.refused(wire.CodeUnauthorised, "POST", "/v1/sessions", whole)
	for name, change := range map[string]func(*wire.Transcript){
		"no items":   func(tr *wire.Transcript) { tr.Items = json.RawMessage(`[]`) },
		"no session": func(tr *wire.Transcript) { tr.Session = "claude:1" },
		"no source":  func(tr *wire.Transcript) { tr.Source = "Agent 7" },
		"no project": func(tr *wire.Transcript) { tr.Project = "" },
	} {
		tr := whole
		change(&tr)
		t.Run(name, func(t *testing.T) {
			machine{t: t, url: url, token: ci.token}.refused(wire.CodeUsage, "POST", "/v1/sessions", tr)
		})
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.transcript"); n != 0 {
		t.Errorf("%d are stored", n)
	}
}

func TestNothingIsExtractedForWhoMayNotPushAnyMore(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	ci, ben := join(t, url, d.Member(t, "ci", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Reader))
	ci.send(session(t, "one", day, "make a"))
	ci.send(session(t, "two", day, "make a"))
	d.Must(t, `UPDATE memoir.transcript SET items = 'damaged' WHERE id = (SELECT max(id) FROM memoir.transcript)`)
	if err := d.Admin.Remove(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	d.Workers(t, hub.WorkOptions{Workers: 2})
	d.Idle(t)
	wantCommands(t, ben.pull(shop, ""))
	if n := d.Number(t, "SELECT count(*) FROM memoir.transcript WHERE state = 'failed' AND items IS NULL AND error <> ''"); n != 2 {
		t.Errorf("%d failed", n)
	}
}

func TestASessionThatCannotBeReadFailsOnce(t *testing.T) {
	d := hubtest.NewDatabase(t)
	join(t, d.Hub(t), d.Member(t, "ci", wire.Writer)).send(session(t, "one", day, "make a"))
	d.Must(t, `UPDATE memoir.transcript SET items = 'damaged'`)
	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	if err := hub.Extract(h, t.Context(), d.Number(t, "SELECT id FROM memoir.transcript")); err != nil {
		t.Errorf("it would be tried again: %v", err)
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.transcript WHERE state = 'failed' AND items IS NULL AND error <> ''"); n != 1 {
		t.Errorf("%d failed", n)
	}
}

func TestTheOrganisationsModelExtracts(t *testing.T) {
	told := memoir.FormatStatements([]memoir.Statement{{Kind: memoir.StatementCommand, Text: "`make a` builds the zebra", Items: []int{2}}})
	good, err := json.Marshal(map[string]string{"raw_memory": told, "rollout_summary": "# Zebra\n\n- asked for part 0 [1]\n",
		"rollout_slug": "zebra", "history_entry": ""})
	if err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		limit               int64
		reply, want, reason string
	}{
		"good":            {0, string(good), "zebra", ""},
		"nonsense":        {0, "nonsense", "run: `make a`", "since the other one failed: "},
		"above the limit": {100, string(good), "run: `make a`", "more than the organisation may spend on a day"},
	} {
		t.Run(what, func(t *testing.T) {
			want := test.want
			d, anna, server := modelled(t, func(p *hub.Policy) { p.DailyTokens = test.limit },
				func(int, modeltest.Call) modeltest.Step { return modeltest.Step{Text: test.reply} })
			d.Workers(t, hub.WorkOptions{Workers: 2})
			anna.send(session(t, "one", day, "make a"))
			d.Idle(t)
			if page := anna.pull(shop, ""); len(page.Items) != 1 || !strings.Contains(string(page.Items[0].Body), want) {
				t.Errorf("%d calls, then %q", len(server.Calls()), texts(page))
			}
			if n := d.Number(t, "SELECT count(*) FROM memoir.ledger WHERE ended"); n != int64(len(server.Calls())) || (n == 0) != (test.limit > 0) {
				t.Errorf("%d of %d calls are in the ledger", n, len(server.Calls()))
			}
			d.Must(t, "DELETE FROM river.river_job WHERE kind <> 'extract'")
			jobs, err := d.Admin.Jobs(t.Context())
			if err != nil || (len(jobs.Rows) == 0) != (test.reason == "") || !strings.Contains(fmt.Sprint(jobs.Rows), test.reason) ||
				len(jobs.Rows) > 0 && !strings.Contains(fmt.Sprint(jobs.Rows), shop) {
				t.Errorf("%v, %v", jobs.Rows, err)
			}
		})
	}
}

func TestATranscriptWaitsForTheNextDayOfALimit(t *testing.T) {
	d, anna, server := modelled(t, func(p *hub.Policy) { p.DailyTokens = 200_000 }, answer)
	d.Must(t, `INSERT INTO memoir.project (organisation, key) SELECT id, 'spent' FROM memoir.organisation;
		INSERT INTO memoir.ledger (organisation, project, model, tokens, cost) SELECT organisation, id, 'm', 199999, 0
		FROM memoir.project`)
	d.Workers(t, hub.WorkOptions{Workers: 1})
	anna.send(session(t, "one", day, "make a"))
	d.Idle(t)
	if n := d.Number(t, "SELECT count(*) FROM memoir.transcript WHERE state = 'waiting' AND items IS NOT NULL"); n != 1 {
		t.Errorf("%d wait, %d calls", n, len(server.Calls()))
	}
	if _, header, _ := anna.fetchRaw(shop, ""); header.Get(wire.LimitedHeader) == "" {
		t.Error("a container is not told of the limit")
	}
	var header http.Header
	if anna.must("POST", "/v1/sessions", session(t, "one", day, "make a"), &header); header.Get(wire.LimitedHeader) == "" {
		t.Error("who sends is not told of the limit")
	}

	// An operator releases it, and also one whose job was discarded.
	anna.send(session(t, "two", day, "make a"))
	d.Idle(t)
	d.Must(t, `UPDATE river.river_job SET state = 'cancelled', finalized_at = now() WHERE kind = 'extract'
		AND id = (SELECT max(id) FROM river.river_job WHERE kind = 'extract')`)
	if err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Model = "builtin" }); err != nil {
		t.Fatal(err)
	}
	d.Idle(t)
	wantCommands(t, anna.pull(shop, ""), "anna: run: `make a`", "anna: run: `make a`")
}

func TestTranscriptsMoveWithTheirProjectAndGoWithTheirMember(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	ci := join(t, url, d.Member(t, "ci", wire.Writer))
	one, same := session(t, "one", day, "make a"), session(t, "two", day, "make a")
	ci.send(one)
	ci.send(same)
	one.Project, same.Project = "github.com/acme/store", "github.com/acme/store"
	ci.send(same)
	if err := d.Admin.Alias(t.Context(), shop, "github.com/acme/store"); err != nil {
		t.Fatal(err)
	}
	if ci.send(one) || ci.send(same) {
		t.Error("a transcript is taken again under the other key")
	}
	d.Workers(t, hub.WorkOptions{Workers: 2})
	d.Idle(t)
	wantCommands(t, ci.pull(shop, ""), "ci: run: `make a`", "ci: run: `make a`")
	if _, err := d.Admin.Erase(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.transcript"); n != 0 {
		t.Errorf("%d stay", n)
	}
	// Under that name they do not come back, and another member can send them.
	again, other := join(t, url, d.Member(t, "ci", wire.Writer)), join(t, url, d.Member(t, "ci-2", wire.Writer))
	again.refused(wire.CodeUsage, "POST", "/v1/sessions", session(t, "one", day, "make a"))
	again.refused(wire.CodeUsage, "POST", "/v1/sessions", session(t, "two", day.Add(time.Hour), "make a", "make b"))
	if !again.send(session(t, "three", day, "make c")) || !other.send(session(t, "one", day, "make a")) {
		t.Error("a session that is not erased of its member is not taken")
	}
	d.Idle(t)
	wantCommands(t, other.pull(shop, ""), "ci: run: `make c`", "ci-2: run: `make a`")
}
