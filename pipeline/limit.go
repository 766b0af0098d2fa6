package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/config"
	"memoir/model"
)

// Stopped says which spending limit stopped a run.
type Stopped struct {
	Limit  string `json:"limit"` // the setting
	Reason string `json:"reason"`
}

// Error returns the reason.
func (s *Stopped) Error() string { return s.Reason }

func (s *Stopped) refusal() error { return memoir.Errorf(memoir.CodeLimit, s.hint(), "%w", s) }

// hint says how the work can continue.
func (s *Stopped) hint() string {
	if perDay(s.Limit) {
		return "run again tomorrow (days are in UTC), or raise " + s.Limit
	}
	return "run again, or raise " + s.Limit
}

func perDay(limit string) bool { return strings.HasSuffix(limit, "PerDay") }

// A bound is one configured spending limit, in tokens or US dollars.
type bound struct {
	limit       string // the setting
	most, spent float64
	by          string // period of spent, for messages
	of          func(memoir.Usage) float64
	say         func(n float64) string
}

// bounds lists the configured limits with what was spent of each.
func bounds(l config.Limits, ofRun, today memoir.Usage) []bound {
	tokens := func(u memoir.Usage) float64 { return float64(u.InputTokens + u.OutputTokens) }
	cost := func(u memoir.Usage) float64 { return u.Cost }
	say := func(n float64) string { return fmt.Sprintf("%.0f tokens", n) }
	return slices.DeleteFunc([]bound{
		{"limits.tokensPerRun", float64(l.TokensPerRun), tokens(ofRun), "by this run", tokens, say},
		{"limits.tokensPerDay", float64(l.TokensPerDay), tokens(today), "today", tokens, say},
		{"limits.costPerRun", l.CostPerRun, ofRun.Cost, "by this run", cost, memoir.Dollars},
		{"limits.costPerDay", l.CostPerDay, today.Cost, "today", cost, memoir.Dollars},
	}, func(b bound) bool { return b.most <= 0 })
}

// cent is less than any price and more than the rounding errors of a sum of prices.
const cent = 1e-9

// exceeded returns the first limit that a call would exceed, or nil.
func exceeded(limits config.Limits, next, ofRun, today memoir.Usage) *bound {
	for _, b := range bounds(limits, ofRun, today) {
		if b.spent+b.of(next) > b.most+cent {
			return &b
		}
	}
	return nil
}

// refusal returns why a call must not be made: a *Stopped, or an error of code CodeInvalid if the call alone
// exceeds the limit. The latter fails the work, not the run.
func refusal(limits config.Limits, next, ofRun, today memoir.Usage) error {
	b := exceeded(limits, next, ofRun, today)
	if b == nil {
		return nil
	}
	need := b.of(next)
	if need > b.most+cent {
		return memoir.Errorf(memoir.CodeInvalid,
			"raise "+b.limit+", or lower memories.phase1InputTokenLimit; then `memoir retry`",
			"one call needs about %s, and %s is %s", b.say(need), b.limit, b.say(b.most))
	}
	return (&Stopped{Limit: b.limit, Reason: fmt.Sprintf("%s is %s: %s spent %s, and the next call takes about %s",
		b.limit, b.say(b.most), b.say(b.spent), b.by, b.say(need))}).refusal()
}

// LimitLeft is the state of a daily spending limit.
type LimitLeft struct {
	Limit string  `json:"limit"` // the setting
	Most  float64 `json:"most"`  // tokens, or US dollars
	Spent float64 `json:"spent"` // on the current UTC day
	Left  float64 `json:"left"`
}

// outAfter is how many jobs in a row a model must fail, with all retries, to be out of service for the rest
// of the run. A single failure may be caused by the job.
const outAfter = 4

// errUnserved is in the chain of the error of a call that was not made because the model is out of service.
var errUnserved = errors.New("not available")

// Unserved is a model that is out of service for the rest of the run.
type Unserved struct {
	Model  string `json:"model"`
	Reason string `json:"reason"`
	hint   string
}

func unservedHint(why error) string {
	var failed *model.Error
	switch {
	case !errors.As(why, &failed): // it answers, but its answers are not usable
		return "try another model; `memoir retry --all` and then `memoir run` repeat failed jobs"
	case failed.TimedOut > 0:
		return "nothing is lost: " + failed.Hint() + "; otherwise run again when it is available"
	case failed.Class == model.ClassLimited, failed.Class == model.ClassTemporary:
		return "nothing is lost: run again when it is available; `memoir retry` does not wait"
	}
	return failed.Hint()
}
