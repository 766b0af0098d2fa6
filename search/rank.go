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
	toolWeight = 0.7  // of a passage of a tool call, relative to others
	guessed    = 0.5  // weight of a word that differs from the query's in a letter, relative to that
)

// nearness is the weight of a word by its distance in passages.
var nearness = [...]float64{1, 0.5, 0.25}

// found is a document, or a line of MEMORY.md or HISTORY.md, that matches a query.
type found struct {
	document int64
	place    int // of the best passage
	kind     kind
	words    int // of the query, that it contains
	score    float64
	match    float64 // 0 to 1: the score as a share of the one of a passage with all words
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

// matches returns the numbers of the passages of documents that contain a word, in order.
func (x *index) matches(ctx context.Context, sizes []size, word string) ([]int64, error) {
	match := `"` + strings.ReplaceAll(word, `"`, "") + `"`
	if r := []rune(word); len(r) == 1 && isPaired(r[0]) {
		match += " *"
	}
	out, err := x.numbers(ctx, `SELECT coalesce(group_concat(rowid, ' '), '') FROM passage WHERE passage MATCH ?`, match)
	if err != nil && strings.Contains(err.Error(), "phrase queries") {
		return nil, nil // SQLite's older Unicode tables split words of new scripts
	}
	return x.among(sizes, out), err
}

// among leaves out the passages, which are in order, of other documents and kinds.
func (x *index) among(sizes []size, all []int64) []int64 {
	at := 0
	return slices.DeleteFunc(all, func(n int64) bool {
		document, _, k := placeOf(n)
		for at < len(sizes) && sizes[at].document < document {
			at++
		}
		return at == len(sizes) || sizes[at].document != document || !x.passes(k)
	})
}

// where is a passage with the set of a query's words that it contains, one bit each.
type where struct {
	size  *size // of the document
	place int
	kind  kind
	words uint32
}

// ranking is the order of the matches of a query.
type ranking struct {
	found    []found   // the best first
	terms    []term    // that were looked for
	weights  []float64 // of the terms, among passages
	passages int       // that were searched
}

// rank returns the matches of a query.
func (x *index) rank(ctx context.Context, projectID string, query []term) (out ranking, err error) {
	sizes, total, err := x.sizes(ctx, projectID)
	if err != nil || len(sizes) == 0 {
		return out, err
	}
	looked, missing, err := x.look(ctx, sizes, query)
	if err != nil {
		return out, err
	}
	passages := merged(looked, sizes)
	groups, together := grouped(passages)
	alone := make([]uint32, len(passages))
	for i, p := range passages {
		alone[i] = p.words
	}
	inDocument, inPassage := rarity(together, looked, total.units), rarity(alone, looked, total.passages)
	unknown := inverse(0, total.units) + windowed*inverse(0, total.passages) // a word that nothing contains
	attainable := unknown * float64(missing*maxTerms) / float64(len(query))
	for i, t := range looked {
		most := inDocument[i] + windowed*inPassage[i]
		if t.guessed {
			most, inDocument[i], inPassage[i] = unknown, inDocument[i]*guessed, inPassage[i]*guessed
		}
		attainable += most
	}
	mean := float64(total.words) / float64(max(total.units, 1))
	out = ranking{found: make([]found, 0, len(groups)), terms: looked, weights: inPassage, passages: total.passages}
	for i, group := range groups {
		of := group[0].size
		one := score(group, inDocument, inPassage, float64(of.words)/float64(max(of.units, 1))/mean)
		one.match, one.words = min(1, one.score/attainable), bits.OnesCount32(together[i])
		out.found = append(out.found, one)
	}
	slices.SortFunc(out.found, func(a, b found) int { // of equal scores, the last indexed first
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.document, a.document), cmp.Compare(a.place, b.place))
	})
	return out, nil
}

// merged returns the passages that contain a term, in order.
func merged(terms []term, sizes []size) (passages []where) {
	var all []int64 // the numbers of passage and word in one, so that sorting merges the lists
	for i, t := range terms {
		for _, n := range t.passages {
			all = append(all, n*maxTerms+int64(i))
		}
	}
	slices.Sort(all)
	at := 0 // of the document's size
	for _, match := range all {
		n, word := match/maxTerms, uint32(1)<<(match%maxTerms)
		document, place, k := placeOf(n)
		for sizes[at].document < document {
			at++
		}
		if last := len(passages) - 1; last >= 0 && passages[last].size.document == document && passages[last].place == place {
			passages[last].words |= word
		} else {
			passages = append(passages, where{&sizes[at], place, k, word})
		}
	}
	return passages
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

// rarity returns the weight of each term; having are the word sets of the matching units. The words of a compound count
// together as much as the compound; if nothing contains that, they count as words.
func rarity(having []uint32, terms []term, units int) []float64 {
	out, wholes, sums := make([]float64, len(terms)), map[int]float64{}, map[int]float64{}
	for i, t := range terms {
		n := 0.0
		for _, set := range having {
			n += float64(set >> i & 1)
		}
		if out[i] = inverse(n, units); t.whole {
			if n == 0 {
				out[i] = 0
			}
			wholes[t.compound] = out[i]
		}
		sums[t.compound] += out[i]
	}
	for i, t := range terms {
		if whole := wholes[t.compound]; whole > 0 {
			out[i] *= whole / sums[t.compound]
		}
	}
	return out
}

// inverse returns the inverse document frequency of a word that n of some units contain.
func inverse(n float64, units int) float64 { return math.Log(1 + (float64(units)-n+0.5)/(n+0.5)) }

// score returns the score of one group. length is that of its document relative to the mean; inDocument and
// inPassage are the weights of the words.
func score(group []where, inDocument, inPassage []float64, length float64) found {
	var often [maxTerms]float64
	best, window := found{document: group[0].size.document, kind: dayKind}, 0.0
	for i, p := range group {
		for set := p.words; set != 0 && !p.kind.tool(); set &= set - 1 {
			often[bits.TrailingZeros32(set)]++
		}
		s := near(group, i, inPassage)
		if p.kind.tool() {
			s *= toolWeight
		}
		// an agent's message may only announce what a statement says
		if p.kind != dayKind && (s > window || s == window && best.kind == agentKind && p.kind == statementKind) {
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
