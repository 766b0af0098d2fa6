package config

import (
	"strings"
)

// didYouMean returns the hint for a name that is unknown: the known name that is
// nearest to it, or where to find all of them.
func didYouMean(name string, known []string) string {
	if best, ok := Nearest(name, known); ok {
		return "did you mean " + best + "?"
	}
	return "`memoir config` lists every setting"
}

// Nearest returns the known name that a misspelt one most likely means; false if none
// is near.
func Nearest(name string, known []string) (string, bool) {
	best, bestDistance := "", max(3, len(name)/4+1)
	folded := fold(name)
	for _, k := range known {
		distance := editDistance(folded, fold(k))
		// A setting written without its section is a full hit.
		if last := k[strings.LastIndexByte(k, '.')+1:]; fold(last) == folded ||
			fold(last) == fold(name[strings.LastIndexByte(name, '.')+1:]) {
			distance = min(distance, 1)
		}
		if distance < bestDistance {
			best, bestDistance = k, distance
		}
	}
	return best, best != ""
}

// fold drops what people vary when they write a name: case, dashes, underscores.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours that turn a into b, byte by byte.
func editDistance(a, b string) int {
	const long = 200 // names are short; foreign bytes may not be
	if len(a) > long || len(b) > long {
		return long
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
