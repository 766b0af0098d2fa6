package pipeline_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
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

func TestWhatEarlierQuestionsMadeIsKeptWhenALaterOneFails(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]modeltest.Step{
		"an answer that is no use": {Text: "useless"},
		"a server that is down":    {Status: http.StatusServiceUnavailable, Message: "down"},
		"a key that is refused":    {Status: http.StatusUnauthorized, Message: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 90)
			broken := true
			server := modeltest.OpenAIChat(t, func(n int, c modeltest.Call) modeltest.Step {
				if broken && n >= 1 {
					return bad
				}
				return answeredWell(t, c)
			})
			o := ofNarrow(t, home, dir, "phase2", server.URL)
			first, err := tryRun(t.Context(), t, o)
			if len(first.Phase2) != 1 && err == nil || len(first.Phase2) == 1 && (first.Phase2[0].Outcome != pipeline.OutcomeFailed || first.Phase2[0].Generation != 1) {
				t.Fatalf("%+v, %v", first.Phase2, err)
			}
			early := folded(t, server)
			if len(early) == 0 || len(early) == 90 {
				t.Fatalf("%d sessions were folded in", len(early))
			}
			st := open(t, home)
			projects, err := st.Projects(t.Context())
			if err != nil || len(projects) != 1 || projects[0].Generation != 1 || !projects[0].Due {
				t.Fatalf("%+v, %v", projects, err)
			}
			if _, err := st.Retry(t.Context()); err != nil {
				t.Fatal(err)
			}
			st.Close()

			broken = false
			report := run(t, o)
			if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
				t.Fatalf("%+v, %+v", report.Phase2, report.Warnings)
			}
			paidOnce(t, server)
			memory := memoryOf(t, report, projects[0].Name, "MEMORY.md")
			if n := strings.Count(memory, "needs its own care"); n != 90 {
				t.Errorf("%d lines of 90 sessions", n)
			}
			// Then there is nothing left to do.
			calls := len(server.Calls())
			if again := run(t, o); len(again.Phase2) != 0 || len(server.Calls()) != calls {
				t.Errorf("%+v", again.Phase2)
			}
		})
	}
}

func TestALimitLetsAConsolidationGoOnNextTime(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 90)
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		return answeredWell(t, c)
	})
	o := ofNarrow(t, home, dir, "phase2", server.URL)
	o.Settings.Limits = config.Limits{TokensPerRun: 25000}
	stopped := 0
	for range 20 {
		report := run(t, o)
		if len(report.Phase2) == 0 {
			break
		}
		if report.Phase2[0].Outcome == pipeline.OutcomeStopped {
			stopped++
		}
	}
	all := folded(t, server)
	once := slices.Compact(slices.Sorted(slices.Values(all)))
	if stopped == 0 || len(once) != 90 {
		t.Fatalf("stopped %d times, %d sessions", stopped, len(once))
	}
	slices.Sort(all)
	if diff := cmp.Diff(once, all); diff != "" {
		t.Errorf("paid for twice: %s", diff)
	}
}

func TestForgettingWaitsForNoModel(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]modeltest.Step{
		"it is down":        {Status: http.StatusServiceUnavailable, Message: "down"},
		"its key is old":    {Status: http.StatusUnauthorized, Message: "no"},
		"it waits already":  {Status: http.StatusTooManyRequests, RetryAfter: "7200", Message: "later"},
		"a limit is in way": {Text: "useless"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 4)
			broken := false
			server := modeltest.OpenAIChat(t, func(n int, c modeltest.Call) modeltest.Step {
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
				if _, err := tryRun(t.Context(), t, o); err != nil {
					t.Fatal(err)
				}
			}
			st := open(t, home)
			if err := st.SetDisabled(t.Context(), "claude:s01", true); err != nil {
				t.Fatal(err)
			}
			st.Close()
			_, _ = tryRun(t.Context(), t, o)
			after := memoryOf(t, first, "app", "MEMORY.md")
			if strings.Contains(after, "s01") || !strings.Contains(after, "the part s02 needs") {
				t.Errorf("got\n%s", after)
			}
			// What was new is still to come.
			broken = false
			o.Settings.Limits.TokensPerRun = 0
			st = open(t, home)
			if _, err := st.Retry(t.Context()); err != nil {
				t.Fatal(err)
			}
			st.Close()
			if next := run(t, o); len(next.Phase2) != 1 || next.Phase2[0].Outcome != pipeline.OutcomePublished || !strings.Contains(memoryOf(t, next, "app", "MEMORY.md"), "the part t00 needs") {
				t.Errorf("%+v", next.Phase2)
			}
		})
	}
}

func TestWhoAsksForARebuildHasTheModelAsked(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 4)
	server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
		return answeredWell(t, c)
	})
	o := ofServer(t, home, dir, "phase2", server.URL)
	first := run(t, o)
	calls := len(server.Calls())
	st := open(t, home)
	if err := st.Enqueue(t.Context(), first.Phase2[0].Project); err != nil {
		t.Fatal(err)
	}
	st.Close()
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

// paidOnce checks that each of 90 sessions was folded in by one answer, and by no other.
func paidOnce(t *testing.T, server *modeltest.Server) {
	t.Helper()
	all := folded(t, server)
	slices.Sort(all)
	if len(all) != 90 || len(slices.Compact(slices.Clone(all))) != 90 {
		t.Errorf("%d sessions were paid for", len(all))
	}
}

// An interrupt costs no answer that was paid for: what earlier questions made is published
// at once, and the next run asks about the rest alone.
func TestAnInterruptKeepsWhatEarlierQuestionsMade(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 90)
	ctx, cancel := context.WithCancel(t.Context())
	var interrupted atomic.Bool
	server := modeltest.OpenAIChat(t, func(n int, c modeltest.Call) modeltest.Step {
		if n == 1 && !interrupted.Swap(true) {
			cancel()
			return modeltest.Step{Text: "useless", Hang: true}
		}
		return answeredWell(t, c)
	})
	o := ofNarrow(t, home, dir, "phase2", server.URL)
	o.Grace = time.Minute // a slow machine may take
	if _, err := tryRun(ctx, t, o); memoir.CodeOf(err) != memoir.CodeInterrupted {
		t.Fatal(err)
	}
	early := folded(t, server)
	st := open(t, home)
	projects, err := st.Projects(t.Context())
	status, failed := st.Status(t.Context())
	st.Close()
	if err != nil || failed != nil || len(early) == 0 || len(projects) != 1 || projects[0].Generation != 1 || !projects[0].Due || len(status.Failed)+len(status.Running) != 0 {
		t.Fatalf("%d sessions, %+v, %+v, %v, %v", len(early), projects, status, err, failed)
	}
	report := run(t, o)
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		t.Fatalf("%+v, %+v", report.Phase2, report.Warnings)
	}
	paidOnce(t, server)
	if n := strings.Count(memoryOf(t, report, projects[0].Name, "MEMORY.md"), "needs its own care"); n != 90 {
		t.Errorf("%d lines of 90 sessions", n)
	}
}
