package config

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// maxDuration bounds what a person may ask for: a hundred years.
const maxDuration = 100 * 365 * 24 * time.Hour

var durationUnits = []struct {
	suffix string
	unit   time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"ms", time.Millisecond}, // before m, with which it begins
	{"m", time.Minute},
	{"s", time.Second},
	{"us", time.Microsecond},
	{"µs", time.Microsecond}, // the micro sign
	{"μs", time.Microsecond}, // the Greek letter
	{"ns", time.Nanosecond},
}

// ParseDuration reads a length of time as people write it: numbers with the
// units w, d, h, m, s, or Go's smaller ones, such as 12h, 30d, 90m, 2w, 1d12h or 500ms. A
// bare 0 needs no unit. Negative lengths and lengths above a hundred years are errors.
func ParseDuration(text string) (time.Duration, error) {
	rest := strings.TrimSpace(text)
	if rest == "0" {
		return 0, nil
	}
	bad := func(why string) (time.Duration, error) {
		return 0, fmt.Errorf("%q is not a length of time%s; write it like 12h, 30d, 90m or 2w", text, why)
	}
	if rest == "" {
		return bad("")
	}
	if rest[0] == '-' {
		return bad(", it is negative")
	}
	total := 0.0
	for rest != "" {
		digits := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		switch digits {
		case -1:
			return bad(", it has no unit")
		case 0:
			return bad("")
		}
		var number float64
		if _, err := fmt.Sscanf(rest[:digits], "%g", &number); err != nil || strings.Count(rest[:digits], ".") > 1 {
			return bad("")
		}
		rest = rest[digits:]
		found := false
		for _, u := range durationUnits {
			if after, ok := strings.CutPrefix(rest, u.suffix); ok {
				total += number * float64(u.unit)
				rest, found = after, true
				break
			}
		}
		if !found {
			return bad(", its unit is unknown")
		}
	}
	if total > float64(maxDuration) {
		return bad(", it is too long")
	}
	return time.Duration(math.Round(total)), nil
}
