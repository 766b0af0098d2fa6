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
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// phase2 consolidates every project that is due, several at a time. A project that
// fails or is held by another process does not keep the others from their turn. What
// is reported comes in the order of the projects.
type phase2 struct {
	*run
	projects []store.ProjectRow // that are due
	reports  []ProjectReport    // of each
	done     atomic.Int64
}

// all works on the projects that nobody died over first, then on the others, those with
// the fewest crashes first and one at a time, and last again on those that were busy.
func (p *phase2) all(ctx context.Context) error {
	projects, others, err := p.dueProjects(ctx)
	if err != nil {
		return err
	}
	if err := p.tidy(ctx, others); err != nil {
		return err
	}
	p.projects, p.reports = projects, make([]ProjectReport, len(projects))
	if len(projects) > 0 {
		p.recordBegin(ctx)
		p.progress(Progress{Stage: StageConsolidate, Total: len(projects)})
	}
	var group errgroup.Group
	group.SetLimit(max(1, p.opts.Settings.Memories.Concurrency))
	for i := range projects {
		if p.ended(ctx) {
			break
		}
		if p.keptBack(ctx, i) {
			continue
		}
		group.Go(func() error {
			p.consolidate(ctx, i, false)
			return nil
		})
	}
	_ = group.Wait() // no goroutine returns an error

	suspects := p.having(outcomeSuspect)
	slices.SortStableFunc(
		suspects,
		func(a, b int) int { return cmp.Compare(p.reports[a].crashes, p.reports[b].crashes) },
	)
	for _, i := range suspects {
		p.reports[i] = ProjectReport{}
		if !p.ended(ctx) && !p.keptBack(ctx, i) {
			p.consolidate(ctx, i, true)
		}
	}
	busy := p.having(OutcomeBusy)
	for i, report := range p.reports {
		if !slices.Contains(busy, i) {
			p.reportProject(report)
		}
	}
	return p.again(ctx, busy)
}

// again works on projects that were busy. Processes that share a backlog are in each
// other's way for moments; what is still busy after all else is worth reporting.
func (p *phase2) again(ctx context.Context, busy []int) error {
	for _, i := range busy {
		if p.ended(ctx) {
			break
		}
		p.consolidate(ctx, i, false)
		if p.reports[i].Outcome == outcomeSuspect { // the other process died over it
			p.consolidate(ctx, i, true)
		}
		if p.reports[i].Outcome == "" {
			p.reports[i].Outcome, p.reports[i].Detail = OutcomeElsewhere, "another process consolidated it meanwhile"
		}
		p.reportProject(p.reports[i])
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.faulty()
}

// ended reports whether no more projects are to be worked on.
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

// keptBack reports whether a project must not be consolidated now, and says why: its
// rules for secrets are invalid, a limit is reached, or its model is out of service.
func (p *phase2) keptBack(ctx context.Context, i int) bool {
	project := p.projects[i]
	report, metered := reportOf(project), p.meter.named(p.consolidator.Name()) != nil
	if fault := p.obey(project.Project); fault != nil {
		p.misrule(project.ID, fault)
		report.Outcome, report.Detail = OutcomeFailed, p.redact(fault.Error())
	} else if stop := p.meter.stop(); stop != nil && metered {
		report.Outcome, report.Detail = OutcomeStopped, stop.Reason
	} else if out := p.unserved(p.consolidator.Name()); out != nil {
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

// consolidate works on one project. One that a process died over gets outcomeSuspect
// unless it is to be taken, too.
func (p *phase2) consolidate(ctx context.Context, i int, suspect bool) {
	project := p.projects[i]
	consolidating := func(what string, since time.Duration) {
		p.progress(
			Progress{
				Stage: StageConsolidate,
				Done:  int(p.done.Load()),
				Total: len(p.projects),
				What:  what,
				Since: since,
				Alone: suspect && what != "",
			},
		)
	}
	stop := during(func(since time.Duration) { consolidating(project.Name, since) })
	report, err := p.whenFree(ctx, project, suspect)
	if err != nil {
		report = p.failedProject(ctx, project, report, err)
	}
	stop()
	p.reports[i] = report
	if report.Outcome != OutcomeBusy && report.Outcome != outcomeSuspect {
		p.done.Add(1)
		consolidating("", 0)
	}
}

// failedProject reports what went wrong with a project.
func (p *phase2) failedProject(
	ctx context.Context,
	project store.ProjectRow,
	report ProjectReport,
	err error,
) ProjectReport {
	report.Outcome, report.Detail = OutcomeFailed, cmp.Or(report.Detail, p.redact(err.Error()))
	switch {
	case ctx.Err() != nil, limited(err), errors.Is(err, errUnserved):
		report.Outcome = OutcomeStopped
	case memoir.CodeOf(err) == memoir.CodeCorrupt:
		p.fail(err)
	case errors.As(err, &endsRun{}):
		p.fail(p.ofModel(err))
	default:
		p.warn(fmt.Sprintf("project %s: %s", project.Name, report.Detail), hintOf(err))
	}
	return report
}

// whenFree claims and consolidates a project, which it waits for as long as the run may.
func (p *phase2) whenFree(
	ctx context.Context, project store.ProjectRow, suspect bool,
) (report ProjectReport, err error) {
	waited := untilFree(ctx, p.opts.Wait, func() error {
		if report, err = p.claim(ctx, project, suspect); err == nil && report.Outcome == OutcomeBusy {
			return memoir.Errorf(memoir.CodeBusy, "", "project %s is busy", project.ID)
		}
		return nil
	})
	if ctx.Err() != nil {
		err = cmp.Or(err, waited)
	}
	return report, err
}

// claim claims a project and makes and publishes one generation. A report without an
// outcome says that there was nothing to do.
func (p *phase2) claim(ctx context.Context, project store.ProjectRow, suspect bool) (ProjectReport, error) {
	report := reportOf(project)

	// While another process still extracts for this project, consolidating would
	// give a generation that is out of date at once. That process consolidates
	// when it is done: whichever of the two finishes last sees nobody at work.
	others, err := p.store.Outstanding(ctx, project.ID, p.holder)
	if err != nil {
		return report, err
	}
	if others > 0 {
		report.Outcome = OutcomeBusy
		report.Detail = fmt.Sprintf(
			"another process is extracting from %d of its sessions and consolidates after that",
			others,
		)
		return report, nil
	}

	attempt := time.Now()
	claim, ok, err := p.store.ClaimProject(
		ctx,
		project.ID,
		store.ProjectClaimOptions{Holder: p.holder, Lease: p.phase2Lease(), NoSuspects: !suspect},
	)
	switch {
	case memoir.CodeOf(err) == memoir.CodeBusy:
		report.Outcome, report.Detail = OutcomeBusy, err.Error()
		return report, nil
	case memoir.CodeOf(err) == memoir.CodeNotFound: // merged into another, or forgotten, meanwhile
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

// declined says why a project was not claimed although nobody works on it.
func declined(report ProjectReport, claim store.ProjectClaim) ProjectReport {
	switch claim.Declined {
	case store.DeclinedBackoff:
		report.Outcome = OutcomeBackoff
		report.Detail = fmt.Sprintf(
			"failed before (%s), tried again from %s",
			claim.LastError,
			claim.RetryAt.Format(time.RFC3339),
		)
	case store.DeclinedDead:
		report.Outcome = OutcomeBackoff
		report.Detail = fmt.Sprintf(
			"failed too often (%s); `memoir retry %s` tries again",
			claim.LastError,
			report.Project,
		)
	}
	return report
}

// dueProjects lists the projects to consolidate, and the others that the run may work
// on, each in a fixed order.
func (p *phase2) dueProjects(ctx context.Context) (due, others []store.ProjectRow, err error) {
	projects, err := p.store.Projects(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list projects: %w", err)
	}
	for _, row := range projects {
		switch {
		case !p.selected(row.ID):
		case row.Due:
			due = append(due, row)
		default:
			others = append(others, row)
		}
	}
	return due, others, nil
}

// tidy puts the memories in order that a process was changing when it died, and that
// are not due: by restoring, forgetting or merging. Those that are due are put in order
// when they are consolidated.
func (r *run) tidy(ctx context.Context, projects []store.ProjectRow) error {
	abandoned, err := r.store.AbandonedProjects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		disturbed, err := memory.At(r.opts.Home, p.ID).Disturbed(int(p.Generation))
		if err != nil || !disturbed && !slices.Contains(abandoned, p.ID) {
			continue // what is wrong with it is said where it matters
		}
		err = r.holding(ctx, p.Project, 0, func(ctx context.Context, c *consolidation) error {
			if err := c.recoverRoot(ctx); err != nil {
				r.warn(fmt.Sprintf("project %s: %s", p.Name, r.redact(err.Error())), memoir.HintOf(err))
			}
			return nil
		})
		// One that is busy, or gone, has nothing left of a dead process.
		if code := memoir.CodeOf(err); err != nil && code != memoir.CodeBusy && code != memoir.CodeNotFound {
			return err
		}
	}
	return nil
}

// withdrawOnly takes what was withdrawn out of the memory of a project that is not
// consolidated now, because its model waits or must not be asked: that needs no model.
func (r *run) withdrawOnly(ctx context.Context, project store.ProjectRow, report ProjectReport) ProjectReport {
	if r.consolidator.Name() == consolidate.BuiltinName || project.Generation == 0 || report.Outcome == "" ||
		ctx.Err() != nil {
		return report
	}
	err := r.holding(ctx, project.Project, 0, func(ctx context.Context, c *consolidation) error {
		err := c.prune(ctx)
		if c.report.Outcome == OutcomePublished {
			report.Generation, report.ByHand, report.Root = c.report.Generation, c.report.ByHand, c.report.Root
		}
		return err
	})
	if code := memoir.CodeOf(err); err != nil && code != memoir.CodeBusy && code != memoir.CodeLeaseLost {
		r.warn(
			fmt.Sprintf("project %s: what was withdrawn is not taken out yet: %v", project.Name, err),
			memoir.HintOf(err),
		)
	}
	return report
}
