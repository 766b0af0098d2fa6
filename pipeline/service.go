package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"memoir"
	"memoir/model"
)

const (
	// outAfter is how many pieces of work in a row must fail through all their retries
	// before a server is out of service: a single one may be to blame itself.
	outAfter = 2
	// deniedAfter is the same for texts that a provider forbids after it has answered.
	deniedAfter = 3
	// uselessAfter is how many answers in a row that cannot be used show that a model
	// cannot do the work: each session would be paid for in vain.
	uselessAfter = 5
)

// errUnserved is in the chain of the error of a call that was not made, or not made
// again, because the model is out of service.
var errUnserved = errors.New("out of service")

// A service says whether a model is of use in this run.
type service struct {
	mu       sync.Mutex
	answered int           // calls that somebody answered, with whatever
	failed   int           // pieces of work that failed since the last of them
	useless  int           // pieces of work without a usable answer since the last with one
	out      error         // why no more calls are made; nil: they are
	ended    chan struct{} // closed when out is set
}

// service is that of the model of a name.
func (m *meter) service(name string) *service {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.services[name]
	if s == nil {
		s = &service{ended: make(chan struct{})}
		m.services[name] = s
	}
	return s
}

// heard enters how a call ended. A server that refuses a request for what is in it answers.
func (s *service) heard(err error) {
	if class, _ := model.ClassOf(err); err != nil && class != model.ClassTooLong && class != model.ClassInvalid {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered++
	s.failed = 0
}

// fail enters that a piece of work was not served, and reports whether that is enough.
func (s *service) fail(enough int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed++
	return s.failed >= enough
}

// serves reports whether a call was answered in this run.
func (s *service) serves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered > 0
}

// disappoint enters that the answers to a piece of work could not be used. Enough of
// them in a row make the model out of service.
func (s *service) disappoint(name string) {
	s.mu.Lock()
	s.useless++
	enough := s.useless >= uselessAfter
	s.mu.Unlock()
	if enough {
		s.end(
			memoir.Errorf(
				memoir.CodeModel,
				"try another model; `memoir status` says what is wrong with the answers, `memoir retry` tries again",
				"%s gave no answer of use to %d pieces of work in a row",
				name,
				uselessAfter,
			),
		)
	}
}

// satisfy enters that an answer was of use.
func (s *service) satisfy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.useless = 0
}

// end makes a model out of service.
func (s *service) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil {
		s.out = why
		close(s.ended)
	}
}

// err is why no more calls are made.
func (s *service) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out
}

// sleep is a wait for another try, which ends with errUnserved when the model is out of
// service.
func (s *service) sleep(ctx context.Context, wait func(context.Context) error) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waited := make(chan struct{})
	defer close(waited)
	go func() {
		select {
		case <-s.ended:
			cancel(errUnserved)
		case <-waited:
		}
	}()
	if err := wait(within); err != nil {
		return context.Cause(within)
	}
	return nil
}

// Unserved is a model that is asked no more in this run.
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
	if err := r.meter.service(name).err(); err != nil {
		return &Unserved{Model: name, Reason: r.redact(err.Error()), hint: unservedHint(err)}
	}
	return nil
}

const (
	waitHint = "nothing is lost: run again when it serves; `memoir retry` does not wait"
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
)

// judge says who is to blame for an error of work with a model, and enters it.
func (r *run) judge(name string, err error) verdict {
	var failed *model.Error
	var answer *memoir.AnswerError
	known, metered := errors.As(err, &failed), r.meter.named(name) != nil
	s := r.meter.service(name)
	switch {
	case !known:
		if metered && errors.As(err, &answer) {
			s.disappoint(name)
		}
		return itsOwn
	case metered && forbidden(failed) && s.serves():
		if s.fail(deniedAfter) {
			return ends
		}
		return itsOwn
	case modelFault(err):
		return ends
	case !metered || failed.Class != model.ClassLimited && failed.Class != model.ClassTemporary:
		return itsOwn
	}
	// A server that asks to wait beyond all patience is out of service at once.
	if s.fail(outAfter) || failed.RetryAfter > retries.MaxWait {
		s.end(fmt.Errorf("%s does not serve: %w", name, err))
	}
	return postponed
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

// patience waits before another try of a call to a model, as long as there is sense in one.
func (r *run) patience(name string) func(context.Context, time.Duration) error {
	h := r.meter.service(name)
	return func(ctx context.Context, d time.Duration) error {
		return h.sleep(ctx, func(ctx context.Context) error {
			if r.opts.Sleep != nil {
				return r.opts.Sleep(ctx, d)
			}
			return model.Sleep(ctx, d)
		})
	}
}
