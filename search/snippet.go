package search

import (
	"math/bits"
	"strings"

	"memoir/memory"
)

// maxSnippet bounds a snippet, in bytes (80 tokens).
const maxSnippet = 320

// snippet returns the part of a text with the most words of a query: whole words on one line, neutralised.
func snippet(text string, words []string) string {
	fields := strings.Fields(memory.Neutralise(text))
	matches := make([]uint32, len(fields))
	for i, f := range fields {
		if matches[i] = matching(f, words); len(f) > maxSnippet/2 { // the word would fill a snippet
			fields[i] = strings.ToValidUTF8(f[:maxSnippet/2], "") + "…"
		}
	}
	best, from, to, left := -1, 0, 0, 0
	for start := range fields {
		if matches[start] == 0 && start > 0 {
			continue
		}
		set, end, room := uint32(0), start, maxSnippet*3/4
		for ; end < len(fields) && len(fields[end]) <= room; end++ {
			set |= matches[end]
			room -= len(fields[end]) + 1
		}
		if n := bits.OnesCount32(set); n > best {
			best, from, to, left = n, start, end, room+maxSnippet/4
		}
	}
	for ; from > 0 && len(fields[from-1]) < left; from-- { // the words before it
		left -= len(fields[from-1]) + 1
	}
	out := strings.Join(fields[from:to], " ")
	if from > 0 {
		out = "… " + out
	}
	if to < len(fields) {
		out += " …"
	}
	return out
}

// matching returns the set of the words that a text contains, one bit each.
func matching(text string, words []string) (set uint32) {
	for _, have := range split(text) {
		for i, word := range words {
			if alike(have, word) {
				set |= 1 << i
			}
		}
	}
	return set
}

// alike reports whether two words may have the same stem for SQLite's stemmer.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	least, same := min(len(a), len(b)), 0
	for same < least && a[same] == b[same] {
		same++
	}
	return same >= 3 && same == least || same >= 4 && same >= least-1
}
