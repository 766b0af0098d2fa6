package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/secrets"
	"memoir/store"
)

// A meter enters each call of a run into the ledger before it is made, and refuses calls
// that would exceed a limit. The ledger has the calls of all processes, those under way by
// their estimates, so the meter keeps no sums. Once a limit refused a call, no further call
// is made: the work that is left is for a later run.
type meter struct {
	run     string // its id, in the ledger
	store   *store.Store
	limits  config.Limits
	scanner *secrets.Scanner
	warn    func(message, hint string)
	models  []*metered

	mu       sync.Mutex // held while a call is entered
	ended    *sync.Cond // on mu: a call ended, or the context of one that waits
	underway int        // calls
	stopped  *Stopped
	warned   bool // that a call's end is not in the ledger
}

func newMeter(r *run) *meter {
	m := &meter{run: r.id, store: r.store, limits: r.opts.Settings.Limits, scanner: r.scanner, warn: r.warn}
	m.ended = sync.NewCond(&m.mu)
	return m
}

// metered is a model whose calls are counted one by one: it belongs below what
// repeats them.
type metered struct {
	model.Model
	meter     *meter
	price     model.Price
	maxOutput int // tokens of an answer; 0: unknown

	// Guarded by the meter's mu.
	failed int       // pieces of work in a row that it failed
	out    *Unserved // why it is asked no more in this run; nil if it is
}

var _ model.Model = (*metered)(nil)

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

type workKey struct{}

// work is what calls are made for, one after the other.
type work struct {
	store.Call
	scanners []*secrets.Scanner // with the rules of its project; none: the run's
	taken    secrets.Counts     // out of the last answer
}

// forWork has the calls of a context entered into the ledger for a piece of work, and what
// they ask and what is answered redacted by its scanners.
func forWork(ctx context.Context, call store.Call, scanners ...*secrets.Scanner) context.Context {
	return context.WithValue(ctx, workKey{}, &work{Call: call, scanners: scanners})
}

// workOf is what a context's calls are made for.
func workOf(ctx context.Context) *work {
	if w, ok := ctx.Value(workKey{}).(*work); ok {
		return w
	}
	return &work{}
}

// Call makes the call unless it would exceed a limit: then the error has the code
// memoir.CodeLimit. Nor is it made when it cannot be entered into the ledger, or when
// the model is out of service. What a model answered before may be part of a question, so
// that is redacted as well.
func (m *metered) Call(ctx context.Context, q model.Request) (answer model.Answer, err error) {
	of := workOf(ctx)
	q.Input, _ = m.redact(of, q.Input)
	q.Earlier = slices.Clone(q.Earlier)
	for i := range q.Earlier {
		for _, text := range []*string{&q.Earlier[i].Answer, &q.Earlier[i].Objection} {
			*text, _ = m.redact(of, *text)
		}
	}
	call := of.Call
	call.Run, call.Model, call.Expected = m.meter.run, m.Name(), m.expected(call.Phase, q)
	id, err := m.enter(ctx, call)
	if err != nil {
		return model.Answer{}, err
	}
	began := time.Now()
	// If the call panics, nobody knows what it took.
	end := store.CallEnd{Usage: call.Expected, Call: store.CallFailed, Estimated: true}
	defer func() {
		end.Duration = time.Since(began)
		m.meter.complete(ctx, id, end)
	}()
	answer, err = m.Model.Call(ctx, q)
	// Before anything is made of it: what tells a secret may go when its text is cleaned.
	answer.Text, of.taken = m.redact(of, answer.Text)
	end = store.CallEnd{Usage: answer.Usage, Estimated: answer.Estimated, Call: becameOf(ctx, answer, err)}
	if err != nil {
		end.Usage, end.Estimated = usageOf(err, m.priced(call.Expected.InputTokens, 0))
	}
	return answer, err
}

// redact takes the secrets out of a text by the rules that count for the work.
func (m *metered) redact(of *work, text string) (string, secrets.Counts) {
	if len(of.scanners) == 0 {
		return m.meter.scanner.Redact(text)
	}
	taken := secrets.Counts{}
	for _, scanner := range of.scanners {
		clean, counts := scanner.Redact(text)
		text = clean
		taken.Merge(counts)
	}
	return text, taken
}

// enter puts a call into the ledger before it is made. Where a limit leaves no room, it waits
// for the run's calls under way, which may need less than their estimates.
func (m *metered) enter(ctx context.Context, c store.Call) (id int64, err error) {
	meter := m.meter
	var refused error
	var allow func(ofRun, today memoir.Usage) error
	if len(bounds(meter.limits, memoir.Usage{}, memoir.Usage{})) > 0 {
		allow = func(ofRun, today memoir.Usage) error {
			refused = meter.refusal(c.Expected, ofRun, today)
			return refused
		}
	}
	meter.mu.Lock()
	defer meter.mu.Unlock()
	defer context.AfterFunc(ctx, meter.wake)()
	for {
		// Of two that have one name, as both phases may, the first one tells.
		switch out := meter.named(m.Name()).out; {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case out != nil:
			return 0, memoir.Errorf(memoir.CodeModel, out.hint, "%s: %w", m.Name(), errUnserved)
		case meter.stopped != nil:
			return 0, meter.stopped.refusal()
		}
		refused = nil // what an earlier try was told
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

// wake has those look again who wait for room.
func (m *meter) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended.Broadcast()
}

// endWithin is how long work that was interrupted may take to enter its end. Else a call
// stays in the ledger as begun, by its estimate, and work as unfinished.
const endWithin = 500 * time.Millisecond

// complete enters what became of a call, also when its context is done.
func (m *meter) complete(ctx context.Context, id int64, end store.CallEnd) {
	within, cancel := lasting(ctx, endWithin)
	defer cancel()
	err := m.store.EndCall(within, id, end)
	m.mu.Lock()
	m.underway--
	m.ended.Broadcast()
	warn := err != nil && ctx.Err() == nil && !m.warned // else nobody may be left to be told
	m.warned = m.warned || warn
	m.mu.Unlock()
	if warn {
		m.warn("the ledger has only an estimate for a call: "+err.Error(), memoir.HintOf(err))
	}
}

// landWithin is how long calls may take to notice that they were given up. Those to a
// server end at once; a program that ignores what it is asked is ended after half a second.
const landWithin = 800 * time.Millisecond

// settled is what the run spent, once the calls under way have ended. One that does not
// end in time counts by its estimate.
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

// spent is what the run spent until now, calls under way by their estimate; nothing if the ledger cannot be read.
func (m *meter) spent(ctx context.Context) memoir.Usage {
	if len(m.models) == 0 {
		return memoir.Usage{}
	}
	ofRun, _, _ := m.store.Spent(ctx, m.run)
	return ofRun
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

const (
	phaseExtract     = "extract"
	phaseConsolidate = "consolidate"
)

// usualOutput is how many tokens an answer has as a rule, by phase.
var usualOutput = map[string]int{phaseExtract: 1500, phaseConsolidate: 6000}

// expected is what a call may spend: a token for four bytes, and an answer as long as its cap
// allows, if it has one.
func (m *metered) expected(phase string, q model.Request) memoir.Usage {
	bytes := len(q.System) + len(q.Input) + len(q.Schema)
	for _, e := range q.Earlier {
		bytes += len(e.Answer) + len(e.Objection)
	}
	output := cmp.Or(q.MaxOutput, m.maxOutput, usualOutput[phase], usualOutput[phaseExtract])
	return m.priced(int64(bytes+3)/4, int64(output))
}

// priced is what one call spends; it costs nothing where the price is not known.
func (m *metered) priced(input, output int64) memoir.Usage {
	u := memoir.Usage{Calls: 1, InputTokens: input, OutputTokens: output}
	u.Cost = m.price.Cost(u)
	return u
}
