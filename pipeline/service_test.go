package pipeline_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

// emptyExtraction is an answer that says that nothing is worth keeping.
const emptyExtraction = `{"raw_memory":"","rollout_summary":"","rollout_slug":""}`

func TestAServerThatDoesNotServeEndsTheRunAndCostsNobodyAnAttempt(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]modeltest.Step{
		"overloaded":       {Status: 529, Message: "overloaded"},
		"it asks for long": {Status: http.StatusTooManyRequests, RetryAfter: "7200", Message: "slow down"},
		"no connection":    {Reset: true},
		"it forbids all":   {Status: http.StatusForbidden, Message: "no access"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 40)
			server := modeltest.Serve(t, modeltest.Script(step))
			began := time.Now()
			report, err := tryRun(t.Context(), t, ofServer(t, home, dir, "default", server.URL))
			if memoir.CodeOf(err) != memoir.CodeModel || !strings.Contains(err.Error(), "mine/m is not available") || memoir.HintOf(err) == "" {
				t.Fatalf("got %v; %s", err, memoir.HintOf(err))
			}
			if calls := len(server.Calls()); calls > 11*4 { // a worker is free for another one before it is plain
				t.Errorf("the server was asked %d times", calls)
			}
			one := report.Phase1
			if one.Failed != 0 || one.Claimed != 0 || one.Postponed == 0 || one.Released > 16 || report.Left == 0 || len(report.Unserved) != 1 {
				t.Errorf("%+v, %+v", one, report.Unserved)
			}
			_, _, status := ledger(t, home)
			if len(status.Dead) > 0 || len(status.Failed) != one.Postponed {
				t.Errorf("%+v", status)
			}
			least := time.Minute
			if step.RetryAfter != "" {
				least = 2 * time.Hour
			}
			for _, job := range status.Failed {
				if job.Attempts != 0 || job.Next.Before(began.Add(least)) || !strings.Contains(job.Error, "mine/m") {
					t.Errorf("%+v", job)
				}
			}
			// Once it serves, nothing is missing.
			retryAll(t, home)
			if report := run(t, options(home, dir)); report.Phase1.Stored != 40 {
				t.Errorf("then: %+v", report.Phase1)
			}
		})
	}
}

func TestAServerThatStopsServingLeavesWhatIsDone(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 40)
	o, gone := options(home, dir), make(chan struct{})
	var once sync.Once
	o.Progress = func(p pipeline.Progress) {
		if p.Stage == pipeline.StageExtract && p.Done >= 5 {
			once.Do(func() { close(gone) })
		}
	}
	server := modeltest.Serve(t, func(n int, _ modeltest.Call) modeltest.Step {
		if n < 5 {
			return modeltest.Step{Text: "ok"}
		}
		<-gone
		return modeltest.Step{Status: http.StatusServiceUnavailable, Message: "no"}
	})
	o.Phases = asks(t, server, model.Options{}, 0)
	report := run(t, o)
	if report.Phase1.Stored != 5 || report.Phase1.Failed != 0 || !report.Partly() || report.Left == 0 || len(report.Unserved) != 1 {
		t.Errorf("%+v, %+v, %d left", report.Phase1, report.Unserved, report.Left)
	}
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomeStopped || !strings.Contains(report.Phase2[0].Detail, "is not available") {
		t.Errorf("%+v", report.Phase2)
	}
	if calls := len(server.Calls()); calls > 5+16*3 {
		t.Errorf("the server was asked %d times", calls)
	}
	if _, _, queue := ledger(t, home); len(queue.Failed) != report.Phase1.Postponed || queue.Failed[0].Attempts != 0 {
		t.Errorf("%+v", queue.Failed)
	}
}

func TestASessionThatAloneIsNotServedKeepsNobodyElseBack(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]modeltest.Step{
		"it breaks":  {Status: http.StatusInternalServerError, Message: "boom"},
		"it is busy": {Status: http.StatusTooManyRequests, Message: "too many at once"},
		"it is told": {Status: http.StatusForbidden, Message: "flagged by moderation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := prompted(t, 19)
			// The largest is asked about first, the smallest last.
			longer := strings.Repeat(" and the header", 20)
			if step.Status == http.StatusForbidden {
				longer = ""
			}
			claudeSession(t, dir, "bad", "/srv/open/app", "always write the poison"+longer)
			served := make(chan struct{})
			var good atomic.Int32
			server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step {
				if strings.Contains(string(c.Body), "the poison") {
					return step
				}
				if good.Add(1) == 12 {
					close(served)
				}
				return modeltest.Step{Text: emptyExtraction}
			})
			o := ofServer(t, home, dir, "phase1", server.URL)
			o.Sleep = func(ctx context.Context, _ time.Duration) error {
				select {
				case <-served:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			report := run(t, o)
			if report.Phase1.Failed != 0 || report.Phase1.Postponed != 1 || report.Phase1.Empty != 19 || len(report.Unserved) != 0 {
				t.Errorf("%+v, %+v", report.Phase1, report.Warnings)
			}
			if _, _, status := ledger(t, home); len(status.Failed) != 1 || status.Failed[0].Attempts != 0 {
				t.Errorf("%+v", status.Failed)
			}
		})
	}
}

func TestAProjectWhoseModelDoesNotServeIsPostponed(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	server := modeltest.Serve(t, modeltest.Script(modeltest.Step{Status: http.StatusBadGateway, Message: "down"}))
	o := ofServer(t, home, dir, "phase2", server.URL)
	report := run(t, o)
	if report.Phase1.Stored != 3 || len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomeFailed || !report.Partly() {
		t.Errorf("%+v, %+v", report.Phase1, report.Phase2)
	}
	_, _, status := ledger(t, home)
	if len(status.Failed) != 1 || status.Failed[0].Attempts != 0 || status.Failed[0].Kind != "consolidate" {
		t.Errorf("%+v", status.Failed)
	}
	// While it waits, nobody is asked.
	calls := len(server.Calls())
	next := regexp.MustCompile(`^failed before \(.*\); next attempt at 20..-..-.. ..:.. .+$`)
	if report := run(t, o); len(server.Calls()) != calls || report.Phase2[0].Outcome != pipeline.OutcomeBackoff ||
		!next.MatchString(report.Phase2[0].Detail) {
		t.Errorf("%+v", report.Phase2)
	}
	if projects := projectsIn(t, home); len(projects) != 1 || !projects[0].Due {
		t.Errorf("%+v", projects)
	}
}

func TestAModelWhoseAnswersAreOfNoUseIsAskedNoMore(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 40)
	server := modeltest.Serve(t, modeltest.Script(modeltest.Step{Text: "I am a teapot."}))
	report, err := tryRun(t.Context(), t, ofServer(t, home, dir, "default", server.URL))
	if memoir.CodeOf(err) != memoir.CodeModel || !strings.Contains(err.Error(), "mine/m gave no usable answer") || !strings.Contains(memoir.HintOf(err), "another model") {
		t.Fatalf("got %v; %s", err, memoir.HintOf(err))
	}
	if calls := len(server.Calls()); calls > 2*(4+8) { // each is shown its error once; eight are at work when it is plain
		t.Errorf("the model was asked %d times", calls)
	}
	if report.Phase1.Failed < 4 || report.Phase1.Failed > 12 || report.Left < 28 || len(report.Unserved) != 1 {
		t.Errorf("%+v, %d left, %+v", report.Phase1, report.Left, report.Unserved)
	}
	// The same holds for a program that fails.
	home, dir = prompted(t, 40)
	calls := filepath.Join(t.TempDir(), "calls")
	o := options(home, dir)
	o.Settings = load(t, "modelRoles: {default: mine/m}\nproviders: {mine: {api: exec, command: [sh, -c, 'echo >>"+calls+"; exit 7']}}")
	report, err = tryRun(t.Context(), t, o)
	if memoir.CodeOf(err) != memoir.CodeModel || !strings.Contains(err.Error(), "mine/m exited with status 7") || len(report.Unserved) != 1 {
		t.Errorf("got %v, %+v", err, report.Unserved)
	}
	if made, err := os.ReadFile(calls); err != nil || len(made) > 4+8 {
		t.Errorf("the program was run %d times, %v", len(made), err)
	}
	// One that is good for something now and then is not given up.
	home, dir = prompted(t, 40)
	server = modeltest.Serve(t, func(n int, _ modeltest.Call) modeltest.Step {
		if n%8 == 0 {
			return modeltest.Step{Text: emptyExtraction}
		}
		return modeltest.Step{Text: "I am a teapot."}
	})
	opts := ofServer(t, home, dir, "default", server.URL)
	opts.Settings.Memories.Concurrency = 1
	if report := run(t, opts); len(report.Unserved) != 0 || report.Phase1.Failed+report.Phase1.Empty != 40 {
		t.Errorf("%+v, %+v", report.Phase1, report.Unserved)
	}
}

// ending is a context that ends with an error once a channel is closed.
type ending struct {
	context.Context
	done chan struct{}
	err  error
}

func (c ending) Done() <-chan struct{} { return c.done }
func (c ending) Value(any) any         { return nil }
func (c ending) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

func TestASessionThatAModelFailsOnIsInTheHistoryOnce(t *testing.T) {
	t.Parallel()
	const said = "always write the header of fixture 0, for which password=Xk29fjWq81Lz "
	const fallback = "## 2026-05-01T10:00:00.000Z\n\n[2026-05-01 10:00] [raw-fallback] user: always write the header of fixture 0, for which password=[REDACTED:password-environment] " +
		"and more and more and more and more and more and more and more and more and more and more and more and more an… | assistant: Done: the parser failed because the fixture had no header, so it now writes one. (claude:s00)\n\n"
	for name, tt := range map[string]struct {
		step modeltest.Step
		ends error // the run's context, once the model was asked
		want string
	}{
		"its server breaks":   {modeltest.Step{Status: http.StatusInternalServerError, Message: "boom"}, nil, fallback},
		"its key is refused":  {modeltest.Step{Status: http.StatusUnauthorized, Message: "no"}, nil, fallback},
		"no answer of use":    {modeltest.Step{Text: "I am a teapot."}, nil, fallback},
		"it is late":          {modeltest.Step{Hang: true}, context.DeadlineExceeded, fallback},
		"a person stopped it": {modeltest.Step{Hang: true}, context.Canceled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			claudeSession(t, dir, "s00", "/srv/open/app", said+strings.Repeat("and more ", 50))
			history := func() string {
				text, _ := os.ReadFile(memory.At(home, projectsIn(t, home)[0].ID).History("2026-05"))
				return string(text)
			}
			for range 2 {
				ctx := ending{t.Context(), make(chan struct{}), tt.ends}
				server := modeltest.Serve(t, func(int, modeltest.Call) modeltest.Step {
					if tt.ends != nil {
						close(ctx.done)
					}
					return tt.step
				})
				_, _ = tryRun(ctx, t, ofServer(t, home, dir, "phase1", server.URL))
				if got := history(); got != tt.want {
					t.Fatalf("the history is %q", got)
				}
				retryAll(t, home)
			}
			server := modeltest.Serve(t, modeltest.Script(modeltest.Step{Text: object(map[string]any{
				"history_entry": "The header is written.",
				"memory_update": "## Preferences\n- Write the header: “always write the header of fixture 0” [1]",
			})}))
			run(t, ofServer(t, home, dir, "phase1", server.URL))
			want := tt.want + "## 2026-05-01T10:00:00.000Z\n\n[2026-05-01 10:00] The header is written. (claude:s00)\n\n"
			if got := history(); got != want {
				t.Errorf("then the history is %q", got)
			}
		})
	}
}

func TestAPostponedSessionCountsTowardTheCap(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 8)
	server := modeltest.Serve(t, modeltest.Script(modeltest.Step{Status: http.StatusInternalServerError, Message: "boom"}))
	o := ofServer(t, home, dir, "phase1", server.URL)
	o.Limit = 1
	report, _ := tryRun(t.Context(), t, o)
	if report.Phase1.Postponed+report.Phase1.Claimed != 1 || len(server.Calls()) > 4 {
		t.Errorf("%+v, %d calls", report.Phase1, len(server.Calls()))
	}
}
