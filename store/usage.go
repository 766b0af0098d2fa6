package store

import (
	"context"
	"time"

	"memoir"
)

// UsageRow is what was spent on one day with the same model for the same thing.
type UsageRow struct {
	Day       string // of UTC, 2006-01-02: that on which the calls began
	ProjectID string // empty: in no project
	Model     string
	Phase     string // "extract" or "consolidate"
	Outcome   string // of the work
	Call      string // what became of the calls, in a word; empty where work alone is known
	Usage     memoir.Usage
	Estimated int           // of Usage.Calls: those whose tokens and cost are an estimate
	Duration  time.Duration // of the calls; of the work where they are not known one by one
}

// UsageRows lists what the ledger holds from a moment on, in the order of the fields
// of a row; the zero time means ever.
func (s *Store) UsageRows(ctx context.Context, since time.Time) ([]UsageRow, error) {
	rows := []UsageRow{}
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch'), project_id, model, phase, outcome, call, sum(calls), sum(input_tokens),
				sum(cached_tokens), sum(output_tokens), sum(cost), sum(calls * estimated), sum(duration_ms)
			FROM ledger WHERE at >= ? GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`, []any{millis(since)},
			func(scan func(...any) error) error {
				var r UsageRow
				var took int64
				err := scan(&r.Day, &r.ProjectID, &r.Model, &r.Phase, &r.Outcome, &r.Call, &r.Usage.Calls, &r.Usage.InputTokens,
					&r.Usage.CachedTokens, &r.Usage.OutputTokens, &r.Usage.Cost, &r.Estimated, &took)
				r.Duration = time.Duration(took) * time.Millisecond
				rows = append(rows, r)
				return err
			})
	})
	return rows, s.explain(err, "listing what was spent")
}
