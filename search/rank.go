package search

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// How a document is scored: BM25 over all of it, and what its best passage says together with its
// neighbours, by how rare the words are among documents and among passages. bench/search measures it.
const (
	saturation = 1.2  // k1 of BM25
	byLength   = 0.75 // b of BM25
	windowed   = 1.0  // what the best passage counts, beside the document
)

// nearness is what a word counts that stands so many passages away.
var nearness = [...]float64{1, 0.5, 0.25}

// found is a document, or a line of MEMORY.md or HISTORY.md, that has words of a query.
type found struct {
	document int64
	place    int // of the best passage
	kind     kind
	score    float64
}

// size is how much a document says.
type size struct {
	document               int64
	units, passages, words int // units are ranked: the document, or the lines of MEMORY.md or HISTORY.md
}

// numbers reads a row of numbers: each row that SQLite hands over costs more than the numbers in it.
func (x *index) numbers(ctx context.Context, query string, args ...any) (out []int64, err error) {
	var text string
	err = x.QueryRowContext(ctx, query, args...).Scan(&text)
	if text == "" {
		return nil, err
	}
	out = make([]int64, 0, 1+strings.Count(text, " "))
	for field := range strings.SplitSeq(text, " ") {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, err
}

// sizes returns the documents of a project, or all for "", by number, with what they have together.
func (x *index) sizes(ctx context.Context, projectID string) (all []size, total size, err error) {
	list, err := x.numbers(ctx, `SELECT coalesce(group_concat(
		concat_ws(' ', n, iif(path IN ('MEMORY.md', 'HISTORY.md'), passages, 1), passages, words), ' '), '')
		FROM document WHERE ? IN ('', project)`, projectID)
	for row := range slices.Chunk(list, 4) {
		one := size{row[0], int(row[1]), int(row[2]), int(row[3])}
		all = append(all, one)
		total.units, total.passages, total.words = total.units+one.units, total.passages+one.passages, total.words+one.words
	}
	slices.SortFunc(all, func(a, b size) int { return cmp.Compare(a.document, b.document) })
	return all, total, err
}

// matches returns the numbers of the passages that have a word.
func (x *index) matches(ctx context.Context, word string) ([]int64, error) {
	match := `"` + strings.ReplaceAll(word, `"`, "") + `"`
	if r := []rune(word); len(r) == 1 && isPaired(r[0]) {
		match += " *"
	}
	out, err := x.numbers(ctx, `SELECT coalesce(group_concat(rowid, ' '), '') FROM passage WHERE passage MATCH ?`, match)
	if err != nil && strings.Contains(err.Error(), "phrase queries") {
		return nil, nil // letters of scripts newer than SQLite's tables: to it they are several words
	}
	return out, err
}

// where says which words of a query a passage has, a bit each.
type where struct {
	size  *size // of the document
	place int
	kind  kind
	words uint32
}

// rank returns what has words of a query, the best first.
func (x *index) rank(ctx context.Context, projectID string, words []string) ([]found, error) {
	sizes, total, err := x.sizes(ctx, projectID)
	if err != nil || len(sizes) == 0 {
		return nil, err
	}
	var all []int64 // the passage's number, and the word's: lists in order are quick to bring together
	for i, word := range words {
		numbers, err := x.matches(ctx, word)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			all = append(all, n*maxTerms+int64(i))
		}
	}
	slices.Sort(all)
	var passages []where
	at := 0 // of the document's size
	for _, match := range all {
		n, word := match/maxTerms, uint32(1)<<(match%maxTerms)
		document, place := n>>16, int(n>>3&(maxPassages-1))
		for at < len(sizes) && sizes[at].document < document {
			at++
		}
		if at == len(sizes) || sizes[at].document != document {
			continue // of another project
		}
		if last := len(passages) - 1; last >= 0 && passages[last].size.document == document && passages[last].place == place {
			passages[last].words |= word
		} else {
			passages = append(passages, where{&sizes[at], place, kind(n & 7), word})
		}
	}
	groups, together := grouped(passages)
	alone := make([]uint32, len(passages))
	for i, p := range passages {
		alone[i] = p.words
	}
	inDocument, inPassage := rarity(together, len(words), total.units), rarity(alone, len(words), total.passages)
	mean := float64(total.words) / float64(max(total.units, 1))
	out := make([]found, 0, len(groups))
	for _, group := range groups {
		one := group[0].size
		length := float64(one.words) / float64(max(one.units, 1)) / mean
		out = append(out, score(group, inDocument, inPassage, length))
	}
	slices.SortFunc(out, func(a, b found) int { // of equals, the newest that was indexed
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.document, a.document), cmp.Compare(a.place, b.place))
	})
	return out, nil
}

// grouped splits passages into those of a document each, and each line of MEMORY.md or HISTORY.md; words are those of
// a group.
func grouped(passages []where) (groups [][]where, words []uint32) {
	for i, p := range passages {
		last := len(groups) - 1
		if i > 0 && passages[i-1].size == p.size && !p.kind.alone() {
			groups[last] = append(groups[last], p)
			words[last] |= p.words
		} else {
			groups, words = append(groups, passages[i:i+1:i+1]), append(words, p.words)
		}
	}
	return groups, words
}

// rarity is the inverse document frequency of each word, by the words of each unit that has some.
func rarity(having []uint32, words, units int) []float64 {
	out := make([]float64, words)
	for i := range out {
		n := 0.0
		for _, set := range having {
			n += float64(set >> i & 1)
		}
		out[i] = math.Log(1 + (float64(units)-n+0.5)/(n+0.5))
	}
	return out
}

// score judges the passages of one document, which is length times as long as others, by what words count in a
// document, and in a passage with its neighbours.
func score(group []where, inDocument, inPassage []float64, length float64) found {
	var often [maxTerms]float64
	best, window := found{document: group[0].size.document, kind: dayKind}, 0.0
	for i, p := range group {
		for set := p.words; set != 0; set &= set - 1 {
			often[bits.TrailingZeros32(set)]++
		}
		if s := near(group, i, inPassage); s > window && p.kind != dayKind {
			window, best.place, best.kind = s, p.place, p.kind
		}
	}
	for i, weight := range inDocument {
		if n := often[i]; n > 0 {
			best.score += weight * n * (saturation + 1) / (n + saturation*(1-byLength+byLength*length))
		}
	}
	best.score += windowed * window
	return best
}

// near is what a passage says together with its neighbours.
func near(group []where, at int, weights []float64) (sum float64) {
	seen := uint32(0)
	for away, factor := range nearness {
		set := uint32(0)
		for i := max(0, at-away); i < len(group) && i <= at+away; i++ {
			if d := group[i].place - group[at].place; d == away || d == -away {
				set |= group[i].words
			}
		}
		for fresh := set &^ seen; fresh != 0; fresh &= fresh - 1 {
			sum += factor * weights[bits.TrailingZeros32(fresh)]
		}
		seen |= set
	}
	return sum
}
