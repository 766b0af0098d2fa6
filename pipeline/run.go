// Package pipeline makes one run: it scans the agents' sessions into the registry, extracts from the eligible
// ones with bounded concurrency (Phase 1), and consolidates every project that is due under its lease and
// publishes the result (Phase 2). It knows the order of the steps and what may fail between them, but
// no flags, terminal or exit codes. Read run.go first, then scan.go, phase1.go and phase2.go.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/extract"
	"memoir/lease"
	"memoir/model"
	"memoir/rollout"
	"memoir/search"
	"memoir/secrets"
	"memoir/store"
)

// Options says what a run is to do. Home and Settings are required.
type Options struct {
	Home      string
	ConfigDir string // where the user's settings and rules are; may be empty
	Settings  config.Settings
	Env       rollout.Env

	SessionsDir string   // read every session file below it instead of the agents' own directories
	ProjectIDs  []string // limit both phases to these projects; empty: all
	DryRun      bool     // refresh the registry and nothing else

	Now     time.Time     // for eligibility and dates that are written, not for leases; zero: the clock
	MinIdle time.Duration // 0: no limit, and active sessions are included
	MaxAge  time.Duration // 0: no limit
	Limit   int           // most sessions that this run claims
	Wait    time.Duration // how long to wait for another process's lease; 0: not at all

	// Grace is how long an interrupted run may take to publish the result of a paid call; 0 means 400 ms, so
	// that it exits within a second.
	Grace time.Duration

	StartingSession string   // id of a session that is active whatever its times say; may be empty
	Only            []string // keys of the sessions to extract from, in any directory; empty: all

	// Sleep waits before a call of a model is tried again; it returns the context's error when the context
	// ends. Nil means a timer.
	Sleep func(ctx context.Context, d time.Duration) error

	// Phases makes the extractor and the consolidator; nil: those that the settings name. It must pass each
	// model with its options to meter and use the result, or the limits do not apply to its calls.
	Phases func(meter Meter) (extract.Extractor, consolidate.Consolidator, error)

	Progress func(Progress) // called from one goroutine at a time; may be nil
	Log      *slog.Logger   // may be nil
}

// Meter returns a model whose calls are counted and limited. Retries must wrap it.
type Meter func(model.Model, model.Options) model.Model

// Stage names a part of a run for its progress.
type Stage string

// The stages of a run.
const (
	StageScan        Stage = "scan"
	StageExtract     Stage = "extract"
	StageConsolidate Stage = "consolidate"
	StageSearch      Stage = "search" // searching texts for secrets, or for what to forget
	StageRedact      Stage = "redact" // removing secrets from memories
)

// Progress is the progress of a stage. Total is 0 while it is unknown.
type Progress struct {
	Stage Stage
	Done  int
	Total int
	What  string       // the session or project that begins; safe to print
	Of    string       // the project of a session
	Spent memoir.Usage // of the run so far
	Warn  string       // a problem that did not stop the run; safe to print
	Hint  string       // what can be done about Warn
	Minor bool         // Warn is not shown with --quiet
}

// run is one run's state. Workers share report through mu.
type run struct {
	store        *store.Store
	opts         Options
	scanner      *secrets.Scanner
	extractor    extract.Extractor
	consolidator consolidate.Consolidator
	meter        *meter
	holder       lease.Holder
	log          *slog.Logger
	began        time.Time
	keys         []string // the sessions to claim from, sorted; empty: all
	id           string   // of this run, in the ledger
	trusted      config.TrustStore
	off          map[string]bool // by directory: whether a project file switches memory off
	tops         sync.Map        // top directory by directory

	mu       sync.Mutex
	heads    map[string]seenHead // by path, for Phase 1
	failures map[string]bool     // messages of sessions' failures that were reported
	report   Report
	recorded bool  // its start is recorded
	fault    error // error of a worker that ends the run
}

// Run scans, extracts and consolidates. It also returns a report if it fails or is interrupted; claims are
// then released.
func Run(ctx context.Context, st *store.Store, opts Options) (Report, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return Report{}, err
	}
	report, err := r.whole(ctx)
	r.recordEnd(ctx, err)
	return report, err
}

// whole is Run without recording the end of the run.
func (r *run) whole(ctx context.Context) (Report, error) {
	// Forgetting needs no model, so it comes before the choice of models, which may fail.
	if !r.opts.DryRun {
		err := r.finishForgetting(ctx)
		if ctx.Err() != nil {
			return Report{}, interruption(ctx)
		}
		if err != nil {
			return Report{}, err
		}
	}
	if err := r.chooseModels(ctx); err != nil {
		return Report{}, err
	}
	err := r.steps(ctx)
	if err == nil && r.report.has(OutcomePublished) {
		r.keepBackup(ctx, false)
	}
	if err == nil && !r.opts.DryRun {
		r.file(ctx)
		r.index(ctx)
	} else if errors.Is(ctx.Err(), context.DeadlineExceeded) { // for the fallbacks of sessions that timed out
		within, cancel := lasting(ctx, endWithin)
		r.file(within)
		cancel()
	}
	if r.report.Stopped = r.meter.stop(); r.report.Stopped != nil {
		r.warn("stopped by a limit: "+r.report.Stopped.Reason, r.report.Stopped.hint())
	}
	if unserved := r.endUnserved(); err == nil {
		err = unserved
	}
	r.report.Usage, _ = r.meter.settled(ctx) // an unreadable ledger has already failed the run
	r.report.DurationMS = time.Since(r.began).Milliseconds()
	if ctx.Err() != nil {
		err = interruption(ctx)
	}
	return r.report, err
}

// file updates journals and histories. After an error a later run writes the rest.
func (r *run) file(ctx context.Context) {
	b := entry.Book{Store: r.store, Home: r.opts.Home, Redact: r.redact}
	if err := errors.Join(b.File(ctx, 0), b.FileHistory(ctx), r.pruneConversations(ctx)); err != nil && ctx.Err() == nil {
		r.warn("cannot update journals and histories: "+err.Error(), memoir.HintOf(err))
	}
}

// index updates the search index. After an error a later run does.
func (r *run) index(ctx context.Context) {
	if err := search.Update(ctx, r.store, r.opts.Home, r.clean, false); err != nil && ctx.Err() == nil {
		r.warn("cannot update the search index: "+err.Error(), memoir.HintOf(err))
	}
}

// interruption returns the error of a run whose context has ended.
func interruption(ctx context.Context) error {
	const hint = "`memoir run` continues: finished work is kept"
	cause := context.Cause(ctx)
	if memoir.CodeOf(cause) == memoir.CodeInterrupted { // its text says so
		return memoir.Errorf(memoir.CodeInterrupted, hint, "%w", cause)
	}
	return memoir.Errorf(memoir.CodeInterrupted, hint, "interrupted: %w", cause)
}

// Scan refreshes the registry and every session's reason, and does nothing else.
func Scan(ctx context.Context, st *store.Store, opts Options) (Report, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return Report{}, err
	}
	err = r.scan(ctx)
	r.report.DurationMS = time.Since(r.began).Milliseconds()
	return r.report, err
}

func newRun(st *store.Store, opts Options) (*run, error) {
	r := &run{
		store:    st,
		opts:     opts,
		holder:   lease.Self(),
		log:      opts.Log,
		began:    time.Now(),
		id:       lease.NewToken(),
		heads:    map[string]seenHead{},
		failures: map[string]bool{},
		off:      map[string]bool{},
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.extractor, r.consolidator = extract.NewBuiltin(), consolidate.NewBuiltin()
	r.report = Report{Phase2: []ProjectReport{}, Redactions: map[string]int{}}
	r.report.Scan.Reasons = map[memoir.Reason]int{}
	var err error
	if r.scanner, err = secrets.New(secrets.Options{ConfigPath: config.RulesFile(opts.ConfigDir)}); err != nil {
		return nil, err
	}
	if r.trusted, err = config.LoadTrust(opts.Home); err != nil {
		return nil, err
	}
	r.meter = newMeter(r)
	return r, nil
}

func (r *run) steps(ctx context.Context) error {
	if err := r.scan(ctx); err != nil {
		return err
	}
	if err := r.adopt(ctx); err != nil {
		return err
	}
	if name := Unpriced(r.opts.Settings); name != "" {
		r.warn("a cost limit may not hold: the price of "+name+" is not known",
			"set the provider's inputPrice and outputPrice, or use limits.tokensPerRun and limits.tokensPerDay")
	}
	if r.opts.DryRun {
		return r.plan(ctx)
	}
	total := min(r.report.Scan.Reasons[memoir.ReasonEligible], r.opts.Limit)
	if total > 0 {
		r.recordBegin(ctx)
	}
	err := (&phase1{run: r, total: total}).all(ctx)
	if err != nil {
		return err
	}
	reasons, err := r.store.RefreshReasons(ctx, r.window())
	if err != nil {
		return err
	}
	if r.meter.stop() != nil || r.unserved(r.extractor.Name()) != nil ||
		r.capLeft() == 0 { // otherwise other processes have claimed the eligible ones
		r.report.Left = reasons[memoir.ReasonEligible] + reasons[memoir.ReasonOverCap]
	}
	if err := r.adoptJournals(ctx); err != nil {
		return fmt.Errorf("take in journals: %w", err)
	}
	return (&phase2{run: r}).all(ctx)
}

// selected reports whether the run's restrictions include a project.
func (r *run) selected(projectID string) bool {
	return len(r.opts.ProjectIDs) == 0 || slices.Contains(r.opts.ProjectIDs, projectID)
}

// now is the run's clock for eligibility and written dates.
func (r *run) now() time.Time {
	if !r.opts.Now.IsZero() {
		return r.opts.Now
	}
	return r.began
}

// recordBegin records the start of the run once there is work. A failure is only logged: a fault of the
// database will fail the run itself.
func (r *run) recordBegin(ctx context.Context) {
	if r.opts.DryRun || r.recorded {
		return
	}
	r.recorded = true
	if err := r.store.BeginRun(ctx, r.id, r.holder); err != nil {
		r.log.Warn("cannot record the start of the run", "error", err)
	}
}

// recordEnd records how the run ended.
func (r *run) recordEnd(ctx context.Context, err error) {
	if r.opts.DryRun {
		return
	}
	end := r.end(err)
	if !r.recorded && end.Outcome == store.RunDone && r.endedWell(ctx) {
		return // it had nothing to do, and changes no byte
	}
	r.recordBegin(ctx)
	end.Reason, end.Hint = r.redact(end.Reason), r.redact(end.Hint)
	if err := r.store.EndRun(ctx, r.id, end); err != nil {
		r.log.Warn("cannot record the end of the run", "error", err)
	}
}

// endedWell reports whether the run before this one is recorded as done.
func (r *run) endedWell(ctx context.Context) bool {
	runs, err := r.store.Runs(ctx)
	return err == nil && len(runs) > 0 && runs[0].Outcome == store.RunDone
}

// end returns how the run ended, and why it is incomplete.
func (r *run) end(err error) store.RunEnd {
	rep := r.report
	end := store.RunEnd{Outcome: store.RunDone}
	switch {
	case memoir.CodeOf(err) == memoir.CodeInterrupted,
		errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		end.Outcome, end.Reason, end.Hint = store.RunInterrupted, err.Error(), memoir.HintOf(err)
	case err != nil:
		end.Outcome, end.Reason, end.Hint = store.RunFailed, err.Error(), hintOf(err)
	case rep.Partly():
		end.Outcome = store.RunPartly
		end.Reason, end.Hint = rep.problem()
	case rep.Busy():
		end.Outcome = store.RunBusy
		for _, p := range rep.Phase2 {
			if p.Outcome == OutcomeBusy {
				end.Reason = cmp.Or(end.Reason, p.Name+": busy: "+p.Detail)
			}
		}
	}
	return end
}
