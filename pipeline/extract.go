package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/extract"
	"memoir/lease"
	"memoir/rollout"
	"memoir/store"
)

// phase1 claims eligible sessions as workers free up, until the run's cap or
// until nothing is left, and extracts from each. Sessions whose last attempt died
// with its process come last, one at a time, so that they cannot take others along.
func (r *run) phase1(ctx context.Context) error {
	workers := r.opts.Settings.Memories.Concurrency
	if r.total > 0 {
		r.extracting("", false, 0)
	}
	if err := r.drain(ctx, workers, false); err != nil {
		return err
	}
	return r.drain(ctx, 1, true)
}

// maxSorted is how many eligible sessions are sorted by size at each claim.
const maxSorted = 256

// takesAll reports whether the run may claim every eligible session, so that their
// order is free.
func (r *run) takesAll() bool {
	reasons := r.report.Scan.Reasons
	return reasons[memoir.ReasonOverCap] == 0 && reasons[memoir.ReasonEligible] <= min(maxSorted, r.opts.Limit)
}

// drain claims and extracts until a claim comes back empty with nobody at work.
// Sessions at work count toward the cap until they turn out to be unchanged.
func (r *run) drain(ctx context.Context, workers int, suspects bool) error {
	var (
		g    errgroup.Group
		done = make(chan struct{}, workers)
		busy int
		fail error
	)
	for {
		if fail == nil {
			fail = r.faulty()
		}
		slots := min(workers, r.capLeft()) - busy
		if slots > 0 && ctx.Err() == nil && fail == nil && r.meter.stop() == nil && r.unserved(r.extractor.Name()) == nil {
			attempt := time.Now()
			claims, err := r.store.ClaimSessions(ctx, store.ClaimOptions{
				Holder:   r.holder,
				Lease:    r.stage1Lease(),
				Limit:    slots,
				Window:   r.claimable(),
				Largest:  !suspects && r.takesAll(),
				Suspects: suspects,
			})
			if err != nil {
				fail = fmt.Errorf("claim sessions: %w", err)
			}
			for _, claim := range claims {
				busy++
				g.Go(func() error {
					defer func() { done <- struct{}{} }()
					if !r.declines(ctx, claim) {
						r.work(ctx, claim, attempt)
					}
					return nil
				})
			}
		}
		if busy == 0 {
			break
		}
		<-done
		busy--
		for len(done) > 0 { // those that finished meanwhile make one batch
			<-done
			busy--
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if fail == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fail
}

// work extracts from one claimed session and stores what came of it. The job's
// fate is in the store; what work returns goes into the report.
func (r *run) work(ctx context.Context, claim store.Claim, attempt time.Time) {
	held, release := r.keepSession(ctx, claim, attempt)
	defer release()

	stop := during(func(since time.Duration) { r.extracting(claim.Session.ID, claim.Crashes > 0, since) })
	defer stop()

	held, spent := begin(held, store.Call{Work: claim.Token, Phase: phaseExtract, SessionKey: claim.Session.Key(), ProjectID: claim.Session.ProjectID})
	spent.budget = r.budgetOf(ctx, claim.Session.ProjectID)
	result, err := apart(held, r, func() (extracted, error) { return r.extractOne(held, claim) })
	result.Usage, result.InputBytes = spent.settled()
	result.Duration = time.Since(attempt)
	r.addUsage(result.Usage)
	switch {
	case ctx.Err() != nil:
		r.giveBack(ctx, claim, result, store.OutcomeInterrupted)
		return
	case memoir.CodeOf(context.Cause(held)) == memoir.CodeLeaseLost:
		r.lost(ctx, claim, result)
		return
	case err != nil:
		r.failed(ctx, claim, result, cmp.Or(spent.refusal(), err))
		return
	}
	// What follows must not be cut short by a signal: it is one short transaction.
	held = context.WithoutCancel(held)
	switch {
	case result.excluded != "":
		err = r.store.ExcludeClaim(held, claim, result.excluded)
	case result.unchanged:
		err = r.store.MarkUnchanged(held, claim, result.Extraction.ContentHash, result.Skipped)
	default:
		err = r.store.StoreExtraction(held, claim, result.Result)
	}
	if err != nil {
		switch {
		case memoir.CodeOf(err) == memoir.CodeLeaseLost:
			r.lost(ctx, claim, result)
		case ownFault(err):
			r.enter(ctx, claim, result, store.OutcomeInterrupted)
			r.halt(ctx, claim, err)
		default:
			r.failClaim(held, claim, result, err)
		}
		return
	}
	r.count(func(p *Phase1Report) {
		switch {
		case result.excluded != "":
			p.GivenBack++
		case result.unchanged:
			p.Unchanged++
		case result.Extraction.Empty():
			p.Claimed++
			p.Empty++
		default:
			p.Claimed++
			p.Stored++
		}
	})
	if !result.unchanged && result.excluded == "" {
		r.addRedactions(result.Redactions)
	}
	r.finished()
}

// failed ends a claim whose work failed, by who is to blame.
func (r *run) failed(ctx context.Context, claim store.Claim, spent extracted, err error) {
	if limited(err) {
		r.giveBack(ctx, claim, spent, store.OutcomeLimit)
		return
	}
	if errors.Is(err, errUnserved) {
		r.giveBack(ctx, claim, spent, store.OutcomeInterrupted)
		return
	}
	switch blame := r.judge(r.extractor.Name(), err); {
	case blame == ends:
		r.endWith(ctx, claim, spent, err)
	case blame == postponed, failing(err):
		r.postpone(ctx, claim, spent, err)
	case ownFault(err):
		r.enter(ctx, claim, spent, store.OutcomeInterrupted)
		r.halt(ctx, claim, err)
	case withheld(claim.Session, err):
		r.leaveUnread(ctx, claim, spent, err)
	default:
		r.failClaim(ctx, claim, spent, err)
	}
}

// keepSession keeps a claim's lease.
func (r *run) keepSession(ctx context.Context, claim store.Claim, attempt time.Time) (held context.Context, release func()) {
	return lease.Keep(ctx, lease.Options{
		Lease:    r.stage1Lease(),
		Interval: r.heartbeat(r.stage1Lease()),
		Since:    attempt,
		What:     "session " + claim.Session.ID,
		Extend: func(ctx context.Context) (bool, error) {
			lost, err := r.store.ExtendClaims(ctx, []string{claim.Token}, r.leaseUntil(r.stage1Lease()))
			return len(lost) == 0, err
		},
	})
}

// extracted is what extractOne hands to work.
type extracted struct {
	store.Result
	unchanged bool   // the content is the one that was extracted before
	excluded  string // the directory that is kept out, where most of the work was
}

// extractOne reads, redacts and extracts one session.
func (r *run) extractOne(ctx context.Context, claim store.Claim) (extracted, error) {
	parts, err := partsOf(ctx, claim.Session, r.heads)
	if err != nil {
		return extracted{}, err
	}
	scanner := r.scannerOf(claim.Session.CWD)
	accountOf(ctx).redactBy(scanner)
	before := lookAt(claim.Session.Files)
	loaded, err := Load(ctx, scanner, parts, claim.PriorMarks...)
	if err == nil {
		err = before.whole()
	}
	if err != nil {
		return extracted{}, err
	}
	out := extracted{Result: store.Result{Redactions: loaded.Redactions, Model: r.extractor.Name(), Run: r.id, Marks: loaded.Marks}}
	out.Extraction.ContentHash = loaded.Hash
	out.Skipped = r.skipped(loaded.Stats)
	if loaded.Hash == claim.DoneHash && claim.DoneFilterVersion == rollout.FilterVersion {
		out.unchanged = true
		return out, nil
	}
	work, err := r.whereWorked(ctx, loaded.Items, claim.Session)
	if err != nil {
		return extracted{}, err
	}
	if work.CWD != "" && work.Project.ID == "" {
		out.excluded = work.CWD
		return out, nil
	}
	out.Work = &work
	session := movedTo(claim.Session, work, loaded.Items)
	session.Title, _ = scanner.Redact(session.Title)
	earlier, since := r.earlier(claim.Prior, loaded)
	extraction, usage, err := r.extractor.Extract(ctx, extract.Input{Session: session, Items: loaded.Items, Earlier: earlier, Since: since})
	accountOf(ctx).tell(usage) // spent, whatever comes of it
	loaded.Redactions.Merge(accountOf(ctx).redactions())
	if err != nil {
		return out, err
	}
	if err := r.seal(&extraction, session, loaded); err != nil {
		return out, &memoir.AnswerError{Answer: extraction.RawMemory + "\n\n" + extraction.RolloutSummary, Err: err}
	}
	out.Extraction = extraction
	// What an earlier extraction rested on may have been undone since.
	out.Grown = earlier != nil && restsOn(*earlier, since)
	out.Withdraw = extraction.Empty() && loaded.Stats.Undone > 0 && !out.Grown
	return out, nil
}

// seal redacts what the extractor wrote, checks it, and fills in what it rests on.
func (r *run) seal(e *memoir.Extraction, s memoir.Session, loaded Loaded) error {
	redacted, counts := r.scannerOf(s.CWD).Extraction(*e)
	loaded.Redactions.Merge(counts)
	*e = redacted
	if err := extract.Check(*e, loaded.Items); err != nil {
		return err
	}
	e.SessionKey = s.Key()
	e.ProjectID = s.ProjectID
	e.CWD, e.Branch = s.CWD, s.Branch
	e.StartedAt, e.EndedAt = s.CreatedAt, lastSaid(loaded.Items, s.UpdatedAt)
	e.ContentHash, e.FilterVersion = loaded.Hash, rollout.FilterVersion
	e.Model = r.extractor.Name()
	return nil
}

// lastSaid is when the session's last item was: agents go on writing records that
// hold nothing, and the date that memory cites must not move with them.
func lastSaid(items []memoir.Item, otherwise time.Time) time.Time {
	for _, it := range slices.Backward(items) {
		if !it.At.IsZero() {
			return it.At
		}
	}
	return otherwise
}

// failClaim records a failure. A session that cannot be read stays so until its
// file changes; other errors are tried again.
func (r *run) failClaim(ctx context.Context, claim store.Claim, spent extracted, cause error) {
	ctx = context.WithoutCancel(ctx)
	failure, answer := r.failureOf(phaseExtract, claim.Session.ProjectID, claim.Session.Key(), cause)
	failure.Usage, failure.InputBytes, failure.Duration = spent.Usage, spent.InputBytes, spent.Duration
	err := r.store.FailClaim(ctx, claim, failure, r.retryPolicy())
	r.dropLost(err, answer)
	r.count(func(p *Phase1Report) { p.Claimed++; p.Failed++ })
	r.fold(claim.Session.ID, failure.Message, hintOf(cause))
	if err != nil {
		r.enter(ctx, claim, spent, store.OutcomeLost)
	}
	if err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		r.warn(fmt.Sprintf("session %s: its failure could not be recorded: %v", claim.Session.ID, err), memoir.HintOf(err))
	}
	if ownFault(err) {
		_ = r.store.GiveBack(ctx, []store.Claim{claim}) // or a process would seem to have died over it
		r.fail(err)
	}
	r.finished()
}

// lost reports a claim that another process has taken over. Nothing of the result
// is stored, but what it cost stands in the ledger all the same.
func (r *run) lost(ctx context.Context, claim store.Claim, result extracted) {
	r.count(func(p *Phase1Report) { p.GivenBack++ })
	r.warn(fmt.Sprintf("session %s: its lease was lost; another run has it", claim.Session.ID), "")
	r.enter(ctx, claim, result, store.OutcomeLost)
}

// giveBack returns a claim at once, its attempt uncounted.
func (r *run) giveBack(ctx context.Context, claim store.Claim, result extracted, outcome string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := r.store.GiveBack(ctx, []store.Claim{claim}); err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		r.warn(fmt.Sprintf("session %s: not given back: %v", claim.Session.ID, err), "")
	}
	r.count(func(p *Phase1Report) { p.GivenBack++ })
	r.enter(ctx, claim, result, outcome)
}

// enter puts into the ledger what became of work on a session that nothing is stored of.
func (r *run) enter(ctx context.Context, claim store.Claim, result extracted, outcome string) {
	r.addLedger(ctx, "session "+claim.Session.ID, store.LedgerEntry{
		Work: claim.Token, Phase: phaseExtract, SessionKey: claim.Session.Key(), ProjectID: claim.Session.ProjectID,
		Model: r.extractor.Name(), Usage: result.Usage, InputBytes: result.InputBytes, Duration: result.Duration, Outcome: outcome,
	})
}
