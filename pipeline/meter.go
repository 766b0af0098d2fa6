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
	BeginCall(ctx context.Context, c store.Call) (id int64, others memoir.Usage, err error)
	EndCall(ctx context.Context, id int64, e store.CallEnd) error
}

var _ ledger = (*store.Store)(nil)

// A meter adds up what the calls of a run spend, and refuses those that would exceed a
// limit. Once a limit refused one, no further call is made: the work that is left is for
// a later run.
type meter struct {
	run    string // its id, in the ledger
	ledger ledger
	warn   func(message, hint string)
	budget // of the whole run
	// others returns what other runs have spent since a moment; on one project, if its id is given.
	others func(ctx context.Context, since time.Time, project string) (memoir.Usage, error)
	now    func() time.Time
	models []*metered

	mu       sync.Mutex
	services map[string]*service // by model
	day      time.Time           // on which today was spent
	landed   chan struct{}       // closed when a call under way ends
	own      map[string]*budget  // by project: those whose own settings limit them
	warned   bool                // that a call's end is not in the ledger
}

func newMeter(limits config.Limits, st *store.Store, run string, warn func(message, hint string)) *meter {
	m := &meter{budget: budget{limits: limits}, run: run, ledger: st, warn: warn, now: time.Now,
		own: map[string]*budget{}, landed: make(chan struct{}), services: map[string]*service{}}
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
	maxOutput int                         // tokens of an answer; 0: unknown
	known     map[string]store.Experience // by phase, from the ledger
}

// of returns the model as it is to be called, with the options that it was opened with.
func (m *meter) of(inner model.Model, o model.Options) model.Model {
	metered := &metered{
		Model:     inner,
		meter:     m,
		price:     o.Price,
		maxOutput: o.MaxOutput,
		known:     map[string]store.Experience{},
	}
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
	a, service := accountOf(ctx), m.meter.service(m.Name())
	expected := m.expected(a.of.Phase, q)
	e, err := m.meter.enter(ctx, a, m.Name(), expected)
	if err != nil {
		return model.Answer{}, err
	}
	end := store.CallEnd{
		Usage:     expected,
		Call:      store.CallFailed,
		Estimated: true,
	} // if it panics: nobody knows what it took
	defer func() {
		m.meter.land(expected, end.Usage, a.budget)
		e.end(ctx, end)
		a.land(expected, end.Usage, end.InputBytes)
	}()
	answer, err = m.Model.Call(ctx, q)
	service.heard(err)
	end = store.CallEnd{Usage: answer.Usage, Estimated: answer.Estimated, Call: becameOf(ctx, answer, err)}
	if err != nil {
		end.Usage, end.Estimated = usageOf(err, m.question(a.of.Phase, q))
	}
	if end.Usage.InputTokens > 0 && !end.Estimated {
		end.InputBytes = asked(q)
	}
	return answer, err
}

// entry is a call that stands in the ledger as begun.
type entry struct {
	meter *meter
	id    int64
	began time.Time
}

// enter puts a call into the ledger, before it is made, and reserves its estimate. If it
// would exceed a limit unless calls under way need less than is reserved for them, it
// waits for those. The entry is made before what others spent is read, so of two
// processes that do this at once at least one sees the other's.
func (m *meter) enter(ctx context.Context, a *account, name string, expected memoir.Usage) (entry, error) {
	budgets := []*budget{&m.budget}
	if a.budget != nil {
		budgets = append(budgets, a.budget)
	}
	call := a.of
	call.Run, call.Model, call.Expected, call.Durable = m.run, name, expected, a.hasSpent()
	for {
		if ctx.Err() != nil {
			return entry{}, context.Cause(ctx)
		}
		if err := m.refusal(name, budgets, expected); err != nil {
			a.refuse(err)
			return entry{}, err
		}
		id, _, err := m.ledger.BeginCall(ctx, call)
		if err != nil {
			if ctx.Err() == nil { // else it was given up while it waited
				a.refuse(err)
			}
			return entry{}, err
		}
		e := entry{meter: m, id: id, began: time.Now()}
		landed, err := m.reserve(ctx, budgets, expected)
		if landed == nil && err == nil {
			a.takeoff(expected)
			return e, nil
		}
		e.end(ctx, store.CallEnd{}) // which removes it
		if err != nil {
			a.refuse(err)
			return entry{}, err
		}
		select {
		case <-landed:
		case <-ctx.Done():
		}
	}
}

// refusal is why a call is not even entered; nil if nothing is known against it.
func (m *meter) refusal(name string, budgets []*budget, expected memoir.Usage) error {
	if err := m.service(name).err(); err != nil {
		return memoir.Errorf(memoir.CodeModel, unservedHint(err), "%s: %w", name, errUnserved)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range budgets {
		if b.stopped != nil {
			return b.stopped.err()
		}
		if err := b.oversized(expected); err != nil {
			return err
		}
	}
	return nil
}

// reserve takes room for a call from the budgets, or says which limit it would exceed.
// If it has to wait for room, the channel is closed when a call under way ends.
func (m *meter) reserve(
	ctx context.Context,
	budgets []*budget,
	expected memoir.Usage,
) (landed <-chan struct{}, err error) {
	day := m.midnight()
	others := make([]memoir.Usage, len(budgets))
	for i, b := range budgets {
		if b.perDay() {
			if others[i], err = m.others(ctx, day, b.project); err != nil {
				return nil, err
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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
		return nil, b.stopped.err()
	}
	if waits {
		return m.landed, nil
	}
	for _, b := range budgets {
		b.reserved = b.reserved.Add(expected)
	}
	return nil, nil
}

// land gives back what was reserved for a call and enters what it spent; own is the
// budget of its project, if it has one.
func (m *meter) land(expected, used memoir.Usage, own *budget) {
	day := m.midnight()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(day)
	for _, b := range []*budget{&m.budget, own} {
		if b != nil {
			b.reserved = less(b.reserved, expected)
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
	if !day.After(m.day) {
		return
	}
	m.day, m.today = day, memoir.Usage{}
	for _, b := range m.own {
		if b != nil {
			b.today = memoir.Usage{}
		}
	}
}

// midnight is when the day of the limits began. Days are those of UTC, as in `status --usage`.
func (m *meter) midnight() time.Time { return m.now().UTC().Truncate(24 * time.Hour) }

func less(u, v memoir.Usage) memoir.Usage {
	return u.Add(
		memoir.Usage{
			Calls:        -v.Calls,
			InputTokens:  -v.InputTokens,
			CachedTokens: -v.CachedTokens,
			OutputTokens: -v.OutputTokens,
			Cost:         -v.Cost,
		},
	)
}

// endWithin is how long work that was interrupted may take to enter its end. Else a call
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
		e.meter.warn("the ledger has only an estimate of what a call took: "+err.Error(), memoir.HintOf(err))
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
