package pipeline

import (
	"context"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/prompts"
)

// retries says how a call is tried again before its session, or the run, has failed.
var retries = model.RetryPolicy{Attempts: 4, Base: time.Second, MaxWait: time.Minute}

// chooseModels puts the models that are set in the place of the built-in ones. It comes
// before anything is claimed: a model that cannot be had costs no session an attempt, and
// is never replaced by another. A dry run needs no key.
func (r *run) chooseModels(ctx context.Context) error {
	settings := r.opts.Settings
	if err := model.CheckModels(settings); err != nil {
		return err
	}
	for _, role := range model.Roles(settings.ModelRoles) {
		if _, err := model.Choose(settings, role); err != nil {
			return err
		}
	}
	files, err := prompts.LoadDir(settings.Prompts.Dir)
	if err != nil {
		return memoir.Errorf(
			memoir.CodeOf(err),
			memoir.HintOf(err),
			"prompts.dir (%s): %w",
			settings.Origin("prompts.dir"),
			err,
		)
	}
	r.prompts = files
	if r.opts.Phases != nil {
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
			Model: extractor, Prompts: files,
			InputTokens: settings.Memories.Phase1InputTokenLimit, Payload: settings.Memories.RolloutPayloadPercent,
			Passes:    settings.Memories.MaxPassesPerSession,
			MaxOutput: called.MaxOutput, Report: r.extracted,
		})
	}
	if consolidator != nil {
		r.consolidator = consolidate.NewLLM(
			consolidate.LLM{Model: consolidator, Prompts: files, MaxOutput: asked.MaxOutput, Report: r.consolidated},
		)
	}
	for _, w := range settings.Warnings() {
		r.warn(w.Message, w.Hint)
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
	o.Warn, o.Redact = r.warn, r.redact
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
