package extract

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A lexicon remembers the words of texts that are compared again and again.
type lexicon struct {
	ids   map[string]int32 // of words
	known map[string]*wording
	norms map[string]string // texts in the form of words
	names map[string]map[string]bool
}

// A wording is a text as its words.
type wording struct {
	text    string
	content map[string]bool // the words that carry meaning
	parts   map[string]bool // with the words that names are made of; nil until asked for
	code    map[string]bool // the names in code marks; nil until asked for
	ids     []int32         // the words of content as numbers, in order
}

// of returns the wording of a text.
func (l *lexicon) of(text string) *wording {
	if w := l.known[text]; w != nil {
		return w
	}
	if l.known == nil {
		l.ids, l.known = map[string]int32{}, map[string]*wording{}
	}
	w := &wording{text: text, content: contentWords(text)}
	w.ids = make([]int32, 0, len(w.content))
	for word := range w.content {
		id, ok := l.ids[word]
		if !ok {
			id = int32(len(l.ids))
			l.ids[word] = id
		}
		w.ids = append(w.ids, id)
	}
	slices.Sort(w.ids)
	l.known[text] = w
	return w
}

// normal is a text in the form of words, with what stands in code marks.
func (l *lexicon) normal(text string) string {
	norm, ok := l.norms[text]
	if !ok {
		if l.norms == nil {
			l.norms = map[string]string{}
		}
		norm = words(strings.ReplaceAll(text, "`", " "))
		l.norms[text] = norm
	}
	return norm
}

// namesSettled are the words that names of code are made of in what was settled,
// without what the agent added.
func (l *lexicon) namesSettled(text string) map[string]bool {
	names, ok := l.names[text]
	if !ok {
		if l.names == nil {
			l.names = map[string]map[string]bool{}
		}
		said, _, _ := strings.Cut(text, agreed)
		names = subwords(said, true)
		l.names[text] = names
	}
	return names
}

// divided are the words that carry meaning and those that names among them are made of.
func (w *wording) divided() map[string]bool {
	if w.parts == nil {
		w.parts = maps.Clone(w.content)
		names(w.text, func(name string) {
			for part := range camelParts(name) {
				w.parts[part] = true
			}
		})
	}
	return w.parts
}

// marked are the names that the text puts in code marks.
func (w *wording) marked() map[string]bool {
	if w.code == nil {
		w.code = map[string]bool{}
		for i, span := range strings.Split(w.text, "`") {
			if i%2 == 1 {
				names(span, func(name string) { w.code[name] = true })
			}
		}
	}
	return w.code
}

// overlap is the share of the words of the shorter text that the longer one holds,
// 0 for a text of less than three words.
func (w *wording) overlap(other *wording) float64 {
	a, b := w.ids, other.ids
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 3 {
		return 0
	}
	n, k := 0, 0
	for _, id := range a {
		for k < len(b) && b[k] < id {
			k++
		}
		if k == len(b) {
			break
		}
		if b[k] == id {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

// maxGathered is how many statements of a kind are gathered of one session before
// the lightest of them go: several times as many as a raw memory holds, and few
// enough for a session of a hundred thousand answers.
const maxGathered = 150

// withoutLightest drops the lightest statements of a list that has grown to twice
// the size that is kept, and leaves the order of the others.
func withoutLightest(list []found) []found {
	if len(list) < 2*maxGathered {
		return list
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[b].weight, list[a].weight), cmp.Compare(b, a)) // of two that weigh as much the later one stays
	})
	order = order[:maxGathered]
	slices.Sort(order)
	out := make([]found, 0, 2*maxGathered)
	for _, i := range order {
		out = append(out, list[i])
	}
	return out
}
