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

// A document's score is BM25 over the whole document, plus the score of its best passage with its neighbours.
// Words are weighted by their rarity, among documents for the former and among passages for the latter.
// bench/search measures the ranking.
const (
	saturation = 1.2  // k1 of BM25
	byLength   = 0.75 // b of BM25
	windowed   = 1.0  // weight of the best passage, relative to the document
)

// nearness is the weight of a word by its distance in passages.
var nearness = [...]float64{1, 0.5, 0.25}

// found is a document, or a line of MEMORY.md or HISTORY.md, that matches a query.
type found struct {
	document int64
	place    int // of the best passage
	kind     kind
	score    float64
}

type size struct {
	document               int64
	units, passages, words int // units are ranked: 1 document, or the lines of MEMORY.md or HISTORY.md
}

// numbers returns the numbers in the one text that a query returns: to read many rows from SQLite costs more.
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

// sizes returns the sizes of the documents of a project, or of all for "", by number, and their total.
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

// matches returns the numbers of the passages that contain a word.
func (x *index) matches(ctx context.Context, word string) ([]int64, error) {
	match := `"` + strings.ReplaceAll(word, `"`, "") + `"`
	if r := []rune(word); len(r) == 1 && isPaired(r[0]) {
		match += " *"
	}
	out, err := x.numbers(ctx, `SELECT coalesce(group_concat(rowid, ' '), '') FROM passage WHERE passage MATCH ?`, match)
	if err != nil && strings.Contains(err.Error(), "phrase queries") {
		return nil, nil // SQLite's older Unicode tables split words of new scripts
	}
	return out, err
}

// where is a passage with the set of a query's words that it contains, one bit each.
type where struct {
	size  *size // of the document
	place int
	kind  kind
	words uint32
}

// rank returns the matches of a query, the best first.
func (x *index) rank(ctx context.Context, projectID string, words []string) ([]found, error) {
	sizes, total, err := x.sizes(ctx, projectID)
	if err != nil || len(sizes) == 0 {
		return nil, err
	}
	var all []int64 // the numbers of passage and word in one, so that sorting merges the lists
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
		document, place := n>>(placeBits+kindBits), int(n>>kindBits&(maxPassages-1))
		for at < len(sizes) && sizes[at].document < document {
			at++
		}
		if at == len(sizes) || sizes[at].document != document {
			continue // of another project
		}
		if last := len(passages) - 1; last >= 0 && passages[last].size.document == document && passages[last].place == place {
			passages[last].words |= word
		} else {
			passages = append(passages, where{&sizes[at], place, kind(n & (1<<kindBits - 1)), word})
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
	slices.SortFunc(out, func(a, b found) int { // of equal scores, the last indexed first
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.document, a.document), cmp.Compare(a.place, b.place))
	})
	return out, nil
}

// grouped groups passages by document; each line of MEMORY.md and HISTORY.md is a group. words are the groups'.
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

// rarity returns the inverse document frequency of each word; having are the word sets of the matching units.
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

// score returns the score of one group. length is that of its document relative to the mean; inDocument and
// inPassage are the weights of the words.
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

// near returns the score of a passage with its neighbours.
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
