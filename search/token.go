package search

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxWord bounds a word, in bytes. A longer one is not a word of a language or of code.
const maxWord = 64

// stopWords are words that nearly every text contains, in order. They are not indexed.
var stopWords = sync.OnceValue(func() []string {
	return strings.Fields(`a about after again all also am an and any are as at be because been before being
		both but by can could d did do does doing don done down during each few for from further get got had has have
		having he her here hers him his how i if in into is it its just let ll m me might more most much must my no
		nor not now of off on once only or other our out over own re s same shall she should so some such t than that
		the their them then there these they this those through to too under until up upon us ve very was we were what
		when where which while who whom whose why with would you your yours`)
})

func isStopWord(word string) bool {
	_, found := slices.BinarySearch(stopWords(), word)
	return found
}

// split returns the index words of a text: in lower case, without accents. A word of code, such as readFile,
// max_size, --dry-run or a/b.go, gives its parts and the whole. Scripts without spaces between words give pairs of
// letters.
func split(text string) []string {
	var out []string
	text = norm.NFC.String(strings.Map(func(r rune) rune {
		if r >= 0x300 && r <= 0x36f { // the accents of Latin, Greek and Cyrillic
			return -1
		}
		return r
	}, norm.NFKD.String(text)))
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(`_-./'’`, r)
	}) {
		out = append(out, wordsIn(field)...)
	}
	return out
}

func wordsIn(field string) (out []string) {
	parts := splitWord(field)
	for _, part := range parts {
		if isPaired([]rune(part)[0]) {
			out = append(out, pairs(part)...)
		} else if len(part) <= maxWord {
			out = append(out, part)
		}
	}
	if whole := strings.Join(parts, ""); len(parts) > 1 && len(out) == len(parts) && len(whole) <= maxWord {
		out = append(out, whole)
	}
	return out
}

// splitWord splits a field where the kind of character changes: readFile, max_size, v1.2.
func splitWord(field string) (parts []string) {
	var part []rune
	var last rune
	flush := func() {
		if len(part) > 0 {
			parts = append(parts, strings.ToLower(string(part)))
		}
		part = part[:0]
	}
	runes := []rune(field)
	for i, r := range runes {
		switch {
		case r == '\'' || r == '’': // Ada's, we'll: the rest is not part of the word
			if rest := runes[i+1:]; len(rest) <= 2 && len(part) > 0 {
				flush()
				return parts
			}
			fallthrough
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			last = 0
			continue
		}
		camel := unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(runes) &&
			unicode.IsLower(runes[i+1]))
		if last != 0 && (camel || isPaired(r) != isPaired(last)) {
			flush()
		}
		part, last = append(part, r), r
	}
	flush()
	return parts
}

// isPaired reports whether a letter is of a script without spaces between words.
func isPaired(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai,
		unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// pairs returns the pairs of adjacent letters, and the last letter, so that a prefix search finds each letter.
func pairs(text string) (out []string) {
	runes := []rune(text)
	for i := range runes {
		out = append(out, string(runes[i:min(i+2, len(runes))]))
	}
	return out
}

// Bounds of a query: its bytes, and its distinct words.
const (
	maxQuery = 4 << 10
	maxTerms = 32
)

// terms returns the distinct words of a query without stop words.
func terms(text string) []string {
	var all []string
	for _, w := range split(text[:min(len(text), maxQuery)]) {
		if !isStopWord(w) && !slices.Contains(all, w) && len(all) < maxTerms {
			all = append(all, w)
		}
	}
	return all
}

// indexed returns the words of a text for the index, and their number.
func indexed(text string) (string, int) {
	all := slices.DeleteFunc(split(text), isStopWord)
	return strings.Join(all, " "), len(all)
}
