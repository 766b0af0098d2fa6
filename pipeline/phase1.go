package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/lease"
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

// maxSorted is how many eligible sessions are sorted by size at each claim.
const maxSorted = 256

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

// drain claims and extracts until a claim comes back empty with nobody at work. What
// workers finish while the last results are stored is stored together.
func (p *phase1) drain(ctx context.Context, workers int, suspects bool) error {
	most := workers
	if p.meter.named(p.extractor.Name()) == nil && !suspects {
		most = ahead * workers
	}
	var (
		g     errgroup.Group
		done  = make(chan finished, most)
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
		if slots > 0 && ctx.Err() == nil && fail == nil && p.meter.stop() == nil && p.unserved(p.extractor.Name()) == nil {
			attempt := time.Now()
			claims, err := p.claim(ctx, slots, suspects)
			fail = err
			for _, claim := range claims {
				busy++
				g.Go(func() error {
					turns <- struct{}{}
					defer func() { <-turns }()
					done <- p.work(ctx, claim, attempt)
					return nil
				})
			}
		}
		if busy == 0 {
			break
		}
		batch := []finished{<-done}
		for len(done) > 0 {
			batch = append(batch, <-done)
		}
		busy -= len(batch)
		p.finish(ctx, batch)
	}
	_ = g.Wait() // no goroutine returns an error
	if fail == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fail
}

func (p *phase1) claim(ctx context.Context, limit int, suspects bool) ([]store.Claim, error) {
	// Where the run may claim every eligible session their order is free.
	reasons := p.report.Scan.Reasons
	takesAll := reasons[memoir.ReasonOverCap] == 0 && reasons[memoir.ReasonEligible] <= min(maxSorted, p.opts.Limit)
	claims, err := p.store.ClaimSessions(ctx, store.ClaimOptions{
		Holder:   p.holder,
		Lease:    p.stage1Lease(),
		Limit:    limit,
		Window:   p.claimable(),
		Largest:  !suspects && takesAll,
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

	held, spent := begin(held, store.Call{Work: claim.Token, Phase: phaseExtract, SessionKey: claim.Session.Key(), ProjectID: claim.Session.ProjectID})
	spent.budget = p.budgetOf(ctx, claim.Session.ProjectID)
	f.result, f.err = apart(held, p.run, func() (extracted, error) { return p.extractOne(held, claim) })
	f.result.Usage, f.result.InputBytes = spent.settled()
	f.result.Duration = time.Since(attempt)
	p.addUsage(f.result.Usage)
	if f.err != nil {
		f.err = cmp.Or(spent.refusal(), f.err)
	}
	f.lost = memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost
	f.unstopped = ctx.Err() == nil
	return f
}

// keepSession keeps a claim's lease.
func (p *phase1) keepSession(ctx context.Context, claim store.Claim, attempt time.Time) (held context.Context, release func()) {
	return lease.Keep(ctx, lease.Options{
		Lease:    p.stage1Lease(),
		Interval: p.heartbeat(p.stage1Lease()),
		Since:    attempt,
		What:     "session " + claim.Session.ID,
		Extend: func(ctx context.Context) (bool, error) {
			lost, err := p.store.ExtendClaims(ctx, []string{claim.Token}, p.leaseUntil(p.stage1Lease()))
			return len(lost) == 0, err
		},
	})
}

// finish ends claims that were worked on, each by what became of the work. What was
// extracted is stored together, in a transaction that a signal does not cut short.
func (p *phase1) finish(ctx context.Context, batch []finished) {
	var back []store.Claim
	var extractions []finished
	for _, f := range batch {
		switch {
		case f.misruled:
			back = append(back, f.claim)
		case !f.unstopped:
			back = append(back, f.claim)
		case f.lost:
			p.lost(ctx, f.claim, f.result)
		case f.err != nil:
			p.failed(ctx, f.claim, f.result, f.err)
		case f.result.excluded != "":
			p.settled(ctx, f, p.store.ExcludeClaim(context.WithoutCancel(ctx), f.claim, f.result.excluded))
		case f.result.unchanged:
			p.settled(ctx, f, p.store.MarkUnchanged(context.WithoutCancel(ctx), f.claim, f.result.Extraction.ContentHash, f.result.Skipped))
		default:
			extractions = append(extractions, f)
		}
	}
	if len(extractions) > 0 {
		done := make([]store.Finished, len(extractions))
		for i, f := range extractions {
			done[i] = store.Finished{Claim: f.claim, Result: f.result.Result}
		}
		for i, err := range p.store.StoreExtractions(context.WithoutCancel(ctx), done) {
			p.settled(ctx, extractions[i], err)
		}
	}
	p.giveBack(ctx, back...)
	for _, f := range batch {
		if !f.unstopped && !f.misruled {
			p.enter(ctx, f.claim, f.result, store.OutcomeInterrupted)
		}
		f.release()
	}
}

// settled reports a claim that was ended in the store, or why it was not.
func (p *phase1) settled(ctx context.Context, f finished, err error) {
	switch {
	case err == nil:
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, f.claim, f.result)
		return
	case ownFault(err):
		p.enter(ctx, f.claim, f.result, store.OutcomeInterrupted)
		p.halt(ctx, f.claim, err)
		return
	default:
		p.failClaim(ctx, f.claim, f.result, err)
		return
	}
	p.count(func(r *Phase1Report) {
		switch {
		case f.result.excluded != "":
			r.GivenBack++
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
	if !f.result.unchanged && f.result.excluded == "" {
		p.addRedactions(f.result.Redactions)
	}
	p.extracting("", false, 0)
}

// giveBack returns claims at once, their attempts uncounted.
func (p *phase1) giveBack(ctx context.Context, claims ...store.Claim) {
	if len(claims) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := p.store.GiveBack(ctx, claims); err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		ids := slices.Collect(func(yield func(string) bool) {
			for _, c := range claims {
				if !yield(c.Session.ID) {
					return
				}
			}
		})
		p.warn(fmt.Sprintf("sessions %v: not given back: %v", ids, err), "they are free when this process has ended")
	}
	p.count(func(r *Phase1Report) { r.GivenBack += len(claims) })
}

// extracting reports how far Phase 1 is, and what of it begins or goes on.
func (p *phase1) extracting(session string, alone bool, since time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.report.Phase1
	done := r.Claimed + r.Unchanged
	p.send(Progress{Stage: StageExtract, Done: done, Total: max(p.total, done), What: session, Since: since, Alone: alone})
}
