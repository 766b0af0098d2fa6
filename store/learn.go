package store

import "context"

// lookback is how many entries of the ledger are learned from: models, prompts and
// what is talked about change.
const lookback = 200

// Experience is what is known of a model's calls in one phase. Its sums are over
// calls whose tokens are known.
type Experience struct {
	Calls        int
	InputBytes   int64 // of what was asked
	InputTokens  int64
	OutputTokens int64
	Cost         float64 // US dollars; 0: not known
}

// Add returns the sum of two experiences.
func (e Experience) Add(f Experience) Experience {
	return Experience{
		Calls:        e.Calls + f.Calls,
		InputBytes:   e.InputBytes + f.InputBytes,
		InputTokens:  e.InputTokens + f.InputTokens,
		OutputTokens: e.OutputTokens + f.OutputTokens,
		Cost:         e.Cost + f.Cost,
	}
}

// Experience sums up a model's latest calls in a phase. Those that are not finished, or
// whose tokens nobody told, are passed over.
func (s *Store) Experience(ctx context.Context, model, phase string) (Experience, error) {
	var e Experience
	err := s.read(ctx, func(t tx) error {
		return t.get(`SELECT coalesce(sum(calls), 0), coalesce(sum(input_bytes), 0), coalesce(sum(input_tokens), 0),
				coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0.0)
			FROM (SELECT * FROM ledger WHERE model = ? AND phase = ? AND input_bytes > 0 ORDER BY id DESC LIMIT ?)`,
			[]any{model, phase, lookback}, &e.Calls, &e.InputBytes, &e.InputTokens, &e.OutputTokens, &e.Cost)
	})
	return e, s.explain(err, "learning from the ledger")
}

// CallsOfWork says how many calls a model's latest pieces of work in a phase took, and
// how many those were. Work that was interrupted does not count.
func (s *Store) CallsOfWork(ctx context.Context, model, phase string) (calls, works int, err error) {
	err = s.read(ctx, func(t tx) error {
		return t.get(`SELECT coalesce(sum(calls), 0), count(DISTINCT run || char(10) || project_id || char(10) || session_key)
			FROM (SELECT * FROM ledger WHERE model = ? AND phase = ? AND input_bytes > 0 AND outcome NOT IN (?, ?, ?) ORDER BY id DESC LIMIT ?)`,
			[]any{model, phase, OutcomeInterrupted, OutcomeLimit, OutcomeLost, lookback}, &calls, &works)
	})
	return calls, works, s.explain(err, "learning from the ledger")
}
