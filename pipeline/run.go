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
	"time"

	"memoir"
	"memoir/entry"
	"memoir/store"
)

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
