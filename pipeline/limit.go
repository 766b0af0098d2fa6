package pipeline

import (
	"errors"
	"fmt"
	"strings"

	"memoir"
	"memoir/config"
)

// Stopped says which spending limit stopped a run.
type Stopped struct {
	Limit   string `json:"limit"` // the setting
	Reason  string `json:"reason"`
	Project string `json:"project,omitempty"` // whose own settings say so; empty: the run's
}

func (s *Stopped) err() error {
	return memoir.Errorf(memoir.CodeLimit, s.hint(), "%s", s.Reason)
}

// hint says what lets the work go on.
func (s *Stopped) hint() string {
	if s.Project != "" && strings.HasSuffix(s.Limit, "PerDay") {
		return "run again tomorrow (days are those of UTC), or raise it in the project's " + config.ProjectFileName
	}
	if s.Project != "" {
		return "run again, or raise it in the project's " + config.ProjectFileName
	}
	if strings.HasSuffix(s.Limit, "PerDay") {
		return "run again tomorrow (days are those of UTC), or raise " + s.Limit
	}
	return "run again, or raise " + s.Limit
}

// cent is less than any price, and more than what is lost in adding up prices.
const cent = 1e-9

// A budget is what limits allow and what is spent of it.
type budget struct {
	project, name string // whose own limits they are; empty: the run's
	limits        config.Limits

	// What follows is guarded by the meter's mu.
	spent   memoir.Usage // by this run
	today   memoir.Usage // by this run
	flying  memoir.Usage // what calls under way are estimated to spend
	stopped *Stopped
}

// perDay reports whether there are limits that other runs count for.
func (b *budget) perDay() bool { return b.limits.TokensPerDay > 0 || b.limits.CostPerDay > 0 }

// A bound is one of a budget's limits, and how a call stands to it.
type bound struct {
	name              string
	most, spent, next float64 // no limit if most is 0
	flying            float64
	say               func(float64) string
	by                string
}

// bounds lists the limits, set or not; the meter's mu is held.
func (b *budget) bounds(expected, others memoir.Usage) []bound {
	l, day := b.limits, b.today.Add(others)
	return []bound{
		{"limits.tokensPerRun", float64(l.TokensPerRun), tokens(b.spent), tokens(expected), tokens(b.flying), sayTokens, "by this run"},
		{"limits.tokensPerDay", float64(l.TokensPerDay), tokens(day), tokens(expected), tokens(b.flying), sayTokens, "today"},
		{"limits.costPerRun", l.CostPerRun, b.spent.Cost, expected.Cost, b.flying.Cost, sayCost, "by this run"},
		{"limits.costPerDay", l.CostPerDay, day.Cost, expected.Cost, b.flying.Cost, sayCost, "today"},
	}
}

// exceeded says which limit a call would exceed. If there would be room for it once
// calls under way have ended, which may need less than estimated, it has to wait. the
// meter's mu is held.
func (b *budget) exceeded(expected, others memoir.Usage) (stop *Stopped, wait bool) {
	whose := ""
	if b.project != "" {
		whose = " for project " + b.name
	}
	for _, limit := range b.bounds(expected, others) {
		switch {
		case limit.most <= 0:
		case limit.spent+limit.next > limit.most+cent:
			return &Stopped{Limit: limit.name, Project: b.project, Reason: fmt.Sprintf("%s%s is %s: %s spent %s, and the next call takes about %s",
				limit.name, whose, limit.say(limit.most), limit.say(limit.spent), limit.by, limit.say(limit.next))}, false
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
