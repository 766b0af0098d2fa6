package pipeline_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoir/model/modeltest"
	"memoir/pipeline"
)

// folded lists the sessions that a server was asked to fold in, in order.
func folded(t *testing.T, server *modeltest.Server) []string {
	t.Helper()
	var out []string
	for _, c := range server.Calls() {
		if c.Step.Status != 0 || c.Step.Text == "useless" {
			continue
		}
		question, _ := asked(t, c)
		for _, m := range listedNew.FindAllStringSubmatch(between(question, "new-sessions")+"\n"+between(question, "changed-sessions"), -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// What earlier questions of a consolidation made is published though a later one comes to
// nothing, and the next run asks about the rest alone.
func TestWhatEarlierQuestionsMadeIsKeptWhenALaterOneFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bad     modeltest.Step // later answers, if there are any
		limit   int64
		outcome string // of the calls, as the ledger has it
	}{
		"an answer that is no use": {bad: modeltest.Step{Text: "useless"}, outcome: "refused"},
		"a server that is down":    {bad: modeltest.Step{Status: http.StatusServiceUnavailable, Message: "down"}, outcome: "failed"},
		"an interrupt":             {bad: modeltest.Step{Text: "useless", Hang: true}, outcome: "interrupted"},
		"a limit":                  {limit: 18000, outcome: "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 90)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var mended atomic.Bool
			server := modeltest.Serve(t, func(n int, c modeltest.Call) modeltest.Step {
				if n < 1 || mended.Load() || test.limit > 0 {
					return answeredWell(t, c)
				}
				if test.bad.Hang {
					interrupt()
				}
				return test.bad
			})
			o := ofNarrow(t, home, dir, "phase2", server.URL)
			o.Grace = time.Minute // a slow machine may take
			o.Settings.Limits.TokensPerRun = test.limit
			first, err := tryRun(ctx, t, o)
			early := folded(t, server)
			if len(early) == 0 || len(early) == 90 {
				t.Fatalf("%d sessions were folded in: %+v, %v", len(early), first.Phase2, err)
			}
			if projects := projectsIn(t, home); len(projects) != 1 || projects[0].Generation == 0 || !projects[0].Due {
				t.Errorf("%+v", projects)
			}
			if all, outcomes, _ := ledger(t, home); !alike(all, first.Usage) || outcomes["consolidate "+test.outcome] != all.Calls {
				t.Errorf("the ledger has %+v, %v, the report %+v", all, outcomes, first.Usage)
			}
			retryAll(t, home)

			mended.Store(true)
			o.Settings.Limits.TokensPerRun = 0
			report := run(t, o)
			if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
				t.Fatalf("%+v, %+v", report.Phase2, report.Warnings)
			}
			if n := strings.Count(memoryOf(t, report, "app", "MEMORY.md"), "needs its own care"); n != 90 {
				t.Errorf("%d lines of 90 sessions", n)
			}
			all := folded(t, server)
			slices.Sort(all)
			if len(all) != 90 || len(slices.Compact(all)) != 90 {
				t.Errorf("%d sessions were paid for", len(all))
			}
			// Then there is nothing left to do.
			calls := len(server.Calls())
			if again := run(t, o); len(again.Phase2) != 0 || len(server.Calls()) != calls {
				t.Errorf("%+v", again.Phase2)
			}
		})
	}
}

func TestForgettingWaitsForNoModel(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]modeltest.Step{
		"it is down":        {Status: http.StatusServiceUnavailable, Message: "down"},
		"it waits already":  {Status: http.StatusTooManyRequests, RetryAfter: "7200", Message: "later"},
		"a limit is in way": {Text: "useless"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 4)
			broken := false
			server := modeltest.Serve(t, func(n int, c modeltest.Call) modeltest.Step {
				if broken {
					return step
				}
				return answeredWell(t, c)
			})
			o := ofServer(t, home, dir, "phase2", server.URL)
			first := run(t, o)
			before := memoryOf(t, first, "app", "MEMORY.md")
			if !strings.Contains(before, "the part s01 needs") || !strings.Contains(before, "the part s02 needs") {
				t.Fatal(before)
			}
			broken = true
			if step.Text != "" {
				o.Settings.Limits.TokensPerRun = 1
			}
			// A session that is new has the model asked, in vain.
			claudeSession(t, dir, "t00", "/srv/open/app", "always write the header of fixture 77")
			if step.RetryAfter != "" {
				_, err := tryRun(t.Context(), t, o)
				must(t, err)
			}
			disable(t, home, "claude:s01")
			_, _ = tryRun(t.Context(), t, o)
			after := memoryOf(t, first, "app", "MEMORY.md")
			if strings.Contains(after, "s01") || !strings.Contains(after, "the part s02 needs") {
				t.Errorf("got\n%s", after)
			}
			// What was new is still to come.
			broken = false
			o.Settings.Limits.TokensPerRun = 0
			retryAll(t, home)
			if next := run(t, o); len(next.Phase2) != 1 || next.Phase2[0].Outcome != pipeline.OutcomePublished || !strings.Contains(memoryOf(t, next, "app", "MEMORY.md"), "the part t00 needs") {
				t.Errorf("%+v", next.Phase2)
			}
		})
	}
}

func TestWhoAsksForARebuildHasTheModelAsked(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 4)
	server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step {
		return answeredWell(t, c)
	})
	o := ofServer(t, home, dir, "phase2", server.URL)
	run(t, o)
	calls := len(server.Calls())
	enqueueAll(t, home)
	dry := o
	dry.DryRun = true
	if planned := run(t, dry); planned.Estimate == nil || planned.Estimate.Calls != 1 {
		t.Errorf("%+v", planned.Would)
	}
	run(t, o)
	if len(server.Calls()) != calls+1 {
		t.Fatalf("%d calls more", len(server.Calls())-calls)
	}
	question, _ := asked(t, server.Calls()[calls])
	if n := len(listedNew.FindAllString(between(question, "changed-sessions"), -1)); n != 4 {
		t.Errorf("it is shown %d sessions", n)
	}
	if again := run(t, o); len(again.Phase2) != 0 || len(server.Calls()) != calls+1 {
		t.Errorf("%+v", again.Phase2)
	}
}
