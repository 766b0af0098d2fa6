package pipeline

import (
	"cmp"
	"context"
	"errors"
	"time"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
)

// retries says how often a call is tried again before its job fails.
var retries = model.RetryPolicy{Attempts: 4, Base: time.Second, MaxWait: time.Minute}

// chooseModels opens the configured models. It runs before anything is claimed, so that a model that is not
// available costs no attempts; no other model replaces it. A dry run needs no key.
func (r *run) chooseModels(ctx context.Context) error {
	settings := r.opts.Settings
	for _, role := range model.Roles(settings) {
		if _, err := model.Choose(settings, role); err != nil {
			return err
		}
	}
	if r.opts.Phases != nil {
		var err error
		r.extractor, r.consolidator, err = r.opts.Phases(r.meter.of)
		return err
	}
	keys := map[string]string{} // by provider, for as long as models are opened
	one, two := model.Phases(settings.ModelRoles)
	extractor, called, err := r.modelOf(ctx, one, keys)
	if err != nil {
		return err
	}
	consolidator, asked, err := r.modelOf(ctx, two, keys)
	if err != nil {
		return err
	}
	if extractor != nil {
		reader := r.reader(extractor, called)
		reader.Report = r.extracted
		r.extractor = extract.NewLLM(reader)
	}
	if consolidator != nil {
		r.consolidator = consolidate.LLM{Model: consolidator, MaxOutput: asked.MaxOutput, Report: r.consolidated}
	}
	return nil
}

// reader returns a language model that reads sessions, with its budgets.
func (r *run) reader(m model.Model, o model.Options) extract.LLM {
	memories := r.opts.Settings.Memories
	return extract.LLM{Model: m, InputTokens: memories.Phase1InputTokenLimit, Payload: memories.RolloutPayloadPercent,
		MaxOutput: o.MaxOutput}
}

// modelOf opens the language model of a role and returns it with its options, without the key; nil for the
// built-in one. A key command, which may ask a person, runs once for all models of its provider.
func (r *run) modelOf(
	ctx context.Context, role model.Role, keys map[string]string,
) (model.Model, model.Options, error) {
	choice, err := model.Choose(r.opts.Settings, role)
	if err != nil || choice.Spec.Builtin() {
		return nil, model.Options{}, err
	}
	role = choice.Role // with its source
	o := choice.Options
	o.Redact = r.redact
	err = choice.Name(choice.Key.Check(r.getenv))
	provider := choice.Key.Provider
	switch _, known := keys[provider]; {
	case err != nil && r.opts.DryRun:
		r.warn(err.Error(), memoir.HintOf(err))
	case err != nil:
		return nil, model.Options{}, err
	case !known && !r.opts.DryRun:
		if keys[provider], err = choice.Key.Read(ctx, r.getenv); err != nil {
			return nil, model.Options{}, role.Name(err)
		}
	}
	o.Key = keys[provider]
	m, err := model.Open(choice.Spec, o)
	if err != nil {
		return nil, model.Options{}, role.Name(err)
	}
	policy := retries
	policy.Sleep = r.opts.Sleep
	return model.Retrying(r.meter.of(m, o), policy), choice.Options, nil
}

// Unpriced returns a model without a known price if a limit on costs is set; else empty.
func Unpriced(s config.Settings) string {
	if s.Limits.CostPerRun+s.Limits.CostPerDay == 0 {
		return ""
	}
	one, two := model.Phases(s.ModelRoles)
	roles := []model.Role{one, two}
	if s.ShadowJournal.Enabled {
		roles = append(roles, model.Role{Setting: "shadowJournal.model", Model: cmp.Or(s.ShadowJournal.Model, one.Model)})
	}
	for _, role := range roles {
		c, err := model.Choose(s, role) // chooseModels reports errors
		if err == nil && !c.Spec.Builtin() && c.Options.Price == (model.Price{}) {
			return c.Spec.String()
		}
	}
	return ""
}

// getenv reads a variable of the run's environment.
func (r *run) getenv(name string) string {
	if r.opts.Env.Getenv == nil {
		return ""
	}
	return r.opts.Env.Getenv(name)
}

// outAfter is how many jobs in a row a model must fail, with all retries, to be out of service for the rest
// of the run. A single failure may be caused by the job.
const outAfter = 4

// errUnserved is in the chain of the error of a call that was not made because the model is out of service.
var errUnserved = errors.New("not available")

// served records a usable answer.
func (m *metered) served() {
	m.meter.mu.Lock()
	defer m.meter.mu.Unlock()
	m.failed = 0
}

// Unserved is a model that is out of service for the rest of the run.
type Unserved struct {
	Model  string `json:"model"`
	Reason string `json:"reason"`
	hint   string
}

// fail records a failed job. outAfter of them in a row, or one failure that every job would get (surely), put
// the model out of service.
func (m *metered) fail(err error, surely bool) {
	m.meter.mu.Lock()
	defer m.meter.mu.Unlock()
	if m.failed++; m.out == nil && (surely || m.failed >= outAfter) {
		m.out = &Unserved{Model: m.Name(), Reason: m.meter.scanner.Message(err.Error()), hint: unservedHint(err)}
	}
}

// unservedHint is the hint for a model that is out of service.
func unservedHint(why error) string {
	var failed *model.Error
	switch {
	case !errors.As(why, &failed): // it answers, but its answers are not usable
		return "try another model; `memoir retry --all` and then `memoir run` repeat failed jobs"
	case failed.TimedOut > 0:
		return "nothing is lost: " + failed.Hint() + "; otherwise run again when it is available"
	case failed.Class == model.ClassLimited, failed.Class == model.ClassTemporary:
		return "nothing is lost: run again when it is available; `memoir retry` does not wait"
	}
	return failed.Hint()
}

// unserved returns why a model is out of service, or nil.
func (r *run) unserved(name string) *Unserved {
	m := r.meter.named(name)
	if m == nil {
		return nil
	}
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	return m.out
}

// endUnserved reports the models that were out of service. A run that did nothing else has failed.
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
