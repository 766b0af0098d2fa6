package pipeline_test

import (
	"testing"

	"memoir"
	"memoir/model"
)

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

func TestADryRunSaysWhichLimitWouldStopIt(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 5)
	o := options(home, dir)
	o.Phases = asks(t, taking(t, 10, 10), model.Options{}, 0)
	o.Settings.Limits.TokensPerRun, o.Settings.Limits.TokensPerDay, o.DryRun = 15000, 1e6, true
	report := run(t, o)
	if len(report.Warnings) != 1 || report.Warnings[0].Message != "limits.tokensPerRun would stop this before its end" || report.Stopped != nil {
		t.Errorf("%+v, %+v", report.Warnings, report.Stopped)
	}
	if len(report.Limits) != 1 || report.Limits[0].Left != 1e6 {
		t.Errorf("%+v", report.Limits)
	}
}
