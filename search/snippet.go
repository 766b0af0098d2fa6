package search

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"memoir/memory"
)

// maxSnippet is the length of a snippet in bytes: 80 tokens.
const maxSnippet = 320

// snippet is the part of a text that says most of the words, in whole words on one line, neutralised.
func snippet(text string, words []string) string {
	fields := strings.Fields(memory.Neutralise(text))
	said := make([]uint32, len(fields))
	for i, f := range fields {
		fields[i], said[i] = cutWord(f), spoken(f, words)
	}
	best, from, to := -1, 0, 0
	for start := range fields {
		if said[start] == 0 && start > 0 {
			continue
		}
		set, length, last := said[start], 0, start
		for i := start; i < len(fields) && length+len(fields[i]) <= maxSnippet; i++ {
			if length += len(fields[i]) + 1; set|said[i] != set {
				set, last = set|said[i], i
			}
		}
		if n := bits.OnesCount32(set); n > best || n == best && last+1-start < to-from {
			best, from, to = n, start, last+1
		}
	}
	// Room that is left goes to what stands before and behind.
	length := len(strings.Join(fields[from:to], " "))
	for grown := true; grown; {
		grown = false
		if from > 0 && length+len(fields[from-1]) < maxSnippet {
			from--
			length, grown = length+len(fields[from])+1, true
		}
		if to < len(fields) && length+len(fields[to]) < maxSnippet {
			length, grown = length+len(fields[to])+1, true
			to++
		}
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

// cutWord shortens a word that would fill a snippet alone.
func cutWord(word string) string {
	if len(word) <= maxSnippet/2 {
		return word
	}
	cut := maxSnippet / 2
	for !utf8.RuneStart(word[cut]) {
		cut--
	}
	return word[:cut] + "…"
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
