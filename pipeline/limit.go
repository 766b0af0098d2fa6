package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/config"
)

// Stopped says which spending limit stopped a run.
type Stopped struct {
	Limit  string `json:"limit"` // the setting
	Reason string `json:"reason"`
}

// Error is the reason.
func (s *Stopped) Error() string { return s.Reason }

func (s *Stopped) refusal() error { return memoir.Errorf(memoir.CodeLimit, s.hint(), "%w", s) }

// hint says what lets the work go on.
func (s *Stopped) hint() string {
	if perDay(s.Limit) {
		return "run again tomorrow (days are in UTC), or raise " + s.Limit
	}
	return "run again, or raise " + s.Limit
}

func perDay(limit string) bool { return strings.HasSuffix(limit, "PerDay") }

// A bound is one spending limit that is set, in tokens or US dollars.
type bound struct {
	limit       string // the setting
	most, spent float64
	by          string // who spent it
	of          func(memoir.Usage) float64
	format      string
}

// bounds lists the limits that are set, by what was spent of them.
func bounds(l config.Limits, ofRun, today memoir.Usage) []bound {
	tokens := func(u memoir.Usage) float64 { return float64(u.InputTokens + u.OutputTokens) }
	cost := func(u memoir.Usage) float64 { return u.Cost }
	return slices.DeleteFunc([]bound{
		{"limits.tokensPerRun", float64(l.TokensPerRun), tokens(ofRun), "by this run", tokens, "%.0f tokens"},
		{"limits.tokensPerDay", float64(l.TokensPerDay), tokens(today), "today", tokens, "%.0f tokens"},
		{"limits.costPerRun", l.CostPerRun, ofRun.Cost, "by this run", cost, "$%.4f"},
		{"limits.costPerDay", l.CostPerDay, today.Cost, "today", cost, "$%.4f"},
	}, func(b bound) bool { return b.most <= 0 })
}

// cent is less than any price, and more than what rounding loses in adding up prices.
const cent = 1e-9

// exceeded is the first limit that a call would exceed; nil if it exceeds none.
func (m *meter) exceeded(next, ofRun, today memoir.Usage) *bound {
	for _, b := range bounds(m.limits, ofRun, today) {
		if b.spent+b.of(next) > b.most+cent {
			return &b
		}
	}
	return nil
}

// refusal is why a call must not be made: a *Stopped, or that no run has room for it. The
// latter is a fault of the work, not of the run.
func (m *meter) refusal(next, ofRun, today memoir.Usage) error {
	b := m.exceeded(next, ofRun, today)
	if b == nil {
		return nil
	}
	say := func(n float64) string { return fmt.Sprintf(b.format, n) }
	need := b.of(next)
	if need > b.most+cent {
		return memoir.Errorf(memoir.CodeInvalid,
			"raise "+b.limit+", or lower memories.phase1InputTokenLimit; then `memoir retry`",
			"one call needs about %s, and %s is %s", say(need), b.limit, say(b.most))
	}
	return (&Stopped{Limit: b.limit, Reason: fmt.Sprintf("%s is %s: %s spent %s, and the next call takes about %s",
		b.limit, say(b.most), say(b.spent), b.by, say(need))}).refusal()
}

// stop says which limit stopped the run; nil if none did.
func (m *meter) stop() *Stopped {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

// LimitLeft is how far a spending limit of a day is used.
type LimitLeft struct {
	Limit string  `json:"limit"` // the setting
	Most  float64 `json:"most"`  // tokens, or US dollars
	Spent float64 `json:"spent"` // today, a day of UTC
	Left  float64 `json:"left"`
}
