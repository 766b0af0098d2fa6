package pipeline

import (
	"cmp"
	"context"
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

// extracted counts the result of a model's extraction.
func (r *run) extracted(e extract.Report) {
	r.meter.named(r.extractor.Name()).served()
	r.ground(func(g *Grounding) {
		g.Statements += e.Kept
		if e.Omitted > 0 {
			g.Cut++
			g.CutItems += e.Shown + e.Omitted
			g.Omitted += e.Omitted
		}
		d := e.Dropped
		for reason, n := range map[string]int{
			"uncited": d.Uncited, "missing": d.Missing, "ungrounded": d.Ungrounded, "foreign": d.Foreign,
			"unplaced": d.Unplaced, "summary": d.Summary,
		} {
			if n > 0 {
				g.Dropped[reason] += n
			}
		}
	})
}

// consolidated counts the result of a model's consolidation.
func (r *run) consolidated(c consolidate.Report) {
	r.meter.named(r.consolidator.Name()).served()
	r.ground(func(g *Grounding) {
		g.Lines += c.Kept
		if c.Uncited > 0 {
			g.Dropped["line"] += c.Uncited // of MEMORY.md
		}
	})
}

// consolidatorOf returns the consolidator of a project. The user's own memory is always made by the built-in
// model.
func (r *run) consolidatorOf(projectID string) consolidate.Consolidator {
	if projectID == memoir.UserProjectID {
		return consolidate.NewBuiltin()
	}
	return r.consolidator
}
