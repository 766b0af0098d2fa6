// Package pipeline makes one run: it scans the agents' sessions into the registry, extracts from the eligible
// ones with bounded concurrency (Phase 1), and consolidates every project that is due under its lease and
// publishes the result (Phase 2). It knows the order of the steps and what may fail between them, but
// no flags, terminal or exit codes. Read run.go first, then scan.go, phase1.go and phase2.go.
//
// A call goes downwards. plan.go and run.go stand on top. Below them are redaction.go, forgetter.go and stored.go, then
// patch.go, restore.go, recap.go, say.go and adopt.go, then phase2.go, generate.go and publish.go, then phase1.go, then
// scan.go, then phases.go and what all share.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"memoir"
	"memoir/entry"
	"memoir/store"
	"memoir/team"
)

// Run scans, extracts and consolidates. It also returns a report if it fails or is interrupted; claims are
// then released.
func Run(ctx context.Context, st *store.Store, opts Options) (Report, error) {
	r, err := newPhases(st, opts)
	if err != nil {
		return Report{}, err
	}
	report, err := r.whole(ctx)
	r.recordEnd(ctx, err)
	return report, err
}

// whole is Run without recording the end of the run.
func (p *phases) whole(ctx context.Context) (Report, error) {
	// Forgetting needs no model, so it comes before the choice of models, which may fail.
	if !p.opts.DryRun && (&forgetter{p}).finishForgetting(ctx) != nil {
		return Report{}, interruption(ctx)
	}
	if err := p.chooseModels(ctx); err != nil {
		return Report{}, err
	}
	err := p.steps(ctx)
	if err == nil && !p.opts.DryRun {
		err = p.syncTeam(ctx)
	}
	if err == nil && p.report.has(OutcomePublished) {
		p.keepBackup(ctx, false)
	}
	if err == nil && !p.opts.DryRun {
		p.file(ctx)
		p.index(ctx)
		err = p.store.PruneSaid(ctx)
	} else if errors.Is(ctx.Err(), context.DeadlineExceeded) { // for the fallbacks of sessions that timed out
		within, cancel := lasting(ctx, endWithin)
		p.file(within)
		cancel()
	}
	if p.report.Stopped = p.meter.stop(); p.report.Stopped != nil {
		p.warn("stopped by a limit: "+p.report.Stopped.Reason, p.report.Stopped.hint())
	}
	if unserved := p.endUnserved(); err == nil {
		err = unserved
	}
	p.report.Usage, _ = p.meter.settled(ctx) // an unreadable ledger has already failed the run
	p.report.DurationMS = time.Since(p.began).Milliseconds()
	if ctx.Err() != nil {
		err = interruption(ctx)
	}
	return p.report, err
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
func Scan(ctx context.Context, st *store.Store, opts Options) error {
	r, err := newRun(st, opts)
	if err != nil {
		return err
	}
	return newScan(r).refresh(ctx)
}

func (p *phases) steps(ctx context.Context) error {
	scan := newScan(p.run)
	if err := scan.refresh(ctx); err != nil {
		return err
	}
	if err := scan.adopt(ctx); err != nil {
		return err
	}
	if name := Unpriced(p.opts.Settings); name != "" {
		p.warn("a cost limit may not hold: the price of "+name+" is not known",
			"set the provider's inputPrice and outputPrice, or use limits.tokensPerRun and limits.tokensPerDay")
	}
	if p.opts.DryRun {
		return p.plan(ctx)
	}
	total := min(p.report.Scan.Reasons[memoir.ReasonEligible]+p.report.Scan.Reasons[memoir.ReasonOutdated], p.opts.Limit)
	if total > 0 {
		p.recordBegin(ctx)
	}
	one := &phase1{phases: p, heads: &scan.heads, total: total, failures: map[string]bool{}}
	if err := one.extractAll(ctx); err != nil {
		return err
	}
	if err := scan.takeIn(ctx, p.opts.Only, nil); err != nil {
		return err
	}
	reasons, err := p.store.RefreshReasons(ctx, p.window())
	if err != nil {
		return err
	}
	if p.meter.stop() != nil || p.meter.unserved(p.extractor.Name()) != nil ||
		one.capLeft() == 0 { // otherwise other processes have claimed the eligible ones
		p.report.Left = reasons[memoir.ReasonEligible] + reasons[memoir.ReasonOutdated] + reasons[memoir.ReasonOverCap]
	}
	if err := p.adoptJournals(ctx); err != nil {
		return fmt.Errorf("take in journals: %w", err)
	}
	if err := p.fromRepositories(ctx); err != nil {
		return err
	}
	return (&phase2{phases: p}).consolidateAll(ctx)
}

// syncTeam sends and receives what is shared, if the home has joined a hub, and takes in what arrived. A failure is a
// warning: offline is normal.
func (p *phases) syncTeam(ctx context.Context) error {
	most := 15 * time.Minute
	if end, limited := ctx.Deadline(); limited { // a hub that hangs must not use up the run's time
		most = time.Until(end) / 2
	}
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	report, err := team.Sync(within, p.team(), team.Push|team.Pull)
	p.report.Edits = report.Edits
	if errors.Is(err, team.ErrNone) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		p.warn("the team's memory is not synchronised: "+p.redact(err.Error()), memoir.HintOf(err))
	}
	if report.Forgets {
		if err := (&forgetter{p}).finishForgetting(ctx); err != nil {
			return err
		}
	}
	if len(report.Projects) == 0 {
		return nil
	}
	return (&phase2{phases: p}).consolidateAll(ctx)
}

// reportProject adds what became of a project. It replaces what the run reported of it before, but a generation that
// was published stays one, also if nothing changed afterwards.
func (p *phases) reportProject(r ProjectReport) {
	i := slices.IndexFunc(p.report.Phase2, func(before ProjectReport) bool { return before.Project == r.Project })
	if i < 0 {
		p.report.Phase2 = append(p.report.Phase2, r)
		return
	}
	before := p.report.Phase2[i]
	if before.Outcome == OutcomePublished && (r.Outcome == OutcomeUnchanged || r.Outcome == OutcomeEmpty) {
		r.Outcome, r.Detail = OutcomePublished, before.Detail
	}
	r.ByHand = append(before.ByHand, r.ByHand...)
	p.report.Phase2[i] = r
}

func (r *run) team() team.Options {
	return team.Options{Home: r.opts.Home, UserHome: r.opts.Env.Home, Store: r.store, Scanner: r.scanner,
		Settings: r.settingsOf, Background: r.opts.Background}
}

// Team calls do with what sharing needs. Then it finishes the forgetting that this began, also if it failed.
func Team(ctx context.Context, st *store.Store, opts Options, do func(team.Options) error) error {
	p, err := newPhases(st, opts)
	if err != nil {
		return err
	}
	err = do(p.team())
	return errors.Join(err, (&forgetter{p}).finishForgetting(ctx))
}

// fromRepositories takes in the team memories of trusted repositories, and removes what was withdrawn at once. A
// repository that cannot be read is a warning.
func (p *phases) fromRepositories(ctx context.Context) error {
	projects, err := p.store.Projects(ctx)
	if err != nil {
		return err
	}
	gone := false
	for _, row := range projects {
		settings, off := p.settingsOf(row.Project)
		if off != nil || settings.Off || !p.selected(row.ID) || slices.ContainsFunc(row.Directories, settings.Excluded) {
			continue
		}
		withdrawn, err := team.FromRepository(ctx, p.store, p.opts.Home, row.Project, p.trusted, p.scanner, p.now())
		if gone = gone || withdrawn; err != nil && ctx.Err() == nil {
			p.warn(row.Name+": "+p.redact(err.Error()), memoir.HintOf(err))
		}
	}
	if gone {
		return (&forgetter{p}).finishForgetting(ctx)
	}
	return context.Cause(ctx)
}

// recordEnd records how the run ended.
func (p *phases) recordEnd(ctx context.Context, err error) {
	if p.opts.DryRun {
		return
	}
	end := p.runEnd(err)
	if last, err := p.store.LastRun(ctx); !p.recorded && end.Outcome == store.RunDone && err == nil &&
		last.Outcome == store.RunDone {
		return // it had nothing to do, and changes no byte
	}
	p.recordBegin(ctx)
	end.Reason, end.Hint = p.redact(end.Reason), p.redact(end.Hint)
	_ = p.store.EndRun(ctx, p.id, end) // a run without an end counts as running or dead
}

// runEnd returns how the run ended, and why it is incomplete.
func (p *phases) runEnd(err error) store.RunEnd {
	rep := p.report
	end := store.RunEnd{Outcome: store.RunDone, Reason: rep.Grounding.Unsupported()}
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
		for _, project := range rep.Phase2 {
			if project.Outcome == OutcomeBusy {
				end.Reason = cmp.Or(end.Reason, project.Name+": busy: "+project.Detail)
			}
		}
	}
	return end
}
