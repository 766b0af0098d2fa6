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
// work that is left is for a later run. A call that no run would have room for keeps
// back its own work alone.
type meter struct {
	run    string // its id, in the ledger
	ledger ledger
	warn   func(message, hint string)
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
	warned  bool               // that a call's end is not in the ledger
}

func newMeter(limits config.Limits, st *store.Store, run string, warn func(message, hint string)) *meter {
	m := &meter{
		budget: budget{limits: limits}, run: run, ledger: st, warn: warn, own: map[string]*budget{}, now: time.Now, landed: make(chan struct{}), healths: map[string]*health{},
	}
	m.others = func(ctx context.Context, since time.Time, project string) (memoir.Usage, error) {
		if project != "" {
			return st.SpentOn(ctx, project, since, m.run)
		}
		return st.SpentBeside(ctx, since, m.run)
	}
	return m
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
	a, h := accountOf(ctx), m.meter.health(m.Name())
	unserved := func() error {
		if h.err() == nil {
			return nil
		}
		a.refuse()
		return memoir.Errorf(memoir.CodeModel, unservedHint(h.err()), "%s: %w", m.Name(), errUnserved)
	}
	if err := unserved(); err != nil {
		return model.Answer{}, err
	}
	expected := m.expected(a.of.Phase, q)
	if err := m.meter.admit(ctx, expected); err != nil {
		if limited(err) {
			a.bar()
		}
		return model.Answer{}, err
	}
	if err := unserved(); err != nil { // by now: it may have waited long for room
		m.meter.land(expected, memoir.Usage{}, a.budget)
		return model.Answer{}, err
	}
	a.takeoff(expected)
	e, err := m.meter.enter(ctx, a, m.Name(), expected)
	if err != nil {
		m.meter.land(expected, memoir.Usage{}, a.budget)
		a.land(expected, memoir.Usage{}, 0)
		return model.Answer{}, err
	}
	end := store.CallEnd{Usage: expected, Call: store.CallFailed, Estimated: true} // if it panics: nobody knows what it took
	defer func() {
		m.meter.land(expected, end.Usage, a.budget)
		m.learn(a.of.Phase, end.Usage, end.InputBytes)
		e.end(ctx, end)
		a.land(expected, end.Usage, end.InputBytes)
	}()
	answer, err = m.Model.Call(ctx, q)
	h.heard(err)
	a.heard(err, h.count())
	end = store.CallEnd{Usage: answer.Usage, Estimated: answer.Estimated, Call: becameOf(ctx, answer, err)}
	if err != nil {
		end.Usage, end.Estimated = usageOf(err, m.question(a.of.Phase, q))
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
	a, budgets := accountOf(ctx), []*budget{&m.budget}
	if a.budget != nil {
		budgets = append(budgets, a.budget)
	}
	others := make([]memoir.Usage, len(budgets))
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		day := m.midnight()
		for i, b := range budgets {
			if b.perDay() {
				var err error
				if others[i], err = m.others(ctx, day, b.project); err != nil {
					return err
				}
			}
		}
		m.mu.Lock()
		m.turn(day)
		if excess := oversized(a.of.Phase, budgets, expected); excess != nil {
			m.mu.Unlock()
			a.exceed(excess)
			return excess.err()
		}
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

// confirm looks again at a call that was admitted and is in the ledger, once what
// others have spent is known for certain. A call that is refused still has to land.
func (m *meter) confirm(b *budget, day time.Time, expected, others memoir.Usage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(day)
	if stop, _ := b.exceeded(expected, others); stop != nil && b.perDay() {
		if b.stopped == nil {
			b.stopped = stop
			m.wake()
		}
		return b.stopped.err()
	}
	return nil
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
