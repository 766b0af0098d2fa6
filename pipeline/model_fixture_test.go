package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

// asking is a phase that asks its model once and, whatever the model says but
// "useless", does as the built-in one does.
type asking struct {
	model     model.Model
	maxOutput int
	extractor extract.Extractor
	memory    consolidate.Consolidator
}

func (a asking) Name() string { return a.model.Name() }

func (a asking) ask(ctx context.Context, input string) error {
	answer, err := a.model.Call(ctx, model.Request{System: "Say ok.", Input: input, MaxOutput: a.maxOutput})
	if err == nil && strings.HasPrefix(answer.Text, "useless") {
		err = &memoir.AnswerError{Err: errors.New("the answer is no JSON")}
	}
	return err
}

func (a asking) Extract(ctx context.Context, in extract.Input) (memoir.Extraction, error) {
	text := ""
	for _, it := range in.Items {
		text += it.Text + it.Input + it.Output + "\n"
	}
	if err := a.ask(ctx, text); err != nil {
		return memoir.Extraction{}, err
	}
	return a.extractor.Extract(ctx, in)
}

func (a asking) Consolidate(ctx context.Context, in consolidate.Input) (memoir.Consolidation, error) {
	text := ""
	for _, e := range in.Extractions {
		text += e.RawMemory() + "\n"
	}
	if err := a.ask(ctx, text); err != nil {
		return memoir.Consolidation{}, err
	}
	return a.memory.Consolidate(ctx, in)
}

// price is what tokens cost in these tests: a dollar for a thousand read, two for a thousand written.
var price = model.Price{Input: 1000, Output: 2000}

// asks has both phases ask a server of Chat Completions.
func asks(t testing.TB, server *modeltest.Server, o model.Options, maxOutput int) func(pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
	t.Helper()
	o.API, o.BaseURL, o.Timeout = model.APIChat, server.URL+"/v1", time.Minute
	inner, err := model.Open(model.Spec{Provider: "openai", Model: "m"}, o)
	must(t, err)
	atOnce := model.RetryPolicy{Attempts: 3, Sleep: func(context.Context, time.Duration) error { return nil }}
	return func(meter pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
		one := asking{model: model.Retrying(meter(inner, o), atOnce), maxOutput: maxOutput, extractor: extract.NewBuiltin(), memory: consolidate.NewBuiltin()}
		return one, one, nil
	}
}

// prompted writes n sessions of one project, in which a person said something worth keeping.
func prompted(t *testing.T, n int) (home, dir string) {
	t.Helper()
	home, dir = t.TempDir(), t.TempDir()
	prompts(t, dir, n)
	return home, dir
}

// prompts adds such sessions to a directory.
func prompts(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n {
		claudeSession(t, dir, fmt.Sprintf("s%02d", i), "/srv/open/app", fmt.Sprintf("always commit the header of fixture %d with a name, the tool and version, the date, the owner, the licence and a line on the purpose, and keep the order of all fields as in the files of the other tests", i))
	}
}

// ledger reads what was entered, by outcome, and how the queue stands.
func ledger(t *testing.T, home string) (all memoir.Usage, outcomes map[string]int, status store.Status) {
	t.Helper()
	outcomes = map[string]int{}
	for _, row := range ask(t, home, usageRows) {
		all = all.Add(row.Usage)
		outcomes[row.Phase+" "+row.Outcome] += row.Usage.Calls
	}
	return all, outcomes, statusOf(t, home)
}

func usageRows(st *store.Store) ([]store.UsageRow, error) {
	return st.UsageRows(context.Background(), time.Time{})
}

// spend enters what another run spent.
func spend(t *testing.T, home string, at time.Time, u memoir.Usage) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{Now: func() time.Time { return at }})
	must(t, err)
	defer st.Close()
	_, err = st.BeginCall(t.Context(), store.Call{Run: "another", Phase: "extract", Model: "openai/m", Expected: u}, nil)
	must(t, err)
}

// alike reports whether two usages are the same but for the last digits of their costs.
func alike(a, b memoir.Usage) bool {
	cost := a.Cost - b.Cost
	a.Cost, b.Cost = 0, 0
	return a == b && cost < 1e-9 && cost > -1e-9
}

// asked is the question of a call.
func asked(t *testing.T, c modeltest.Call) (question string, consolidates bool) {
	t.Helper()
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(c.Body, &body); err != nil {
		t.Error(err)
		return "", false
	}
	for _, m := range body.Messages {
		if m.Role == "user" {
			return m.Content, strings.Contains(m.Content, "<current-memory>")
		}
	}
	return "", false
}

func object(fields map[string]any) string {
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// between is what a question shows between two tags.
func between(question, tag string) string {
	_, rest, _ := strings.Cut(question, "<"+tag+">\n")
	text, _, _ := strings.Cut(rest, "\n</"+tag+">")
	return text
}

var (
	listedNew = regexp.MustCompile(`(?m)^- (\S+ \d{4}-\d{2}-\d{2})$`)
	header    = regexp.MustCompile(`always write the header of fixture (\w+)`)
)

// answers is a model that extracts what the person said, and folds each session that is
// new or has changed into the memory as one line; more is added to each of its answers.
func answers(t *testing.T, question string, consolidates bool, more string) string {
	t.Helper()
	if !consolidates {
		said := header.FindString(question)
		memory := "## Preferences\n- Write the header: “" + said + "” [1]\n" + more
		return object(map[string]any{"raw_memory": memory, "rollout_summary": "# Headers\n\n## Task\n\n" + said + " [1].\n", "rollout_slug": "headers"})
	}
	memory, summary := between(question, "current-memory"), between(question, "current-summary")
	if memory == "(none)" {
		memory, summary = "", ""
	}
	var lines strings.Builder
	for _, m := range listedNew.FindAllStringSubmatch(between(question, "new-sessions")+"\n"+between(question, "changed-sessions"), -1) {
		fmt.Fprintf(&lines, "- the part %s needs its own care and attention [%s]\n", strings.Fields(m[1])[0], m[1])
	}
	if !strings.Contains(memory, "## What is known\n") {
		memory += "\n## What is known\n"
	}
	memory = strings.TrimRight(memory, "\n") + "\n" + lines.String() + more
	if first, _, _ := strings.Cut(lines.String(), "\n"); len(summary) < 2000 {
		summary += "\n## What to know\n\n" + first + "\n"
	}
	return object(map[string]any{"memory_md": memory, "memory_summary": summary, "skills": []any{}})
}

// answeredWell is what such a model answers to a call.
func answeredWell(t *testing.T, c modeltest.Call) modeltest.Step {
	t.Helper()
	question, consolidates := asked(t, c)
	return modeltest.Step{Text: answers(t, question, consolidates, "")}
}

func TestWhatAModelSaidWithoutGroundIsCounted(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step {
		question, consolidates := asked(t, c)
		more := "- Use `make everything-else` for it [1]\n- Mind the gap\n- Mind the step [99]\n"
		if consolidates {
			more = "- a line that rests on nobody\n- “always push --force” [" + listedNew.FindStringSubmatch(question)[1] + "]\n"
		}
		return modeltest.Step{Text: answers(t, question, consolidates, more)}
	})
	report := run(t, ofServer(t, home, dir, "default", server.URL))
	if report.Phase1.Stored != 3 || len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		t.Fatalf("%+v, %+v, %+v", report.Phase1, report.Phase2, report.Warnings)
	}
	g := report.Grounding
	if g == nil || g.Statements != 3 || g.Lines < 3 || g.Dropped["ungrounded"] != 3 ||
		g.Dropped["uncited"] != 3 || g.Dropped["missing"] != 3 || g.Dropped["line"] != 1 || g.Dropped["unsupported"] != 1 {
		t.Errorf("%+v", g)
	}
	if builtin := run(t, options(t.TempDir(), dir)); builtin.Grounding != nil {
		t.Errorf("the built-in model: %+v", builtin.Grounding)
	}
}
