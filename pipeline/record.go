package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"memoir"
	"memoir/store"
)

// recordBegin notes, once there is something to do, that the run began. That it cannot be
// noted is no fault: what ails the database is met by the run itself.
func (r *run) recordBegin(ctx context.Context) {
	if r.opts.DryRun || r.recorded {
		return
	}
	r.recorded = true
	if err := r.store.BeginRun(ctx, r.id, r.holder); err != nil {
		r.log.Warn("the run is not noted", "error", err)
	}
}

// recordEnd notes how it ended, for those who look later.
func (r *run) recordEnd(ctx context.Context, err error) {
	if r.opts.DryRun {
		return
	}
	end := r.end(err)
	if !r.recorded && end.Outcome == store.RunDone && r.endedWell(ctx) {
		return // it had nothing to do, and changes no byte
	}
	r.recordBegin(ctx)
	if end.Outcome == store.RunFailed && ctx.Err() == nil { // what was given back was not counted
		if reasons, err := r.refreshReasons(ctx); err == nil {
			end.Left = reasons[memoir.ReasonEligible] + reasons[memoir.ReasonOverCap]
		}
	}
	end.Reason, end.Hint = r.redact(end.Reason), r.redact(end.Hint)
	if err := r.store.EndRun(ctx, r.id, end); err != nil {
		r.log.Warn("the run's end is not noted", "error", err)
	}
}

// endedWell reports whether nothing is known against the run before this one.
func (r *run) endedWell(ctx context.Context) bool {
	runs, err := r.store.Runs(ctx)
	return err == nil && len(runs) > 0 && runs[0].Outcome == store.RunDone
}

// end is how the run ended, and why it did not do all.
func (r *run) end(err error) store.RunEnd {
	rep := r.report
	end := store.RunEnd{Outcome: store.RunDone, Left: rep.Left}
	switch {
	case memoir.CodeOf(err) == memoir.CodeInterrupted, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		end.Outcome, end.Reason, end.Hint = store.RunInterrupted, err.Error(), memoir.HintOf(err)
	case err != nil:
		end.Outcome, end.Reason, end.Hint = store.RunFailed, err.Error(), hintOf(err)
	case rep.Partly():
		end.Outcome = store.RunPartly
		end.Reason, end.Hint = whyPartly(rep)
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

// whyPartly is the first thing that kept a run from doing all.
func whyPartly(rep Report) (reason, hint string) {
	switch {
	case rep.Stopped != nil:
		return "stopped by a limit: " + rep.Stopped.Reason, rep.Stopped.hint()
	case len(rep.StoppedProjects) > 0:
		return "stopped by a limit: " + rep.StoppedProjects[0].Reason, rep.StoppedProjects[0].hint()
	case len(rep.Unserved) > 0:
		return rep.Unserved[0].Reason, rep.Unserved[0].hint
	case len(rep.Misruled) > 0:
		return "project " + rep.Misruled[0].Project + " waits: " + rep.Misruled[0].Error, rep.Misruled[0].Hint
	case rep.Phase1.Failed+rep.Phase1.Postponed > 0:
		return fmt.Sprintf("%d of the sessions failed", rep.Phase1.Failed+rep.Phase1.Postponed), ""
	}
	for _, p := range rep.Phase2 {
		if p.Outcome == OutcomeFailed {
			return p.Name + ": " + p.Detail, ""
		}
	}
	return "", ""
}

// noteUnforgotten keeps why a project's memory could not be rid of what was forgotten.
// That another process holds it, or that it was interrupted, is no reason.
func (r *run) noteUnforgotten(ctx context.Context, projectID string, err error) {
	if code := memoir.CodeOf(err); code == memoir.CodeBusy || code == memoir.CodeLeaseLost || ctx.Err() != nil {
		return
	}
	if err := r.store.WithdrawalFailed(ctx, projectID, r.redact(err.Error())); err != nil {
		r.log.Warn("why a project could not forget is not noted", "error", err)
	}
}
