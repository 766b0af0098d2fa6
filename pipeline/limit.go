package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"memoir"
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
	if strings.HasSuffix(s.Limit, "PerDay") {
		return "run again tomorrow (days are those of UTC), or raise " + s.Limit
	}
	return "run again, or raise " + s.Limit
}

// cent is less than any price, and more than what is lost in adding up prices.
const cent = 1e-9

// exceeded says which limit a call would exceed. If there would be room for it once
// calls under way have ended, which may need less than estimated, it has to wait. mu
// is held.
func (m *meter) exceeded(expected, others memoir.Usage) (stop *Stopped, wait bool) {
	l, day := m.limits, m.today.Add(others)
	for _, limit := range []struct {
		name              string
		most, spent, next float64
		flying            float64
		say               func(float64) string
		by                string
	}{
		{"limits.tokensPerRun", float64(l.TokensPerRun), tokens(m.spent), tokens(expected), tokens(m.flying), sayTokens, "by this run"},
		{"limits.tokensPerDay", float64(l.TokensPerDay), tokens(day), tokens(expected), tokens(m.flying), sayTokens, "today"},
		{"limits.costPerRun", l.CostPerRun, m.spent.Cost, expected.Cost, m.flying.Cost, sayCost, "by this run"},
		{"limits.costPerDay", l.CostPerDay, day.Cost, expected.Cost, m.flying.Cost, sayCost, "today"},
	} {
		switch {
		case limit.most <= 0:
		case limit.spent+limit.next > limit.most+cent:
			return &Stopped{Limit: limit.name, Reason: fmt.Sprintf("%s is %s: %s spent %s, and the next call takes about %s",
				limit.name, limit.say(limit.most), limit.say(limit.spent), limit.by, limit.say(limit.next))}, false
		case limit.spent+limit.flying+limit.next > limit.most+cent:
			wait = true
		}
	}
	return nil, wait
}

// tokens are those that limits are about.
func tokens(u memoir.Usage) float64 { return float64(u.InputTokens + u.OutputTokens) }

func sayTokens(n float64) string { return fmt.Sprintf("%.0f tokens", n) }
func sayCost(n float64) string   { return fmt.Sprintf("$%.4f", n) }

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
