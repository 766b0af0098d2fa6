package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/rollout"
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
const ahead = 16

// all takes sessions whose last attempt died with its process last and one at a time,
// so that they cannot take others along.
func (p *phase1) all(ctx context.Context) error {
	if p.total > 0 {
		p.extracting(ctx, memoir.Session{})
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
		g    errgroup.Group
		room = newRoom(p.opts.Settings.Memories, workers)
		done = make(chan bool, 2*most) // whether it was a large one
		busy = map[bool]int{}          // of large ones, and of small ones
		fail error
	)
	for {
		if fail == nil {
			fail = p.faulty()
		}
		// Sessions at work count toward the cap until they turn out to be unchanged. Large ones, which
		// may wait for room, take no place from small ones.
		slots := min(most-busy[false], most-busy[true], p.capLeft()-busy[false]-busy[true])
		if slots > 0 && ctx.Err() == nil && fail == nil && p.meter.stop() == nil &&
			p.unserved(p.extractor.Name()) == nil {
			attempt := time.Now()
			claims, err := p.claim(ctx, slots, suspects)
			fail = err
			for _, claim := range claims {
				large := isLarge(claim.Session)
				busy[large]++
				g.Go(func() error {
					p.finish(ctx, p.work(ctx, claim, attempt, room)) // the store commits together what several finish at once
					done <- large
					return nil
				})
			}
			if len(claims) == slots {
				continue // there is place for small ones yet where some of these are large
			}
		}
		if busy[false]+busy[true] == 0 {
			break
		}
		busy[<-done]--
		for len(done) > 0 { // those that finished meanwhile make one claim
			busy[<-done]--
		}
	}
	_ = g.Wait() // no goroutine returns an error
	if fail == nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fail
}

func (p *phase1) claim(ctx context.Context, limit int, suspects bool) ([]store.Claim, error) {
	window := p.window()
	window.Without = p.heldBack() // their sessions stay eligible for a later run
	claims, err := p.store.ClaimSessions(ctx, store.ClaimOptions{
		Holder:     p.holder,
		Lease:      p.stage1Lease(),
		Limit:      limit,
		RunningCap: max(p.opts.Limit, p.opts.Settings.Memories.MaxRolloutsPerStartup),
		Window:     window,
		Suspects:   suspects,
	})
	if err != nil {
		return nil, fmt.Errorf("claim sessions: %w", err)
	}
	return claims, nil
}

// finished is a claim that was worked on. Its lease is kept until it is released.
type finished struct {
	claim   store.Claim
	result  extracted
	said    atomic.Pointer[[]store.Message] // what was to be extracted from
	err     error
	release func()
}

// work extracts from one claimed session once there is room for it, and stores nothing. Its lease is
// kept while it waits.
func (p *phase1) work(ctx context.Context, claim store.Claim, attempt time.Time, room room) *finished {
	f := &finished{claim: claim, release: func() {}}
	if f.err = p.rulesIn(claim.Session.CWD).err; f.err != nil {
		p.holdBack(claim.Session.ProjectID, f.err)
		return f
	}
	held, release := p.keep(ctx, "session "+claim.Session.ID, claim, p.stage1Lease(), attempt)
	f.release = release
	held = forWork(held, store.Call{
		Work:       claim.Token,
		Phase:      phaseExtract,
		SessionKey: claim.Session.Key(),
		ProjectID:  claim.Session.ProjectID,
	}, p.scannerOf(claim.Session.CWD))
	f.result, f.err = apart(held, p.run, func() (extracted, error) {
		at, err := room.enter(held, claim.Session)
		if err != nil {
			return extracted{}, err
		}
		defer at.leave()
		p.extracting(ctx, claim.Session)
		return p.extractOne(held, claim, at.shrink, &f.said)
	})
	if f.err != nil && held.Err() != nil {
		f.err = context.Cause(held)
	}
	return f
}

// finish ends a claim that was worked on, by what became of the work. What is stored is
// stored in a transaction that a signal does not cut short.
func (p *phase1) finish(ctx context.Context, f *finished) {
	defer f.release()
	after := context.WithoutCancel(ctx)
	err := f.err
	switch {
	case err != nil:
	case f.result.unchanged:
		err = p.store.MarkUnchanged(after, f.claim, f.result.Extraction.ContentHash, f.result.Skipped)
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
		p.giveBack(ctx, f.claim, store.OutcomeInterrupted)
	case ownFault(err):
		p.giveBack(ctx, f.claim, outcomeOf(err))
		p.fail(err)
	case !failing(err) && withheld(f.claim.Session, err):
		p.leaveUnread(after, f.claim, err)
	default:
		verdict := p.judge(p.extractor.Name(), err)
		if verdict == returned {
			p.giveBack(ctx, f.claim, outcomeOf(err))
		} else {
			p.recordFailure(after, f.claim, err, verdict == postponed)
		}
	}
	p.extracting(ctx, memoir.Session{})
}

// Bounds of what the history says of a session that a model failed on.
const (
	fallbackMessages = 10
	fallbackText     = 200 // characters of a message
)

// fallBack keeps the last messages of a session for the history, where the model failed on it or was too late.
func (p *phase1) fallBack(ctx context.Context, f *finished, cause error) {
	said := f.said.Load()
	if said == nil || len(*said) == 0 || ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) ||
		ownFault(cause) || refused(cause) || coded(cause, memoir.CodeLeaseLost, memoir.CodeConfig) {
		return
	}
	last := (*said)[max(0, len(*said)-fallbackMessages):]
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

// countStored reports a claim that has its result.
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

// giveBack returns a claim at once, its attempt uncounted. A full disk may refuse this; the
// claim is then free when the process has ended.
func (p *phase1) giveBack(ctx context.Context, claim store.Claim, outcome string) {
	err := p.store.GiveBack(ctx, claim) // which goes on when ctx has ended
	if err != nil && memoir.CodeOf(err) != memoir.CodeLeaseLost {
		p.warn(fmt.Sprintf("session %s: cannot release its claim: %v", claim.Session.ID, err),
			"it is released when this process ends")
	}
	p.count(func(r *Phase1Report) { r.GivenBack++ })
	p.endWork(ctx, claim.Token, claim.Session.ProjectID, outcome)
}

// lost reports a claim that another process has taken over. Nothing of the result
// is stored, but what it cost stands in the ledger all the same.
func (p *phase1) lost(ctx context.Context, claim store.Claim) {
	p.count(func(r *Phase1Report) { r.GivenBack++ })
	p.warn(fmt.Sprintf("session %s: its lease was lost; another run has it", claim.Session.ID), "")
	p.endWork(ctx, claim.Token, claim.Session.ProjectID, store.OutcomeLost)
}

// leaveUnread gives a session back whose file the system does not let be read.
func (p *phase1) leaveUnread(ctx context.Context, claim store.Claim, cause error) {
	path, _ := rollout.Withheld(cause)
	message := p.redact(cause.Error())
	switch err := p.store.LeaveUnread(ctx, claim, path, message); {
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, claim)
	case err != nil:
		p.giveBack(ctx, claim, store.OutcomeFailed)
		p.fail(err)
	default:
		p.count(func(r *Phase1Report) { r.GivenBack++; r.Unread++ })
		p.mention("left out: "+message, memoir.HintOf(cause))
	}
}

// recordFailure records what a session failed of. A session that cannot be read stays so
// until its file changes; other errors are tried again. One that is postponed counts no
// attempt unless that happened to it before and the model served others since.
func (p *phase1) recordFailure(ctx context.Context, claim store.Claim, cause error, postpone bool) {
	failure := p.failureOf(p.extractor.Name(), cause, postpone)
	counted, err := p.store.Fail(ctx, claim, failure, p.retryPolicy(p.opts.Settings.Memories.Phase1RetryDelaySeconds))
	switch {
	case memoir.CodeOf(err) == memoir.CodeLeaseLost:
		p.lost(ctx, claim)
		return
	case err != nil:
		p.giveBack(ctx, claim, store.OutcomeFailed) // or a process would seem to have died over it
		p.fail(err)
		return
	}
	said := failure.Message
	if !counted {
		said += " (no attempt counted)"
	}
	p.warnOnce("session "+claim.Session.ID, said, hintOf(cause))
	p.count(func(r *Phase1Report) {
		if counted {
			r.Claimed++
			r.Failed++
		} else {
			r.GivenBack++
			r.Postponed++
		}
	})
}

// extracting reports how far Phase 1 is, and which session begins; none does if it is the zero session.
func (p *phase1) extracting(ctx context.Context, session memoir.Session) {
	spent := p.meter.spent(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	done := p.report.Phase1.Claimed + p.report.Phase1.Unchanged
	p.send(Progress{Stage: StageExtract, Done: done, Total: max(p.total, done), What: session.ID,
		Of: session.ProjectID, Spent: spent})
}
