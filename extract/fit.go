package extract

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memoir"
)

// itemFrame is what an item's number, role and marks cost when it is rendered, in bytes.
const itemFrame = 24

// omission stands where pieces of an item were left out.
const omission = " […] "

// Cost estimates the tokens of an item as a language model sees it: 4 bytes a
// token, its frame included.
func Cost(it memoir.Item) int { return tokensOf(size(it)) }

func size(it memoir.Item) int {
	return itemFrame + len(it.Text) + len(it.Tool) + len(it.Input) + len(it.Output)
}

func tokensOf(bytes int) int { return (bytes + 3) / 4 }

// Fit chooses what of a session a model with room for a number of tokens reads:
// first what people typed, then the agent's closing answers, then failures and
// what fixed them, then the rest; inside a tier what says more, then what is newer.
// What it chooses are sentences and lines, not items, since a long answer or
// output seldom matters as a whole. The items come back in order, with marks where
// something of them was left out, and with the number of items that were left out
// altogether. A budget of 0 or less keeps everything.
func Fit(items []memoir.Item, tokens int) (fitted []memoir.Item, omitted int) {
	all := 0
	for _, it := range items {
		all += Cost(it)
	}
	if tokens <= 0 || all <= tokens {
		return items, 0
	}
	s := newSelection(items)
	s.fill(tokens)
	for i := range items {
		if it, ok := s.item(i); ok {
			fitted = append(fitted, it)
		}
	}
	return fitted, len(items) - len(fitted)
}

// A selection is the pieces of items, and which of them are kept.
type selection struct {
	items  []memoir.Item
	pieces [][partCount][]piece // of each item
	kept   [][partCount]int     // how many are
	bytes  []int                // what each item takes, 0 if nothing of it is kept
}

func newSelection(items []memoir.Item) *selection {
	s := &selection{items: items, pieces: make([][partCount][]piece, len(items)), kept: make([][partCount]int, len(items)), bytes: make([]int, len(items))}
	for i := range items {
		for p := range partCount {
			text := *part(&items[i], p)
			s.pieces[i][p] = cutUp(text, p == partText)
			for k := range s.pieces[i][p] {
				one := &s.pieces[i][p][k]
				one.item, one.part, one.n = i, p, k
			}
		}
	}
	newWorth(items).rate(s.pieces)
	return s
}

// fill keeps the most valuable pieces that fit into a number of tokens.
func (s *selection) fill(tokens int) {
	var order []*piece
	for i := range s.pieces {
		for p := range s.pieces[i] {
			for k := range s.pieces[i][p] {
				if s.pieces[i][p][k].value > 0 {
					order = append(order, &s.pieces[i][p][k])
				}
			}
		}
	}
	byValue := func(a, b *piece) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(b.item, a.item))
	}
	slices.SortStableFunc(order, byValue)
	s.discount(order)
	for _, p := range order {
		if p.value > worthResult && p.value < worthTyped-3 { // of two that say as much, the shorter one
			p.value *= math.Pow(120/float64(p.to-p.from+60), 0.2)
		}
	}
	slices.SortStableFunc(order, byValue)
	left := tokens
	for _, p := range order {
		more := s.cost(p)
		if price := tokensOf(s.bytes[p.item]+more) - tokensOf(s.bytes[p.item]); price <= left {
			left -= price
			s.bytes[p.item] += more
			s.kept[p.item][p.part]++
			p.kept = true
		}
	}
}

// discount lowers the value of what pieces of more value say already.
func (s *selection) discount(order []*piece) {
	known := map[string]bool{}
	for _, p := range order {
		if p.value < worthResult {
			return
		}
		all, fresh := 0, 0
		for w := range contentWords((*part(&s.items[p.item], p.part))[p.from:p.to]) {
			if all++; !known[w] {
				fresh++
				known[w] = true
			}
		}
		switch {
		case p.value >= worthTyped-3 && s.items[p.item].Origin.ByPerson(), all < 3:
		case fresh == 0:
			p.value = min(p.value, 1+0.25*p.value)
		case fresh*4 <= all:
			p.value = min(p.value, 1+0.4*p.value)
		}
	}
}

// cost is how many bytes longer its item gets when a piece is kept.
func (s *selection) cost(p *piece) int {
	n := p.to - p.from
	if s.bytes[p.item] == 0 {
		n += itemFrame + len(s.items[p.item].Tool)
	}
	list := s.pieces[p.item][p.part]
	before, after := p.n == 0 || list[p.n-1].kept, p.n == len(list)-1 || list[p.n+1].kept
	gaps := 1 // a gap is parted into two, or one is filled
	if before {
		gaps--
	}
	if after {
		gaps--
	}
	if s.kept[p.item][p.part] == 0 {
		gaps++ // while nothing of a part is kept, nothing is marked
	}
	return n + gaps*len(omission)
}

// item is what is kept of an item; false if nothing is.
func (s *selection) item(i int) (memoir.Item, bool) {
	if s.bytes[i] == 0 {
		return memoir.Item{}, false
	}
	it := s.items[i]
	for p := range partCount {
		text := part(&it, p)
		*text = keptText(*text, s.pieces[i][p])
	}
	return it, true
}

func keptText(text string, pieces []piece) string {
	var b strings.Builder
	gap := false
	for _, p := range pieces {
		if !p.kept {
			gap = true
			continue
		}
		if gap {
			b.WriteString(omission)
			gap = false
		}
		b.WriteString(text[p.from:p.to])
	}
	if b.Len() == 0 {
		return ""
	}
	if gap {
		b.WriteString(omission)
	}
	return b.String()
}
