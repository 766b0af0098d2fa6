package pipeline

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/secrets"
	"memoir/store"
)

// A meter enters each call of a run into the ledger before it is made, and refuses calls that would exceed a
// limit. The ledger has the calls of all processes, with estimates for those under way, so the meter keeps
// no sums. Once a limit has refused a call, the run makes no further call.
type meter struct {
	run     string // its id, in the ledger
	store   *store.Store
	limits  config.Limits
	scanner *secrets.Scanner
	warn    func(message, hint string)
	models  []*metered

	mu       sync.Mutex // held while a call is entered
	ended    *sync.Cond // on mu: a call, or the context of a waiting one, has ended
	underway int        // calls
	stopped  *Stopped
	warned   bool // about a call whose end could not be entered
}

// metered is a model whose calls are counted one by one. Retries wrap it, so that each try is counted.
type metered struct {
	model.Model
	meter     *meter
	price     model.Price
	maxOutput int // tokens of an answer; 0: unknown

	// Guarded by the meter's mu.
	failed int       // jobs in a row that it failed
	out    *Unserved // why it is out of service in this run; nil if it is not
}

var _ model.Model = (*metered)(nil)

// of returns the metered form of a model that was opened with the options.
func (m *meter) of(inner model.Model, o model.Options) model.Model {
	metered := &metered{Model: inner, meter: m, price: o.Price, maxOutput: o.MaxOutput}
	m.models = append(m.models, metered)
	return metered
}

// named returns the first metered model of a name, or nil.
func (m *meter) named(name string) *metered {
	for _, candidate := range m.models {
		if candidate.Name() == name {
			return candidate
		}
	}
	return nil
}

type workKey struct{}

// work is the job that the calls of a context are made for, one after the other.
type work struct {
	store.Call
	taken secrets.Counts // redactions of the last answer
}

// forWork returns a context whose calls are entered into the ledger for a job.
func forWork(ctx context.Context, call store.Call) context.Context {
	return context.WithValue(ctx, workKey{}, &work{Call: call})
}

func workOf(ctx context.Context) *work {
	if w, ok := ctx.Value(workKey{}).(*work); ok {
		return w
	}
	return &work{}
}

// Call makes the call unless it would exceed a limit; then the error has the code memoir.CodeLimit. It is
// also refused if it cannot be entered into the ledger, or if the model is out of service. Earlier answers,
// which may be part of a prompt, are redacted as well.
func (m *metered) Call(ctx context.Context, q model.Request) (answer model.Answer, err error) {
	of := workOf(ctx)
	scanner := m.meter.scanner
	q = q.Changed(func(text string) string { text, _ = scanner.Redact(text); return text })
	call := of.Call
	call.Run, call.Model, call.Expected = m.meter.run, m.Name(), m.expected(call.Phase, q)
	id, err := m.enter(ctx, call)
	if err != nil {
		return model.Answer{}, err
	}
	began := time.Now()
	// If the call panics, its usage is unknown.
	end := store.CallEnd{Usage: call.Expected, Estimated: true}
	defer func() {
		end.Duration = time.Since(began)
		m.meter.complete(ctx, id, end)
	}()
	answer, err = m.Model.Call(ctx, q)
	// The answer is redacted first: later cleaning may remove the context that identifies a secret.
	answer.Text, of.taken = scanner.Redact(answer.Text)
	end = store.CallEnd{Usage: answer.Usage, Estimated: answer.Estimated}
	if err != nil {
		end.Usage, end.Estimated = usageOf(err, m.priced(call.Expected.InputTokens, 0))
	}
	return answer, err
}

// enter enters a call into the ledger before it is made. If a limit would be exceeded, it waits for the run's
// calls under way, which may need less than their estimates.
func (m *metered) enter(ctx context.Context, c store.Call) (id int64, err error) {
	meter := m.meter
	var refused error
	var allow func(ofRun, today memoir.Usage) error
	if len(bounds(meter.limits, memoir.Usage{}, memoir.Usage{})) > 0 {
		allow = func(ofRun, today memoir.Usage) error {
			refused = refusal(meter.limits, c.Expected, ofRun, today)
			return refused
		}
	}
	meter.mu.Lock()
	defer meter.mu.Unlock()
	defer context.AfterFunc(ctx, meter.wake)()
	for {
		// Both phases may have the same model; the state is that of the first.
		switch out := meter.named(m.Name()).out; {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case out != nil:
			return 0, memoir.Errorf(memoir.CodeModel, out.hint, "%s: %w", m.Name(), errUnserved)
		case meter.stopped != nil:
			return 0, meter.stopped.refusal()
		}
		refused = nil // result of an earlier try
		id, err = meter.store.BeginCall(ctx, c, allow)
		stop := new(Stopped)
		switch {
		case err == nil:
			meter.underway++
			return id, nil
		case refused == nil:
			return 0, err
		case !errors.As(refused, &stop):
			return 0, refused
		case meter.underway == 0:
			meter.stopped = stop
			return 0, refused
		}
		meter.ended.Wait()
	}
}

// wake lets waiting calls check their conditions again.
func (m *meter) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended.Broadcast()
}

// complete enters the end of a call, also if its context has ended.
func (m *meter) complete(ctx context.Context, id int64, end store.CallEnd) {
	within, cancel := lasting(ctx, endWithin)
	defer cancel()
	err := m.store.EndCall(within, id, end)
	m.mu.Lock()
	m.underway--
	m.ended.Broadcast()
	warn := err != nil && ctx.Err() == nil && !m.warned
	m.warned = m.warned || warn
	m.mu.Unlock()
	if warn {
		m.warn("the ledger has only an estimate for a call: "+err.Error(), memoir.HintOf(err))
	}
}

// landWithin is how long cancelled calls may take to end. Calls of a server end at once; a program that
// ignores the signal is killed after half a second.
const landWithin = 800 * time.Millisecond

// settled returns the usage of the run after the calls under way have ended. A call that does not end in time
// counts by its estimate.
func (m *meter) settled(ctx context.Context) (memoir.Usage, error) {
	if len(m.models) == 0 {
		return memoir.Usage{}, nil
	}
	ctx = context.WithoutCancel(ctx)
	within, cancel := context.WithTimeout(ctx, landWithin)
	defer cancel()
	defer context.AfterFunc(within, m.wake)()
	m.mu.Lock()
	for m.underway > 0 && within.Err() == nil {
		m.ended.Wait()
	}
	m.mu.Unlock()
	ofRun, _, err := m.store.Spent(ctx, m.run)
	return ofRun, err
}

// spent returns the usage of the run so far, with estimates for calls under way; zero if the ledger cannot be read.
func (m *meter) spent(ctx context.Context) memoir.Usage {
	if len(m.models) == 0 {
		return memoir.Usage{}
	}
	ofRun, _, _ := m.store.Spent(ctx, m.run)
	return ofRun
}

// usageOf is the usage of a failed call. If it reached a server, it counts as a call even without tokens. If
// its usage is unknown, the estimate of its prompt counts.
func usageOf(err error, question memoir.Usage) (used memoir.Usage, estimated bool) {
	var failed *model.Error
	if !errors.As(err, &failed) {
		return memoir.Usage{}, false
	}
	if failed.Unreported {
		return question, true
	}
	used = failed.Usage
	if used.Calls == 0 && failed.Class != model.ClassUnreachable && failed.Class != model.ClassProgram {
		used.Calls = 1
	}
	return used, failed.Estimated
}

const (
	phaseExtract     = "extract"
	phaseConsolidate = "consolidate"
)

// usualOutput is the usual number of tokens of an answer, by phase.
var usualOutput = map[string]int{phaseExtract: 1500, phaseConsolidate: 6000}

// expected estimates a call: one token for four bytes, and an answer as long as its cap, if it has one.
func (m *metered) expected(phase string, q model.Request) memoir.Usage {
	output := cmp.Or(q.MaxOutput, m.maxOutput, usualOutput[phase], usualOutput[phaseExtract])
	return m.priced(int64(q.Bytes()+3)/4, int64(output))
}

// priced is the usage of one call; its cost is 0 if the price is unknown.
func (m *metered) priced(input, output int64) memoir.Usage {
	u := memoir.Usage{Calls: 1, InputTokens: input, OutputTokens: output}
	u.Cost = m.price.Cost(u)
	return u
}

// served records a usable answer.
func (m *metered) served() {
	m.meter.mu.Lock()
	defer m.meter.mu.Unlock()
	m.failed = 0
}

// failJob records a failed job. outAfter of them in a row, or one failure that every job would get (surely), put
// the model out of service.
func (m *metered) failJob(err error, surely bool) {
	m.meter.mu.Lock()
	defer m.meter.mu.Unlock()
	if m.failed++; m.out == nil && (surely || m.failed >= outAfter) {
		m.out = &Unserved{Model: m.Name(), Reason: m.meter.scanner.Message(err.Error()), hint: unservedHint(err)}
	}
}

// stop returns the limit that stopped the run, or nil.
func (m *meter) stop() *Stopped {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

// lasting returns a context that ends a given time after another.
func lasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(by):
		case <-longer.Done():
		}
		cancel(context.Cause(ctx))
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// endWithin is how long interrupted work may take to enter its end into the ledger. After that a call stays
// begun, with its estimate, and work unfinished.
const endWithin = 500 * time.Millisecond
