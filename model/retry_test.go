package model

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

// retryScript fails with errors, in order, and answers then.
type retryScript struct {
	errs  []error
	calls int
}

func (s *retryScript) Name() string { return "a/b" }
func (s *retryScript) Window() int  { return 1000 }

func (s *retryScript) Call(context.Context, Request) (Answer, error) {
	s.calls++
	if s.calls <= len(s.errs) {
		return Answer{}, s.errs[s.calls-1]
	}
	return Answer{Text: "x", Stop: StopEnd, Usage: memoir.Usage{Calls: 1, InputTokens: 10}}, nil
}

// noted is a policy whose waits are noted instead of waited for.
func noted(p RetryPolicy, slept *[]time.Duration) RetryPolicy {
	p.Sleep = func(ctx context.Context, d time.Duration) error {
		*slept = append(*slept, d)
		return ctx.Err()
	}
	if p.Random == nil {
		p.Random = func() float64 { return 0.5 }
	}
	return p
}

func TestRetrying(t *testing.T) {
	t.Parallel()
	err := func(c Class, after time.Duration) error {
		return &Error{Class: c, Model: "a/b", RetryAfter: after, Message: "no", Usage: memoir.Usage{Calls: 1, InputTokens: 1}}
	}
	plain := errors.New("plain")
	failing := []error{err(ClassTemporary, 0), err(ClassUnreachable, 0), err(ClassTemporary, 0), err(ClassTemporary, 0), err(ClassTemporary, 0)}
	for name, test := range map[string]struct {
		policy RetryPolicy
		errs   []error
		calls  int
		slept  []time.Duration
		input  int64  // tokens in the usage
		wrong  string // the error's text
	}{
		"an answer at once":     {RetryPolicy{Attempts: 3}, nil, 1, nil, 10, ""},
		"no attempts are one":   {RetryPolicy{}, failing, 1, nil, 1, "a/b: no"},
		"waits double":          {RetryPolicy{Attempts: 6, Base: 2 * time.Second, MaxWait: time.Hour}, failing, 6, []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9}, 15, ""},
		"waits are capped":      {RetryPolicy{Attempts: 6, Base: 2 * time.Second, MaxWait: 5 * time.Second}, failing, 6, []time.Duration{1e9, 2e9, 25e8, 25e8, 25e8}, 15, ""},
		"a base above the cap":  {RetryPolicy{Attempts: 2, Base: time.Hour, MaxWait: 4 * time.Second}, failing[:1], 2, []time.Duration{2e9}, 11, ""},
		"attempts are bounded":  {RetryPolicy{Attempts: 3, Base: time.Second, MaxWait: time.Hour}, failing, 3, []time.Duration{5e8, 1e9}, 3, "a/b: no"},
		"after many, no longer": {RetryPolicy{Attempts: 80, Base: time.Second, MaxWait: 1 << 62}, eighty(failing[0]), 80, nil, 80, "a/b: no"},
		"the server's wish goes first": {RetryPolicy{Attempts: 2, Base: time.Second, MaxWait: time.Minute},
			[]error{err(ClassLimited, 7*time.Second)}, 2, []time.Duration{75e8}, 11, ""},
		"the server's wish is the longest wait": {RetryPolicy{Attempts: 2, Base: time.Second, MaxWait: 7 * time.Second},
			[]error{err(ClassLimited, 7*time.Second)}, 2, []time.Duration{7e9}, 11, ""},
		"the server's wish is too long": {RetryPolicy{Attempts: 2, Base: time.Second, MaxWait: time.Minute},
			[]error{err(ClassLimited, time.Hour)}, 1, nil, 1, "a/b: the server asks to wait for 1h0m0s, longer than 1m0s: no"},
		"denied":         {RetryPolicy{Attempts: 3}, []error{err(ClassDenied, 0)}, 1, nil, 1, "a/b: no"},
		"too long":       {RetryPolicy{Attempts: 3}, []error{err(ClassTooLong, 0)}, 1, nil, 1, "a/b: no"},
		"missing, later": {RetryPolicy{Attempts: 3, Base: 2, MaxWait: 9}, []error{failing[0], err(ClassMissing, 0)}, 2, []time.Duration{1}, 2, "a/b: no"},
		"no *Error":      {RetryPolicy{Attempts: 3}, []error{plain}, 1, nil, 0, "plain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &retryScript{errs: test.errs}
			var slept []time.Duration
			answer, err := Retrying(m, noted(test.policy, &slept)).Call(t.Context(), Request{})
			got, used := "", answer.Usage
			if err != nil {
				got = err.Error()
				var e *Error
				if errors.As(err, &e) {
					used = e.Usage
				}
			}
			if got != test.wrong || m.calls != test.calls || used.InputTokens != test.input {
				t.Errorf("got %q, %d calls, %+v", got, m.calls, used)
			}
			if used.InputTokens > 0 && used.Calls != test.calls {
				t.Errorf("usage has %d calls", used.Calls)
			}
			for _, d := range slept {
				if d < 0 || d > test.policy.MaxWait {
					t.Errorf("waited %s", d)
				}
			}
			if test.slept != nil || len(slept) < test.calls-1 {
				if diff := cmp.Diff(test.slept, slept); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// eighty is an error eighty times.
func eighty(err error) []error {
	errs := make([]error, 80)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func TestRetryingLeavesTheModelsErrorAsItIs(t *testing.T) {
	t.Parallel()
	shared := &Error{Class: ClassTemporary, Usage: memoir.Usage{Calls: 1}}
	var slept []time.Duration
	_, err := Retrying(&retryScript{errs: []error{shared, shared}}, noted(RetryPolicy{Attempts: 2, MaxWait: 1}, &slept)).Call(t.Context(), Request{})
	if errorOf(t, err).Usage.Calls != 2 || shared.Usage.Calls != 1 {
		t.Errorf("got %+v, shared %+v", err, shared)
	}
}

func TestAnInterruptionEndsAWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := &retryScript{errs: []error{&Error{Class: ClassLimited, RetryAfter: time.Hour, Usage: memoir.Usage{Calls: 1}}}}
	p := RetryPolicy{Attempts: 2, MaxWait: 2 * time.Hour}
	p.Sleep = func(ctx context.Context, d time.Duration) error {
		cancel()
		return Sleep(ctx, d) // the real one: it must return though nobody waits an hour
	}
	_, err := Retrying(m, p).Call(ctx, Request{})
	if e := errorOf(t, err); !errors.Is(err, context.Canceled) || e.Usage.Calls != 1 || m.calls != 1 {
		t.Errorf("got %v after %d calls", err, m.calls)
	}
}

func TestAnInterruptedCallIsNotRepeated(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &retryScript{errs: []error{&Error{Class: ClassTemporary, Err: context.Canceled}}}
	var slept []time.Duration
	_, err := Retrying(m, noted(RetryPolicy{Attempts: 5, MaxWait: 1}, &slept)).Call(ctx, Request{})
	if !errors.Is(err, context.Canceled) || m.calls != 1 || len(slept) != 0 {
		t.Errorf("got %v after %d calls", err, m.calls)
	}
}
