package extract

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// learned has the weights of words and other features of English sentences, one a line. `go run ./bench/typed -learn`
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
		sum += weight
		if !strings.Contains(f, " ") {
			words++
			if ok {
				known++
			}
		}
	}
	if 5*known < 3*words { // another language
		return math.MinInt
	}
	return sum / len(features)
}

// LastingFeatures are what Lasts weighs: beginnings of words, the words at the beginning, length, question, code.
func LastingFeatures(sentence string) []string {
	words := strings.Fields(lowerWords(sentence))
	out := []string{"", "#" + strconv.Itoa(min(len(words)/6, 4))}
	if strings.Contains(sentence, "?") {
		out = append(out, "?")
	}
	if codeInside(sentence) {
		out = append(out, "`")
	}
	last := "^"
	for _, w := range words {
		if unicode.IsDigit(rune(w[0])) {
			w = "0"
		} else if w == "dont" {
			w = "don't"
		}
		w = stem(w)
		out = append(out, w, last+" "+w)
		last = w
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// stemmed is the number of bytes of a word that count.
const stemmed = 5

func stem(word string) string {
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "s")
	}
	return word[:min(len(word), stemmed)]
}

// codeInside reports whether a sentence has a code span, a path, an option or an identifier.
func codeInside(sentence string) bool {
	for _, w := range strings.Fields(sentence) {
		w = strings.TrimRight(w, ".,:;!?)")
		if strings.ContainsAny(w, "`/_.\\") || strings.HasPrefix(w, "--") {
			return true
		}
	}
	return false
}
