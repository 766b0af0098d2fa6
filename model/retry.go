package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"memoir"
)

// RetryPolicy is the number of attempts of a call and the waits between them.
type RetryPolicy struct {
	Attempts int           // calls at most, the first included; below 1 is 1
	Base     time.Duration // the longest wait before the second call; doubled for each further one
	MaxWait  time.Duration // the longest wait before any call
	// Sleep waits, or returns the context's error as soon as it is done; nil: the function Sleep.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random returns a number in [0, 1); nil: rand.Float64. Both functions must be safe for
	// concurrent use.
	Random func() float64
}

var _ Model = (*retrying)(nil)

type retrying struct {
	Model
	policy RetryPolicy
}

// Retrying returns a model that repeats the calls of m that fail with an Error for which
// Again is true. It waits for the time that the server asks for, plus a random time below a
// bound that doubles with each call, so that callers do not retry together. If the server
// asks for more than MaxWait, the call fails without a wait.
//
// The usage of the answer, or of the error, is the sum over all calls, including failed
// ones. The end of the context ends a wait at once.
func Retrying(m Model, p RetryPolicy) Model {
	if p.Sleep == nil {
		p.Sleep = Sleep
	}
	if p.Random == nil {
		p.Random = rand.Float64
	}
	return &retrying{Model: m, policy: p}
}

// Call makes calls until one succeeds, a retry is useless or the attempts are used up.
func (r *retrying) Call(ctx context.Context, q Request) (Answer, error) {
	var used memoir.Usage
	for attempt := 1; ; attempt++ {
		answer, err := r.Model.Call(ctx, q)
		if err == nil {
			answer.Usage = used.Add(answer.Usage)
			return answer, nil
		}
		var failed *Error
		if !errors.As(err, &failed) {
			return Answer{}, err
		}
		used = used.Add(failed.Usage)
		sum := *failed // the model's own error may be shared
		sum.Usage = used
		if !failed.Again() || attempt >= r.policy.Attempts || ctx.Err() != nil {
			return Answer{}, &sum
		}
		if failed.RetryAfter > r.policy.MaxWait {
			sum.Message = fmt.Sprintf("the server asks to wait for %s, longer than %s: %s",
				failed.RetryAfter, r.policy.MaxWait, failed.Message)
			return Answer{}, &sum
		}
		if err := r.policy.Sleep(ctx, r.policy.wait(attempt, failed.RetryAfter)); err != nil {
			sum.Err = errors.Join(err, failed.Err)
			return Answer{}, &sum
		}
	}
}

// wait returns the wait after a failed attempt, numbered from 1. It is at least the server's RetryAfter.
func (p RetryPolicy) wait(attempt int, asked time.Duration) time.Duration {
	bound := min(p.Base<<min(attempt-1, 16), p.MaxWait)
	jitter := time.Duration(p.Random() * float64(bound))
	return asked + min(jitter, p.MaxWait-asked)
}

// Sleep waits for d, or returns the context's error as soon as it is done.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
