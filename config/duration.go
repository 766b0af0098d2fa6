package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"memoir/internal/lazyregexp"
)

// maxDuration bounds what a person may ask for: a hundred years.
const maxDuration = 100 * 365 * 24 * time.Hour

// longUnits are weeks and days before what time.ParseDuration reads.
var longUnits = lazyregexp.New(`^([0-9.]+)(w|d)`)

// ParseDuration reads a length of time as people write it: numbers with the
// units w, d, h, m, s, or Go's smaller ones, such as 12h, 30d, 90m, 2w, 1d12h or 500ms. A
// bare 0 needs no unit. Negative lengths and lengths above a hundred years are errors.
func ParseDuration(text string) (time.Duration, error) {
	bad := func(why string) (time.Duration, error) {
		return 0, fmt.Errorf("%q is not a length of time%s; write it like 12h, 30d, 90m or 2w", text, why)
	}
	rest := strings.TrimSpace(text)
	total := 0.0
	for m := longUnits.FindStringSubmatch(rest); m != nil; m = longUnits.FindStringSubmatch(rest) {
		number, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return bad("")
		}
		days := map[string]float64{"w": 7, "d": 1}[m[2]]
		total += number * days * float64(24*time.Hour)
		rest = rest[len(m[0]):]
	}
	if rest != "" || strings.TrimSpace(text) == "" {
		short, err := time.ParseDuration(rest)
		switch {
		case strings.HasPrefix(rest, "-"):
			return bad(", it is negative")
		case strings.HasPrefix(rest, "+"):
			return bad("")
		case err != nil:
			why, _ := strings.CutPrefix(err.Error(), "time: ")
			why, _, _ = strings.Cut(why, " in duration")
			return bad(": " + why)
		}
		total += float64(short)
	}
	if total > float64(maxDuration) {
		return bad(", it is too long")
	}
	return time.Duration(math.Round(total)), nil
}
