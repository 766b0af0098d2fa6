package main

import (
	"os"
	"testing"
)

// The bars that hold over the marked real sessions: recall and share of traps in raw
// memories, tokens of one on average, and the share of the facts' weight that
// survives fitting, by budget.
const (
	leastReal  = 0.45
	mostReal   = 0.14
	mostTokens = 1100
)

var leastFitted = map[int]float64{4000: 0.80, 16000: 0.95, 64000: 0.98}

func TestRealSessionsKeepTheirBars(t *testing.T) {
	t.Parallel()
	corpus := corpusDir()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("no real sessions in " + corpus)
	}
	real := measuredReal(t, "-data", ".", "-corpus", corpus)
	if got := real.Total.Recall.Share(); got < leastReal {
		t.Errorf("recall in raw memories is %.3f, was at least %.2f", got, leastReal)
	}
	if got := real.Total.Traps.Share(); got > mostReal {
		t.Errorf("share of traps in raw memories is %.3f, was at most %.2f", got, mostReal)
	}
	tokens := 0
	for _, s := range real.Sessions {
		tokens += s.Tokens
	}
	if got := tokens / max(len(real.Sessions), 1); got > mostTokens {
		t.Errorf("raw memories have %d tokens on average", got)
	}
	for _, s := range real.Fitted {
		if got := s.Fit.Share(); got < leastFitted[s.Budget] {
			t.Errorf("at %d tokens %.3f survives; the bar is %.2f", s.Budget, got, leastFitted[s.Budget])
		}
	}
}
