//go:build !race

// Excluded under the race detector: other tests ask a hub for the same, and gitleaks needs a hundred other packages.

package hub_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/secrets/secretstest"
	"memoir/team/wire"
)

func TestATranscriptIsExtractedOnceAndItsSecretsAreStoredNowhere(t *testing.T) {
	d := hubtest.NewDatabase(t)
	url := d.Hub(t)
	ci, ben := join(t, url, d.Member(t, "ci", wire.Writer)), join(t, url, d.Member(t, "ben", wire.Reader))
	rules, err := secretstest.BuiltIn("../secrets")
	if err != nil {
		t.Fatal(err)
	}
	random, planted, commands := rand.New(rand.NewPCG(7, 7)), map[string]string{}, []string{"make test-shop"}
	for _, rule := range rules {
		c, ok := rule.Plant(random, true, func(match string) string { return "curl -H 'X: " + match + "' https://host.example" },
			func(match string) string { return "deploy --token " + match })
		if ok && len(commands) <= 60 && !strings.ContainsAny(c.Text, "\n") {
			commands = append(commands, c.Text)
			for _, part := range c.Parts {
				planted[part] = c.Rule
			}
		}
	}
	if len(commands) < 61 {
		t.Fatalf("%d secrets are planted", len(commands)-1)
	}
	tr := session(t, "one", day, commands...)
	for i, isNew := range []bool{true, false} {
		if ci.send(tr) != isNew {
			t.Errorf("push %d", i)
		}
	}
	if n := d.Number(t, "SELECT count(*) FROM river.river_job WHERE kind = 'extract'"); n != 1 {
		t.Errorf("%d jobs", n)
	}
	wantNone := func(when string) {
		t.Helper()
		for _, stored := range d.Texts(t) {
			for part, rule := range planted {
				if strings.Contains(stored, part) {
					t.Errorf("%s, a secret of %s is stored", when, rule)
				}
			}
		}
	}
	wantNone("before a worker extracts")
	id := d.Number(t, "SELECT id FROM memoir.transcript WHERE redacted >= 60")

	h, err := hub.Open(t.Context(), hub.Options{Database: d.ServeURL(), Debounce: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := hub.Extract(h, t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	wantNone("afterwards")
	page := ben.pull(shop, "")
	if len(page.Items) == 0 || strings.Contains(fmt.Sprint(texts(page)), "push to main") {
		t.Errorf("a member gets %q", texts(page))
	}
	if n := d.Number(t, "SELECT seq FROM memoir.project"); n != int64(len(page.Items)) {
		t.Errorf("%d changes, %d statements", n, len(page.Items))
	}
	if d.Number(t, "SELECT count(*) FROM memoir.transcript WHERE items IS NULL AND state = 'done'") != 1 || ci.send(tr) {
		t.Error("the items stay, or the transcript is taken again")
	}
}

func TestASecretOfEveryRuleStopsAtTheHub(t *testing.T) {
	rules, err := secretstest.BuiltIn("../secrets")
	if err != nil {
		t.Fatal(err)
	}
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	source := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for _, rule := range rules {
		canary, ok := rule.Plant(source, true, func(match string) string { return match }, func(match string) string { return match })
		if !ok {
			continue
		}
		tried++
		text, _ := json.Marshal(canary.Text)
		for _, body := range []string{
			`{"kind":"Findings","text":` + string(text) + `}`,
			`{"kind":"Findings","text":"\"ok\\","later":[{"of":` + string(text) + `}],"later":"ok"}`,
			`{"kind":"Findings",` + string(text) + `:1}`,
		} {
			status, problem := anna.do("POST", "/v1/push", pushOf(shop, withBody(body, false)), nil)
			if status != 422 || problem.Code != wire.CodeSecret || problem.Rule == "" {
				t.Errorf("%s: %d %+v", rule.ID, status, problem)
			}
		}
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.statement"); n > 0 || tried < 60 {
		t.Errorf("%d statements of %d tries are stored", n, tried)
	}
}
