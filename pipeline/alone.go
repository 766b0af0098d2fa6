package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"memoir"
	"memoir/isolate"
	"memoir/store"
)

// workAlone has a process of its own extract from a session that a process died over.
// The claim stays ours: we keep its lease, and see how the process ends.
func (r *run) workAlone(ctx context.Context, claim store.Claim, attempt time.Time) {
	held, release := r.keepSession(ctx, claim, attempt)
	defer release()
	stop := during(func(since time.Duration) { r.extractingAlone(claim.Session.ID, since) })
	defer stop()

	key, what := claim.Session.Key(), "session "+claim.Session.ID
	o, err := r.isolate(held, task{Session: &claim, Elapsed: time.Since(attempt)}, claim.Token)
	var died *isolate.Death
	lost := memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost
	switch {
	case err == nil && o.Interrupted && ctx.Err() == nil && !lost:
		r.spare(key)
		r.warn(what+": "+isolate.ErrInterrupted.Error()+", so it is left for the next run", "")
	case err == nil && o.Interrupted && ctx.Err() == nil:
		r.warn(what+": its lease was lost; another run has it", "")
	case err == nil:
		r.finished()
	case ctx.Err() != nil:
		r.giveBack(ctx, claim, extracted{}, store.OutcomeInterrupted)
	case lost:
		r.lost(ctx, claim, extracted{})
	case errors.As(err, &died):
		r.crashed(ctx, claim, died)
	default:
		r.spare(key)
		r.giveBack(ctx, claim, extracted{}, store.OutcomeInterrupted)
		if !errors.Is(err, isolate.ErrInterrupted) {
			r.count(func(p *Phase1Report) { p.Unstarted++ })
			r.mu.Lock()
			r.unstartable = true // nor for the others
			r.mu.Unlock()
		}
		r.warn(what+" is left for the next run: "+r.redact(err.Error()), cmp.Or(memoir.HintOf(err), aloneHint))
	}
}

const aloneHint = "a process died over it before, so it is worked on in a process of its own"

// crashed records that a session killed the process that was there for it alone.
func (r *run) crashed(ctx context.Context, claim store.Claim, died *isolate.Death) {
	message := r.obituary(died)
	err := r.store.CrashClaim(context.WithoutCancel(ctx), claim, message)
	if memoir.CodeOf(err) == memoir.CodeLeaseLost {
		r.lost(ctx, claim, extracted{})
		return
	}
	r.spare(claim.Session.Key())
	r.count(func(p *Phase1Report) { p.Claimed++; p.Failed++; p.Crashed++ })
	r.warnCrash("session "+claim.Session.ID, claim.Session.ID, message, claim.Crashes+1)
	if err != nil {
		r.fail(err)
	}
	r.finished()
}

// obituary says how a process died.
func (r *run) obituary(died *isolate.Death) string {
	return r.redact("its process died: " + died.Error())
}

func (r *run) warnCrash(what, ref, message string, crashes int) {
	hint := "it is tried again by the next run, after all others and alone"
	if crashes >= store.MaxCrashes {
		hint = "it is given up until it changes; memoir retry " + ref + " tries it again"
	}
	r.warn(fmt.Sprintf("%s: %s (crash %d of %d)", what, message, crashes, store.MaxCrashes), hint)
}

// consolidateAlone is consolidateClaimed in a process of its own.
func (r *run) consolidateAlone(ctx context.Context, project store.ProjectRow, claim store.ProjectClaim, attempt time.Time, report ProjectReport) (ProjectReport, error) {
	held, release := r.keepProject(ctx, project, claim, attempt)
	defer release()
	o, err := r.isolate(held, task{Project: &project, Claim: &claim, Report: report, Elapsed: time.Since(attempt)}, claim.Token)
	after := context.WithoutCancel(ctx)
	var died *isolate.Death
	switch {
	case err == nil:
		return o.Project, nil
	case ctx.Err() == nil && memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost:
		report.Outcome, report.Detail = OutcomeBusy, "its lease was lost to another process"
		return report, nil
	case ctx.Err() == nil && errors.As(err, &died):
		message := r.obituary(died)
		report.Outcome, report.Detail = OutcomeFailed, message
		err := r.store.CrashProject(after, claim, message)
		r.warnCrash("project "+project.Name, project.ID, message, claim.Crashes+1)
		return report, err
	}
	if back := r.store.GiveBackProject(after, claim); back != nil {
		return report, errors.Join(err, back)
	}
	if ctx.Err() == nil && !errors.Is(err, isolate.ErrInterrupted) {
		err = memoir.Errorf(memoir.CodeOf(err), cmp.Or(memoir.HintOf(err), aloneHint), "it is left for the next run: %w", err)
	}
	return report, err
}

// isolate has a process of its own do a task under a claim's token, and makes what it
// did a part of this run.
func (r *run) isolate(ctx context.Context, t task, token string) (outcome, error) {
	own := r.budgetOf(ctx, t.projectID())
	t.Version, t.Run, t.Holder, t.Began, t.Keys, t.Health = r.opts.Version, r.id, r.holder, r.began, r.secretKeys, r.meter.healthStates()
	t.Spent, t.Own = r.meter.carried(own)
	var o outcome
	given, err := isolate.Encode(t)
	if err != nil {
		return o, &isolate.Unstarted{Err: err}
	}
	answer, err := r.opts.Isolate.Run(ctx, given)
	if err == nil {
		if err = isolate.Decode(answer, &o); err != nil {
			err = fmt.Errorf("read what a process of its own did: %w", err)
		}
	}
	if err != nil { // the ledger has what it spent all the same
		within, cancel := lasting(ctx, endWithin)
		defer cancel()
		o.Report.Usage, _ = r.store.SpentFor(within, token)
	}
	r.absorb(o, own)
	return o, err
}

// absorb makes what a process of its own did a part of this run.
func (r *run) absorb(o outcome, own *budget) {
	r.meter.land(memoir.Usage{}, o.Report.Usage, own)
	r.meter.setHealth(o.Health)
	r.meter.mu.Lock()
	if r.meter.stopped == nil {
		r.meter.stopped = o.Stopped
	}
	if own != nil && own.stopped == nil {
		own.stopped = o.OwnStopped
	}
	r.meter.mu.Unlock()
	r.addUsage(o.Report.Usage)
	r.addRedactions(o.Report.Redactions)
	r.count(func(p *Phase1Report) { p.add(o.Report.Phase1) })
	if g := o.Report.Grounding; g != nil {
		r.ground(func(all *Grounding) { all.add(*g) })
	}
	for key, e := range o.Excess {
		r.setAside(key, e.excess())
	}
	for _, w := range o.Report.Warnings {
		if !r.said(w) {
			r.warn(w.Message, w.Hint)
		}
	}
	if o.Fault != nil {
		r.fail(o.Fault.err())
	}
}

// said reports whether a warning was given before.
func (r *run) said(w Warning) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.report.Warnings, w)
}

// spare leaves a session for the next run.
func (r *run) spare(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spared[key] = true
}

func (r *run) isUnstartable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unstartable
}

// extractingAlone is extracting of a session in a process of its own.
func (r *run) extractingAlone(session string, since time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.report.Phase1
	done := p.Claimed + p.Unchanged
	r.send(Progress{Stage: StageExtract, Done: done, Total: max(r.total, done), What: session, Since: since, Alone: true})
}
