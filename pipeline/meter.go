package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/store"
)

// ledger is where calls are entered as they begin, and completed as they end.
type ledger interface {
	BeginCall(ctx context.Context, c store.Call) (id int64, err error)
	EndCall(ctx context.Context, id int64, e store.CallEnd) error
	// Spent sums what all runs spent since a moment. Calls under way count by their estimates.
	Spent(ctx context.Context, since time.Time) (memoir.Usage, error)
}

var _ ledger = (*store.Store)(nil)

// A meter enters each call of a run into the ledger before it is made, and refuses calls
// that would exceed a limit. Once a limit refused one, no further call is made: the work
// that is left is for a later run.
type meter struct {
	run    string // its id, in the ledger
	ledger ledger
	warn   func(message, hint string)
	budget // of the whole run
	now    func() time.Time
	models []*metered

	entering sync.Mutex // held while a call is entered and checked against the limits

	mu       sync.Mutex
	services map[string]*service // by model
	landed   chan struct{}       // closed when a call under way ends
	warned   bool                // that a call's end is not in the ledger
}

func newMeter(limits config.Limits, ledger ledger, run string, warn func(message, hint string)) *meter {
	return &meter{budget: budget{limits: limits}, run: run, ledger: ledger, warn: warn, now: time.Now,
		landed: make(chan struct{}), services: map[string]*service{}}
}

var _ model.Model = (*metered)(nil)

// metered is a model whose calls are counted one by one: it belongs below what
// repeats them.
type metered struct {
	model.Model
	meter     *meter
	price     model.Price
	maxOutput int // tokens of an answer; 0: unknown
}

// of returns the model as it is to be called, with the options that it was opened with.
func (m *meter) of(inner model.Model, o model.Options) model.Model {
	metered := &metered{Model: inner, meter: m, price: o.Price, maxOutput: o.MaxOutput}
	m.models = append(m.models, metered)
	return metered
}

// named finds a metered model; nil if there is none of that name.
func (m *meter) named(name string) *metered {
	for _, candidate := range m.models {
		if candidate.Name() == name {
			return candidate
		}
	}
	return nil
}

// Call makes the call unless it would exceed a limit: then the error has the code
// memoir.CodeLimit. Nor is it made when it cannot be entered into the ledger, or when
// the model is out of service.
func (m *metered) Call(ctx context.Context, q model.Request) (answer model.Answer, err error) {
	a := accountOf(ctx)
	expected := m.expected(a.of.Phase, q)
	id, err := m.meter.enter(ctx, a, m.Name(), expected)
	if err != nil {
		return model.Answer{}, err
	}
	began := time.Now()
	// If the call panics, nobody knows what it took.
	end := store.CallEnd{Usage: expected, Call: store.CallFailed, Estimated: true}
	defer func() {
		end.Duration = time.Since(began)
		m.meter.complete(ctx, id, end)
		m.meter.land(expected, end.Usage)
		a.charge(end.Usage)
	}()
	answer, err = m.Model.Call(ctx, q)
	m.meter.service(m.Name()).heard(err)
	end = store.CallEnd{Usage: answer.Usage, Estimated: answer.Estimated, Call: becameOf(ctx, answer, err)}
	if err != nil {
		end.Usage, end.Estimated = usageOf(err, m.question(q))
	}
	return answer, err
}

// enter puts a call into the ledger before it is made, and reserves its estimate. If it
// would exceed a limit unless calls under way need less than is reserved for them, it
// waits for those.
func (m *meter) enter(ctx context.Context, a *account, name string, expected memoir.Usage) (id int64, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil { // else it was given up while it waited
			a.refuse(err)
		}
	}()
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		id, landed, err := m.tryEnter(ctx, a, name, expected)
		if err != nil || landed == nil {
			return id, err
		}
		select {
		case <-landed:
		case <-ctx.Done():
		}
	}
}

// tryEnter is one try of enter. If the call has to wait for room, it is not in the ledger,
// and the channel is closed when a call under way ends. The entry is made before the
// limits are checked, so of two processes that do this at once at least one sees the other's.
func (m *meter) tryEnter(
	ctx context.Context,
	a *account,
	name string,
	expected memoir.Usage,
) (id int64, landed <-chan struct{}, err error) {
	m.entering.Lock()
	defer m.entering.Unlock()
	if err := m.service(name).err(); err != nil {
		return 0, nil, memoir.Errorf(memoir.CodeModel, unservedHint(err), "%s: %w", name, errUnserved)
	}
	if err := m.refusal(expected); err != nil {
		return 0, nil, err
	}
	call := a.of
	call.Run, call.Model, call.Expected, call.Durable = m.run, name, expected, a.paid()
	if id, err = m.ledger.BeginCall(ctx, call); err != nil {
		return 0, nil, err
	}
	if landed, err = m.reserve(ctx, expected); landed != nil || err != nil {
		m.complete(ctx, id, store.CallEnd{}) // which removes the entry
	}
	return id, landed, err
}

// refusal is why a call is not even entered; nil if nothing is known against it.
func (m *meter) refusal(expected memoir.Usage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped != nil {
		return m.stopped.err()
	}
	return m.oversized(expected)
}

// reserve takes room for a call that is in the ledger from the budget, or says which limit
// it would exceed. If it has to wait for room, the channel is closed when a call ends.
func (m *meter) reserve(ctx context.Context, expected memoir.Usage) (landed <-chan struct{}, err error) {
	m.mu.Lock()
	landed = m.landed // before the ledger is read: a call that ends meanwhile has a new look
	m.mu.Unlock()
	today, err := m.today(ctx)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stop, wait := m.exceeded(expected, less(today, expected))
	switch {
	case stop != nil:
		m.stopped = stop
		m.wake()
		return nil, stop.err()
	case wait:
		return landed, nil
	}
	m.reserved = m.reserved.Add(expected)
	return nil, nil
}

// today is what the ledger has of the day, calls under way included; nothing if no limit is
// about days.
func (m *meter) today(ctx context.Context) (memoir.Usage, error) {
	if !m.perDay() {
		return memoir.Usage{}, nil
	}
	return m.ledger.Spent(ctx, m.midnight())
}

// land gives back what was reserved for a call and counts what it spent.
func (m *meter) land(expected, used memoir.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved, m.spent = less(m.reserved, expected), m.spent.Add(used)
	if m.reserved.Calls == 0 {
		m.reserved = memoir.Usage{} // without what rounding loses in adding up prices
	}
	m.wake()
}

// wake has those look again who wait for room; mu is held.
func (m *meter) wake() {
	close(m.landed)
	m.landed = make(chan struct{})
}

// landWithin is how long calls may take to notice that they were given up. Those to a
// server end at once; a program that ignores what it is asked is ended after half a second.
const landWithin = 800 * time.Millisecond

// settled is what the run spent, once the calls under way have ended. One that does not
// end in time counts by its estimate, as in the ledger.
func (m *meter) settled() memoir.Usage {
	deadline := time.After(landWithin)
	for {
		m.mu.Lock()
		landed, total, over := m.landed, m.spent.Add(m.reserved), m.reserved.Calls == 0
		m.mu.Unlock()
		if over {
			return total
		}
		select {
		case <-landed:
		case <-deadline:
			return total
		}
	}
}

// midnight is when the day of the limits began. Days are those of UTC, as in `status --usage`.
func (m *meter) midnight() time.Time { return m.now().UTC().Truncate(24 * time.Hour) }

func less(u, v memoir.Usage) memoir.Usage {
	return u.Add(memoir.Usage{Calls: -v.Calls, InputTokens: -v.InputTokens, CachedTokens: -v.CachedTokens,
		OutputTokens: -v.OutputTokens, Cost: -v.Cost})
}

// endWithin is how long work that was interrupted may take to enter its end. Else a call
// stays in the ledger as begun, by its estimate, and work as unfinished.
const endWithin = 500 * time.Millisecond

// complete enters what became of a call, also when its context is done.
func (m *meter) complete(ctx context.Context, id int64, end store.CallEnd) {
	within, cancel := lasting(ctx, endWithin)
	defer cancel()
	err := m.ledger.EndCall(within, id, end)
	if err == nil || ctx.Err() != nil { // nobody may be left to be told
		return
	}
	m.mu.Lock()
	warned := m.warned
	m.warned = true
	m.mu.Unlock()
	if !warned {
		m.warn("the ledger has only an estimate of what a call took: "+err.Error(), memoir.HintOf(err))
	}
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
// whatever it cost; one whose usage is unknown counts by what its question is estimated at.
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
