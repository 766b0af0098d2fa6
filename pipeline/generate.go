package pipeline

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/lease"
	"memoir/memory"
	"memoir/store"
)

// generations makes the generations that a project is due for. After a failure, earlier ones stay published.
func (c *consolidation) generations(ctx context.Context) (err error) {
	defer func() { err = c.lostOr(ctx, err) }()
	defer survive(&err)
	if err := again(func() error { return c.prune(ctx) }); err != nil {
		return err
	}
	for {
		var d draft
		err := again(func() (err error) {
			d, err = c.makeDraft(ctx, c.askOnce)
			return err
		})
		switch {
		case err != nil:
			return err
		case d.made == nil:
			if c.report.Outcome != OutcomePublished { // by prune
				c.report.Outcome = OutcomeEmpty
			}
			return c.store.FinishProjectUnchanged(ctx, *c.claim)
		}
		if err := c.publishLast(ctx, d); err != nil || len(d.made.Open) == 0 {
			return err
		}
	}
}

// prune publishes a generation without withdrawn sessions, which needs no model. The built-in model
// makes each memory from scratch, so it needs no prune.
func (c *consolidation) prune(ctx context.Context) error {
	if c.consolidator.Name() == consolidate.BuiltinName {
		return nil
	}
	return c.rewrite(ctx, c.withoutGone)
}

// A making makes a memory from an input; nil: none.
type making func(ctx context.Context, in consolidate.Input, live memory.Snapshot) (*memoir.Consolidation, error)

// makeDraft makes a memory from the present state of the project.
func (c *consolidation) makeDraft(ctx context.Context, make making) (d draft, err error) {
	if d.live, err = c.current(ctx); err != nil {
		return d, err
	}
	if d.in, err = c.input(ctx, d.live); err != nil {
		return d, err
	}
	d.made, err = make(ctx, d.in, d.live)
	return d, err
}

// rewrite makes a memory and publishes it. The claim stays.
func (c *consolidation) rewrite(ctx context.Context, make making) error {
	d, err := c.makeDraft(ctx, make)
	if err == nil && d.made != nil {
		_, err = c.publishDraft(ctx, d, store.PublishPart)
	}
	return err
}

// publishLast publishes a draft. The claim ends, unless sessions are left for another call. The draft may have been
// paid for: if a person edits the live files meanwhile, it gets the edits, and an interruption waits for it.
func (c *consolidation) publishLast(ctx context.Context, d draft) error {
	ctx, done := lasting(ctx, cmp.Or(c.opts.Grace, keepWithin))
	defer done()
	edited := false
	return again(func() (err error) {
		if edited {
			if d.live, err = c.current(ctx); err == nil {
				d.in.HandEdits, err = c.handEdits(ctx, d.in.Base)
			}
			if err != nil {
				return err
			}
		}
		edited = true
		same, err := c.publishDraft(ctx, d, store.PublishLast)
		if err == nil && same && len(d.made.Open) == 0 {
			err = c.store.FinishProjectUnchanged(ctx, *c.claim)
		}
		return err
	})
}

// input reads the input of a generation from the store and the live files.
func (c *consolidation) input(ctx context.Context, live memory.Snapshot) (consolidate.Input, error) {
	in, err := c.inputs(ctx, live)
	if err != nil {
		return in, err
	}
	in.Forced = c.claim.Forced
	c.report.Inputs, c.report.Notes, c.report.Promoted, c.report.Generation = 0, 0, 0, live.Generation
	for _, e := range in.Extractions {
		switch {
		case memoir.IsRepository(e.SessionKey):
			c.report.Promoted += len(e.Statements)
		case !memoir.IsEntry(e.SessionKey):
			c.report.Inputs++
		case !consolidate.Unsure(e):
			c.report.Notes++
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

// lostOr returns err, or an error of code CodeLeaseLost if a file is missing because another process, such
// as `memoir clear`, took the project over and removed its folder.
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

// askOnce makes a memory with one call of the consolidator, if there are extractions that were not withdrawn. Without
// any, the root is never emptied, unless a person or a setting has withdrawn sessions: then only hand edits are left.
func (c *consolidation) askOnce(
	ctx context.Context, in consolidate.Input, live memory.Snapshot,
) (*memoir.Consolidation, error) {
	if !slices.ContainsFunc(in.Extractions, func(e memoir.Extraction) bool {
		return !slices.Contains(in.Withdrawn, e.SessionKey)
	}) {
		return c.onlyHandEdits(ctx, in, live)
	}
	result, err := Apart(ctx, func() (memoir.Consolidation, error) {
		return c.consolidator.Consolidate(ctx, in)
	})
	return &result, err
}

// onlyHandEdits returns the hand edits of a memory that has no sessions left, if at least one was withdrawn. The user's
// own memory also loses sessions whose rules no other project has any more.
func (c *consolidation) onlyHandEdits(
	ctx context.Context, in consolidate.Input, live memory.Snapshot,
) (*memoir.Consolidation, error) {
	inputs := live.Manifest.Inputs
	out, err := c.takenOutOf(ctx, inputs)
	if err != nil || len(out) == 0 && !(c.project.IsUser() && len(inputs) > 0) {
		return nil, err
	}
	left := consolidate.OnlyHandEdits(in)
	return &left, nil
}

// withoutGone removes withdrawn sessions and forgotten text from the live memory, without a model. It
// returns nil if the memory has no trace of them, or if the rest is not a valid memory.
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
		return c.onlyHandEdits(ctx, in, live)
	}
	left, pruned, err := gone.Withdraw(in)
	switch {
	case c.forgetting == nil && (err != nil || !pruned):
		return nil, nil
	case c.forgetting != nil: // new sessions are still to be consolidated
		left.Open = slices.DeleteFunc(left.Open, func(key string) bool { return !in.Changed[key] && !in.Forced })
	}
	return &left, err
}

// Withdraw publishes the memory of a project, and that of the user, without the sessions that were disabled, before the
// next run does. It calls no language model: of what one made, lines are removed. If another process holds a lease, the
// error has the code memoir.CodeBusy, and the next run does it.
func Withdraw(ctx context.Context, st *store.Store, opts Options, projectID string) error {
	p, err := newPhases(st, opts)
	if err != nil {
		return err
	}
	projects, err := st.Projects(ctx)
	for _, row := range projects {
		if row.ID != projectID && !row.IsUser() || row.Generation == 0 || err != nil {
			continue
		}
		err = p.holding(ctx, row.Project, opts.Wait, func(ctx context.Context, c *consolidation) error {
			if (&forgetter{p}).builtin(row.ID) {
				return c.rewrite(ctx, c.askOnce)
			}
			return c.rewrite(ctx, c.withoutGone)
		})
	}
	p.index(ctx)
	return err
}

func (p *phases) workOn(project memoir.Project, claim *store.ProjectClaim) *consolidation {
	return &consolidation{run: p.run, project: project, root: memory.At(p.opts.Home, project.ID), claim: claim,
		consolidator: p.consolidatorOf(project.ID)}
}

// holding claims a project, due or not, and calls do under its lease. It waits for another process's lease,
// and calls do again if a person edited the live files meanwhile. Then it releases the claim.
func (p *phases) holding(
	ctx context.Context, project memoir.Project, wait time.Duration, do func(context.Context, *consolidation) error,
) error {
	var claim store.ProjectClaim
	var attempt time.Time
	err := untilFree(ctx, wait, func() (err error) {
		attempt = time.Now()
		claim, _, err = p.store.ClaimProject(ctx, project.ID,
			store.ProjectClaimOptions{Holder: p.holder, Lease: p.phase2Lease(), Always: true})
		return err
	})
	if memoir.CodeOf(err) == memoir.CodeBusy {
		return memoir.Errorf(memoir.CodeBusy, memoir.HintOf(err), "busy: %w", err)
	}
	if err != nil {
		return err
	}
	held, release := p.keep(ctx, "project "+project.Name, claim, p.phase2Lease(), attempt)
	defer release()
	defer func() { _ = p.store.Release(ctx, claim) }() // if it fails, the claim ends with this process
	return again(func() (err error) {
		c := p.workOn(project, &claim)
		defer func() { err = c.lostOr(ctx, err) }()
		defer survive(&err)
		return do(held, c)
	})
}
