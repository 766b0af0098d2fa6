package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Bounds of a query: its bytes, and the words that are ranked.
const (
	maxQuery = 4 << 10
	maxTerms = 32
)

// term is a word of a query.
type term struct {
	word     string
	guessed  bool    // it is not the query's, which nothing contains, but similar
	compound int     // the number of the compound that it is a part of, or is; 0: none
	whole    bool    // it is the compound
	passages []int64 // the numbers of those that contain it
}

// terms returns the distinct words of a query without stop words.
func terms(text string) (all []term) {
	compounds := 0
	for words := range fields(text[:min(len(text), maxQuery)]) {
		compound, last := 0, len(words)-1
		if last > 1 && words[last] == strings.Join(words[:last], "") {
			compounds++
			compound = compounds
		}
		for i, word := range words {
			t := term{word: word, compound: compound, whole: compound > 0 && i == last}
			at := slices.IndexFunc(all, func(have term) bool { return have.word == word })
			switch {
			case isStopWord(word):
			case at < 0:
				all = append(all, t)
			case compound == 0: // it also stands alone
				all[at].compound, all[at].whole = 0, false
			}
		}
	}
	return all
}

// wordsOf returns the words of terms.
func wordsOf(terms []term) (words []string) {
	for _, t := range terms {
		words = append(words, t.word)
	}
	return words
}

// look finds the passages that contain each term. A word that nothing contains is replaced by one that differs in a
// letter, if something contains that. The rarest maxTerms are returned, and the number of the others that nothing
// contains.
func (x *index) look(ctx context.Context, sizes []size, all []term) (looked []term, missing int, err error) {
	for i := range all {
		t := &all[i]
		if t.passages, err = x.matches(ctx, sizes, t.word); err == nil && len(t.passages) == 0 && t.compound == 0 {
			err = x.correct(ctx, sizes, t)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	if len(all) <= maxTerms {
		return all, 0, nil
	}
	slices.SortStableFunc(all, func(a, b term) int { // what nothing contains comes last
		return cmp.Compare(uint(len(a.passages))-1, uint(len(b.passages))-1)
	})
	for _, t := range all[maxTerms:] {
		if len(t.passages) == 0 {
			missing++
		}
	}
	return all[:maxTerms], missing, nil
}

// leastCorrected is the length of the shortest word that is corrected: many shorter ones differ in a letter.
const leastCorrected = 5

// correct replaces a word of Latin letters by one that is in the index and begins with the same letter: another letter
// is left out, exchanged with the next, changed or added.
func (x *index) correct(ctx context.Context, sizes []size, t *term) error {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	if len(t.word) < leastCorrected || strings.Trim(t.word, letters) != "" {
		return nil
	}
	var variants, longer []string
	for i := 1; i <= len(t.word); i++ {
		before, rest := t.word[:i], t.word[i:]
		for _, other := range strings.Split(letters, "") {
			if longer = append(longer, before+other+rest); rest != "" {
				variants = append(variants, before+other+rest[1:])
			}
		}
		if rest != "" {
			variants = append(variants, before+rest[1:], before[:i-1]+rest[:1]+before[i-1:]+rest[1:])
		}
	}
	variants = append(variants, longer...)
	for len(variants) > 1 { // finds the first that is in the index
		half := variants[:len(variants)/2]
		found, err := x.matches(ctx, sizes, half...)
		if err != nil {
			return err
		}
		if variants = variants[len(half):]; len(found) > 0 {
			variants = half
		}
	}
	found, err := x.matches(ctx, sizes, variants[0])
	if len(found) > 0 {
		t.word, t.guessed, t.passages = variants[0], true, found
	}
	return err
}
