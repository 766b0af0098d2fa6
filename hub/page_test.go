package hub_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/pages"
	"memoir/team/wire"
	"memoir/testdata/browser"
)

const (
	pagesToken = "AAAABBBBCCCCDDDDEEEEFFFFGG"
	hostile    = "<script>alert(1)</script> <img src=x onerror=alert(2)> </main> [x](javascript:alert(3)) ![y](https://y.test/z.png)"
)

// shown is a database whose pages have everything, and the handler of these pages for a role that may only read.
func shown(t *testing.T) (*hubtest.Database, http.Handler) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	anna := join(t, url, d.Member(t, "anna", wire.Writer))
	eve := join(t, url, d.Member(t, "<b>eve</b>", wire.Reader, "a.host/empty"))
	if err := d.Admin.Grant(t.Context(), "<b>eve</b>", shop, wire.Writer, true); err != nil {
		t.Fatal(err)
	}
	gone := finding("The parser drops tabs in lists.")
	anna.push(shop, gone, finding("The cache needs an hour to warm."))
	body, _ := json.Marshal(map[string]string{"kind": "Findings", "text": hostile, "signal": "model", "by": "agent"})
	eve.push(shop, withBody(string(body), false), finding(strings.Repeat("wide", 100)))
	anna.push("host/a <i>project</i>?x=1&y", finding("The gateway retries twice."))
	d.Workers(t, hub.WorkOptions{Workers: 2, PollOnly: true})
	d.Idle(t)
	if err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Review = true }); err != nil {
		t.Fatal(err)
	}
	anna.push(shop, finding("Zebras are striped."))
	d.Idle(t)
	d.Must(t, `WITH gone AS (DELETE FROM memoir.statement WHERE hash = decode('`+gone.Hash+`', 'hex')
			RETURNING organisation, project, member, hash),
		raised AS (UPDATE memoir.project SET seq = seq + 1 WHERE key = '`+shop+`' RETURNING id, seq)
		INSERT INTO memoir.tombstone (organisation, project, member, hash, seq)
		SELECT organisation, project, member, hash, seq FROM gone JOIN raised ON id = project`) // no worker has seen it yet
	d.Must(t, `INSERT INTO memoir.ledger (organisation, project, model, tokens, cost, ended)
		SELECT organisation, id, unnest(ARRAY['a-large-model', '<b>small</b>']), 1000, 0.25, true FROM memoir.project WHERE key = '`+shop+`'`)
	d.Must(t, `INSERT INTO river.river_job (kind, queue, args, max_attempts, state, finalized_at, errors)
		SELECT 'consolidate', 'default', json_build_object('project', id)::jsonb, 3, 'discarded', now(),
			ARRAY['{"error": "the answer is <b>no</b> JSON"}'::jsonb] FROM memoir.project WHERE key = '`+shop+`'`)
	if err := d.Owner.AddOrganisation(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Owner.Admin("other").AddMember(t.Context(), "stranger", wire.Writer, []string{"host/strange"}, true); err != nil {
		t.Fatal(err)
	}
	d.Must(t, `DO $$ BEGIN CREATE ROLE hub_read LOGIN BYPASSRLS IN ROLE pg_read_all_data; EXCEPTION WHEN duplicate_object THEN END $$`)
	h, err := hub.Open(t.Context(), hub.Options{Database: d.URL("hub_read", d.Name, false)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	handler, err := h.Admin("acme").Pages(t.Context(), pagesToken)
	if err != nil {
		t.Fatal(err)
	}
	return d, handler
}

// shownPages are addresses with texts that each page must have; with "!" none.
var shownPages = map[string][]string{
	"/projects": {"generation 2 waits for a review", "4 statements of 2 members, the newest of 2026-11-28",
		"host/a &lt;i&gt;project&lt;/i&gt;?x=1&amp;y", "No memory is published", "!strange"},
	"/projects/github.com%2Facme%2Fshop/memory": {"Generation 1, which machines get", "drops tabs", "anna 2026-11-28</summary>",
		"anna, 2026-11-28, Findings", "1 text withdrawn since may", `memory?n=2&amp;from=1">Generation 2 waits`},
	"/projects/github.com%2Facme%2Fshop/memory?n=2":                {"which waits for a review", "Zebras", "hour to warm"},
	"/projects/github.com%2Facme%2Fshop/memory?n=3":                {"has no generation 3"},
	"/projects/github.com%2Facme%2Fshop/memory?n=x":                {"n is a generation, not"},
	"/projects/github.com%2Facme%2Fshop/generations":               {"outdated</span>", "published</span>", "memory?n=2&amp;from=1"},
	"/projects/github.com%2Facme%2Fshop/memory?n=2&from=1":         {"Changes from generation 1", "<ins>&#43;- Zebras"},
	"/projects/host%2Fa%20%3Ci%3Eproject%3C%2Fi%3E%3Fx=1&y/memory": {"retries twice"},
	"/projects/a.host%2Fempty/memory":                              {"No memory is published yet."},
	"/projects/host%2Fstrange/memory":                              {"there is no project"},
	"/members":                                                     {"&lt;b&gt;eve&lt;/b&gt;", "* writer", shop + " writer", "last seen <time", "!stranger"},
	"/queue":                                                       {"discarded", "the answer is &lt;b&gt;no"},
	"/usage":                                                       {"$0.50 for 2 calls and 2000 tokens", "&lt;b&gt;small"},
	"/nothing":                                                     {"no such request"},
}

func asked(handler http.Handler, method, target, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:4000"+target, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

var harmful = []string{"!<script>alert", "!<img", "!<b>eve", "!<b>no", "!<b>small", "!<i>project", `!="javascript`, `!src="http`}

func TestPagesShowWhatAHubHolds(t *testing.T) {
	d, handler := shown(t)
	for target, wants := range shownPages {
		w := asked(handler, "GET", target, pagesToken)
		text := w.Body.String()
		for _, want := range append(wants, harmful...) {
			want, lacks := strings.CutPrefix(want, "!")
			if strings.Contains(text, want) == lacks {
				t.Errorf("%s: %q, lacking %t: %s", target, want, lacks, text)
			}
		}
		if strings.Count(text, "</main>") != 1 || w.Header().Get("Content-Security-Policy") != pages.Policy {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
	first := asked(handler, "GET", "/projects", pagesToken).Body.String()
	if at := strings.Index(first, "a.host/empty"); at < strings.Index(first, shop) || at < strings.Index(first, "host/a ") {
		t.Error("an empty project is not the last")
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if w := asked(handler, method, "/projects", pagesToken); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	if w := asked(handler, "GET", "/projects", "another"); w.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", w.Code)
	}

	if set, err := d.Owner.Setting(t.Context(), "transaction_read_only"); err != nil || set.Rows[0][0] != "on" {
		t.Errorf("lists are read in a transaction that can write: %v, %v", set, err)
	}
	serving, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL()})
	if err != nil {
		t.Fatal(err)
	}
	defer serving.Close()
	if _, err := serving.Admin("acme").Pages(t.Context(), pagesToken); memoir.CodeOf(err) != memoir.CodeUsage {
		t.Errorf("pages that lack rows: %v", err)
	}
	if _, err := d.Owner.Admin("").Pages(t.Context(), pagesToken); memoir.CodeOf(err) != memoir.CodeUsage {
		t.Errorf("pages of either organisation: %v", err)
	}
}

func TestABrowserShowsThePagesOfAHub(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no chromium here: apt-get install chromium")
	}
	_, handler := shown(t)
	server := httptest.NewServer(handler)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	b, err := browser.Open(ctx, map[string]string{"Authorization": "Bearer " + pagesToken})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for page := range shownPages {
		if asked(handler, "GET", page, pagesToken).Code != http.StatusOK {
			continue // the console reports refusals
		}
		must(b.Visit(server.URL + page))
		for _, width := range []int{360, 1280} {
			over, err := b.Over(width)
			if must(err); len(over) > 0 {
				t.Errorf("%s at %d pixels: %q", page, width, over)
			}
		}
	}
	var text string
	must(b.Script(false))
	must(b.Visit(server.URL + "/projects/github.com%2Facme%2Fshop/memory"))
	for n := 0; text != "solid"; n++ {
		if n == 40 {
			t.Fatal("the keyboard does not reach a mark")
		}
		must(b.Key("Tab", 9, false))
		must(b.Eval(`document.activeElement.matches(".why > summary") ? getComputedStyle(document.activeElement).outlineStyle : ""`, &text))
	}
	must(b.Key("Enter", 13, false))
	must(b.Eval(`document.activeElement.parentElement.querySelector(".sources").innerText`, &text))
	if !strings.Contains(text, ", 2026-11-28, Findings") {
		t.Errorf("a mark opens %q", text)
	}
	if len(b.Errors) > 0 {
		t.Errorf("the console: %q", b.Errors)
	}
}
