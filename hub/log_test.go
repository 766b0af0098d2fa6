package hub_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/team/wire"
)

func TestTheLogSaysNothingOfWhatIsShared(t *testing.T) {
	d := hubtest.NewDatabase(t)
	var log bytes.Buffer
	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL(), Log: slog.New(slog.NewJSONHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	server := httptest.NewServer(h.Handler())
	defer server.Close()
	code := d.Member(t, "anna", wire.Writer)
	anna := join(t, server.URL, code)
	anna.push(shop, statement("canary"))
	anna.pull(shop, "")
	anna.refused(wire.CodeSecret, "POST", "/v1/push", pushOf(shop, statement("canary AKIA"+random(16))))
	anna.refused(wire.CodeUsage, "POST", "/v1/push", []byte(`{"project":"`+shop+`","canary`))
	odd := statement("canary")
	odd.Day = "0000-01-01"
	odd.Hash = wire.Of(odd.Session, odd.Own, odd.Day, odd.Body)
	anna.refused(wire.CodeUsage, "POST", "/v1/push", pushOf(shop, odd))
	d.Must(t, "ALTER TABLE memoir.statement RENAME TO gone")
	anna.refused(wire.CodeUnavailable, "POST", "/v1/push", pushOf(shop, statement("canary")))

	text := log.String()
	for _, secret := range []string{code, anna.token, "canary", "AKIA", shop, "anna"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the log: %s", secret, text)
		}
	}
	if n := strings.Count(text, `"route":"POST /v1/push"`); n != 5 || !strings.Contains(text, `"code":"secret"`) {
		t.Errorf("the log has %d pushes: %s", n, text)
	}
}

// measured fails unless the hub's metrics, as the serving role asks for them, have some lines and lack others ("!").
func measured(t testing.TB, d *hubtest.Database, lines ...string) {
	t.Helper()
	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	text := h.Scraped()
	for _, line := range lines {
		line, lacks := strings.CutPrefix(line, "!")
		if strings.Contains(text, "\n"+line) == lacks {
			t.Errorf("%s, lacking %t:\n%s", line, lacks, text[strings.Index(text, "# HELP memoir_hub"):])
		}
	}
	ours := regexp.MustCompile(`(?m)^(# \w+ )?memoir_hub.*\n`).FindAllString(text, -1) // Go's own are as they are
	if problems, err := promlint.New(strings.NewReader(strings.Join(ours, ""))).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestAProxySaysHowTheyCame(t *testing.T) {
	d := hubtest.NewDatabase(t)
	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL(), Proxied: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for proto, want := range map[string]int{"": 403, "http": 403, "https": 401} {
		r := httptest.NewRequest("GET", "/v1/me", nil)
		r.Header.Set("X-Forwarded-Proto", proto)
		r.Header.Set("X-Forwarded-For", "6.6.6.6, 192.0.2.7")
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d", proto, w.Code)
		}
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.audit WHERE address = '192.0.2.7'"); n != 3 {
		t.Errorf("%d rows have the address", n)
	}
	for _, path := range []string{"/healthz", "/readyz"} { // a load balancer asks by itself
		w := httptest.NewRecorder()
		if h.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
