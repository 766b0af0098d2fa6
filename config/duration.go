package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"memoir/internal/lazyregexp"
)

// maxDuration bounds what a person may ask for: a hundred years.
const maxDuration = 100 * 365 * day

// longUnits are weeks and days, which time.ParseDuration does not read.
var longUnits = lazyregexp.New(`[0-9.]+[wd]`)

// ParseDuration reads a length of time as people write it: numbers with the
// units w, d, h, m, s, or Go's smaller ones, such as 12h, 30d, 90m, 2w, 1d12h or 500ms. A
// bare 0 needs no unit. Negative lengths and lengths above a hundred years are errors.
func ParseDuration(text string) (time.Duration, error) {
	hours := longUnits.ReplaceAllStringFunc(strings.TrimSpace(text), func(long string) string {
		unit := len(long) - 1
		n, err := strconv.ParseFloat(long[:unit], 64)
		if err != nil {
			return long
		}
		return plain(n*map[byte]float64{'w': 7 * 24, 'd': 24}[long[unit]]) + "h"
	})
	d, err := time.ParseDuration(hours)
	if err != nil || d < 0 || d > maxDuration || strings.HasPrefix(hours, "+") {
		return 0, fmt.Errorf("%q is not a length of time; write it like 12h, 30d, 90m or 2w", text)
	}
	return d, nil
}
