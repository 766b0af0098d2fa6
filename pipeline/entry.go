package pipeline

import (
	"context"
	"errors"
	"time"

	"memoir"
	"memoir/model"
	"memoir/store"
)

// ledger is where calls are entered, as they begin and as they end.
type ledger interface {
	BeginCall(ctx context.Context, c store.Call) (id int64, others memoir.Usage, err error)
	EndCall(ctx context.Context, id int64, e store.CallEnd) error
}

var _ ledger = (*store.Store)(nil)

// entry is a call that stands in the ledger as begun.
type entry struct {
	meter *meter
	id    int64
	began time.Time
}

// enter puts a call that was admitted into the ledger, before it is made. What other
// runs had begun by then counts too: the call may be refused after all.
func (m *meter) enter(ctx context.Context, a *account, name string, expected memoir.Usage) (entry, error) {
	call := a.of
	call.Run, call.Model, call.Expected, call.Durable = m.run, name, expected, a.hasSpent()
	day := m.midnight()
	if m.perDay() {
		call.Since = day
	}
	id, others, err := m.ledger.BeginCall(ctx, call)
	if err != nil {
		if ctx.Err() == nil { // else it was given up while it waited
			a.fail(err)
		}
		return entry{}, err
	}
	e := entry{meter: m, id: id, began: time.Now()}
	err = m.confirm(&m.budget, day, expected, others)
	if own := a.budget; err == nil && own != nil && own.perDay() {
		// The entry stands: of two processes that look now, at least one sees the other's.
		if others, err = m.others(ctx, day, own.project); err == nil {
			err = m.confirm(own, day, expected, others)
		}
	}
	if err != nil {
		e.end(ctx, store.CallEnd{})
		if limited(err) {
			a.bar()
		}
		return entry{}, err
	}
	return e, nil
}

// endWithin is how long what was interrupted may take to enter its end. Else a call
// stays in the ledger as begun, by its estimate, and work as unfinished.
const endWithin = 500 * time.Millisecond

// end enters what became of the call, also when its context is done.
func (e entry) end(ctx context.Context, end store.CallEnd) {
	end.Duration = time.Since(e.began)
	within, cancel := lasting(ctx, endWithin)
	defer cancel()
	err := e.meter.ledger.EndCall(within, e.id, end)
	if err == nil || ctx.Err() != nil { // nobody may be left to be told
		return
	}
	e.meter.mu.Lock()
	warned := e.meter.warned
	e.meter.warned = true
	e.meter.mu.Unlock()
	if !warned {
		e.meter.warn("the ledger has but an estimate of what a call took: "+err.Error(), memoir.HintOf(err))
	}
}

// lasting returns a context that outlasts another by a time.
func lasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(by, func() { cancel(context.DeadlineExceeded) })
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return longer, func() { stop(); cancel(context.Canceled) }
}

// becameOf is what the ledger calls the end of a call.
func becameOf(ctx context.Context, answer model.Answer, err error) string {
	switch {
	case err != nil && ctx.Err() != nil:
		return store.CallInterrupted
	case err != nil:
		return store.CallFailed
	}
	switch answer.Stop {
	case model.StopLength:
		return store.CallCut
	case model.StopRefusal:
		return store.CallRefused
	case model.StopEmpty:
		return store.CallEmpty
	}
	return store.CallAnswered
}

// usageOf is what a failed call cost. One that reached somebody counts as a call,
// whatever it cost; one that nobody told of by what its question is estimated at.
func usageOf(err error, question memoir.Usage) (used memoir.Usage, estimated bool) {
	var failed *model.Error
	if !errors.As(err, &failed) {
		return memoir.Usage{}, false
	}
	if failed.Untold {
		return question, true
	}
	used = failed.Usage
	if used.Calls == 0 && failed.Class != model.ClassUnreachable && failed.Class != model.ClassProgram {
		used.Calls = 1
	}
	return used, failed.Estimated
}
