package pipeline

import (
	"context"
	"sync"
	"time"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/store"
)

// A meter adds up what the calls of a run spend, and keeps those from being made
// that would exceed a limit. Once a limit kept one, no further call is made: the
// work that is left is for a later run.
type meter struct {
	limits config.Limits
	run    string // its id, in the ledger
	ledger ledger
	warn   func(message, hint string)
	// others returns what other runs have spent since a moment.
	others func(ctx context.Context, since time.Time) (memoir.Usage, error)
	now    func() time.Time
	models []*metered

	mu      sync.Mutex
	spent   memoir.Usage  // by this run
	day     time.Time     // on which today was spent
	today   memoir.Usage  // by this run
	flying  memoir.Usage  // what calls under way are estimated to spend
	landed  chan struct{} // closed when one of them ends
	stopped *Stopped
	warned  bool // that a call's end is not in the ledger
}

func newMeter(limits config.Limits, st *store.Store, run string, warn func(message, hint string)) *meter {
	return &meter{
		limits: limits, run: run, ledger: st, warn: warn, now: time.Now, landed: make(chan struct{}),
		others: func(ctx context.Context, since time.Time) (memoir.Usage, error) {
			return st.SpentBeside(ctx, since, run)
		},
	}
}

var _ model.Model = (*metered)(nil)

// metered is a model whose calls are counted, one by one: it belongs below what
// repeats them.
type metered struct {
	model.Model
	meter     *meter
	price     model.Price
	maxOutput int // tokens of an answer; 0: unknown

	mu    sync.Mutex
	known map[string]store.Experience // by phase
}

// of returns the model as it is to be called, with the options that it was opened with.
func (m *meter) of(inner model.Model, o model.Options) model.Model {
	metered := &metered{Model: inner, meter: m, price: o.Price, maxOutput: o.MaxOutput, known: map[string]store.Experience{}}
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
// memoir.CodeLimit. Nor is it made when it cannot be entered into the ledger.
func (m *metered) Call(ctx context.Context, q model.Request) (answer model.Answer, err error) {
	a := accountOf(ctx)
	expected := m.expected(a.of.Phase, q)
	if err := m.meter.admit(ctx, expected); err != nil {
		if limited(err) {
			a.bar()
		}
		return model.Answer{}, err
	}
	a.takeoff(expected)
	e, err := m.meter.enter(ctx, a, m.Name(), expected)
	if err != nil {
		m.meter.land(expected, memoir.Usage{})
		a.land(expected, memoir.Usage{}, 0)
		return model.Answer{}, err
	}
	end := store.CallEnd{Usage: expected, Call: store.CallFailed, Estimated: true} // if it panics: nobody knows what it took
	defer func() {
		m.meter.land(expected, end.Usage)
		m.learn(a.of.Phase, end.Usage, end.InputBytes)
		e.end(ctx, end)
		a.land(expected, end.Usage, end.InputBytes)
	}()
	answer, err = m.Model.Call(ctx, q)
	end = store.CallEnd{Usage: answer.Usage, Estimated: answer.Estimated, Call: becameOf(ctx, answer, err)}
	if err != nil {
		end.Usage, end.Estimated = usageOf(err)
	}
	if end.Usage.InputTokens > 0 && !end.Estimated {
		end.InputBytes = asked(q)
	}
	return answer, err
}

// admit waits until there is room for a call within the limits, and takes it. Calls
// under way count as they are estimated, so that many at once exceed nothing; when
// they end, what they did not need is room again.
func (m *meter) admit(ctx context.Context, expected memoir.Usage) error {
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var others memoir.Usage
		day := m.midnight()
		if m.perDay() {
			var err error
			if others, err = m.others(ctx, day); err != nil {
				return err
			}
		}
		m.mu.Lock()
		if m.stopped != nil {
			defer m.mu.Unlock()
			return m.stopped.err()
		}
		m.turn(day)
		stop, wait := m.exceeded(expected, others)
		switch {
		case stop != nil:
			m.stopped = stop
			m.wake()
			defer m.mu.Unlock()
			return stop.err()
		case !wait:
			m.flying = m.flying.Add(expected)
			m.mu.Unlock()
			return nil
		}
		landed := m.landed
		m.mu.Unlock()
		select {
		case <-landed:
		case <-ctx.Done():
		}
	}
}

// confirm looks again at a call that was admitted and is in the ledger, once what
// others have spent is known for certain. A call that is refused still has to land.
func (m *meter) confirm(day time.Time, expected, others memoir.Usage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(day)
	if stop, _ := m.exceeded(expected, others); stop != nil && m.perDay() {
		if m.stopped == nil {
			m.stopped = stop
			m.wake()
		}
		return m.stopped.err()
	}
	return nil
}

// perDay reports whether there are limits that other runs count for.
func (m *meter) perDay() bool { return m.limits.TokensPerDay > 0 || m.limits.CostPerDay > 0 }

// land gives back what was estimated of a call and enters what it spent.
func (m *meter) land(expected, used memoir.Usage) {
	day := m.midnight()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(day)
	m.flying = less(m.flying, expected)
	m.spent, m.today = m.spent.Add(used), m.today.Add(used)
	m.wake()
}

// wake has those look again who wait for room; mu is held.
func (m *meter) wake() {
	close(m.landed)
	m.landed = make(chan struct{})
}

// turn begins a new day, if it is one; mu is held.
func (m *meter) turn(day time.Time) {
	if day.After(m.day) {
		m.day, m.today = day, memoir.Usage{}
	}
}

// midnight is when the day of the limits began. Days are those of UTC, as in `status --usage`.
func (m *meter) midnight() time.Time { return m.now().UTC().Truncate(24 * time.Hour) }

// stop says which limit stopped the run; nil if none did.
func (m *meter) stop() *Stopped {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

func less(u, v memoir.Usage) memoir.Usage {
	return u.Add(memoir.Usage{Calls: -v.Calls, InputTokens: -v.InputTokens, CachedTokens: -v.CachedTokens, OutputTokens: -v.OutputTokens, Cost: -v.Cost})
}
