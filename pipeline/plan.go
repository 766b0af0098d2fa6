package pipeline

import (
	"context"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/memory"
	"memoir/store"
)

// plan says what the run would do with what is registered, and what language models would
// take for it.
func (r *run) plan(ctx context.Context) error {
	reasons, keys, err := r.store.Foresee(ctx, r.window())
	if err != nil {
		return err
	}
	r.report.Scan.Reasons = reasons
	maps.DeleteFunc(reasons, func(_ memoir.Reason, n int) bool { return n == 0 })
	eligible, err := r.store.Sessions(ctx, store.Filter{Keys: append([]string{}, keys...)})
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	r.report.DryRun = true
	fresh := map[string]int{} // sessions to be extracted, by project
	for _, s := range eligible {
		fresh[s.ProjectID]++
	}
	if r.report.Would, err = r.planExtractions(ctx, eligible); err != nil {
		return err
	}
	r.report.Left = r.report.Scan.Reasons[memoir.ReasonOverCap]
	projects, err := r.store.Projects(ctx)
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	for _, p := range projects {
		if r.selected(p.ID) && (p.Due || fresh[p.ID] > 0) {
			planned, err := r.planConsolidation(ctx, p, fresh[p.ID])
			if err != nil {
				return err
			}
			r.report.Would = append(r.report.Would, planned)
		}
	}
	return r.sumUp(ctx)
}

// planExtractions reads the sessions as far as a language model would.
func (r *run) planExtractions(ctx context.Context, sessions []memoir.Session) ([]Planned, error) {
	planned := make([]Planned, len(sessions))
	m := r.meter.named(r.extractor.Name())
	var g errgroup.Group
	g.SetLimit(r.opts.Settings.Memories.Concurrency)
	for i, s := range sessions {
		g.Go(func() error {
			p := Planned{Session: s.ID, Source: s.Source, Project: s.ProjectID, Title: s.Title, Action: "extract",
				Tokens: min(int(s.Bytes/4), r.opts.Settings.Memories.Phase1InputTokenLimit)}
			if m != nil {
				calls, bytes, ok := r.reading(ctx, s)
				if !ok {
					calls, bytes = 1, 4*int64(p.Tokens)
				}
				p = m.plan(phaseExtract, p, calls, bytes)
			}
			planned[i] = p
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, context.Cause(ctx)
	}
	return planned, nil
}

// reading is how many calls it would take to read a session, and the bytes
// that are asked in all; false if the extractor does not say, or the session cannot be read now.
func (r *run) reading(ctx context.Context, s memoir.Session) (calls int, bytes int64, ok bool) {
	e, ok := r.extractor.(extract.Estimator)
	if !ok || r.glance {
		return 0, 0, false
	}
	type estimate struct {
		calls int
		bytes int64
	}
	found, err := apart(ctx, r, func() (out estimate, err error) {
		parts, err := partsOf(ctx, s, r.heads)
		if err != nil {
			return out, err
		}
		loaded, err := Load(ctx, r.scannerOf(s.CWD), parts, "")
		if err != nil {
			return out, err
		}
		out.calls, out.bytes = e.Estimate(extract.Input{Session: s, Items: loaded.Items})
		return out, nil
	})
	return found.calls, found.bytes, err == nil
}

// What an extraction that is yet to be made will be, about, in bytes.
const usualExtraction = 4000

// planConsolidation estimates a project's consolidation from what it rests on now
// and the sessions that are to be extracted before.
func (r *run) planConsolidation(ctx context.Context, project store.ProjectRow, fresh int) (Planned, error) {
	planned := Planned{Project: project.ID, Action: "consolidate"}
	m := r.meter.named(r.consolidator.Name())
	if m == nil {
		return planned, nil
	}
	e, ok := r.consolidator.(consolidate.Estimator)
	if !ok {
		return m.plan(phaseConsolidate, planned, 1, int64(fresh*usualExtraction)), nil
	}
	live, err := memory.At(r.opts.Home, project.ID).Current()
	if err != nil {
		live = memory.Snapshot{} // what cannot be read is a fault of the run, not of its plan
	}
	in, err := r.inputs(ctx, project.Project, live)
	if err != nil {
		return planned, err
	}
	in.Forced = project.Forced
	questions, bytes, err := e.Estimate(in, fresh, usualExtraction)
	if err != nil || questions == 0 {
		return planned, err
	}
	return m.plan(phaseConsolidate, planned, questions, bytes), nil
}

// plan fills in what a number of calls take, which ask so many bytes in all.
func (m *metered) plan(phase string, p Planned, calls int, bytes int64) Planned {
	u := m.priced(memoir.Usage{Calls: calls, InputTokens: inputTokens(bytes),
		OutputTokens: int64(calls) * outputTokens(phase)})
	p.Model, p.Calls, p.Cost = m.Name(), calls, u.Cost
	p.Tokens, p.OutputTokens = int(u.InputTokens), int(u.OutputTokens)
	return p
}

// sumUp adds up what is planned, and says which limit would stop it.
func (r *run) sumUp(ctx context.Context) error {
	if len(r.meter.models) == 0 {
		return nil
	}
	var sum memoir.Usage
	by := map[string]memoir.Usage{}
	for _, p := range r.report.Would {
		if p.Model != "" {
			u := memoir.Usage{Calls: p.Calls, InputTokens: int64(p.Tokens), OutputTokens: int64(p.OutputTokens), Cost: p.Cost}
			by[p.Action], sum = by[p.Action].Add(u), sum.Add(u)
		}
	}
	r.report.Estimate, r.report.EstimateBy = &sum, by
	if sum.Calls == 0 {
		return nil
	}
	today, err := r.meter.today(ctx)
	if err != nil {
		return err
	}
	stop, _ := r.meter.exceeded(sum, today) // no call is under way
	if stop != nil {
		r.warn(stop.Limit+" would stop this before its end", stop.hint())
	}
	return nil
}

// Outlook is what the next run would do, as far as the registry tells.
type Outlook struct {
	Report              // as of a dry run, without what a scan finds
	Extractor    string // names of the models that would be asked
	Consolidator string
	Limits       []LimitLeft
}

// LimitLeft is how far a spending limit of a day is used.
type LimitLeft struct {
	Limit string  `json:"limit"` // the setting
	Most  float64 `json:"most"`  // tokens, or US dollars
	Spent float64 `json:"spent"` // today, a day of UTC
	Left  float64 `json:"left"`
}

// Glance says what a run with these options would do with the sessions that are
// registered. It is the plan of a dry run, but nothing is looked for on the disk,
// nothing is written, and no session is opened: what a language model would read of
// one is told by its size.
func Glance(ctx context.Context, st *store.Store, opts Options) (Outlook, error) {
	opts.DryRun = true
	r, err := newRun(st, opts)
	if err != nil {
		return Outlook{}, err
	}
	r.glance = true
	if err := r.chooseModels(ctx); err != nil {
		return Outlook{}, err
	}
	if err := r.plan(ctx); err != nil {
		return Outlook{}, err
	}
	out := Outlook{Report: r.report, Extractor: r.extractor.Name(), Consolidator: r.consolidator.Name()}
	out.Limits, err = r.limitsLeft(ctx)
	return out, err
}

// limitsLeft says how far the limits of a day are used.
func (r *run) limitsLeft(ctx context.Context) ([]LimitLeft, error) {
	if !r.meter.perDay() {
		return nil, nil
	}
	spent, err := r.meter.today(ctx)
	if err != nil {
		return nil, err
	}
	var left []LimitLeft
	for _, l := range []LimitLeft{
		{Limit: "limits.tokensPerDay", Most: float64(r.meter.limits.TokensPerDay), Spent: tokens(spent)},
		{Limit: "limits.costPerDay", Most: r.meter.limits.CostPerDay, Spent: spent.Cost},
	} {
		if l.Most > 0 {
			l.Left = max(l.Most-l.Spent, 0)
			left = append(left, l)
		}
	}
	return left, nil
}
