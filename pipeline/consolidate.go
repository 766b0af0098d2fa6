package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// maxRounds bounds how often a consolidation is made again because a person
// edited the live files while it was being made.
const maxRounds = 5

// consolidation is a claimed project.
type consolidation struct {
	project store.ProjectRow
	claim   store.ProjectClaim
}

// consolidateClaimed makes and publishes the generation of a project that was claimed.
func (p *phase2) consolidateClaimed(
	ctx context.Context,
	project store.ProjectRow,
	claim store.ProjectClaim,
	attempt time.Time,
	report ProjectReport,
) (ProjectReport, error) {
	held, release := p.keepProject(ctx, project.Name, &claim, attempt)
	defer release()

	var err error
	root := memory.At(p.opts.Home, project.ID)
	held, spent := begin(held, store.Call{Work: claim.Token, Phase: phaseConsolidate, ProjectID: project.ID})
	for round := 1; ; round++ {
		report, err = p.makeGeneration(held, root, project, claim, report)
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds || report.Outcome == OutcomeEdited {
			break
		}
	}
	c := consolidation{project: project, claim: claim}
	refusal := spent.refusal()
	if err != nil && refusal != nil && ctx.Err() == nil {
		if err = refusal; ownFault(err) {
			p.fail(err)
		}
	}
	switch {
	case err == nil && report.Outcome == OutcomePublished: // and entered with that
		return report, nil
	case err == nil:
		p.enterProject(ctx, c, string(report.Outcome))
		return report, nil
	case memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost, memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.enterProject(ctx, c, store.OutcomeLost)
		report.Outcome, report.Detail = OutcomeBusy, "its lease was lost to another process"
		return report, nil
	}
	return p.endFailed(ctx, c, report, err)
}

// endFailed ends the claim of a project whose work failed, by who is to blame.
func (p *phase2) endFailed(
	ctx context.Context,
	c consolidation,
	report ProjectReport,
	err error,
) (ProjectReport, error) {
	if memoir.CodeOf(err) == memoir.CodeChanged && ctx.Err() == nil { // no fault of the project's
		p.enterProject(ctx, c, store.OutcomeInterrupted)
		report.Outcome, report.Detail = OutcomeEdited, p.redact(err.Error())
		p.warn(
			fmt.Sprintf("project %s: its files were edited all the time, so nothing was published", c.project.Name),
			memoir.HintOf(err),
		)
		return report, p.store.GiveBackProject(context.WithoutCancel(ctx), c.claim)
	}
	interrupted := ctx.Err() != nil || ownFault(err) || memoir.CodeOf(err) == memoir.CodeConfig ||
		errors.Is(err, errUnserved)
	if interrupted || limited(err) {
		return report, p.returnProject(ctx, c, err)
	}
	blame := p.judge(p.consolidator.Name(), err)
	if blame == ends {
		return report, p.returnProject(ctx, c, endsRun{err})
	}
	after := context.WithoutCancel(ctx)
	failure := p.failureOf(p.consolidator.Name(), err)
	var failed error
	if blame == postponed {
		_, failed = p.store.Postpone(after, c.claim, failure, p.projectRetryPolicy())
	} else {
		failed = p.store.Fail(after, c.claim, failure, p.projectRetryPolicy())
	}
	if failed != nil {
		p.enterProject(ctx, c, store.OutcomeLost)
		return report, errors.Join(err, failed)
	}
	report.Detail = failure.Message
	return report, err
}

// returnProject gives a claim back, no attempt counted, because of an error, and returns
// that with what went wrong on the way.
func (p *phase2) returnProject(ctx context.Context, c consolidation, err error) error {
	back := p.store.GiveBackProject(context.WithoutCancel(ctx), c.claim)
	outcome := store.OutcomeInterrupted
	if limited(err) {
		outcome = store.OutcomeLimit
	}
	p.enterProject(ctx, c, outcome)
	if back != nil {
		return errors.Join(err, back)
	}
	return err
}

// enterProject puts into the ledger what became of work on a project that published nothing.
func (p *phase2) enterProject(ctx context.Context, c consolidation, outcome string) {
	p.endWork(ctx, c.claim.Token, c.project.ID, outcome)
}
