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
