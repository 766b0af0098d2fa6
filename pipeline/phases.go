package pipeline

import (
	"cmp"
	"context"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/store"
	"memoir/team"
)

// phases are the two phases of a run: what they call, and whether one has begun.
type phases struct {
	*run
	extractor    extract.Extractor
	consolidator consolidate.Consolidator
	recorded     bool               // the start of the run
	usual        map[string]float64 // US dollars per token of past calls, by model, for estimates
}

// newPhases returns the phases of a new run with the built-in model.
func newPhases(st *store.Store, opts Options) (*phases, error) {
	r, err := newRun(st, opts)
	return &phases{run: r, extractor: extract.NewBuiltin(), consolidator: consolidate.NewBuiltin()}, err
}

// chooseModels opens the configured models. It runs before anything is claimed, so that a model that is not
// available costs no attempts; no other model replaces it. A dry run needs no key.
func (p *phases) chooseModels(ctx context.Context) error {
	settings := p.opts.Settings
	for _, role := range model.Roles(settings) {
		if _, err := model.Choose(settings, role); err != nil {
			return err
		}
	}
	if p.opts.Phases != nil {
		var err error
		p.extractor, p.consolidator, err = p.opts.Phases(p.meter.of)
		return err
	}
	keys := map[string]string{} // by provider, for as long as models are opened
	one, two := model.Phases(settings.ModelRoles)
	extractor, called, err := p.modelOf(ctx, one, keys)
	if err != nil {
		return err
	}
	consolidator, asked, err := p.modelOf(ctx, two, keys)
	if err != nil {
		return err
	}
	if extractor != nil {
		reader := p.reader(extractor, called)
		reader.Report = p.countExtraction
		p.extractor = reader
	}
	if consolidator != nil {
		p.consolidator = consolidate.LLM{Model: consolidator, MaxOutput: asked.MaxOutput, Report: p.countConsolidation}
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
func (m *meter) unserved(name string) *Unserved {
	called := m.named(name)
	if called == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return called.out
}

// recordBegin records the start of the run once there is work. A fault of the database will fail the run
// itself.
func (p *phases) recordBegin(ctx context.Context) {
	if p.opts.DryRun || p.recorded {
		return
	}
	p.recorded = true
	_ = p.store.BeginRun(ctx, p.id, p.holder)
}

// endUnserved reports the models that were out of service. A run that did nothing else has failed.
func (p *phases) endUnserved() error {
	one := p.report.Phase1
	done := one.Stored+one.Empty+one.Unchanged > 0 || p.report.has(OutcomePublished) || p.report.has(OutcomeUnchanged)
	for _, name := range []string{p.extractor.Name(), p.consolidator.Name()} {
		u := p.meter.unserved(name)
		if u == nil || len(p.report.Unserved) > 0 && p.report.Unserved[0].Model == name {
			continue
		}
		p.report.Unserved = append(p.report.Unserved, *u)
		if done {
			p.warn(u.Reason, u.hint)
		}
	}
	if len(p.report.Unserved) > 0 && !done {
		return memoir.Errorf(memoir.CodeModel, p.report.Unserved[0].hint, "%s", p.report.Unserved[0].Reason)
	}
	return nil
}

// countExtraction counts the result of a model's extraction.
func (p *phases) countExtraction(e extract.Report) {
	p.meter.named(p.extractor.Name()).served()
	p.ground(func(g *Grounding) {
		g.Statements += e.Kept
		if e.Omitted > 0 {
			g.Cut++
			g.CutItems += e.Shown + e.Omitted
			g.Omitted += e.Omitted
		}
		d := e.Dropped
		g.drop(map[string]int{"uncited": d.Uncited, "missing": d.Missing, "ungrounded": d.Ungrounded,
			"foreign": d.Foreign, "unplaced": d.Unplaced, "summary": d.Summary})
	})
}

// countConsolidation counts the result of a model's consolidation.
func (p *phases) countConsolidation(c consolidate.Report) {
	p.meter.named(p.consolidator.Name()).served()
	p.ground(func(g *Grounding) {
		g.Lines += c.Kept
		g.drop(map[string]int{"line": c.Uncited, unsupported: c.Unsupported})
	})
}

// alwaysBuiltin reports whether the built-in model makes the memory of a project whatever the settings are: the user's
// own, and one that begins with what a hub made.
func (r *run) alwaysBuiltin(projectID string) bool {
	return projectID == memoir.UserProjectID || team.HasBase(r.opts.Home, projectID)
}

// consolidatorOf returns the consolidator of a project.
func (p *phases) consolidatorOf(projectID string) consolidate.Consolidator {
	if p.alwaysBuiltin(projectID) {
		return consolidate.NewBuiltin()
	}
	return p.consolidator
}
