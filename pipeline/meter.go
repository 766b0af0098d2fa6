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
	budget // of the whole run
	// others returns what other runs have spent since a moment; on one project, if its id is given.
	others func(ctx context.Context, since time.Time, project string) (memoir.Usage, error)
	now    func() time.Time
	models []*metered

	mu      sync.Mutex
	healths map[string]*health // by model
	day     time.Time          // on which today was spent
	landed  chan struct{}      // closed when a call under way ends
	own     map[string]*budget // by project: those whose own settings limit them
}

func newMeter(limits config.Limits, st *store.Store, run string) *meter {
	return &meter{
		budget: budget{limits: limits}, own: map[string]*budget{}, now: time.Now, landed: make(chan struct{}), healths: map[string]*health{},
		others: func(ctx context.Context, since time.Time, project string) (memoir.Usage, error) {
			if project != "" {
				return st.SpentOn(ctx, project, since, run)
			}
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
		m.meter.land(expected, used, a.budget)
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
	budgets := []*budget{&m.budget}
	if own := accountOf(ctx).budget; own != nil {
		budgets = append(budgets, own)
	}
	others := make([]memoir.Usage, len(budgets))
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		day := m.midnight()
		for i, b := range budgets {
			if b.limits.TokensPerDay > 0 || b.limits.CostPerDay > 0 {
				var err error
				if others[i], err = m.others(ctx, day, b.project); err != nil {
					return err
				}
			}
		}
		m.mu.Lock()
		m.turn(day)
		waits := false
		for i, b := range budgets {
			if b.stopped == nil {
				var wait bool
				if b.stopped, wait = b.exceeded(expected, others[i]); b.stopped == nil {
					waits = waits || wait
					continue
				}
				m.wake()
			}
			defer m.mu.Unlock()
			return b.stopped.err()
		}
		if !waits {
			for _, b := range budgets {
				b.flying = b.flying.Add(expected)
			}
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

// land gives back what was estimated of a call and enters what it spent; own is the
// budget of its project, if it has one.
func (m *meter) land(expected, used memoir.Usage, own *budget) {
	day := m.midnight()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(day)
	for _, b := range []*budget{&m.budget, own} {
		if b != nil {
			b.flying = less(b.flying, expected)
			b.spent, b.today = b.spent.Add(used), b.today.Add(used)
		}
	}
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
		for _, b := range m.own {
			if b != nil {
				b.today = memoir.Usage{}
			}
		}
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
