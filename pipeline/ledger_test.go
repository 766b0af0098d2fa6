package pipeline_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

// ends tells what became of work and of its calls, how many calls each, and what
// those took whose tokens are no estimate.
func ends(t *testing.T, home string) (all, known memoir.Usage, calls map[string]int) {
	t.Helper()
	calls = map[string]int{}
	db, err := sql.Open("sqlite3", filepath.Join(home, "memoir.db"))
	must(t, err)
	defer db.Close()
	rows, err := db.Query(`SELECT phase || ' ' || outcome || iif(estimated, ', estimated', ''), estimated, calls, input_tokens,
		cached_tokens, output_tokens FROM ledger`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var key string
		var estimated bool
		var u memoir.Usage
		must(t, rows.Scan(&key, &estimated, &u.Calls, &u.InputTokens, &u.CachedTokens, &u.OutputTokens))
		if all = all.Add(u); !estimated {
			known = known.Add(u)
		}
		calls[key] += u.Calls
	}
	return all, known, calls
}

// TestLedgerReportAndServerAgree compares calls with those that reached the server,
// and tokens with those that it told of. Of an answer that broke off it had not told
// any: that call has an estimate. One that was turned away took none.
func TestLedgerReportAndServerAgree(t *testing.T) {
	t.Parallel()
	const sessions = 3
	used := memoir.Usage{InputTokens: 1000, CachedTokens: 100, OutputTokens: 10}
	answer := modeltest.Step{Text: emptyExtraction, Usage: used}
	// Every other call is odd: the first one about each session.
	alternately := func(odd modeltest.Step) func(n int, c modeltest.Call) modeltest.Step {
		return func(n int, _ modeltest.Call) modeltest.Step {
			if n%2 == 0 {
				return odd
			}
			return answer
		}
	}
	for name, test := range map[string]struct {
		reply func(n int, c modeltest.Call) modeltest.Step
		want  map[string]int
	}{
		"well-behaved": {modeltest.Script(answer), map[string]int{"extract empty": 3}},
		"busy":         {alternately(modeltest.Step{Status: 429, RetryAfter: "1", Message: "later"}), map[string]int{"extract empty": 6}},
		"broken":       {alternately(modeltest.Step{Status: 500, Message: "oh"}), map[string]int{"extract empty": 6}},
		"cut":          {alternately(modeltest.Step{Text: `{"raw_`, Stop: "length", Usage: used}), map[string]int{"extract empty": 6}},
		"always cut":   {modeltest.Script(modeltest.Step{Text: `{"raw_`, Stop: "length", Usage: used}), map[string]int{"extract refused": 6}},
		"refused":      {modeltest.Script(modeltest.Step{Text: "I cannot.", Stop: "refusal", Usage: used}), map[string]int{"extract refused": 3}},
		"empty":        {modeltest.Script(modeltest.Step{Usage: used}), map[string]int{"extract refused": 3}},
		"an error":     {modeltest.Script(modeltest.Step{Status: 413, Message: "what?"}), map[string]int{"extract failed": 12}},
		"reset":        {alternately(modeltest.Step{Reset: true}), map[string]int{"extract empty": 3, "extract empty, estimated": 3}},
		"repaired":     {alternately(modeltest.Step{Text: "It was a good session.", Usage: used}), map[string]int{"extract empty": 6}},
		"useless":      {modeltest.Script(modeltest.Step{Text: "It was a good session.", Usage: used}), map[string]int{"extract refused": 6}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, sessions)
			server := modeltest.Serve(t, test.reply)
			o := ofServer(t, home, dir, "phase1", server.URL)
			o.Settings.Memories.Concurrency = 1 // one session after the other
			report := run(t, o)
			all, known, calls := ends(t, home)
			want := server.Used()
			known.Calls = want.Calls
			if known != want || all.Calls != len(server.Calls()) || report.Usage != all {
				t.Errorf("the server counted %+v in %d calls, the ledger has %+v, the report %+v", want, len(server.Calls()), all, report.Usage)
			}
			if diff := cmp.Diff(test.want, calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatATakenOverSessionCostIsInTheLedger(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 1)
	server := modeltest.Serve(t, func(int, modeltest.Call) modeltest.Step {
		project := projectsIn(t, home)[0].ID
		in(t, home, func(st *store.Store) error { return st.Clear(t.Context(), project) }) // its claims lose
		return modeltest.Step{Text: "ok"}
	})
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{}, 0)
	report := run(t, o)
	all, outcomes, _ := ledger(t, home)
	if diff := cmp.Diff(map[string]int{"extract " + store.OutcomeLost: 1}, outcomes); diff != "" || !alike(all, server.Used()) {
		t.Errorf("%s%+v, %+v", diff, all, report.Phase1)
	}
}

func TestAKilledRunLeavesItsCallsInTheLedger(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	asked := make(chan bool, 3)
	server := modeltest.Serve(t, func(n int, _ modeltest.Call) modeltest.Step {
		if n < 3 {
			asked <- true
			return modeltest.Step{Hang: true}
		}
		return modeltest.Step{Text: emptyExtraction}
	})
	cmd := processOf(t, processOptions{Home: home, Sessions: dir, URL: server.URL})
	must(t, cmd.Start())
	for range 3 { // all its calls are under way
		<-asked
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	r := lastRun(t, home)
	if alive, known := r.Holder.Alive(); !r.Ended.IsZero() || r.Holder.PID != cmd.Process.Pid || alive || !known {
		t.Errorf("the run is kept as %+v, alive %v", r, alive)
	}

	left, _, calls := ends(t, home)
	if diff := cmp.Diff(map[string]int{"extract unfinished, estimated": 3}, calls); diff != "" {
		t.Fatal(diff)
	}
	if left.InputTokens < 3*100 || left.OutputTokens != 3*cap500 {
		t.Errorf("estimated at %+v", left)
	}

	// They count for the limits of the day, and for no others.
	o := ofURL(options(home, dir), server.URL)
	o.Settings.Limits = config.Limits{TokensPerDay: left.InputTokens + left.OutputTokens + 1}
	if report := run(t, o); report.Stopped == nil || report.Stopped.Limit != "limits.tokensPerDay" || len(server.Calls()) != 3 {
		t.Errorf("%+v", report.Stopped)
	}
	o.Settings.Limits = config.Limits{TokensPerRun: 3 * (left.InputTokens + left.OutputTokens)}
	report := run(t, o)
	if report.Stopped != nil || report.Phase1.Empty != 3 {
		t.Errorf("%+v, %+v", report.Phase1, report.Stopped)
	}
	all, _, calls := ends(t, home)
	if diff := cmp.Diff(map[string]int{"extract unfinished, estimated": 3, "extract empty": 3}, calls); diff != "" {
		t.Error(diff)
	}
	if want := left.Add(report.Usage); all != want {
		t.Errorf("ledger: %+v, want %+v", all, want)
	}
}

// cap500 is the cap on answers of runs that are killed.
const cap500 = 500

// ofURL has Phase 1 ask a server that needs no key.
func ofURL(o pipeline.Options, url string) pipeline.Options {
	o.Settings.ModelRoles.Phase1 = "mine/m"
	o.Settings.Providers = map[string]config.Provider{"mine": {API: "openai-chat", BaseURL: url + "/v1", MaxOutputTokens: cap500}}
	return o
}
