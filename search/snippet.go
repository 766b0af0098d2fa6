package search

import (
	"strings"
	"unicode/utf8"

	"memoir/memory"
)

// maxSnippet is the length of a snippet in bytes: 80 tokens.
const maxSnippet = 320

// snippet is the part of a text that says most of the words, in whole words on one line, neutralised.
func snippet(text string, words []string) string {
	fields := strings.Fields(memory.Neutralise(text))
	for i, f := range fields {
		fields[i] = cutWord(f)
	}
	best, from, to := -1, 0, 0
	for start, end, length := 0, 0, 0; start < len(fields); start++ {
		for end < len(fields) && (length+len(fields[end]) <= maxSnippet || end == start) {
			length += len(fields[end]) + 1
			end++
		}
		if s := spoken(fields[start:end], words); s > best {
			best, from, to = s, start, end
		}
		if end == len(fields) {
			break // what follows says less
		}
		length -= len(fields[start]) + 1
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

// spoken counts the different words that fields have.
func spoken(fields, words []string) int {
	seen := map[string]bool{}
	for _, f := range fields {
		for _, have := range split(f) {
			for _, word := range words {
				if alike(have, word) {
					seen[word] = true
				}
			}
		}
	}
	return len(seen)
}

// says reports whether a text has one of the words.
func says(text string, words []string) bool { return spoken([]string{text}, words) > 0 }

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
