package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// count says how many: "1 session", "3 sessions".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "y") {
		what = strings.TrimSuffix(what, "y") + "ie"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// byRule lists counts in the order of their names: "aws-access-token 1, github-pat 2".
func byRule[K ~string](counts map[K]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// when is a moment as tables show it: UTC, to the minute, "-" if there is none.
func when(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// age is how long ago a moment was, in the largest unit that still says much; "-"
// if there is none.
func age(now, t time.Time) string {
	const day = 24 * time.Hour
	ago := now.Sub(t)
	switch {
	case t.IsZero():
		return none
	case ago < time.Minute:
		return "now"
	case ago < 2*time.Hour:
		return fmt.Sprintf("%dm", ago/time.Minute)
	case ago < 2*day:
		return fmt.Sprintf("%dh", ago/time.Hour)
	case ago < 60*day:
		return fmt.Sprintf("%dd", ago/day)
	case ago < 2*365*day:
		return fmt.Sprintf("%dw", ago/(7*day))
	}
	return fmt.Sprintf("%dy", ago/(365*day))
}

// size is a number of bytes as people read it.
func size(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1000_000:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + " kB"
	case n < 1000_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
	return strconv.FormatFloat(float64(n)/1e9, 'f', 1, 64) + " GB"
}

// list makes a list that JSON writes as an array even when it is empty.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// ago says how long ago a moment was: "12 min ago".
func ago(now, t time.Time) string {
	if now.Sub(t) < time.Minute {
		return "just now"
	}
	return length(now.Sub(t)) + " ago"
}

// until says when something is: "in 12 min (14:03)", or "at once".
func until(now time.Time, t *time.Time) string {
	if t == nil || !t.After(now) {
		return "at once"
	}
	return "in " + length(t.Sub(now)) + " (" + clock(now, *t) + ")"
}

// length is a length of time in the largest unit that still says much.
func length(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a min"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// clock is a moment of today by its time alone, any other with its day. Both are UTC.
func clock(now, t time.Time) string {
	if now.UTC().Truncate(24 * time.Hour).Equal(t.UTC().Truncate(24 * time.Hour)) {
		return t.UTC().Format("15:04")
	}
	return when(t)
}
