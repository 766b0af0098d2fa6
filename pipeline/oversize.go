package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/config"
)

// Oversize says of how many sessions, or projects, the call exceeds a spending limit on
// its own. They were set aside: until the limit is raised, no run has room for them.
type Oversize struct {
	Action  string `json:"action"`            // "extract" or "consolidate"
	Limit   string `json:"limit"`             // the setting
	Project string `json:"project,omitempty"` // whose own settings say so; empty: the run's
	Count   int    `json:"count"`
	Reason  string `json:"reason"`
}

// hint says what lets the work be done.
func (o *Oversize) hint() string {
	hint := "raise " + o.Limit
	if o.Project != "" {
		hint = "raise it in the project's " + config.ProjectFileName
	}
	if o.Action == phaseExtract {
		hint += ", or lower memories.phase1InputTokenLimit"
	}
	return hint
}

// An excess is a call that takes more than a limit allows in all.
type excess struct {
	phase         string
	limit         string
	project, name string // whose own limit it is; empty: the run's
	most, next    float64
	say           func(float64) string
}

// excess says which limit a call exceeds whatever else is spent; nil if none. The
// meter's mu is held.
func (b *budget) excess(phase string, expected memoir.Usage) *excess {
	for _, l := range b.bounds(expected, memoir.Usage{}) {
		if l.most > 0 && l.next > l.most+cent {
			return &excess{phase: phase, limit: l.name, project: b.project, name: b.name, most: l.most, next: l.next, say: l.say}
		}
	}
	return nil
}

// oversized finds the first limit that a call exceeds on its own. Where work stops
// anyway, for want of room, that is all there is to say; the meter's mu is held.
func oversized(phase string, budgets []*budget, expected memoir.Usage) *excess {
	for _, b := range budgets {
		if b.stopped != nil {
			return nil
		}
	}
	for _, b := range budgets {
		if e := b.excess(phase, expected); e != nil {
			return e
		}
	}
	return nil
}

// oversize is what is said of a number of calls of which this is the largest.
func (e *excess) oversize(n int) *Oversize {
	what, need := "session", "needs"
	if e.phase == phaseConsolidate {
		what = "consolidation"
	}
	if n != 1 {
		what, need = what+"s", "need"
	}
	whose := ""
	if e.project != "" {
		whose = " for project " + e.name
	}
	upTo := ""
	if n > 1 {
		upTo = "up to "
	}
	return &Oversize{Action: e.phase, Limit: e.limit, Project: e.project, Count: n,
		Reason: fmt.Sprintf("%d %s %s more than %s%s allows in one call: %sabout %s of %s", n, what, need, e.limit, whose, upTo, strings.TrimSuffix(e.say(e.next), " tokens"), e.say(e.most))}
}

func (e *excess) err() error {
	o := e.oversize(1)
	return memoir.Errorf(memoir.CodeLimit, o.hint(), "%s", o.Reason)
}

// An aside keeps what calls were too large for, by key of the session or id of the project.
type aside map[string]*excess

// sessions lists the keys of the sessions among them.
func (a aside) sessions() []string {
	var keys []string
	for key, e := range a {
		if e.phase == phaseExtract {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// sum adds them up by phase, limit and project, sessions first.
func (a aside) sum() []*Oversize {
	type kind struct{ phase, limit, project string }
	largest, counts := map[kind]*excess{}, map[kind]int{}
	for _, e := range a {
		k := kind{e.phase, e.limit, e.project}
		counts[k]++
		if largest[k] == nil || e.next > largest[k].next {
			largest[k] = e
		}
	}
	var out []*Oversize
	for k, e := range largest {
		out = append(out, e.oversize(counts[k]))
	}
	slices.SortFunc(out, func(x, y *Oversize) int {
		return cmp.Or(-cmp.Compare(x.Action, y.Action), cmp.Compare(x.Limit, y.Limit), cmp.Compare(x.Project, y.Project))
	})
	return out
}

// setAside keeps a session, or a project, out of what is left of the run.
func (r *run) setAside(key string, e *excess) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aside[key] = e
}

// setAsideSessions lists the keys of the sessions that were set aside.
func (r *run) setAsideSessions() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.aside.sessions()
}

// sayAside reports what was set aside; mu is not held, as nobody works any more.
func (r *run) sayAside() {
	for _, o := range r.aside.sum() {
		r.report.Oversize = append(r.report.Oversize, *o)
		r.warn(o.Reason, o.hint())
	}
}

// foreseeExcess says which limit a call of what is planned would exceed on its own.
func (r *run) foreseeExcess(ctx context.Context, p Planned) *excess {
	calls := max(p.Calls, 1)
	next := memoir.Usage{InputTokens: int64(float64(p.Tokens) / calls), OutputTokens: int64(float64(p.OutputTokens) / calls), Cost: p.Cost / calls}
	budgets := []*budget{&r.meter.budget}
	if own := r.budgetOf(ctx, p.Project); own != nil {
		budgets = append(budgets, own)
	}
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	return oversized(p.Action, budgets, next)
}
