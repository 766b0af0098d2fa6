package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/lease"
	"memoir/memory"
	"memoir/store"
)

// maxRounds bounds how often a generation is made again because a person edited the live
// files while it was being made.
const maxRounds = 5

// consolidateClaimed makes and publishes the generations of a project that was claimed: one
// without what was withdrawn, if a language model makes its memory, then one for each
// question to the model.
func (p *phase2) consolidateClaimed(
	ctx context.Context,
	project store.ProjectRow,
	claim store.ProjectClaim,
	attempt time.Time,
	report ProjectReport,
) (ProjectReport, error) {
	held, release := p.keep(ctx, "project "+project.Name, claim, p.phase2Lease(), attempt)
	defer release()
	scanners, _ := p.projectScanners(project.Project)
	held = forWork(held, store.Call{Work: claim.Token, Phase: phaseConsolidate, ProjectID: project.ID}, scanners...)
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

// endFailed ends the claim of a project whose work failed, by who is to blame.
func (p *phase2) endFailed(ctx context.Context, c *consolidation, err error) (ProjectReport, error) {
	giveBack := func(outcome string, err error) error { // no attempt is counted
		back := p.store.GiveBack(ctx, *c.claim)
		p.endWork(ctx, c.claim.Token, c.project.ID, outcome)
		if back != nil {
			return errors.Join(err, back)
		}
		return err
	}
	switch {
	case memoir.CodeOf(err) == memoir.CodeChanged && ctx.Err() == nil: // no fault of the project's
		c.report.Outcome, c.report.Detail = OutcomeEdited, p.redact(err.Error())
		p.warn(
			fmt.Sprintf("project %s: its files kept changing, so nothing was published", c.project.Name),
			memoir.HintOf(err),
		)
		return c.report, giveBack(store.OutcomeInterrupted, nil)
	case ctx.Err() != nil:
		return c.report, giveBack(store.OutcomeInterrupted, err)
	}
	verdict := p.judge(c.consolidator.Name(), err)
	if verdict == returned {
		return c.report, giveBack(outcomeOf(err), err)
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

// generations makes what a project is due for. What was published before a failure stays.
func (c *consolidation) generations(ctx context.Context) (err error) {
	if err := c.prune(ctx); err != nil {
		return err
	}
	for more := true; more && err == nil; {
		more, err = c.generation(ctx, c.askOnce, true)
	}
	return err
}

// prune publishes a generation without what was withdrawn, which needs no model. The
// built-in model makes its memory anew anyway.
func (c *consolidation) prune(ctx context.Context) error {
	if c.consolidator.Name() == consolidate.BuiltinName {
		return nil
	}
	_, err := c.generation(ctx, c.withoutGone, false)
	return err
}

// A making gives the memory that is to be made of an input; nil: none.
type making func(ctx context.Context, in consolidate.Input, live memory.Snapshot) (*memoir.Consolidation, error)

// generation makes a memory and publishes it, unless it is what is live already. If a person
// edits the live files meanwhile, it is made again; what a model was paid for only gets their
// edits. Unless the claim is to end with it, or sessions are still to be folded in, which it
// reports, the claim stays ours.
func (c *consolidation) generation(ctx context.Context, make making, ends bool) (open bool, err error) {
	defer func() { err = c.lostOr(ctx, err) }()
	defer c.survive(&err)
	var in consolidate.Input
	var result *memoir.Consolidation
	paid := ends && c.meter.named(c.consolidator.Name()) != nil
	for round := 1; ; round++ {
		live, err := c.current(ctx)
		switch {
		case err != nil:
		case result != nil && paid:
			in.Notes, err = c.store.Notes(ctx, c.project.ID)
		default:
			if in, err = c.input(ctx, live); err != nil {
				return false, err
			}
			if result, err = make(ctx, in, live); err == nil && paid {
				var done func()
				ctx, done = lasting(ctx, cmp.Or(c.opts.Grace, keepWithin))
				defer done()
			}
		}
		if err == nil && result == nil && ends {
			if c.report.Outcome != OutcomePublished { // without what was withdrawn
				c.report.Outcome = OutcomeEmpty
			}
			return false, c.store.FinishProjectUnchanged(ctx, *c.claim)
		}
		if err == nil && result != nil {
			err = c.publishResult(ctx, *result, in, live, ends && len(result.Open) == 0)
		}
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds {
			return result != nil && len(result.Open) > 0, err
		}
	}
}

// input is what a generation is to be made of, as the store and the live files are now.
func (c *consolidation) input(ctx context.Context, live memory.Snapshot) (consolidate.Input, error) {
	in, err := c.inputs(ctx, c.project, live)
	if err != nil {
		return in, err
	}
	in.Forced = c.claim.Forced
	c.report.Inputs, c.report.Notes, c.report.Generation = 0, 0, live.Generation
	for _, e := range in.Extractions {
		if memoir.IsEntry(e.SessionKey) {
			c.report.Notes++
		} else {
			c.report.Inputs++
		}
	}
	if live.Generation > 0 {
		c.report.Root = c.root.Link()
	}
	if c.forgetting != nil {
		c.forgetting.restrict(&in)
	}
	return in, nil
}

// lostOr is err, or an error of code CodeLeaseLost if a file was gone because another process, such as
// `memoir clear`, took the project over and removed its folder.
func (c *consolidation) lostOr(ctx context.Context, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours, failed := c.store.Extend(context.WithoutCancel(ctx), *c.claim, lease.Now().Add(c.phase2Lease()))
	if ours || failed != nil {
		return err
	}
	return memoir.Errorf(memoir.CodeLeaseLost, "a later run tries again",
		"project %s was taken over: %w", c.project.ID, err)
}

// askOnce asks the model once, if there are extractions. Zero inputs never wipe a root: only
// when what a memory rests on was taken out by a person or a setting is what they wrote by
// hand left alone.
func (c *consolidation) askOnce(
	ctx context.Context, in consolidate.Input, live memory.Snapshot,
) (*memoir.Consolidation, error) {
	if len(in.Extractions) == 0 {
		return c.onlyNotes(ctx, in, live)
	}
	result, err := apart(ctx, c.run, func() (memoir.Consolidation, error) {
		made, _, err := c.consolidator.Consolidate(ctx, in) // what it spent is in the ledger
		return made, err
	})
	return &result, err
}

// onlyNotes is what people wrote by hand in a memory of whose sessions one or more were
// taken out and none is left.
func (c *consolidation) onlyNotes(
	ctx context.Context, in consolidate.Input, live memory.Snapshot,
) (*memoir.Consolidation, error) {
	out, err := c.takenOutOf(ctx, c.project.ID, live.Manifest.Inputs)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	left := consolidate.OnlyNotes(in)
	return &left, nil
}

// withoutGone is the live memory without the sessions that were withdrawn and without what is to
// be forgotten, made by code; nil if it has no trace of them, or what is left is no memory.
func (c *consolidation) withoutGone(
	ctx context.Context, in consolidate.Input, live memory.Snapshot,
) (*memoir.Consolidation, error) {
	var gone consolidate.Forgotten
	if c.forgetting != nil {
		gone = c.forgetting.what
	}
	switch {
	case live.Generation == 0 || c.forgetting == nil && len(in.Withdrawn) == 0:
		return nil, nil
	case len(in.Extractions) == 0:
		return c.onlyNotes(ctx, in, live)
	}
	left, pruned, err := gone.Withdraw(in)
	switch {
	case c.forgetting == nil && (err != nil || !pruned):
		return nil, nil
	case c.forgetting != nil: // what is new in it is still to be consolidated
		left.Open = slices.DeleteFunc(left.Open, func(key string) bool { return !in.Changed[key] && !in.Forced })
	}
	return &left, err
}

// takenOutOf lists the inputs that a person or a setting took out of memory, or that count
// for another project now, which has what they gave.
func (r *run) takenOutOf(ctx context.Context, projectID string, inputs []memory.Input) ([]string, error) {
	forgotten, err := r.store.Forgotten(ctx)
	if err != nil {
		return nil, err
	}
	gone := []string{}
	for _, in := range inputs {
		sessions, err := r.store.Sessions(ctx, store.Filter{Keys: []string{in.Session}})
		if err != nil {
			return nil, err
		}
		if forgotten[in.Session] || slices.ContainsFunc(sessions, func(s memoir.Session) bool {
			return s.Reason == memoir.ReasonDisabled || s.ProjectID != "" && s.ProjectID != projectID
		}) {
			gone = append(gone, in.Session)
		}
	}
	return gone, nil
}
