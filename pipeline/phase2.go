package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// phase2 consolidates every project that is due, several at a time. A project that fails or is busy does not
// stop the others. Reports are in the order of the projects.
type phase2 struct {
	*phases
	projects []store.ProjectRow // that are due
	reports  []ProjectReport    // of each
	done     atomic.Int64
}

// consolidateAll consolidates projects without crashes first. Then it consolidates, one at a time, those that crashed,
// the fewest crashes first, and tries busy ones again, since processes that share a backlog block each
// other for short times only.
func (p *phase2) consolidateAll(ctx context.Context) error {
	if err := p.markUserDue(ctx); err != nil {
		return err
	}
	projects, err := p.selectedProjects(ctx)
	if err != nil {
		return err
	}
	if err := p.tidy(ctx, projects); err != nil {
		return err
	}
	p.projects = slices.DeleteFunc(projects, func(row store.ProjectRow) bool { return !row.Due })
	p.reports = make([]ProjectReport, len(p.projects))
	if len(p.projects) > 0 {
		p.recordBegin(ctx)
		p.progress(Progress{Stage: StageConsolidate, Total: len(p.projects)})
	}
	var group errgroup.Group
	group.SetLimit(max(1, p.opts.Settings.Memories.Concurrency))
	for i := range p.projects {
		if p.ended(ctx) {
			break
		}
		if !p.keptBack(ctx, i) {
			group.Go(func() error {
				p.consolidate(ctx, i, false)
				return nil
			})
		}
	}
	_ = group.Wait() // no goroutine returns an error

	suspects := p.having(outcomeSuspect)
	slices.SortStableFunc(suspects, func(a, b int) int { return cmp.Compare(p.reports[a].crashes, p.reports[b].crashes) })
	for _, i := range append(suspects, p.having(OutcomeBusy)...) {
		if p.ended(ctx) {
			break
		}
		if !p.keptBack(ctx, i) {
			p.consolidate(ctx, i, true)
		}
	}
	for _, r := range p.reports {
		if r.Outcome != outcomeSuspect && r.Outcome != "" { // else nothing was to be done
			p.reportProject(r)
		}
	}
	return cmp.Or(context.Cause(ctx), p.faulty())
}

// Projects lists all projects. A project whose memory a person edited is due, too.
func Projects(ctx context.Context, st *store.Store, home string) ([]store.ProjectRow, error) {
	projects, err := st.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for i, row := range projects {
		projects[i].Due = row.Due || row.Generation > 0 && memory.At(home, row.ID).Edited()
	}
	return projects, nil
}

// selectedProjects lists the projects that the run consolidates if they are due, and records those that are due
// because of an edit, also of the project's own files.
func (p *phases) selectedProjects(ctx context.Context) ([]store.ProjectRow, error) {
	projects, err := Projects(ctx, p.store, p.opts.Home)
	projects = slices.DeleteFunc(projects, func(row store.ProjectRow) bool { return !p.selected(row.ID) })
	for i, row := range projects {
		row.Due = row.Due || retold(p.opts.Home, row)
		projects[i] = row
		if row.Due && row.ChangeSeq <= row.ConsumedSeq && !p.opts.DryRun {
			err = cmp.Or(err, p.store.Edited(ctx, row.ID))
		}
	}
	return projects, err
}

// ended reports whether the run must not begin another project.
func (p *phase2) ended(ctx context.Context) bool { return ctx.Err() != nil || p.faulty() != nil }

// having lists the projects with an outcome.
func (p *phase2) having(outcome Outcome) []int {
	var out []int
	for i, report := range p.reports {
		if report.Outcome == outcome {
			out = append(out, i)
		}
	}
	return out
}

// keptBack reports whether a project must not be consolidated now, and records why: its own file switches
// memory off, a limit is reached, or its model is out of service.
func (p *phase2) keptBack(ctx context.Context, i int) bool {
	project := p.projects[i]
	report, metered := reportOf(project), p.meter.named(p.consolidatorOf(project.ID).Name()) != nil
	if settings, err := p.settingsOf(project.Project); err == nil && settings.Off {
		report.Outcome, report.Detail = OutcomeOff, "the project's "+config.ProjectFileName+" has memories.enabled: false"
	} else if stop := p.meter.stop(); stop != nil && metered {
		report.Outcome, report.Detail = OutcomeStopped, stop.Reason
	} else if out := p.meter.unserved(p.consolidatorOf(project.ID).Name()); out != nil {
		report.Outcome, report.Detail = OutcomeStopped, out.Reason
	} else {
		return false
	}
	p.reports[i] = p.withdrawOnly(ctx, project, report)
	return true
}

func reportOf(project store.ProjectRow) ProjectReport {
	return ProjectReport{Project: project.ID, Name: project.Name, Generation: int(project.Generation)}
}

// consolidate consolidates one project. A crashed one only gets outcomeSuspect, unless suspect is set.
func (p *phase2) consolidate(ctx context.Context, i int, suspect bool) {
	project := p.projects[i]
	consolidating := func(what string) {
		p.progress(Progress{Stage: StageConsolidate, Done: int(p.done.Load()), Total: len(p.projects), What: what,
			Spent: p.meter.spent(ctx)})
	}
	consolidating(project.ID)
	var report ProjectReport
	err := untilFree(ctx, p.opts.Wait, func() (err error) {
		if report, err = p.claim(ctx, project, suspect); err == nil && report.Outcome == OutcomeBusy {
			err = memoir.Errorf(memoir.CodeBusy, "", "project %s is busy", project.ID)
		}
		return err
	})
	if err != nil && (report.Outcome != OutcomeBusy || ctx.Err() != nil) {
		report = p.failedProject(ctx, project, report, err)
	}
	p.reports[i] = report
	if report.Outcome != OutcomeBusy && report.Outcome != outcomeSuspect {
		p.done.Add(1)
		consolidating("")
	}
}

// failedProject reports what went wrong with a project.
func (p *phase2) failedProject(
	ctx context.Context, project store.ProjectRow, report ProjectReport, err error,
) ProjectReport {
	report.Outcome, report.Detail = OutcomeFailed, cmp.Or(report.Detail, p.redact(err.Error()))
	switch {
	case ctx.Err() != nil, isRefused(err):
		report.Outcome = OutcomeStopped
	case coded(err, memoir.CodeCorrupt):
		p.fail(err)
	default:
		p.warn(fmt.Sprintf("project %s: %s", project.Name, report.Detail), hintOf(err))
	}
	return report
}

// claim claims a project and consolidates it. A report without an outcome means that nothing was to be done.
func (p *phase2) claim(ctx context.Context, project store.ProjectRow, suspect bool) (ProjectReport, error) {
	report := reportOf(project)

	// While another process extracts from sessions of this project, a generation would be out of date at
	// once. That process consolidates afterwards: the last one to finish finds no other at work.
	others, err := p.store.Outstanding(ctx, project.ID, p.holder)
	if err != nil {
		return report, err
	}
	if others > 0 {
		report.Outcome = OutcomeBusy
		report.Detail = fmt.Sprintf("another process is extracting from %d of its sessions and consolidates after that",
			others)
		return report, nil
	}

	attempt := time.Now()
	claim, ok, err := p.store.ClaimProject(ctx, project.ID,
		store.ProjectClaimOptions{Holder: p.holder, Lease: p.phase2Lease(), NoSuspects: !suspect})
	switch {
	case memoir.CodeOf(err) == memoir.CodeBusy:
		report.Outcome, report.Detail = OutcomeBusy, err.Error()
		return report, nil
	case memoir.CodeOf(err) == memoir.CodeNotFound: // merged or forgotten meanwhile
		return report, nil
	case err != nil:
		return report, err
	case !ok && claim.Declined == store.DeclinedSuspect:
		report.Outcome, report.crashes = outcomeSuspect, claim.Crashes
		return report, nil
	case !ok:
		return p.withdrawOnly(ctx, project, declined(report, claim)), nil
	}
	return p.consolidateClaimed(ctx, project, claim, attempt, report)
}

// declined reports why a project was not claimed although no process works on it.
func declined(report ProjectReport, claim store.ProjectClaim) ProjectReport {
	switch claim.Declined {
	case store.DeclinedBackoff:
		report.Outcome = OutcomeBackoff
		report.Detail = fmt.Sprintf("failed before (%s); next attempt at %s", claim.LastError,
			claim.RetryAt.Local().Format("2006-01-02 15:04 MST"))
	case store.DeclinedDead:
		report.Outcome = OutcomeBackoff
		report.Detail = fmt.Sprintf("failed too often (%s); `memoir retry %s` tries again", claim.LastError, report.Project)
	}
	return report
}

// tidy recovers the memories of projects that are not due and that a killed process was changing, for instance
// by Restore or Forget. Those of due projects are recovered when they are consolidated.
func (p *phase2) tidy(ctx context.Context, projects []store.ProjectRow) error {
	abandoned, err := p.store.AbandonedProjects(ctx)
	if err != nil {
		return err
	}
	for _, row := range projects {
		disturbed, err := memory.At(p.opts.Home, row.ID).Disturbed(int(row.Generation))
		if row.Due || err != nil || !disturbed && !slices.Contains(abandoned, row.ID) {
			continue // commands that read the memory report err
		}
		err = p.holding(ctx, row.Project, 0, func(ctx context.Context, c *consolidation) error {
			if err := c.recoverRoot(ctx); err != nil {
				p.warn(fmt.Sprintf("project %s: %s", row.Name, p.redact(err.Error())), memoir.HintOf(err))
			}
			return nil
		})
		// A project that is busy or gone needs no recovery here.
		if code := memoir.CodeOf(err); err != nil && code != memoir.CodeBusy && code != memoir.CodeNotFound {
			return err
		}
	}
	return nil
}

// withdrawOnly removes withdrawn sessions from the memory of a project that is not consolidated now, because
// it is in backoff or its model must not be called. This needs no model.
func (p *phase2) withdrawOnly(ctx context.Context, project store.ProjectRow, report ProjectReport) ProjectReport {
	if p.consolidatorOf(project.ID).Name() == consolidate.BuiltinName || project.Generation == 0 || report.Outcome == "" ||
		ctx.Err() != nil {
		return report
	}
	err := p.holding(ctx, project.Project, 0, func(ctx context.Context, c *consolidation) error {
		err := c.prune(ctx)
		if c.report.Outcome == OutcomePublished {
			report.Generation, report.ByHand, report.Root = c.report.Generation, c.report.ByHand, c.report.Root
		}
		return err
	})
	if code := memoir.CodeOf(err); err != nil && code != memoir.CodeBusy && code != memoir.CodeLeaseLost {
		p.warn(fmt.Sprintf("project %s: withdrawn lines are not removed yet: %v", project.Name, err), memoir.HintOf(err))
	}
	return report
}

// consolidateClaimed makes and publishes the generations of a claimed project. With a language model, the
// first one removes withdrawn sessions without a call; then each call of the model gives one.
func (p *phase2) consolidateClaimed(
	ctx context.Context,
	project store.ProjectRow,
	claim store.ProjectClaim,
	attempt time.Time,
	report ProjectReport,
) (ProjectReport, error) {
	held, release := p.keep(ctx, "project "+project.Name, claim, p.phase2Lease(), attempt)
	defer release()
	held = forWork(held, store.Call{Work: claim.Token, Phase: phaseConsolidate, ProjectID: project.ID})
	c := p.workOn(project.Project, &claim)
	c.report = report
	err := c.generations(held)
	switch {
	case err == nil:
		p.endWork(ctx, claim.Token, project.ID, string(c.report.Outcome))
		return c.report, nil
	case memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost, memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.endWork(ctx, claim.Token, project.ID, store.OutcomeLost)
		c.report.Outcome, c.report.Detail = OutcomeBusy, "another process took over its lease"
		return c.report, nil
	}
	return p.endFailed(ctx, c, err)
}

// endFailed ends the claim of a project whose work failed, by the cause of the failure.
func (p *phase2) endFailed(ctx context.Context, c *consolidation, err error) (ProjectReport, error) {
	release := func(outcome string, err error) error { // no attempt is counted
		err = errors.Join(err, p.store.Release(ctx, *c.claim))
		p.endWork(ctx, c.claim.Token, c.project.ID, outcome)
		return err
	}
	switch {
	case memoir.CodeOf(err) == memoir.CodeChanged && ctx.Err() == nil: // not the project's fault
		c.report.Outcome, c.report.Detail = OutcomeEdited, p.redact(err.Error())
		p.warn(
			fmt.Sprintf("project %s: its files kept changing, so nothing was published", c.project.Name),
			memoir.HintOf(err),
		)
		return c.report, release(store.OutcomeInterrupted, nil)
	case ctx.Err() != nil:
		return c.report, release(store.OutcomeInterrupted, err)
	}
	verdict := p.judge(c.consolidator.Name(), err)
	if verdict == returned {
		return c.report, release(outcomeOf(err), err)
	}
	failure := p.failureOf(c.consolidator.Name(), err, verdict == postponed)
	_, failed := p.store.Fail(context.WithoutCancel(ctx), *c.claim, failure,
		p.retryPolicy(p.opts.Settings.Memories.Phase2RetryDelaySeconds))
	if failed != nil {
		p.endWork(ctx, c.claim.Token, c.project.ID, store.OutcomeLost)
		return c.report, errors.Join(err, failed)
	}
	c.report.Detail = failure.Message
	return c.report, err
}
