package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/config"
	"memoir/store"
)

// Stopped says which spending limit stopped a run, or the work of one project.
type Stopped struct {
	Limit   string `json:"limit"` // the setting
	Reason  string `json:"reason"`
	Project string `json:"project,omitempty"` // whose own settings say so; empty: the run's
}

func (s *Stopped) err() error {
	return memoir.Errorf(memoir.CodeLimit, s.hint(), "%s", s.Reason)
}

// hint says what lets the work go on.
func (s *Stopped) hint() string {
	raise := "raise " + s.Limit
	if s.Project != "" {
		raise = "raise it in the project's " + config.ProjectFileName
	}
	if strings.HasSuffix(s.Limit, "PerDay") {
		return "run again tomorrow (days are those of UTC), or " + raise
	}
	return "run again, or " + raise
}

// limited reports an error of a call that a limit kept from being made.
func limited(err error) bool {
	for {
		var e *memoir.Error
		if !errors.As(err, &e) {
			return false
		}
		if e.Code == memoir.CodeLimit {
			return true
		}
		err = e.Err
	}
}

// A budget is a set of spending limits and what this run has spent of them: those of
// the run, or the lower ones of a project's own settings.
type budget struct {
	project, name string // whose own limits they are; empty: the run's
	limits        config.Limits

	// What follows is guarded by the meter's mu.
	spent    memoir.Usage // by this run
	reserved memoir.Usage // estimates of the calls under way
	stopped  *Stopped
}

// perDay reports whether there are limits that other runs count for.
func (b *budget) perDay() bool { return b.limits.TokensPerDay > 0 || b.limits.CostPerDay > 0 }

// A bound is one limit of a budget, in tokens or US dollars.
type bound struct {
	name                        string
	most, spent, reserved, next float64 // no limit if most is 0
	say                         func(float64) string
	by                          string
}

// cent is less than any price, and more than what rounding loses in adding up prices.
const cent = 1e-9

// bounds lists the limits that are set. today is what all runs spent on this day, calls
// under way included, without the next one.
func (b *budget) bounds(expected, today memoir.Usage) []bound {
	l, day := b.limits, less(today, b.reserved)
	inTokens := func(name string, most int64, spent memoir.Usage, by string) bound {
		return bound{name, float64(most), tokens(spent), tokens(b.reserved), tokens(expected), sayTokens, by}
	}
	inCost := func(name string, most float64, spent memoir.Usage, by string) bound {
		return bound{name, most, spent.Cost, b.reserved.Cost, expected.Cost, sayCost, by}
	}
	return slices.DeleteFunc([]bound{
		inTokens("limits.tokensPerRun", l.TokensPerRun, b.spent, "by this run"),
		inTokens("limits.tokensPerDay", l.TokensPerDay, day, "today"),
		inCost("limits.costPerRun", l.CostPerRun, b.spent, "by this run"),
		inCost("limits.costPerDay", l.CostPerDay, day, "today"),
	}, func(l bound) bool { return l.most <= 0 })
}

// oversized is the error of a call that exceeds a limit on its own, so that no run
// would have room for it; nil if it does not. It is a fault of the work, not of the run.
func (b *budget) oversized(expected memoir.Usage) error {
	for _, l := range b.bounds(expected, memoir.Usage{}) {
		if l.next > l.most+cent {
			stop := Stopped{Limit: l.name, Project: b.project}
			_, raise, _ := strings.Cut(stop.hint(), ", or ")
			return memoir.Errorf(memoir.CodeInvalid,
				raise+", or lower memories.phase1InputTokenLimit; then `memoir retry`",
				"one call needs about %s, and %s%s is %s", l.say(l.next), l.name, b.whose(), l.say(l.most))
		}
	}
	return nil
}

// exceeded says which limit a call would exceed. Wait means that there may be room once
// the calls under way have ended, which may need less than was reserved for them.
func (b *budget) exceeded(expected, today memoir.Usage) (stop *Stopped, wait bool) {
	for _, l := range b.bounds(expected, today) {
		if l.spent+l.next > l.most+cent {
			return &Stopped{
				Limit:   l.name,
				Project: b.project,
				Reason: fmt.Sprintf("%s%s is %s: %s spent %s, and the next call takes about %s",
					l.name, b.whose(), l.say(l.most), l.say(l.spent), l.by, l.say(l.next)),
			}, false
		}
		wait = wait || l.spent+l.reserved+l.next > l.most+cent
	}
	return nil, wait
}

func (b *budget) whose() string {
	if b.project == "" {
		return ""
	}
	return " for project " + b.name
}

// tokens are those that limits are about.
func tokens(u memoir.Usage) float64 { return float64(u.InputTokens + u.OutputTokens) }

func sayTokens(n float64) string { return fmt.Sprintf("%.0f tokens", n) }
func sayCost(n float64) string   { return fmt.Sprintf("$%.4f", n) }

// budgetOf is what a project's own settings allow to be spent on it; nil if they set no
// limit below those of the run.
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
	if limits := tighter(settings.Limits, r.opts.Settings.Limits); limits != (config.Limits{}) {
		b = &budget{project: projectID, name: projects[i].Name, limits: limits}
	}
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	if earlier, known := r.meter.own[projectID]; known {
		return earlier
	}
	r.meter.own[projectID] = b
	return b
}

// tighter are the limits that are below those of all.
func tighter(own, all config.Limits) config.Limits {
	return config.Limits{
		TokensPerRun: lower(own.TokensPerRun, all.TokensPerRun),
		TokensPerDay: lower(own.TokensPerDay, all.TokensPerDay),
		CostPerRun:   lower(own.CostPerRun, all.CostPerRun),
		CostPerDay:   lower(own.CostPerDay, all.CostPerDay),
	}
}

// lower is a limit if it is below that of all, else 0; 0 is no limit.
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

// stop says which limit stopped the run; nil if none did.
func (m *meter) stop() *Stopped { return m.stopOf(nil) }

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
