package store

import (
	"context"
	"time"

	"memoir"
)

// SpentOn is SpentBeside for what was spent on one project: on its consolidation, and
// on sessions that were of it.
func (s *Store) SpentOn(ctx context.Context, projectID string, since time.Time, beside string) (memoir.Usage, error) {
	var u memoir.Usage
	err := s.read(ctx, func(t tx) error {
		return t.get(`SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0),
				coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0)
			FROM ledger WHERE at >= ? AND at <= ? AND run <> ? AND project_id = ?`,
			[]any{millis(since), s.dated(since), beside, projectID}, &u.Calls, &u.InputTokens, &u.CachedTokens, &u.OutputTokens, &u.Cost)
	})
	return u, s.explain(err, "adding up what a project cost")
}
