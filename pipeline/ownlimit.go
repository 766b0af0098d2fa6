package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"memoir"
	"memoir/config"
	"memoir/store"
)

// budgetOf is what a project's own settings leave to be spent on its sessions and its
// consolidation; nil if they limit nothing beyond what holds for all.
func (r *run) budgetOf(ctx context.Context, projectID string) *budget {
	if len(r.meter.models) == 0 || projectID == "" {
		return nil
	}
	r.meter.mu.Lock()
	b, known := r.meter.own[projectID]
	r.meter.mu.Unlock()
	if known {
		return b
	}
	projects, err := r.store.Projects(ctx)
	if err != nil {
		return nil // whoever works on the project meets the same fault
	}
	i := slices.IndexFunc(projects, func(p store.ProjectRow) bool { return p.ID == projectID })
	if i < 0 {
		return nil
	}
	settings, err := r.settingsOf(projects[i].Project)
	if err != nil {
		return nil // memory is off there, and the scan has said so
	}
	b = &budget{project: projectID, name: projects[i].Name, limits: tighter(settings.Limits, r.opts.Settings.Limits)}
	if b.limits == (config.Limits{}) {
		b = nil
	}
	r.doubtCost(b)
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	if earlier, known := r.meter.own[projectID]; known {
		return earlier
	}
	r.meter.own[projectID] = b
	return b
}

// doubtCost says that a project's limit on costs cannot be kept.
func (r *run) doubtCost(b *budget) {
	if b == nil || b.limits.CostPerRun+b.limits.CostPerDay == 0 {
		return
	}
	for _, use := range []struct{ phase, name string }{{phaseExtract, r.extractor.Name()}, {phaseConsolidate, r.consolidator.Name()}} {
		if m := r.meter.named(use.name); m != nil && !m.canPrice(use.phase) {
			r.warn(fmt.Sprintf("a limit on costs of project %s cannot be kept: what %s costs is not known", b.name, use.name),
				"say the provider's price, or use limits.tokensPerRun and limits.tokensPerDay")
			return
		}
	}
}

// foresee says which projects' own limits would stop what is planned for them.
func (r *run) foresee(ctx context.Context, planned map[string]memoir.Usage) error {
	for _, id := range slices.Sorted(maps.Keys(planned)) {
		b := r.budgetOf(ctx, id)
		if b == nil {
			continue
		}
		others, err := r.store.SpentOn(ctx, id, r.meter.midnight(), "")
		if err != nil {
			return err
		}
		r.meter.mu.Lock()
		stop, _ := b.exceeded(planned[id], others)
		r.meter.mu.Unlock()
		if stop != nil {
			r.warn(fmt.Sprintf("%s of project %s would stop its part before its end", stop.Limit, b.name), stop.hint())
		}
	}
	return nil
}

// tighter are the limits that are below those of all.
func tighter(own, all config.Limits) config.Limits {
	return config.Limits{
		TokensPerRun: lower(own.TokensPerRun, all.TokensPerRun), TokensPerDay: lower(own.TokensPerDay, all.TokensPerDay),
		CostPerRun: lower(own.CostPerRun, all.CostPerRun), CostPerDay: lower(own.CostPerDay, all.CostPerDay),
	}
}

// lower is a limit if it is below that of all; 0 is no limit.
func lower[T int64 | float64](own, all T) T {
	if own > 0 && (all == 0 || own < all) {
		return own
	}
	return 0
}

// stopOf says which limit stops work for a project: the run's, or its own.
func (m *meter) stopOf(own *budget) *Stopped {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped == nil && own != nil {
		return own.stopped
	}
	return m.stopped
}

// stoppedProjects lists which projects' own limits stopped work, by id.
func (m *meter) stoppedProjects() []*Stopped {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*Stopped
	for _, id := range slices.Sorted(maps.Keys(m.own)) {
		if b := m.own[id]; b != nil && b.stopped != nil {
			out = append(out, b.stopped)
		}
	}
	return out
}

// claimable is the window without the projects whose own limits are reached, or whose own
// rules for secrets are invalid, and without what no limit has room for : such sessions stay eligible for a later run.
func (r *run) claimable() store.Window {
	w := r.window()
	w.WithoutKeys = r.setAsideSessions()
	for _, stop := range r.meter.stoppedProjects() {
		w.Without = append(w.Without, stop.Project)
	}
	w.Without = append(w.Without, r.misruledProjects()...)
	return w
}
