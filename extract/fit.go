package extract

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

// itemFrame is what an item's number, role and marks cost when it is rendered, in bytes.
const itemFrame = 24

// Cost estimates the tokens of an item as a language model sees it: 4 bytes a
// token, its frame included.
func Cost(it memoir.Item) int { return tokensOf(size(it)) }

func size(it memoir.Item) int {
	return itemFrame + len(it.Text) + len(it.Tool) + len(it.Input) + len(it.Output)
}

func tokensOf(bytes int) int { return (bytes + 3) / 4 }

// Fit chooses what of a session a language model with room for a number of tokens reads. First
// noise goes (see quiet). Of the rest it takes what people typed; then patches, error lines of
// failures, and what fixed them; then the agent's closing answers; then commands that passed and
// the agent's other words; then what else tools printed. It takes sentences and lines, not items,
// the newest first among equals, and returns them in order, with marks where something of an
// item is left out, and how many items were left out for length. A budget of 0 or less leaves
// out noise alone.
func Fit(items []memoir.Item, tokens int) (fitted []memoir.Item, omitted int) {
	return choose(quiet(items), tokens)
}

// choose is Fit of items without noise.
func choose(items []memoir.Item, tokens int) (fitted []memoir.Item, omitted int) {
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

// The parts of an item that text stands in.
const (
	partText = iota
	partInput
	partOutput
	partCount
)

// part returns one part of an item.
func part(it *memoir.Item, n int) *string {
	switch n {
	case partInput:
		return &it.Input
	case partOutput:
		return &it.Output
	}
	return &it.Text
}

// A piece is the least that is kept or left out of an item: a sentence of prose,
// else a line, with the white space behind it.
type piece struct {
	item, part int
	n          int // among those of the part
	from, to   int // bytes of the part
	value      float64
	evidence   bool // of a patch or a failure
	kept       bool
}

const (
	maxPiece      = 400    // bytes; a longer line is cut
	evidenceMost  = 0.5    // of the room that typed text leaves: patches and failures that take no more are kept whole
	evidenceLeast = 1 / 3. // of that room: what they get where they would take more
)

// cutUp cuts a text into pieces; prose is cut into sentences, anything else into lines.
func cutUp(text string, prose bool) []piece {
	var out []piece
	add := func(from, to int) {
		for to-from > maxPiece {
			end := from + len(firstBytes(text[from:], maxPiece))
			if space := strings.LastIndexAny(text[from:end], " \t"); space > maxPiece/2 {
				end = from + space + 1
			}
			if end <= from { // no UTF-8
				end = from + maxPiece
			}
			out = append(out, piece{from: from, to: end})
			from = end
		}
		if to > from {
			out = append(out, piece{from: from, to: to})
		}
	}
	fence := false
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := text[at:end]
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fence = !fence
		}
		if prose && !fence && len(line) > 120 {
			for _, s := range sentences(line) {
				i := strings.Index(text[at:end], s)
				if i < 0 {
					break
				}
				to := at + i + len(s)
				for to < end && (text[to] == ' ' || text[to] == '\n') {
					to++
				}
				add(at, to)
				at = to
			}
		}
		add(at, end)
		at = end
	}
	return out
}

// A selection is the pieces of items, and which of them are kept.
type selection struct {
	items  []memoir.Item
	pieces [][partCount][]piece // of each item
	bytes  []int                // what each item takes, 0 if nothing of it is kept
}

func newSelection(items []memoir.Item) *selection {
	s := &selection{items: items, pieces: make([][partCount][]piece, len(items)), bytes: make([]int, len(items))}
	fixes := fixesOf(items)
	for i := range items {
		for p := range partCount {
			s.pieces[i][p] = cutUp(*part(&items[i], p), p == partText)
			for k := range s.pieces[i][p] {
				one := &s.pieces[i][p][k]
				one.item, one.part, one.n = i, p, k
			}
		}
		if items[i].Kind == memoir.ItemTool {
			rateCall(&items[i], s.pieces[i], fixes[i])
		} else {
			rateMessage(items, i, s.pieces[i][partText])
		}
	}
	return s
}

// fill keeps the most valuable pieces that fit into a number of tokens.
func (s *selection) fill(tokens int) {
	var order []*piece
	for i := range s.pieces {
		for p := range s.pieces[i] {
			for k := range s.pieces[i][p] {
				one := &s.pieces[i][p][k]
				if strings.TrimSpace(s.text(one)) == CutMark {
					one.value = 0 // what is left out is marked anyway
				}
				order = append(order, one)
			}
		}
	}
	byValue := func(a, b *piece) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(b.item, a.item))
	}
	slices.SortStableFunc(order, byValue)
	s.discount(order, tokens)
	slices.SortStableFunc(order, byValue)
	left := tokens
	for _, p := range order {
		if p.value <= 0 {
			continue
		}
		more := s.cost(p)
		if price := tokensOf(s.bytes[p.item]+more) - tokensOf(s.bytes[p.item]); price <= left {
			left -= price
			s.bytes[p.item] += more
			p.kept = true
		}
	}
}

// discount lowers the value of lines that pieces of more value hold already, and of patches and
// failures beyond their share: where they would take more than evidenceMost of what typed text
// leaves of a number of tokens, evidenceLeast of it.
func (s *selection) discount(order []*piece, tokens int) {
	room, evidence := 4*tokens, 0
	for _, p := range order {
		switch {
		case p.value >= worthTyped:
			room -= p.to - p.from
		case p.evidence:
			evidence += p.to - p.from
		}
	}
	if float64(evidence) > evidenceMost*float64(room) {
		room = int(evidenceLeast * float64(room))
	}
	known := map[string]bool{}
	for _, p := range order {
		if p.value >= worthTyped {
			continue
		}
		line := strings.TrimSpace(s.text(p))
		head := p.n == 0 && p.part == partInput // a command, a patch's file
		if len(line) >= sameLine && known[line] && !head {
			p.value = worthRest
			continue
		}
		known[line] = true
		if p.evidence {
			if room -= p.to - p.from; room < 0 {
				p.value = worthLater
			}
		}
	}
}

// text is that of a piece.
func (s *selection) text(p *piece) string { return (*part(&s.items[p.item], p.part))[p.from:p.to] }

// cost is how many bytes longer its item gets when a piece is kept.
func (s *selection) cost(p *piece) int {
	n := p.to - p.from
	if s.bytes[p.item] == 0 {
		n += itemFrame + len(s.items[p.item].Tool)
		for i := range partCount {
			if len(s.pieces[p.item][i]) > 0 {
				n += len(omission) // in the place of all of it
			}
		}
	}
	list := s.pieces[p.item][p.part]
	gaps := 1 // a gap is parted into two, stays, or is filled
	if p.n == 0 || list[p.n-1].kept {
		gaps--
	}
	if p.n == len(list)-1 || list[p.n+1].kept {
		gaps--
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
		if !p.kept || strings.TrimSpace(text[p.from:p.to]) == CutMark {
			gap = true
			continue
		}
		if gap {
			b.WriteString(omission)
			gap = false
		}
		b.WriteString(text[p.from:p.to])
	}
	if gap {
		b.WriteString(omission)
	}
	return b.String()
}
