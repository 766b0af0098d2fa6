package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/store"
)

// phase1 extracts from the sessions that are eligible. It claims them as workers free
// up, until the run's cap or until nothing is left, and stores what came of them.
type phase1 struct {
	*run
	total int // sessions that it expects to see
}

// ahead is how many sessions a worker has claimed at once where no model has to be waited
// for: claiming and storing many together costs less than the work on a small one.
const ahead = 4

// all takes sessions whose last attempt died with its process last and one at a time,
// so that they cannot take others along.
func (p *phase1) all(ctx context.Context) error {
	if p.total > 0 {
		p.extracting("", false, 0)
	}
	if err := p.drain(ctx, p.opts.Settings.Memories.Concurrency, false); err != nil {
		return err
	}
	return p.drain(ctx, 1, true)
}

// drain claims and extracts until a claim comes back empty with nobody at work.
func (p *phase1) drain(ctx context.Context, workers int, suspects bool) error {
	most := workers
	if p.meter.named(p.extractor.Name()) == nil && !suspects {
		most = ahead * workers
	}
	var (
		g     errgroup.Group
		done  = make(chan struct{}, most)
		turns = make(chan struct{}, workers)
		busy  int
		fail  error
	)
	for {
		if fail == nil {
			fail = p.faulty()
		}
		// Sessions at work count toward the cap until they turn out to be unchanged.
		slots := min(most, p.capLeft()) - busy
		if slots > 0 && ctx.Err() == nil && fail == nil && p.meter.stop() == nil &&
			p.unserved(p.extractor.Name()) == nil {
			attempt := time.Now()
			claims, err := p.claim(ctx, slots, suspects)
			fail = err
			for _, claim := range claims {
				busy++
				g.Go(func() error {
					turns <- struct{}{}
					f := p.work(ctx, claim, attempt)
					<-turns
					p.finish(ctx, f) // the store commits together what several finish at once
					done <- struct{}{}
					return nil
				})
			}
		}
		if busy == 0 {
			break
		}
		<-done
		busy--
		for len(done) > 0 { // those that finished meanwhile make one claim
			<-done
			busy--
		}
	}
	_ = g.Wait() // no goroutine returns an error
	if fail == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fail
}

func (p *phase1) claim(ctx context.Context, limit int, suspects bool) ([]store.Claim, error) {
	claims, err := p.store.ClaimSessions(ctx, store.ClaimOptions{
		Holder:   p.holder,
		Lease:    p.stage1Lease(),
		Limit:    limit,
		Window:   p.claimable(),
		Suspects: suspects,
	})
	if err != nil {
		return nil, fmt.Errorf("claim sessions: %w", err)
	}
	return claims, nil
}

// finished is a claim that was worked on. Its lease is kept until it is released.
type finished struct {
	claim     store.Claim
	result    extracted
	err       error
	lost      bool // its lease
	misruled  bool // nothing was read: the rules that count for it are invalid
	release   func()
	unstopped bool // the run was not interrupted when the work ended
}

// work extracts from one claimed session, and stores nothing.
func (p *phase1) work(ctx context.Context, claim store.Claim, attempt time.Time) finished {
	f := finished{claim: claim, release: func() {}}
	if fault := p.rulingIn(claim.Session.CWD).err; fault != nil {
		p.misrule(claim.Session.ProjectID, fault)
		f.misruled = true
		return f
	}
	held, release := p.keepSession(ctx, claim, attempt)
	f.release = release
	stop := during(func(since time.Duration) { p.extracting(claim.Session.ID, claim.Crashes > 0, since) })
	defer stop()

	held, spent := begin(
		held,
		store.Call{
			Work:       claim.Token,
			Phase:      phaseExtract,
			SessionKey: claim.Session.Key(),
			ProjectID:  claim.Session.ProjectID,
		},
	)
	f.result, f.err = apart(held, p.run, func() (extracted, error) { return p.extractOne(held, claim) })
	if f.err != nil {
		f.err = cmp.Or(spent.refusal(), f.err)
	}
	f.lost = memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost
	f.unstopped = ctx.Err() == nil
	return f
}

// finish ends a claim that was worked on, by what became of the work. What is stored is
// stored in a transaction that a signal does not cut short.
func (p *phase1) finish(ctx context.Context, f finished) {
	defer f.release()
	after := context.WithoutCancel(ctx)
	switch {
	case f.misruled:
		p.giveBack(ctx, f.claim)
	case !f.unstopped:
		p.giveBack(ctx, f.claim)
		p.enter(ctx, f.claim, store.OutcomeInterrupted)
	case f.lost:
		p.lost(ctx, f.claim)
	case f.err != nil:
		p.failed(ctx, f.claim, f.err)
	case f.result.unchanged:
		p.settled(ctx, f, p.store.MarkUnchanged(after, f.claim, f.result.Extraction.ContentHash, f.result.Skipped))
	default:
		p.settled(ctx, f, p.store.StoreExtraction(after, f.claim, f.result.Result))
	}
}

// settled reports a claim that was ended in the store, or why it was not.
func (p *phase1) settled(ctx context.Context, f finished, err error) {
	switch {
	case err == nil:
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, f.claim)
		return
	case ownFault(err):
		p.enter(ctx, f.claim, store.OutcomeInterrupted)
		p.halt(ctx, f.claim, err)
		return
	default:
		p.recordFailure(ctx, f.claim, err, false)
		return
	}
	p.count(func(r *Phase1Report) {
		switch {
		case f.result.unchanged:
			r.Unchanged++
		case f.result.Extraction.Empty():
			r.Claimed++
			r.Empty++
		default:
			r.Claimed++
			r.Stored++
		}
	})
	if !f.result.unchanged {
		p.addRedactions(f.result.Redactions)
	}
	p.extracting("", false, 0)
}

// giveBack returns a claim at once, its attempt uncounted.
func (p *phase1) giveBack(ctx context.Context, claim store.Claim) {
	err := p.store.GiveBack(ctx, []store.Claim{claim}) // which goes on when ctx has ended
	if err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		p.warn(fmt.Sprintf("session %s: not given back: %v", claim.Session.ID, err),
			"it is free when this process has ended")
	}
	p.count(func(r *Phase1Report) { r.GivenBack++ })
}

// extracting reports how far Phase 1 is, and what of it begins or goes on.
func (p *phase1) extracting(session string, alone bool, since time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.report.Phase1
	done := r.Claimed + r.Unchanged
	p.send(
		Progress{Stage: StageExtract, Done: done, Total: max(p.total, done), What: session, Since: since, Alone: alone},
	)
}
