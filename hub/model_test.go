package hub_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
	"memoir/team/wire"
)

// task is a statement that the scribe repeats.
func task(session, text string) wire.Statement {
	s := wire.Statement{Session: wire.SessionHash("codex:"+session, ""), Day: "2026-11-28",
		Body: fmt.Appendf(nil, `{"kind":"Task","text":%q,"signal":"model","by":"agent","outcome":"done"}`, text)}
	s.Hash = wire.Of(s.Session, s.Own, s.Day, s.Body)
	return s
}

// modelled is a database whose organisation has a model on loopback.
func modelled(t testing.TB, change func(*hub.Policy), reply func(n int, c modeltest.Call) modeltest.Step) (
	*hubtest.Database, machine, *modeltest.Server) {
	t.Helper()
	d := hubtest.NewDatabase(t)
	server := modeltest.Serve(t, reply)
	err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) {
		p.Model, p.BaseURL = "openai/any", server.URL+"/v1"
		if change != nil {
			change(p)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, join(t, d.Hub(t), d.Member(t, "anna", wire.Writer)), server
}

func answer(_ int, c modeltest.Call) modeltest.Step {
	return modeltest.Step{Text: scribe.Asked(c).Answer()}
}

func TestAModelsMemoryLosesWhatIsWithdrawn(t *testing.T) {
	var away atomic.Bool
	d, anna, server := modelled(t, nil, func(n int, c modeltest.Call) modeltest.Step {
		if away.Load() {
			return modeltest.Step{Status: 401}
		}
		return answer(n, c)
	})
	d.Workers(t, hub.WorkOptions{Workers: 1})
	gone, stays := task("one", "Ported the zebra parser."), task("one", "Wrote the yak docs.")
	heron := task("two", "Tuned the heron cache.")
	anna.push(shop, gone, stays, heron)
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "1", "zebra", "heron") // the scribe tells one task of a session
	anna.push(shop, gone.Hash)
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "3", "!zebra", "yak", "heron") // the second has nothing of that session
	asked := len(server.Calls())
	anna.push(shop, withBody(`{"kind":"Task","text":"Mine.","signal":"model"}`, true))
	d.Idle(t)
	if n := len(server.Calls()); n != asked || n != 2 {
		t.Errorf("%d calls, then %d", asked, n)
	}
	if n := d.Number(t, "SELECT count(*) FROM memoir.ledger WHERE ended AND tokens > 0"); n != 2 {
		t.Errorf("%d calls are in the ledger", n)
	}
	away.Store(true)
	anna.push(shop, task("three", "Came while the model was away."))
	d.Idle(t)
	anna.push(shop, heron.Hash)
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "4", "yak", "!heron", "!Came while")
	away.Store(false)
	if err := d.Admin.SetPolicy(t.Context(), func(*hub.Policy) {}); err != nil { // what waits is tried
		t.Fatal(err)
	}
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "5", "yak", "!heron", "Came while")
}

func TestALimitIsNeverExceeded(t *testing.T) {
	const limit, projects = 200_000, 20
	d, anna, server := modelled(t, func(p *hub.Policy) { p.DailyTokens = limit },
		func(n int, c modeltest.Call) modeltest.Step {
			step := answer(n, c)
			step.Latency, step.Usage.InputTokens, step.Usage.OutputTokens = 100*time.Millisecond, 3000, 12_000
			return step
		})
	for p := range projects {
		anna.push(project(p), task("one", fmt.Sprint("Ported the parser ", p, ".")))
	}
	d.Workers(t, hub.WorkOptions{Workers: 8, PollOnly: true})
	d.Idle(t)
	for range 2 { // what was refused while calls were under way
		d.Must(t, "UPDATE river.river_job SET scheduled_at = now() WHERE state = 'scheduled'")
		d.Idle(t)
	}
	used := server.Used()
	if total := used.InputTokens + used.OutputTokens; total > limit || total < limit/2 {
		t.Errorf("%d tokens of %d", total, limit)
	}
	if n := d.Number(t, "SELECT sum(tokens) FROM memoir.ledger"); n > limit {
		t.Errorf("the ledger has %d tokens", n)
	}
	jobs, err := d.Admin.Jobs(t.Context())
	if err != nil || len(jobs.Rows) != projects-int(used.Calls) || len(jobs.Rows) == 0 {
		t.Fatalf("%d calls, %d jobs wait, %v", used.Calls, len(jobs.Rows), err)
	}
	measured(t, d, fmt.Sprintf(`memoir_hub_jobs{kind="consolidate",state="waiting"} %d`, len(jobs.Rows)),
		`memoir_hub_spent_ratio{limit="tokens"} 0.`, `!memoir_hub_spent_ratio{limit="cost"}`)
	tomorrow := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	if due := jobs.Rows[0][4].(time.Time); due.Before(tomorrow) || due.After(tomorrow.Add(time.Minute)) {
		t.Errorf("a job waits until %s", due)
	}
	until := func() string {
		_, header, _ := anna.fetchRaw(fmt.Sprint(jobs.Rows[0][2]), "")
		return header.Get(wire.LimitedHeader)
	}
	if is := until(); !strings.HasPrefix(is, tomorrow.Format("2006-01-02T00:00:")) {
		t.Errorf("machines are told %q", is)
	}
	if reason := fmt.Sprint(jobs.Rows[0]); !strings.Contains(reason, "of the day's 200000 tokens") {
		t.Error(reason)
	}
	if err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.DailyTokens = 0 }); err != nil {
		t.Fatal(err)
	}
	d.Idle(t)
	if n := d.Number(t, "SELECT count(*) FROM memoir.generation"); n != projects {
		t.Errorf("%d generations once the limit is raised", n)
	}
	if is := until(); is != "" {
		t.Errorf("machines are still told %q", is)
	}
}

func TestAJobThatFailsIsTriedThreeTimes(t *testing.T) {
	var sound atomic.Bool
	var late func()
	d, anna, server := modelled(t, nil, func(n int, c modeltest.Call) modeltest.Step {
		if sound.Load() {
			return answer(n, c)
		}
		if n == 4 { // of the third try
			late()
		}
		return modeltest.Step{Text: "nonsense"}
	})
	late = func() { anna.push(shop, task("two", "Came late.")) }
	anna.push(shop, task("one", "Ported the parser."))
	d.Workers(t, hub.WorkOptions{Workers: 1, Retry: time.Microsecond})
	d.Idle(t)
	if n := len(server.Calls()); n != 8 { // two for each try; the late push gets one more
		t.Errorf("%d calls", n)
	}
	jobs, err := d.Admin.Jobs(t.Context())
	if err != nil || len(jobs.Rows) != 1 || jobs.Rows[0][3] != "discarded" || jobs.Rows[0][5] == "" {
		t.Errorf("%v, %v", jobs.Rows, err)
	}
	sound.Store(true)
	anna.push(shop, task("three", "Came last."))
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "1", "Ported the parser", "Came late", "Came last")
}

func TestWhatComesDuringAConsolidationIsInTheNext(t *testing.T) {
	var late func(n int)
	d, anna, _ := modelled(t, nil, func(n int, c modeltest.Call) modeltest.Step {
		late(n)
		return answer(n, c)
	})
	late = func(n int) {
		if n < 2 {
			anna.push(shop, task(fmt.Sprint("late", n), fmt.Sprintf("Came during call %d.", n)))
		}
	}
	anna.push(shop, task("one", "Ported the parser."))
	d.Workers(t, hub.WorkOptions{Workers: 2})
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "3", "Ported the parser", "Came during call 0", "Came during call 1")
}

func TestAModelThatIsAwayCostsNoTry(t *testing.T) {
	secret := "ghp_" + random(36)
	d, anna, server := modelled(t, nil, func(int, modeltest.Call) modeltest.Step {
		return modeltest.Step{Status: 401, Message: "the key " + secret + " is wrong"}
	})
	anna.push(shop, task("one", "Ported the parser."))
	d.Workers(t, hub.WorkOptions{Workers: 1})
	d.Idle(t)
	jobs, err := d.Admin.Jobs(t.Context())
	if err != nil || len(jobs.Rows) != 1 || jobs.Rows[0][3] != "scheduled" || len(server.Calls()) != 1 {
		t.Fatalf("%v, %v", jobs.Rows, err)
	}
	if reason := fmt.Sprint(jobs.Rows[0][5]); !strings.Contains(reason, "is wrong") || strings.Contains(reason, secret) {
		t.Error(reason)
	}
	if err := d.Admin.SetPolicy(t.Context(), func(p *hub.Policy) { p.Model = "builtin" }); err != nil {
		t.Fatal(err)
	}
	d.Idle(t)
	anna.fetch(shop, "").wants(t, "1", "Ported the parser")
}
