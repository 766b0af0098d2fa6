package search

import (
	"math/bits"
	"strings"

	"memoir/memory"
)

// maxSnippet is the length of a snippet in bytes: 80 tokens.
const maxSnippet = 320

// snippet is the part of a text that says most of the words, in whole words on one line, neutralised.
func snippet(text string, words []string) string {
	fields := strings.Fields(memory.Neutralise(text))
	said := make([]uint32, len(fields))
	for i, f := range fields {
		if said[i] = spoken(f, words); len(f) > maxSnippet/2 { // it would fill a snippet alone
			fields[i] = strings.ToValidUTF8(f[:maxSnippet/2], "") + "…"
		}
	}
	best, from, to, left := -1, 0, 0, 0
	for start := range fields {
		if said[start] == 0 && start > 0 {
			continue
		}
		set, end, room := uint32(0), start, maxSnippet*3/4
		for ; end < len(fields) && len(fields[end]) <= room; end++ {
			set |= said[end]
			room -= len(fields[end]) + 1
		}
		if n := bits.OnesCount32(set); n > best {
			best, from, to, left = n, start, end, room+maxSnippet/4
		}
	}
	for ; from > 0 && len(fields[from-1]) < left; from-- { // what leads to it
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

// spoken tells which of the words a text has, a bit each.
func spoken(text string, words []string) (set uint32) {
	for _, have := range split(text) {
		for i, word := range words {
			if alike(have, word) {
				set |= 1 << i
			}
		}
	}
	return set
}

// alike reports whether two words may have one stem, which is SQLite's to know.
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
