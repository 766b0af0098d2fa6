package extract

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// learned has the weights of words and pairs of words of English sentences, one a line. `go run ./bench/typed -learn`
// writes it.
//
//go:embed lasting.txt
var learned string

var weights = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(learned) {
		weight, feature, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out[feature], _ = strconv.Atoi(weight)
	}
	return out
})

// Lasts tells how much an English sentence reads like one that holds from now on: the mean weight of its features.
// A sentence of mostly unknown words is in another language and has the least value.
func Lasts(sentence string) int {
	features, sum, words, known := LastingFeatures(sentence), 0, 0, 0
	for _, f := range features {
		weight, ok := weights()[f]
		if sum += weight; !strings.Contains(f, " ") {
			words++
			if ok {
				known++
			}
		}
	}
	if 2*known < words {
		return math.MinInt
	}
	return sum / len(features)
}

// LastingFeatures are what Lasts weighs: the beginnings of a sentence's words, alone and in pairs, and its length.
func LastingFeatures(sentence string) []string {
	words := strings.Fields(lowerWords(sentence))
	out, last := []string{"", "#" + strconv.Itoa(min(len(words)/6, 4))}, "^"
	for _, w := range words {
		if w = w[:min(len(w), 5)]; w[0] >= '0' && w[0] <= '9' {
			w = "0"
		}
		out = append(out, w, last+" "+w)
		last = w
	}
	slices.Sort(out)
	return slices.Compact(out)
}
