package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
)

// retries says how a call is tried again before its session, or the run, has failed.
var retries = model.RetryPolicy{Attempts: 4, Base: time.Second, MaxWait: time.Minute}

// chooseModels puts the models that are set in the place of the built-in ones. It comes
// before anything is claimed: a model that cannot be had costs no session an attempt, and
// is never replaced by another. A dry run needs no key.
func (r *run) chooseModels(ctx context.Context) error {
	settings := r.opts.Settings
	for _, role := range model.Roles(settings.ModelRoles) {
		if _, err := model.Choose(settings, role); err != nil {
			return err
		}
	}
	if r.opts.Phases != nil {
		var err error
		r.extractor, r.consolidator, err = r.opts.Phases(r.meter.of)
		return err
	}
	defer clear(r.secretKeys)
	one, two := model.Phases(settings.ModelRoles)
	extractor, called, err := r.modelOf(ctx, one)
	if err != nil {
		return err
	}
	consolidator, asked, err := r.modelOf(ctx, two)
	if err != nil {
		return err
	}
	if extractor != nil {
		r.extractor = extract.NewLLM(extract.LLM{
			Model:       extractor,
			InputTokens: settings.Memories.Phase1InputTokenLimit, Payload: settings.Memories.RolloutPayloadPercent,
			MaxOutput: called.MaxOutput, Report: r.extracted,
		})
	}
	if consolidator != nil {
		r.consolidator = consolidate.NewLLM(
			consolidate.LLM{Model: consolidator, MaxOutput: asked.MaxOutput, Report: r.consolidated},
		)
	}
	return nil
}

// modelOf is the language model of a role, ready to be called, with what it is called
// with but the key; nil for the built-in one.
func (r *run) modelOf(ctx context.Context, role model.Role) (model.Model, model.Options, error) {
	choice, err := model.Choose(r.opts.Settings, role)
	if err != nil || choice.Spec.Builtin() {
		return nil, model.Options{}, err
	}
	role = choice.Role // with its place
	o := choice.Options
	o.Redact = r.redact
	switch err := choice.Name(choice.Key.Check(r.getenv)); {
	case err == nil:
	case r.opts.DryRun:
		r.warn(err.Error(), memoir.HintOf(err))
	default:
		return nil, model.Options{}, err
	}
	if !r.opts.DryRun {
		if o.Key, err = r.key(ctx, choice.Key); err != nil {
			return nil, model.Options{}, role.Name(err)
		}
	}
	m, err := model.Open(choice.Spec, o)
	if err != nil {
		return nil, model.Options{}, role.Name(err)
	}
	policy := retries
	policy.Sleep = r.patience(m.Name())
	return model.Retrying(guarded{r.meter.of(m, o), r}, policy), choice.Options, nil
}

// key returns the key of a provider. A command that prints it, and may ask a person
// first, runs once.
func (r *run) key(ctx context.Context, k model.Key) (string, error) {
	if key, ok := r.secretKeys[k.Provider]; ok {
		return key, nil
	}
	key, err := k.Read(ctx, r.getenv)
	if err == nil {
		r.secretKeys[k.Provider] = key
	}
	return key, err
}

// getenv reads a variable of the run's environment.
func (r *run) getenv(name string) string {
	if r.opts.Env.Getenv == nil {
		return ""
	}
	return r.opts.Env.Getenv(name)
}

const (
	// outAfter is how many pieces of work in a row must fail through all their retries
	// before a server is out of service: a single one may be to blame itself.
	outAfter = 2
	// uselessAfter is how many answers in a row that cannot be used show that a model
	// cannot do the work: each session would be paid for in vain.
	uselessAfter = 5
)

// errUnserved is in the chain of the error of a call that was not made, or not made
// again, because the model is out of service.
var errUnserved = errors.New("out of service")

// A service says whether a model is of use in this run.
type service struct {
	running context.Context // ends when no more calls are made; its cause says why
	end     context.CancelCauseFunc

	mu      sync.Mutex
	failed  int // pieces of work that failed since the last call that was answered
	useless int // pieces of work without a usable answer since the last with one
}

// service is that of the model of a name.
func (m *meter) service(name string) *service {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.services[name]
	if s == nil {
		s = &service{}
		s.running, s.end = context.WithCancelCause(context.Background())
		m.services[name] = s
	}
	return s
}

// err is why no more calls are made; nil if they are.
func (s *service) err() error { return context.Cause(s.running) }

// heard enters how a call ended. A server that finds a request too long answers.
func (s *service) heard(err error) {
	if class, _ := model.ClassOf(err); err != nil && class != model.ClassTooLong {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = 0
}

// fail enters that a piece of work was not served. Enough of them in a row end the service, and
// so does a server that asks to wait beyond all patience.
func (s *service) fail(name string, err error, wait time.Duration) {
	s.mu.Lock()
	s.failed++
	enough := s.failed >= outAfter || wait > retries.MaxWait
	s.mu.Unlock()
	if enough {
		s.end(fmt.Errorf("%s does not serve: %w", name, err))
	}
}

// disappoint enters that the answers to a piece of work could not be used. Enough of
// them in a row end the service.
func (s *service) disappoint(name string) {
	s.mu.Lock()
	s.useless++
	enough := s.useless >= uselessAfter
	s.mu.Unlock()
	if enough {
		s.end(memoir.Errorf(memoir.CodeModel,
			"try another model; `memoir status` says what is wrong with the answers, `memoir retry` tries again",
			"%s gave no answer of use to %d pieces of work in a row", name, uselessAfter))
	}
}

// satisfy enters that an answer was of use.
func (s *service) satisfy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.useless = 0
}

// patience waits before another try of a call to a model. The wait ends with errUnserved when
// the model is out of service.
func (r *run) patience(name string) func(context.Context, time.Duration) error {
	wait, service := r.opts.Sleep, r.meter.service(name)
	if wait == nil {
		wait = model.Sleep
	}
	return func(ctx context.Context, d time.Duration) error {
		within, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(service.running, func() { cancel(errUnserved) })()
		if err := wait(within, d); err != nil {
			return context.Cause(within)
		}
		return nil
	}
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
		return memoir.HintOf(why)
	case failed.TimedOut > 0:
		return slowHint
	case failed.Class == model.ClassDenied, failed.Class == model.ClassInvalid:
		return failed.Hint()
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
	switch {
	case !known:
		if metered && errors.As(err, &answer) {
			r.meter.service(name).disappoint(name)
		}
		return itsOwn
	case metered && unservedBy(failed):
		r.meter.service(name).fail(name, err, failed.RetryAfter)
		return postponed
	case modelFault(err):
		return ends
	}
	return itsOwn
}

// unservedBy reports an error for which the server may be to blame, a setting, or a single
// request: it is busy or broken, takes no such call, or forbids what it is asked, as some do to
// moderate it.
func unservedBy(e *model.Error) bool {
	forbidden := e.Class == model.ClassDenied && e.Status == http.StatusForbidden && e.Program == ""
	return forbidden || e.Class == model.ClassLimited || e.Class == model.ClassTemporary || e.Class == model.ClassInvalid
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
