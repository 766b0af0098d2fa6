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

// A meter adds up what the calls of a run spend, and keeps those from being made
// that would exceed a limit. Once a limit kept one, no further call is made: the
// work that is left is for a later run.
type meter struct {
	limits config.Limits
	// others returns what other runs have spent since a moment.
	others func(ctx context.Context, since time.Time) (memoir.Usage, error)
	now    func() time.Time
	models []*metered

	mu      sync.Mutex
	healths map[string]*health // by model
	spent   memoir.Usage       // by this run
	day     time.Time          // on which today was spent
	today   memoir.Usage       // by this run
	flying  memoir.Usage       // what calls under way are estimated to spend
	landed  chan struct{}      // closed when one of them ends
	stopped *Stopped
}

func newMeter(limits config.Limits, st *store.Store, run string) *meter {
	return &meter{
		limits: limits, now: time.Now, landed: make(chan struct{}), healths: map[string]*health{},
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
// memoir.CodeLimit.
func (m *metered) Call(ctx context.Context, q model.Request) (model.Answer, error) {
	a, h := accountOf(ctx), m.meter.health(m.Name())
	if h.err() != nil {
		a.refuse()
		return model.Answer{}, memoir.Errorf(memoir.CodeModel, waitHint, "%s: %w", m.Name(), errUnserved)
	}
	expected := m.expected(a.phase, q)
	if err := m.meter.admit(ctx, expected); err != nil {
		if limited(err) {
			a.bar()
		}
		return model.Answer{}, err
	}
	a.takeoff()
	var used memoir.Usage
	var bytes int64
	defer func() { // also when the call panics
		m.meter.land(expected, used)
		m.learn(a.phase, used, bytes)
		a.land(used, bytes)
	}()
	answer, err := m.Model.Call(ctx, q)
	h.heard(err)
	a.heard(err, h.count())
	used = answer.Usage
	if err != nil {
		used = usageOf(err)
	}
	if used.InputTokens > 0 {
		bytes = asked(q)
	}
	return answer, err
}

// usageOf is what a failed call cost. One that reached somebody counts as a call,
// whatever it cost.
func usageOf(err error) memoir.Usage {
	var failed *model.Error
	if !errors.As(err, &failed) {
		return memoir.Usage{}
	}
	used := failed.Usage
	if used.Calls == 0 && failed.Class != model.ClassUnreachable && failed.Class != model.ClassProgram {
		used.Calls = 1
	}
	return used
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
		if m.limits.TokensPerDay > 0 || m.limits.CostPerDay > 0 {
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
