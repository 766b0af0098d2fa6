package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"memoir"
	"memoir/model"
)

// outAfter is how many pieces of work, one after another, must fail through all their
// retries, with no answer to anybody between them, before a server counts as out of
// service: a single one may be to blame itself.
const outAfter = 2

// deniedAfter is the same for texts that a provider forbids after it has answered.
const deniedAfter = 3

// uselessAfter is how many answers that cannot be used, one after another, are enough to
// tell that a model cannot do the work: each session would be paid for twice, time and again.
const uselessAfter = 5

// errUnserved is in the chain of the error of a call that was not made, or not made
// again, because the model's server is out of service.
var errUnserved = errors.New("out of service")

// A health says whether a model's server answers in this run.
type health struct {
	mu      sync.Mutex
	served  int            // calls that somebody answered, with whatever
	strikes int            // pieces of work that failed since the last of them
	useless int            // pieces of work without a usable answer since the last with one
	doubted map[string]int // by phase: of earlier runs, if they were enough; gone once an answer was of use
	out     error          // why no more calls are made; nil: they are
	ended   chan struct{}  // closed when out is set
}

// count is how many calls were answered so far.
func (h *health) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.served
}

// heard enters how a call ended. A server that refuses a request for what is in it answers.
func (h *health) heard(err error) {
	if class, _ := model.ClassOf(err); err != nil && class != model.ClassTooLong && class != model.ClassInvalid {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.served++
	h.strikes = 0
}

// strike enters that a piece of work failed though nobody was answered since a
// number of calls, and reports whether that makes it enough.
func (h *health) strike(since, enough int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.served > since {
		return false
	}
	h.strikes++
	return h.strikes >= enough
}

// disappoint enters that the answers to a piece of work could not be used. It returns how many
// in a row could not, those of earlier runs included, if they are enough; else 0.
func (h *health) disappoint(phase string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.useless++
	if earlier := h.doubted[phase]; earlier > 0 {
		return earlier + h.useless
	}
	if h.useless < uselessAfter {
		return 0
	}
	return h.useless
}

// satisfy enters that one could.
func (h *health) satisfy(phase string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.useless = 0
	delete(h.doubted, phase)
}

// doubt enters what was learned in earlier runs.
func (h *health) doubt(phase string, works int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.doubted == nil {
		h.doubted = map[string]int{}
	}
	h.doubted[phase] = works
}

// isDoubted reports whether a model is asked about one piece of work of a phase at a time,
// until one of its answers is of use.
func (h *health) isDoubted(phase string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.doubted[phase] > 0
}

// end makes a model out of service.
func (h *health) end(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.out == nil {
		h.out = why
		close(h.ended)
	}
}

// err is why no more calls are made.
func (h *health) err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out
}

// sleep is a wait for another try, which ends with errUnserved when there is no
// sense in one any more.
func (h *health) sleep(ctx context.Context, wait func(context.Context) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waited := make(chan struct{})
	defer close(waited)
	go func() {
		select {
		case <-h.ended:
			cancel(errUnserved)
		case <-waited:
		}
	}()
	if err := wait(within); err != nil {
		return context.Cause(within)
	}
	return nil
}

// health is that of the model of a name.
func (m *meter) health(name string) *health {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.healths[name]
	if h == nil {
		h = &health{ended: make(chan struct{})}
		m.healths[name] = h
	}
	return h
}

// Unserved is a model that did not serve, through all retries of several calls.
type Unserved struct {
	Model  string `json:"model"`
	Reason string `json:"reason"`
	hint   string
}

// unserved is why a model is asked no more in this run; nil if it is.
func (r *run) unserved(name string) *Unserved {
	if r.meter.named(name) == nil {
		return nil
	}
	if err := r.meter.health(name).err(); err != nil {
		return &Unserved{Model: name, Reason: r.redact(err.Error()), hint: unservedHint(err)}
	}
	return nil
}

const (
	waitHint = "nothing is lost: run again when it serves; memoir retry does not wait"
	slowHint = "nothing is lost: if the model is slow, set a larger timeoutSeconds; else run again when it serves"
)

// unservedHint says what to do about a model that does not serve.
func unservedHint(why error) string {
	var failed *model.Error
	switch {
	case !errors.As(why, &failed): // it answers, but to no use
		return cmp.Or(memoir.HintOf(why), waitHint)
	case failed.TimedOut > 0:
		return slowHint
	}
	return waitHint
}

// A verdict says what becomes of work that a model failed.
type verdict int

const (
	itsOwn    verdict = iota // the session or project is to blame: an attempt
	ends                     // every call would meet it: the run ends
	postponed                // the server is to blame: tried again later, no attempt
	unasked                  // as postponed, but no call of this work failed
)

// judge says who is to blame for an error of work with a model, and enters it.
func (r *run) judge(name string, a *account, err error) verdict {
	var failed *model.Error
	known := errors.As(err, &failed)
	from, failing := a.failure()
	switch {
	case errors.Is(err, errUnserved) || a.isRefused():
		if failing {
			return postponed
		}
		return unasked
	case !known:
		r.disappointed(name, a.of.Phase, err)
		return itsOwn
	case r.meter.named(name) == nil:
		if modelFault(err) {
			return ends
		}
		return itsOwn
	}
	h := r.meter.health(name)
	switch {
	case forbidden(failed) && h.count() > 0:
		if h.strike(h.count(), deniedAfter) {
			return ends
		}
		return itsOwn
	case modelFault(err):
		return ends
	case failed.Class != model.ClassLimited && failed.Class != model.ClassTemporary:
		return itsOwn
	case failed.Class == model.ClassTemporary && h.count() > from:
		return itsOwn
	}
	// What a server asks to wait for beyond all patience is plain at once.
	if h.strike(from, outAfter) || failed.RetryAfter > retries.MaxWait {
		h.end(fmt.Errorf("%s does not serve: %w", name, err))
	}
	return postponed
}

// disappointed asks a model no more whose answers are of no use again and again.
func (r *run) disappointed(name, phase string, err error) {
	var answer *memoir.AnswerError
	if !errors.As(err, &answer) || r.meter.named(name) == nil {
		return
	}
	h := r.meter.health(name)
	if n := h.disappoint(phase); n > 0 {
		h.end(memoir.Errorf(memoir.CodeModel, "try another model; memoir status says what is wrong with the answers, memoir retry tries again",
			"%s gave no answer of use to %d pieces of work in a row", name, n))
	}
}

// recallDoubts looks in the ledger whether a model was of no use when it was asked last. It is
// then asked about one piece of work, and no more if that is of no use either: so what a
// run costs is little, as long as nobody changes the model.
func (r *run) recallDoubts(ctx context.Context) error {
	for phase, name := range map[string]string{phaseExtract: r.extractor.Name(), phaseConsolidate: r.consolidator.Name()} {
		if r.meter.named(name) == nil {
			continue
		}
		works, err := r.store.Disappointments(ctx, name, phase)
		if err != nil {
			return err
		}
		if works >= uselessAfter {
			r.meter.health(name).doubt(phase, works)
		}
	}
	return nil
}

// doubts reports whether the model of a phase is asked about one piece of work at a time.
func (r *run) doubts(phase, name string) bool {
	return r.meter.named(name) != nil && r.meter.health(name).isDoubted(phase)
}

// forbidden reports whether a server refused one call that may have been about what it said: some
// moderate what they are asked in this way.
func forbidden(e *model.Error) bool {
	return e.Class == model.ClassDenied && e.Status == http.StatusForbidden && e.Program == ""
}

// endUnserved closes a run in which a model did not serve. One in which nothing was
// done otherwise has failed.
func (r *run) endUnserved() error {
	one := r.report.Phase1
	done := one.Stored+one.Empty+one.Unchanged > 0 || r.report.has(OutcomePublished) || r.report.has(OutcomeUnchanged)
	for _, name := range []string{r.extractor.Name(), r.consolidator.Name()} {
		u := r.unserved(name)
		if u == nil || len(r.report.Unserved) > 0 && r.report.Unserved[0].Model == name {
			continue
		}
		r.report.Unserved = append(r.report.Unserved, *u)
		if done {
			r.warn(u.Reason, u.hint)
		}
	}
	if len(r.report.Unserved) > 0 && !done {
		return memoir.Errorf(memoir.CodeModel, r.report.Unserved[0].hint, "%s", r.report.Unserved[0].Reason)
	}
	return nil
}
