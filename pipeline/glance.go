package pipeline

import (
	"context"
	"fmt"

	"memoir/store"
)

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
	if err := r.recall(ctx); err != nil {
		return Outlook{}, err
	}
	reasons, eligible, err := st.Foresee(ctx, r.window())
	if err != nil {
		return Outlook{}, err
	}
	r.report.Scan.Reasons = reasons
	sessions, err := st.Sessions(ctx, store.Filter{Keys: append([]string{}, eligible...)})
	if err != nil {
		return Outlook{}, fmt.Errorf("list sessions: %w", err)
	}
	if err := r.planFor(ctx, sessions); err != nil {
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
	spent, err := r.store.Spent(ctx, r.meter.midnight())
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
