package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/model"
	"memoir/model/modeltest"
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
}

func TestADryRunSaysWhichLimitWouldStopIt(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 5)
	o := options(home, dir)
	o.Phases = asks(t, taking(t, 10, 10), model.Options{}, 0)
	o.Settings.Limits.TokensPerRun, o.DryRun = 15000, true
	report := run(t, o)
	if len(report.Warnings) != 1 || report.Warnings[0].Message != "limits.tokensPerRun would stop this before its end" || report.Stopped != nil {
		t.Errorf("%+v, %+v", report.Warnings, report.Stopped)
	}
}

func TestADryRunReckonsWithThePromptsThatAreUsed(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	own := t.TempDir()
	estimate := func(yaml string) memoir.Usage {
		o := options(home, dir)
		o.Settings = load(t, "modelRoles: {default: openai/m}\n"+yaml)
		o.DryRun = true
		report := run(t, o)
		if report.Estimate == nil || report.EstimateBy["extract"].Calls != 3 || report.EstimateBy["consolidate"].Calls != 1 {
			t.Fatalf("%+v, %+v", report.Estimate, report.EstimateBy)
		}
		return *report.Estimate
	}
	usual := estimate("")
	for _, name := range []string{"stage_one_system.md", "consolidation_system.md"} {
		text, err := os.ReadFile(filepath.Join("..", "prompts", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(own, name), append(text, []byte(strings.Repeat("Mind the gap. ", 2000))...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if longer := estimate("prompts: {dir: '" + own + "'}"); longer.InputTokens < usual.InputTokens+4*6000 {
		t.Errorf("%+v with long prompts, %+v with those of the program", longer, usual)
	}
}

func TestAConsolidationIsEstimatedInAsManyQuestionsAsItTakes(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 60)
	run(t, options(home, dir)) // by the built-in model
	st := open(t, home)
	projects, err := st.Projects(t.Context())
	if err != nil || len(projects) != 1 {
		t.Fatal(err, projects)
	}
	st.Close()
	if err := os.RemoveAll(filepath.Join(home, "projects")); err != nil { // all is new to the memory again
		t.Fatal(err)
	}
	server := modeltest.OpenAIChat(t, modeltest.Script(modeltest.Step{Text: "{}"}))
	questions := func(window string) int {
		st := open(t, home)
		if err := st.Enqueue(context.Background(), projects[0].ID); err != nil {
			t.Fatal(err)
		}
		st.Close()
		o := ofServer(t, home, dir, "phase2", server.URL)
		o.Settings = load(t, "modelRoles: {phase2: mine/m}\nproviders: {mine: {api: openai-chat, baseURL: '"+server.URL+"/v1', window: "+window+"}}")
		o.DryRun = true
		report := run(t, o)
		if len(report.Would) != 1 {
			t.Fatalf("%+v", report.Would)
		}
		return report.Would[0].Calls
	}
	if wide, narrow := questions("200000"), questions("16000"); wide != 1 || narrow < 2 {
		t.Errorf("%d questions to a wide window, %d to a narrow one", wide, narrow)
	}
	if used := server.Used(); used.Calls != 0 {
		t.Errorf("%+v", used)
	}
}
