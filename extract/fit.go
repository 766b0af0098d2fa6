package extract

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
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

// What a piece is worth: its tier, to which prose adds up to 9 by what it says.
const (
	worthTyped    = 90 // what a person typed
	worthError    = 78 // error lines of a failure, its command, and the command that passed after it
	worthPatch    = 74 // changed lines of a file
	worthNear     = 72 // lines beside an error line
	worthNewFile  = 71
	worthLong     = 66 // what follows the beginning of a long message of a person, perhaps pasted
	worthFinal    = 60 // a closing answer
	worthLater    = 36 // patches and errors beyond their share of the budget
	worthSaid     = 52 // the agent's other words, summaries, reports of sub-agents
	worthCommand  = 45 // a command that passed; less by 3: the end of its output
	worthCall     = 25 // any other call
	worthPrinted  = 15 // the beginning and the end of what it printed
	worthRest     = 5
	evidenceShare = 0.3  // of a budget, the part that patches and errors take before closing answers
	typedHead     = 400  // bytes of a message that are certainly a person's own words
	newFileHead   = 4000 // bytes of a new file
	shortPatch    = 12   // lines of an edit that come before other edits' rest
	shortError    = 6    // error lines of a failure that do
)

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
	kept       bool
}

const maxPiece = 400 // bytes; a longer line is cut

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
	kept   [][partCount]int     // how many are
	bytes  []int                // what each item takes, 0 if nothing of it is kept
}

func newSelection(items []memoir.Item) *selection {
	s := &selection{items: items, pieces: make([][partCount][]piece, len(items)), kept: make([][partCount]int, len(items)), bytes: make([]int, len(items))}
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

// fixesOf tells which calls succeeded where a call of the same kind had failed before.
func fixesOf(items []memoir.Item) map[int]bool {
	fixes, open := map[int]bool{}, map[string]bool{}
	for i, it := range items {
		if it.Kind != memoir.ItemTool {
			continue
		}
		words := strings.Fields(it.Input)
		key := it.Tool + " " + strings.Join(words[:min(len(words), 2)], " ")
		if failed(it) {
			open[key] = true
		} else if open[key] {
			fixes[i] = true
			delete(open, key)
		}
	}
	return fixes
}

// rateMessage values the sentences of a message.
func rateMessage(items []memoir.Item, i int, pieces []piece) {
	it := items[i]
	closing := it.Final || i+1 == len(items) || items[i+1].Origin.ByPerson()
	fence := false
	for k := range pieces {
		p := &pieces[k]
		text := it.Text[p.from:p.to]
		fence = fence != strings.HasPrefix(strings.TrimSpace(text), "```")
		switch {
		case it.Origin.ByPerson() && p.from < typedHead && !fence:
			p.value = worthTyped
		case it.Origin.ByPerson() && errorLine(text, true):
			p.value = worthNear
		case it.Origin.ByPerson():
			p.value = worthLong - min(0.1*float64(k), 20)
		case it.Origin == memoir.OriginAgent && closing:
			p.value = worthFinal - 5 + 2*informs(text, fence)
		default:
			p.value = worthSaid + 2*informs(text, fence)
		}
	}
}

var (
	nameLike    = lazyregexp.New("`[^`]+`" + `|\b[\w.-]*[\w]/[\w./-]+|\b\w+[_.]\w+\b|\b\d+\b|--\w+`)
	reasonWords = lazyregexp.New(`(?i)\b(?:because|since|so that|instead|root cause|caused? by|due to|turns? out|turned out|actually|reason|rather than|must|never|always|only|fix(?:ed|es)?|fails?|works?|cannot|does not|doesn't|decided|blocked|remaining|still)\b`)
	narrates    = lazyregexp.New(`(?i)^\W*(?:let me|let's|i'll|i will|i'm going|now |next,|first,|perfect|great|good|excellent|ok)\b`)
)

// informs is how much a sentence of the agent says, from 0 to 9.
func informs(text string, code bool) float64 {
	if code {
		return 0
	}
	score := 2 + float64(min(len(nameLike.FindAllStringIndex(text, 4)), 3))
	score += 2 * float64(min(len(reasonWords.FindAllStringIndex(text, 3)), 2))
	if len(text) > 250 {
		score--
	}
	if narrates.MatchString(text) {
		score -= 2
	}
	if len(strings.Fields(text)) < 5 {
		score -= 2
	}
	return max(score, 0)
}

// forPeople are the commands whose text the agent writes for people.
var forPeople = lazyregexp.New(`\bgit (?:-\S+ \S+ )?commit\b|\bgh (?:pr|issue|release) (?:create|edit|comment|review|merge)\b|\bglab mr\b`)

// rateCall values the lines of a call: what was asked of the tool, and what it printed.
func rateCall(it *memoir.Item, pieces [partCount][]piece, fix bool) {
	bad := failed(*it)
	patch := strings.Contains(it.Input, "*** Update File: ") || strings.Contains(it.Input, "*** Delete File: ")
	added := strings.HasPrefix(it.Input, "*** Add File: ")
	looks := it.Shell() && onlyLooks(it.Input)
	letter := it.Shell() && forPeople.MatchString(it.Input)
	first := float64(worthCall)
	switch {
	case it.Origin.ByPerson():
		first = worthTyped
	case bad || fix:
		first = worthError
	case letter:
		first = worthPatch
	case it.Shell() && !looks:
		first = worthCommand
	}
	for k := range pieces[partInput] {
		p := &pieces[partInput][k]
		switch {
		case patch || added && p.from < newFileHead:
			switch {
			case k == 0:
				p.value = worthError
			case k > shortPatch:
				p.value = worthLater
			case added:
				p.value = worthNewFile
			default:
				p.value = worthPatch
			}
		case added:
			p.value = worthLater
		case k == 0 || letter:
			p.value = first
		default:
			p.value = min(first, worthCommand) - min(float64(k), 30)
		}
	}
	rateOutput(it, pieces[partOutput], bad, looks, fix)
}

// rateOutput values the lines that a call printed: those that tell why it failed, those beside
// them, the first and the last ones.
func rateOutput(it *memoir.Item, pieces []piece, bad, looks, fix bool) {
	ends := float64(worthPrinted)
	switch {
	case bad || fix:
		ends = worthNear
	case it.Shell() && !looks:
		ends = worthCommand - 3
	case it.Tool == "Task" || it.Tool == "Agent":
		ends = worthSaid
	}
	n := len(pieces)
	for k := range pieces {
		switch fromEnd := n - 1 - k; {
		case fromEnd < 3:
			pieces[k].value = ends
		case k < 3:
			pieces[k].value = min(ends, worthPrinted+5)
		case it.Tool == "Task" || it.Tool == "Agent":
			pieces[k].value = worthSaid
		default:
			pieces[k].value = max(worthPrinted-float64(min(k, fromEnd))*0.1, worthRest)
		}
	}
	if !bad {
		return
	}
	told := 0
	for k := range pieces {
		line := strings.TrimRight(it.Output[pieces[k].from:pieces[k].to], "\n")
		if !errorLine(line, it.Failed) {
			continue
		}
		value, around := float64(worthNear), float64(worthLater)
		if errorForm.MatchString(line) {
			value, around = worthError, worthNear
		}
		if told++; told > shortError {
			value, around = worthLater, worthLater
		}
		for near := max(k-1, 0); near <= min(k+2, n-1); near++ {
			pieces[near].value = max(pieces[near].value, around)
		}
		pieces[k].value = max(pieces[k].value, value)
	}
}

// fill keeps the most valuable pieces that fit into a number of tokens.
func (s *selection) fill(tokens int) {
	var order []*piece
	for i := range s.pieces {
		for p := range s.pieces[i] {
			for k := range s.pieces[i][p] {
				one := &s.pieces[i][p][k]
				if text := (*part(&s.items[i], p))[one.from:one.to]; strings.TrimSpace(text) == CutMark {
					one.value = 0
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
			s.kept[p.item][p.part]++
			p.kept = true
		}
	}
}

// discount lowers the value of what pieces of more value say already, and of patches and
// errors beyond their share.
func (s *selection) discount(order []*piece, tokens int) {
	known := map[string]bool{}
	share := int(evidenceShare * float64(tokens) * 4)
	for _, p := range order {
		if p.value >= worthTyped {
			continue
		}
		text := (*part(&s.items[p.item], p.part))[p.from:p.to]
		line := strings.TrimSpace(text)
		if len(line) >= sameLine && known[line] && (p.n > 0 || p.part != partInput) {
			p.value = worthRest
			continue
		}
		known[line] = true
		if p.value > worthLong {
			if share -= len(text); share < 0 {
				p.value = worthLater
			}
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
	if b.Len() == 0 {
		return ""
	}
	if gap {
		b.WriteString(omission)
	}
	return b.String()
}
