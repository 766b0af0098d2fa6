package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"memoir/config"
)

// span reads a flag that is a length of time; 0 if it is not given.
func span(c *cli.Context, flag string) (time.Duration, error) {
	if !c.IsSet(flag) {
		return 0, nil
	}
	d, err := config.ParseDuration(c.String(flag))
	if err != nil {
		return 0, usagef("", "--%s: %w", flag, err)
	}
	return d, nil
}

// moment reads a flag that is a moment: RFC 3339, or a date that stands for its
// first moment in UTC; the zero time if it is not given.
func moment(c *cli.Context, flag string) (time.Time, error) {
	if !c.IsSet(flag) {
		return time.Time{}, nil
	}
	text := c.String(flag)
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("for example 2026-07-01 or 2026-07-01T12:00:00Z",
		"--%s: %q is not a date or a moment", flag, text)
}

// momentOrSpan reads a flag that is a moment, or a length of time before now; the
// zero time if it is not given, or 0.
func momentOrSpan(c *cli.Context, flag string, now time.Time) (time.Time, error) {
	if d, err := config.ParseDuration(c.String(flag)); err == nil {
		if d == 0 {
			return time.Time{}, nil
		}
		return now.Add(-d), nil
	}
	t, err := moment(c, flag)
	if err != nil {
		err = usagef("for example 7d, 12h, 2026-07-01 or 2026-07-01T12:00:00Z",
			"--%s: %q is neither a length of time nor a date or a moment", flag, c.String(flag))
	}
	return t, err
}
