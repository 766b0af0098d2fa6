package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

// taking is a server whose every answer takes these tokens.
func taking(t *testing.T, input, output int64) *modeltest.Server {
	return modeltest.Serve(t, modeltest.Script(modeltest.Step{Text: "ok", Usage: memoir.Usage{InputTokens: input, OutputTokens: output}}))
}

func TestALimitStopsARunBeforeTheCallThatWouldExceedIt(t *testing.T) {
	t.Parallel()
	const sessions, input, output = 12, 10, 100 // tokens of each call: 110, and $0.21
	for _, test := range []struct {
		limits  config.Limits
		setting string
		most    int // calls
	}{
		{config.Limits{TokensPerRun: 500}, "limits.tokensPerRun", 4},
		{config.Limits{TokensPerDay: 1500}, "limits.tokensPerDay", 4}, // 1000 are gone
		{config.Limits{CostPerRun: 1}, "limits.costPerRun", 4},
		{config.Limits{CostPerDay: 3}, "limits.costPerDay", 4}, // $2 are gone
	} {
		t.Run(test.setting, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, sessions)
			spend(t, home, time.Now(), memoir.Usage{Calls: 1, InputTokens: 1000, Cost: 2})
			spend(t, home, time.Now().Add(-49*time.Hour), memoir.Usage{Calls: 1, InputTokens: 1e6, Cost: 1e3})
			before, _, _ := ledger(t, home)
			server := taking(t, input, output)
			o := options(home, dir)
			o.Phases = asks(t, server, model.Options{Price: price}, output)
			o.Settings.Limits = test.limits
			report := run(t, o)

			used := server.Used()
			if used.Calls > test.most || used.Calls == 0 {
				t.Errorf("%d calls were made, at most %d have room", used.Calls, test.most)
			}
			if report.Stopped == nil || report.Stopped.Limit != test.setting || !report.Partly() {
				t.Fatalf("stopped: %+v", report.Stopped)
			}
			warned := report.Warnings[len(report.Warnings)-1]
			if !strings.Contains(warned.Message, report.Stopped.Reason) || !strings.Contains(warned.Hint, test.setting) {
				t.Errorf("said: %+v", report.Warnings)
			}
			one := report.Phase1
			if one.Stored != used.Calls || one.Failed != 0 || report.Left != sessions-one.Stored {
				t.Errorf("%+v, %d left", one, report.Left)
			}
			if len(report.Phase2) > 1 || one.Stored > 0 && report.Phase2[0].Outcome != pipeline.OutcomeStopped {
				t.Errorf("phase 2: %+v", report.Phase2)
			}
			all, _, status := ledger(t, home)
			if all.Calls-before.Calls != used.Calls || len(status.Failed)+len(status.Dead) > 0 {
				t.Errorf("ledger: %+v, status: %+v", all, status)
			}

			// Without the limit the next run makes up for it.
			o.Settings.Limits = config.Limits{}
			if next := run(t, o); next.Stopped != nil || next.Phase1.Stored != sessions-one.Stored {
				t.Errorf("then: %+v, %+v", next.Phase1, next.Stopped)
			}
			whole, _ := prompted(t, 0)
			o.Home = whole
			run(t, o)
			if diff := cmp.Diff(tree(t, whole), tree(t, home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallsWaitForRoomThatOthersMayLeave(t *testing.T) {
	t.Parallel()
	// Each call may take 1000 tokens and takes 20: one at a time has room.
	home, dir := prompted(t, 10)
	o := options(home, dir)
	o.Phases = asks(t, taking(t, 10, 10), model.Options{MaxOutput: 1000}, 0)
	o.Settings.Limits.TokensPerRun = 1900
	if report := run(t, o); report.Stopped != nil || report.Phase1.Stored != 10 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		t.Errorf("%+v, %+v, %+v", report.Phase1, report.Phase2, report.Stopped)
	}
}

func TestASessionThatNoRunHasRoomForFailsAlone(t *testing.T) {
	t.Parallel()
	const input, output = 40, 100             // as many for its bytes as the estimate of a call that nothing is known of
	price := model.Price{Input: 1, Output: 1} // a millionth of a dollar for a token
	home, dir := prompted(t, 4)
	claudeSession(t, dir, "t00", "/srv/open/app", strings.Repeat("the header goes above the fixture ", 400)) // 3400 tokens, by their bytes
	server := taking(t, input, output)
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{Price: price}, output)
	o.Settings.Limits.CostPerDay = 0.0025
	report := run(t, o)
	if one := report.Phase1; one.Stored != 4 || one.Failed != 1 || report.Stopped != nil || !report.Partly() {
		t.Errorf("%+v, %+v", one, report.Stopped)
	}
	if !warns(report, "session t00: one call needs about ") || report.Phase2[0].Outcome != pipeline.OutcomePublished || server.Used().Calls != 5 {
		t.Errorf("%+v, %+v, %d calls", report.Warnings, report.Phase2, server.Used().Calls)
	}
	if _, _, status := ledger(t, home); len(status.Failed) != 1 || !strings.Contains(status.Failed[0].Error, "limits.costPerDay") {
		t.Errorf("%+v", status)
	}
}

// warns reports whether a warning begins so.
func warns(r pipeline.Report, begins string) bool {
	return slices.ContainsFunc(r.Warnings, func(w pipeline.Warning) bool { return strings.HasPrefix(w.Message, begins) })
}

func TestADryRunEstimatesAndAsksNobody(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 5)
	server := taking(t, 10, 10)
	o := options(home, dir)
	o.Phases = asks(t, server, model.Options{Price: price}, 0)
	dry := o
	dry.DryRun = true
	first := run(t, dry)
	if used := server.Used(); used != (memoir.Usage{}) {
		t.Fatalf("a dry run asked: %+v", used)
	}
	if first.Estimate == nil || first.Estimate.Calls != 6 || first.Estimate.Cost <= 0 || first.Usage.Calls != 0 {
		t.Fatalf("estimate: %+v", first.Estimate)
	}
	var sum memoir.Usage
	for _, w := range first.Would {
		if w.Model != "openai/m" || w.Tokens == 0 || w.OutputTokens == 0 || w.Cost == 0 {
			t.Errorf("%+v", w)
		}
		sum = sum.Add(memoir.Usage{Calls: 1, InputTokens: int64(w.Tokens), OutputTokens: int64(w.OutputTokens), Cost: w.Cost})
	}
	if !alike(sum, *first.Estimate) {
		t.Errorf("%+v add up to %+v", sum, first.Estimate)
	}

	limited := dry
	limited.Settings.Limits.TokensPerRun, limited.Settings.Limits.TokensPerDay = 15000, 1e6
	report := run(t, limited)
	if len(report.Warnings) != 1 || report.Warnings[0].Message != "limits.tokensPerRun would stop this run early" || report.Stopped != nil {
		t.Errorf("%+v, %+v", report.Warnings, report.Stopped)
	}
	if len(report.Limits) != 1 || report.Limits[0].Left != 1e6 {
		t.Errorf("%+v", report.Limits)
	}

	if report := run(t, o); report.Usage.Calls != first.Estimate.Calls {
		t.Errorf("%d calls were made, not %d", report.Usage.Calls, first.Estimate.Calls)
	}
	if again := run(t, dry); again.Estimate.Calls != 0 || len(again.Would) != 0 {
		t.Errorf("with nothing new: %+v", again)
	}
	// A language model is reckoned with by what it would be shown.
	dry = options(t.TempDir(), dir)
	dry.Settings, dry.DryRun = load(t, "modelRoles: {default: openai/m}"), true
	if one := run(t, dry); one.EstimateBy["extract"].Calls != 5 || one.EstimateBy["extract"].InputTokens < 5*1000 || one.EstimateBy["consolidate"].Calls != 1 {
		t.Errorf("%+v", one.EstimateBy)
	}
}
