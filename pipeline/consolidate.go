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
	"memoir/lease"
	"memoir/memory"
	"memoir/store"
)

// maxRounds bounds how often a consolidation is made again because a person
// edited the live files while it was being made.
const maxRounds = 5

// phase2 consolidates every project that is due, several at a time. A project that
// fails or is held by another process does not keep the others from their turn. What
// is reported comes in the order of the projects.
func (r *run) phase2(ctx context.Context) error {
	projects, others, err := r.dueProjects(ctx)
	if err != nil {
		return err
	}
	if err := r.tidy(ctx, others); err != nil {
		return err
	}
	reports := make([]ProjectReport, len(projects))
	var group errgroup.Group
	group.SetLimit(max(1, r.opts.Settings.Memories.Concurrency))
	var done atomic.Int64
	if len(projects) > 0 {
		r.recordBegin(ctx)
		r.progress(Progress{Stage: StageConsolidate, Total: len(projects)})
	}
	keptBack := func(project store.ProjectRow) (report ProjectReport, kept bool) {
		if fault := r.obey(project.Project); fault != nil {
			r.misrule(project.ID, fault)
			return r.forget(ctx, project, ProjectReport{Project: project.ID, Name: project.Name, Generation: int(project.Generation), Outcome: OutcomeFailed, Detail: r.redact(fault.Error())}), true
		}
		if stop := r.meter.stopOf(r.budgetOf(ctx, project.ID)); stop != nil && r.meter.named(r.consolidator.Name()) != nil {
			return r.forget(ctx, project, ProjectReport{Project: project.ID, Name: project.Name, Generation: int(project.Generation), Outcome: OutcomeStopped, Detail: stop.Reason}), true
		}
		if out := r.unserved(r.consolidator.Name()); out != nil {
			return r.forget(ctx, project, ProjectReport{Project: project.ID, Name: project.Name, Generation: int(project.Generation), Outcome: OutcomeStopped, Detail: out.Reason}), true
		}
		return report, false
	}
	consolidate := func(i int, suspect bool) {
		project := projects[i]
		consolidating := func(what string, since time.Duration) {
			r.progress(Progress{Stage: StageConsolidate, Done: int(done.Load()), Total: len(projects), What: what, Since: since, Alone: suspect && what != ""})
		}
		stop := during(func(since time.Duration) { consolidating(project.Name, since) })
		reports[i] = r.settle(ctx, project, suspect)
		stop()
		if reports[i].Outcome != OutcomeBusy && reports[i].Outcome != outcomeSuspect {
			done.Add(1)
			consolidating("", 0)
		}
	}
	for i, project := range projects {
		if ctx.Err() != nil || r.faulty() != nil {
			break
		}
		var kept bool
		if reports[i], kept = keptBack(project); kept {
			continue
		}
		group.Go(func() error {
			consolidate(i, false)
			return nil
		})
	}
	_ = group.Wait() // no goroutine returns an error
	// What a process died over comes last, one at a time, those with the fewest crashes first.
	var suspects []int
	for i := range projects {
		if reports[i].Outcome == outcomeSuspect {
			suspects = append(suspects, i)
		}
	}
	slices.SortStableFunc(suspects, func(a, b int) int { return cmp.Compare(reports[a].crashes, reports[b].crashes) })
	for _, i := range suspects {
		reports[i] = ProjectReport{}
		if ctx.Err() != nil || r.faulty() != nil {
			continue
		}
		var kept bool
		if reports[i], kept = keptBack(projects[i]); !kept {
			consolidate(i, true)
		}
	}
	var busy []store.ProjectRow
	for i, report := range reports {
		if report.Outcome == OutcomeBusy {
			busy = append(busy, projects[i])
			continue
		}
		r.reportProject(report)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.faulty(); err != nil {
		return err
	}
	// Processes that share a backlog are in each other's way for moments. What is
	// still busy after all else is done is worth reporting.
	for _, project := range busy {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		report := r.settle(ctx, project, false)
		if report.Outcome == outcomeSuspect { // the other process died over it
			report = r.settle(ctx, project, true)
		}
		if report.Outcome == "" {
			report.Outcome, report.Detail = OutcomeElsewhere, "another process consolidated it meanwhile"
		}
		r.reportProject(report)
		if err := r.faulty(); err != nil {
			return err
		}
	}
	return nil
}

// settle consolidates a project and makes a report of what goes wrong. One that a
// process died over has the outcome outcomeSuspect unless it is to be taken, too.
func (r *run) settle(ctx context.Context, project store.ProjectRow, suspect bool) ProjectReport {
	report, err := r.consolidateWhenFree(ctx, project, suspect)
	return r.conclude(ctx, project, report, err)
}

// conclude makes a report of what went wrong with a project.
func (r *run) conclude(ctx context.Context, project store.ProjectRow, report ProjectReport, err error) ProjectReport {
	if err == nil {
		return report
	}
	report.Outcome, report.Detail = OutcomeFailed, cmp.Or(report.Detail, r.redact(err.Error()))
	switch {
	case ctx.Err() != nil, limited(err), errors.Is(err, errUnserved):
		report.Outcome = OutcomeStopped
	case memoir.CodeOf(err) == memoir.CodeCorrupt:
		r.fail(err)
	case errors.As(err, &endsRun{}):
		r.fail(r.ofModel(err))
	default:
		r.warn(fmt.Sprintf("project %s: %s", project.Name, report.Detail), hintOf(err))
	}
	return report
}

// consolidateWhenFree tries until the project is free or the time to wait has passed.
func (r *run) consolidateWhenFree(ctx context.Context, project store.ProjectRow, suspect bool) (ProjectReport, error) {
	deadline := time.Now().Add(r.opts.Wait)
	for {
		report, err := r.consolidateProject(ctx, project, suspect)
		if err != nil || report.Outcome != OutcomeBusy || time.Now().After(deadline) {
			return report, err
		}
		select {
		case <-ctx.Done():
			return report, context.Cause(ctx)
		case <-time.After(min(200*time.Millisecond, r.opts.Wait)):
		}
	}
}

// consolidateProject makes and publishes one generation. A report without an
// outcome says that there was nothing to do.
func (r *run) consolidateProject(ctx context.Context, project store.ProjectRow, suspect bool) (ProjectReport, error) {
	report := ProjectReport{Project: project.ID, Name: project.Name, Generation: int(project.Generation)}

	// While another process still extracts for this project, consolidating would
	// give a generation that is out of date at once. That process consolidates
	// when it is done: whichever of the two finishes last sees nobody at work.
	others, err := r.store.Outstanding(ctx, project.ID, r.holder)
	if err != nil {
		return report, err
	}
	if others > 0 {
		report.Outcome = OutcomeBusy
		report.Detail = fmt.Sprintf("another process is extracting from %d of its sessions and consolidates after that", others)
		return report, nil
	}

	attempt := time.Now()
	claim, ok, err := r.store.ClaimProject(ctx, project.ID, store.ProjectClaimOptions{Holder: r.holder, Lease: r.phase2Lease(), NoSuspects: !suspect})
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
		return r.forget(ctx, project, declined(report, claim)), nil
	}
	return r.consolidateClaimed(ctx, project, claim, attempt, report)
}

// keepProject keeps a claim's lease.
func (r *run) keepProject(ctx context.Context, project store.ProjectRow, claim store.ProjectClaim, attempt time.Time) (held context.Context, release func()) {
	return lease.Keep(ctx, lease.Options{
		Lease:    r.phase2Lease(),
		Interval: r.heartbeat(r.phase2Lease()),
		Since:    attempt,
		What:     "project " + project.Name,
		Extend: func(ctx context.Context) (bool, error) {
			return r.store.ExtendProject(ctx, claim, r.leaseUntil(r.phase2Lease()))
		},
	})
}

// consolidateClaimed makes and publishes the generation of a project that was claimed.
func (r *run) consolidateClaimed(ctx context.Context, project store.ProjectRow, claim store.ProjectClaim, attempt time.Time, report ProjectReport) (ProjectReport, error) {
	held, release := r.keepProject(ctx, project, claim, attempt)
	defer release()

	var err error
	root := memory.At(r.opts.Home, project.ID)
	held, spent := begin(held, store.Call{Work: claim.Token, Phase: phaseConsolidate, ProjectID: project.ID})
	spent.budget = r.budgetOf(ctx, project.ID)
	for round := 1; ; round++ {
		report, err = r.makeGeneration(held, root, project, claim, report)
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds || report.Outcome == OutcomeEdited {
			break
		}
	}
	usage, bytes := spent.settled()
	r.addUsage(usage)
	after := context.WithoutCancel(ctx)
	enter := func(outcome string) {
		r.addLedger(ctx, "project "+project.Name, store.LedgerEntry{Work: claim.Token, Phase: phaseConsolidate, ProjectID: project.ID,
			Model: r.consolidator.Name(), Usage: usage, InputBytes: bytes, Duration: time.Since(attempt), Outcome: outcome})
	}
	refusal := spent.refusal()
	if err != nil && ctx.Err() == nil {
		if err = cmp.Or(refusal, err); ownFault(refusal) {
			r.fail(err)
		}
	}
	blame, unserved := itsOwn, errors.Is(err, errUnserved)
	if err != nil && ctx.Err() == nil && refusal == nil && memoir.CodeOf(err) != memoir.CodeChanged {
		blame = r.judge(r.consolidator.Name(), err)
	}
	switch {
	case err == nil && report.Outcome == OutcomePublished: // and entered with that
		return report, nil
	case err == nil:
		enter(string(report.Outcome))
		return report, nil
	case memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost, memoir.CodeOf(err) == memoir.CodeLeaseLost:
		enter(store.OutcomeLost)
		report.Outcome, report.Detail = OutcomeBusy, "its lease was lost to another process"
		return report, nil
	case memoir.CodeOf(err) == memoir.CodeChanged && ctx.Err() == nil: // no fault of the project's
		enter(store.OutcomeInterrupted)
		report.Outcome, report.Detail = OutcomeEdited, r.redact(err.Error())
		r.warn(fmt.Sprintf("project %s: its files were edited all the time, so nothing was published", project.Name), memoir.HintOf(err))
		return report, r.store.GiveBackProject(after, claim)
	case blame == postponed && !ownFault(err):
		failure, answer := r.failureOf(phaseConsolidate, project.ID, project.ID, err)
		failure.Usage, failure.InputBytes, failure.Duration = usage, bytes, time.Since(attempt)
		if _, failed := r.store.PostponeProject(after, claim, failure, r.projectRetryPolicy()); failed != nil {
			r.dropLost(failed, answer)
			enter(store.OutcomeLost)
			return report, errors.Join(err, failed)
		}
		report.Detail = failure.Message
	case ctx.Err() != nil, ownFault(err), memoir.CodeOf(err) == memoir.CodeConfig, blame == ends, unserved, limited(err):
		if blame == ends {
			err = endsRun{err}
		}
		back := r.store.GiveBackProject(after, claim)
		if limited(err) {
			enter(store.OutcomeLimit)
		} else {
			enter(store.OutcomeInterrupted)
		}
		if back != nil {
			return report, errors.Join(err, back)
		}
	default:
		failure, answer := r.failureOf(phaseConsolidate, project.ID, project.ID, err)
		failure.Usage, failure.InputBytes, failure.Duration = usage, bytes, time.Since(attempt)
		if failed := r.store.FailProject(after, claim, failure, r.projectRetryPolicy()); failed != nil {
			r.dropLost(failed, answer)
			enter(store.OutcomeLost)
			return report, errors.Join(err, failed)
		}
		report.Detail = failure.Message
	}
	return report, err
}

// declined says why a project was not claimed although nobody works on it.
func declined(report ProjectReport, claim store.ProjectClaim) ProjectReport {
	switch claim.Declined {
	case store.DeclinedBackoff:
		report.Outcome = OutcomeBackoff
		report.Detail = fmt.Sprintf("failed before (%s), tried again from %s", claim.LastError, claim.RetryAt.Format(time.RFC3339))
	case store.DeclinedDead:
		report.Outcome = OutcomeBackoff
		report.Detail = fmt.Sprintf("failed too often (%s); `memoir retry %s` tries again", claim.LastError, report.Project)
	}
	return report
}
