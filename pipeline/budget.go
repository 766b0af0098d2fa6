package pipeline

import (
	"errors"
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

func (s *Stopped) err() error {
	return memoir.Errorf(memoir.CodeLimit, s.hint(), "%s", s.Reason)
}

// hint says what lets the work go on.
func (s *Stopped) hint() string {
	raise := "raise " + s.Limit
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

// A budget is the spending limits and what this run has spent of them.
type budget struct {
	limits config.Limits

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
			stop := Stopped{Limit: l.name}
			_, raise, _ := strings.Cut(stop.hint(), ", or ")
			return memoir.Errorf(memoir.CodeInvalid,
				raise+", or lower memories.phase1InputTokenLimit; then `memoir retry`",
				"one call needs about %s, and %s is %s", l.say(l.next), l.name, l.say(l.most))
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
				Limit: l.name,
				Reason: fmt.Sprintf("%s is %s: %s spent %s, and the next call takes about %s",
					l.name, l.say(l.most), l.say(l.spent), l.by, l.say(l.next)),
			}, false
		}
		wait = wait || l.spent+l.reserved+l.next > l.most+cent
	}
	return nil, wait
}

// tokens are those that limits are about.
func tokens(u memoir.Usage) float64 { return float64(u.InputTokens + u.OutputTokens) }

func sayTokens(n float64) string { return fmt.Sprintf("%.0f tokens", n) }
func sayCost(n float64) string   { return fmt.Sprintf("$%.4f", n) }

// stop says which limit stopped the run; nil if none did.
func (m *meter) stop() *Stopped {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}
