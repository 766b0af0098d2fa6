package config

import (
	"strings"

	"github.com/xrash/smetrics"
)

// longName bounds what is compared of a name, in bytes: names are short; foreign bytes may not be.
const longName = 200

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
		distance := smetrics.WagnerFischer(folded[:min(len(folded), longName)], fold(k), 1, 1, 1)
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
