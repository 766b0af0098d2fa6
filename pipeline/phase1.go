package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"memoir"
	"memoir/rollout"
	"memoir/store"
)

// phase1 extracts from the eligible sessions. It claims sessions when workers are free, until the cap is
// reached or none is left, and stores the results.
type phase1 struct {
	*phases
	heads    *seenHeads
	total    int             // expected number of sessions
	tops     sync.Map        // top directory by directory
	failures map[string]bool // messages of failures that were reported; guarded by mu
}

// ahead is how many sessions a worker claims at once with the built-in model: one transaction for many is
// cheaper than one for each, and a small session is extracted faster than it is claimed.
const ahead = 16

// extractAll extracts crashed sessions last and one at a time, so that they cannot end the work on others.
func (p *phase1) extractAll(ctx context.Context) error {
	if p.total > 0 {
		p.extracting(ctx, memoir.Session{})
	}
	if err := p.drain(ctx, p.opts.Settings.Memories.Concurrency, false); err != nil {
		return err
	}
	return p.drain(ctx, 1, true)
}

// drain claims and extracts until a claim returns no session and no worker is busy.
func (p *phase1) drain(ctx context.Context, workers int, suspects bool) error {
	most := workers
	if p.meter.named(p.extractor.Name()) == nil && !suspects {
		most = ahead * workers
	}
	var (
		room = newRoom(p.opts.Settings.Memories, workers)
		done = make(chan struct{}, most)
		busy = 0
		fail error
	)
	for {
		if fail == nil {
			fail = p.faulty()
		}
		slots := min(most, p.capLeft()) - busy // sessions at work count unless they turn out to be unchanged
		if slots > 0 && ctx.Err() == nil && fail == nil && p.meter.stop() == nil &&
			p.meter.unserved(p.extractor.Name()) == nil {
			attempt := time.Now()
			var claims []store.Claim
			claims, fail = p.store.ClaimSessions(ctx, store.ClaimOptions{
				Holder: p.holder, Lease: p.phase1Lease(), Limit: slots, Window: p.window(), Suspects: suspects,
				RunningCap: max(p.opts.Limit, p.opts.Settings.Memories.MaxRolloutsPerStartup),
			})
			busy += len(claims)
			for _, claim := range claims {
				go func() {
					p.finish(ctx, p.work(ctx, claim, attempt, room)) // the store batches concurrent commits
					done <- struct{}{}
				}()
			}
		}
		if busy == 0 {
			break
		}
		for wait := true; wait || len(done) > 0; wait = false { // one claim for all that have finished
			<-done
			busy--
		}
	}
	return cmp.Or(fail, context.Cause(ctx))
}

// finished is a claim with its result, not yet stored. Its lease is renewed until release is called.
type finished struct {
	claim    store.Claim
	result   extracted
	messages atomic.Pointer[[]store.Message] // the session's messages
	err      error
	release  func()
}

// work extracts from one claimed session and stores nothing. It renews the lease while it waits for room.
func (p *phase1) work(ctx context.Context, claim store.Claim, attempt time.Time, room room) *finished {
	held, release := p.keep(ctx, "session "+claim.Session.ID, claim, p.phase1Lease(), attempt)
	f := &finished{claim: claim, release: release}
	held = forWork(held, store.Call{
		Work:       claim.Token,
		Phase:      phaseExtract,
		SessionKey: claim.Session.Key(),
		ProjectID:  claim.Session.ProjectID,
	})
	f.result, f.err = Apart(held, func() (extracted, error) {
		shrink, leave, err := room.enter(held, claim.Session)
		if err != nil {
			return extracted{}, err
		}
		defer leave()
		p.extracting(ctx, claim.Session)
		return p.extractOne(held, claim, shrink, &f.messages)
	})
	if f.err != nil && held.Err() != nil {
		f.err = context.Cause(held)
	}
	return f
}

// finish ends a claim with its result or failure. A signal does not interrupt the transaction that stores
// the result.
func (p *phase1) finish(ctx context.Context, f *finished) {
	defer f.release()
	after := context.WithoutCancel(ctx)
	err := f.err
	switch {
	case err != nil:
	case f.result.unchanged:
		err = p.store.MarkUnchanged(after, f.claim, f.claim.DoneHash, f.result.Result)
	default:
		err = p.store.StoreExtraction(after, f.claim, f.result.Result)
	}
	if err != nil {
		p.fallBack(ctx, f, err)
	}
	switch {
	case err == nil:
		p.countStored(f.result)
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, f.claim)
	case ctx.Err() != nil:
		p.release(ctx, f.claim, store.OutcomeInterrupted)
	case ownFault(err):
		p.release(ctx, f.claim, outcomeOf(err))
		p.fail(err)
	case !failing(err) && withheld(f.claim.Session, err):
		p.leaveUnread(after, f.claim, err)
	default:
		verdict := p.judge(p.extractor.Name(), err)
		if verdict == returned {
			p.release(ctx, f.claim, outcomeOf(err))
		} else {
			p.recordFailure(after, f.claim, err, verdict == postponed)
		}
	}
	p.extracting(ctx, memoir.Session{})
}

// Bounds on the history entry of a session whose extraction failed.
const (
	fallbackMessages = 10
	fallbackText     = 200 // characters of a message
)

// fallBack stores the last messages of a session for the history if its extraction failed or timed out.
func (p *phase1) fallBack(ctx context.Context, f *finished, cause error) {
	messages := f.messages.Load()
	if messages == nil || len(*messages) == 0 || ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) ||
		ownFault(cause) || isRefused(cause) || coded(cause, memoir.CodeLeaseLost, memoir.CodeConfig) ||
		f.claim.Session.Reason == memoir.ReasonOutdated { // the history has it
		return
	}
	last := (*messages)[max(0, len(*messages)-fallbackMessages):]
	at, lines := f.claim.Session.UpdatedAt, []string{}
	for _, m := range last {
		role := memoir.RoleAssistant
		if m.Typed {
			role = memoir.RoleUser
		}
		if lines = append(lines, role+": "+memoir.Cut(oneLine(m.Text), fallbackText)); !m.At.IsZero() {
			at = m.At
		}
	}
	err := p.store.PutFallback(context.WithoutCancel(ctx), f.claim, at, "[raw-fallback] "+strings.Join(lines, " | "))
	if err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		p.warn("cannot add a session to the history: "+err.Error(), memoir.HintOf(err))
	}
}

func (p *phase1) countStored(result extracted) {
	p.count(func(r *Phase1Report) {
		switch {
		case result.unchanged:
			r.Unchanged++
		case result.copied:
			r.Claimed++
			r.Copied++
		case result.Extraction.Empty():
			r.Claimed++
			r.Empty++
		default:
			r.Claimed++
			r.Stored++
		}
	})
	if !result.unchanged {
		p.addRedactions(result.Redactions)
	}
}

// release releases a claim without counting an attempt. If it fails, for instance on a disk that has become full,
// the claim ends with the process, which counts as a crash.
func (p *phase1) release(ctx context.Context, claim store.Claim, outcome string) {
	err := p.store.Release(ctx, claim) // also if ctx has ended
	if err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		p.warn(fmt.Sprintf("session %s: cannot release its claim: %v", claim.Session.ID, err),
			"it is released when this process ends")
	}
	p.count(func(r *Phase1Report) { r.Released++ })
	p.endWork(ctx, claim.Token, claim.Session.ProjectID, outcome)
}

// lost reports a claim that another process has taken over. The result is dropped; the ledger has its usage.
func (p *phase1) lost(ctx context.Context, claim store.Claim) {
	p.count(func(r *Phase1Report) { r.Released++ })
	p.warn(fmt.Sprintf("session %s: its claim was lost: another process has it, or removed it", claim.Session.ID), "")
	p.endWork(ctx, claim.Token, claim.Session.ProjectID, store.OutcomeLost)
}

// leaveUnread releases a session with a file that cannot be read.
func (p *phase1) leaveUnread(ctx context.Context, claim store.Claim, cause error) {
	path, _ := rollout.Withheld(cause)
	message := p.redact(cause.Error())
	switch err := p.store.LeaveUnread(ctx, claim, path, message); {
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, claim)
	case err != nil:
		p.release(ctx, claim, store.OutcomeFailed)
		p.fail(err)
	default:
		p.count(func(r *Phase1Report) { r.Released++; r.Unread++ })
		p.mention("left out: "+message, memoir.HintOf(cause))
	}
}

// recordFailure records the failure of a session. An unreadable session is not tried again until its file
// changes; other failures are. A postponed failure counts no attempt, unless the session failed before and
// the model has served others since.
func (p *phase1) recordFailure(ctx context.Context, claim store.Claim, cause error, postpone bool) {
	failure := p.failureOf(p.extractor.Name(), cause, postpone)
	counted, err := p.store.Fail(ctx, claim, failure, p.retryPolicy(p.opts.Settings.Memories.Phase1RetryDelaySeconds))
	switch {
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, claim)
		return
	case err != nil:
		p.release(ctx, claim, store.OutcomeFailed) // otherwise it would count as a crash
		p.fail(err)
		return
	}
	message := failure.Message
	if !counted {
		message += " (no attempt counted)"
	}
	p.warnOnce("session "+claim.Session.ID, message, hintOf(cause))
	p.count(func(r *Phase1Report) {
		if counted {
			r.Claimed++
			r.Failed++
		} else {
			r.Released++
			r.Postponed++
		}
	})
}

// extracting reports the progress of Phase 1, and the session that begins unless it is the zero session.
func (p *phase1) extracting(ctx context.Context, session memoir.Session) {
	spent := p.meter.spent(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	done := p.report.Phase1.Claimed + p.report.Phase1.Unchanged
	p.send(Progress{Stage: StageExtract, Done: done, Total: max(p.total, done), What: session.ID,
		Of: session.ProjectID, Spent: spent})
}

// capLeft is how many more sessions the run may claim. A postponed one counts: it was sent to the model.
func (p *phase1) capLeft() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.opts.Limit-p.report.Phase1.Claimed-p.report.Phase1.Postponed, 0)
}

// warnOnce reports the failure of a session, unless another session failed with the same message: `memoir
// status` lists all of them.
func (p *phase1) warnOnce(session, message, hint string) {
	p.mu.Lock()
	known := p.failures[message]
	p.failures[message] = true
	p.mu.Unlock()
	if !known {
		p.warn(session+": "+message, hint)
	}
}
