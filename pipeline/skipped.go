package pipeline

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"memoir/rollout"
	"memoir/store"
)

// skipped says what a reading did not understand, so that a format's drift shows.
// The types of records are words of the transcript: they are redacted, and printed
// in one line.
func (r *run) skipped(stats rollout.Stats) []store.Skipped {
	var out []store.Skipped
	for _, count := range []store.Skipped{
		{Why: store.SkippedMalformed, N: stats.Malformed},
		{Why: store.SkippedOversized, N: stats.Oversized},
	} {
		if count.N > 0 {
			out = append(out, count)
		}
	}
	if stats.CutTail {
		out = append(out, store.Skipped{Why: store.SkippedCut, N: 1})
	}
	for _, kind := range slices.Sorted(maps.Keys(stats.Unknown)) {
		out = append(out, store.Skipped{Why: store.SkippedUnknown, Type: r.typeName(kind), N: stats.Unknown[kind]})
	}
	return out
}

// typeName makes a record's type fit to be stored.
func (r *run) typeName(kind string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, r.redact(kind))
}
