package consolidate

import (
	"slices"
	"strings"
)

// A wording is what comparisons ask of a text, worked out once.
type wording struct {
	words     []string // of the text's own words, as tokens gives them
	essence   []string // those without the words that affirm or deny
	negative  bool
	advises   bool     // it tells to use something
	want, not []string // of "use X, not Y" or "we moved off Y"; both nil in any other text
	object    []string // of "use X for Y": X
	purpose   []string // and Y
	numbers   []string // numbers among the words
}

func newWording(text string) wording {
	w := wording{words: tokens(plain(text)), essence: essence(text), negative: negative(text), advises: imperativeLike(text)}
	ok := false
	if w.want, w.not, ok = versus(text); !ok && spoken(text) {
		w.want, w.not = moved(text)
	}
	if spoken(text) {
		w.object, w.purpose = purpose(text)
		w.advises = w.advises || commanding(text)
	}
	for _, word := range w.essence {
		if strings.Trim(word, "0123456789") == "" {
			w.numbers = append(w.numbers, word)
		}
	}
	return w
}

// spoken reports whether a text quotes what a person said.
func spoken(text string) bool {
	return strings.HasPrefix(text, "“") || strings.HasPrefix(text, "the user: ")
}

// swapped reports whether one text wants what the other rejects and the other
// way round.
func (w wording) swapped(o wording) bool {
	return w.want != nil && o.want != nil && slices.Equal(w.want, o.not) && slices.Equal(w.not, o.want)
}

// rivals reports whether two texts give one purpose to different things: "use tabs
// for indentation" and "use spaces for indentation".
func (w wording) rivals(o wording) bool {
	if len(w.object) == 0 || len(o.object) == 0 || w.negative || o.negative || !slices.Equal(w.purpose, o.purpose) {
		return false
	}
	return !slices.ContainsFunc(w.object, func(word string) bool { return slices.Contains(o.object, word) })
}

// resized reports whether two texts say the same with different numbers: "lines of
// 100 columns" and "lines of 120 columns".
func (w wording) resized(o wording) bool {
	if len(w.numbers) != 1 || len(o.numbers) != 1 || w.numbers[0] == o.numbers[0] || w.negative != o.negative {
		return false
	}
	rest := func(w wording) []string {
		return slices.DeleteFunc(slices.Clone(w.essence), func(word string) bool { return word == w.numbers[0] })
	}
	return jaccard(rest(w), rest(o)) >= 0.7
}
