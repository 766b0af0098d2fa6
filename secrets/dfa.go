package secrets

import (
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// dfa matches an expression at a given offset of a text, forwards or backwards. It computes a state when a text
// first needs it; after that, a step is one lookup. regexp.Regexp would need a separate search for each of the many
// keywords without a match. It is safe for concurrent use.
type dfa struct {
	prog    *syntax.Prog
	classes classes
	mu      sync.Mutex // guards closure, key, insts and the writes to a table
	closure closure
	key     []byte
	insts   []uint32
	table   atomic.Pointer[table]
}

// table holds the states and their transitions. Each state has a row in next, with an entry for each class of
// characters: the number of the next state, shifted by entryBits, with its flags, or 0 if it is not computed yet. A
// larger table replaces a full one. A reader of the old table calls derive for a missing entry and gets the new table.
type table struct {
	next    []uint32 // atomic; two entries of 16 bits each, to fit into the CPU cache
	stride  int      // entries in a row
	states  []state
	numbers map[string]uint32
	starts  [contexts]uint32 // atomic
}

// entry returns the transition of a state for a class of characters, or 0 if it is not computed yet.
func (t *table) entry(state uint32, class int) uint32 {
	n := int(state)*t.stride + class
	return atomic.LoadUint32(&t.next[n>>1]) >> (16 * (n & 1)) & (1<<16 - 1)
}

// set stores a transition. The caller holds the dfa's mu.
func (t *table) set(state uint32, class int, entry uint32) {
	n := int(state)*t.stride + class
	atomic.StoreUint32(&t.next[n>>1], t.next[n>>1]|entry<<(16*(n&1)))
}

// state is a set of instructions that may come next, before the assertions that depend on the next character.
type state struct {
	insts     []uint32
	neighbour neighbour // the context of the character just read
}

const (
	entryAccepted = 1 << iota // the expression matched before the character just read
	entryDead                 // no instruction is left

	entryBits = iota
)

// maxStates bounds the states of a dfa. At this bound, it discards all states and computes them again when needed.
const maxStates = 1 << 12 // an entry has 16 bits

// newDFA compiles an expression. For reading backwards, the expression must be reversed.
func newDFA(tree *syntax.Regexp) *dfa {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		panic("secrets: a part of a valid expression does not compile: " + err.Error())
	}
	d := &dfa{prog: prog, classes: newClasses(prog)}
	d.table.Store(d.newTable())
	return d
}

func (d *dfa) newTable() *table {
	// State 0 is unused: an entry of 0 is not computed yet.
	return &table{next: make([]uint32, 4*d.stride()), stride: d.stride(), states: make([]state, 1, 8),
		numbers: map[string]uint32{}}
}

// stride returns the length of a row.
func (d *dfa) stride() int { return d.classes.edge() + 1 }

// forward matches from text[at:]. It returns the end offsets of the shortest and longest match, -1 without a match,
// and the number of bytes read.
func (d *dfa) forward(text string, at int) (shortest, longest, read int) {
	shortest, longest = -1, -1
	t, entry := d.start(d.table.Load(), d.contextAt(text, at-1))
	ascii := &d.classes.ascii
	for i := at; i < len(text); {
		class, width := 0, 1
		if c := text[i]; c < utf8.RuneSelf {
			class = int(ascii[c])
		} else {
			var r rune
			r, width = utf8.DecodeRuneInString(text[i:])
			class = d.classes.of(r)
		}
		state := entry >> entryBits
		if entry = t.entry(state, class); entry == 0 {
			t, entry = d.derive(t, state, class)
		}
		if entry&(entryAccepted|entryDead) != 0 {
			if entry&entryAccepted != 0 {
				if longest = i; shortest < 0 {
					shortest = i
				}
			}
			if entry&entryDead != 0 {
				return shortest, longest, i + width - at
			}
		}
		i += width
	}
	if _, entry = d.step(t, entry, d.classes.edge()); entry&entryAccepted != 0 {
		if longest = len(text); shortest < 0 {
			shortest = longest
		}
	}
	return shortest, longest, len(text) - at
}

// accepts reports whether the expression matches a prefix of text. known is false if it stopped, because the
// automaton needed more than most states; 0 means no limit.
func (d *dfa) accepts(text string, most int) (accepted, known bool) {
	t, entry := d.start(d.table.Load(), atEdge)
	for i := 0; i < len(text); {
		class, width := 0, 1
		if c := text[i]; c < utf8.RuneSelf {
			class = int(d.classes.ascii[c])
		} else {
			var r rune
			r, width = utf8.DecodeRuneInString(text[i:])
			class = d.classes.of(r)
		}
		if t, entry = d.step(t, entry, class); entry&(entryAccepted|entryDead) != 0 {
			return entry&entryAccepted != 0, true
		}
		if i += width; most > 0 && int(entry>>entryBits) > most {
			return false, false
		}
	}
	_, entry = d.step(t, entry, d.classes.edge())
	return entry&entryAccepted != 0, true
}

// backward matches from text[:at] towards the start of the text, but not beyond limit. It returns the start of the
// longest match, -1 without a match, and the number of characters read.
func (d *dfa) backward(text string, at, limit int) (start, read int) {
	start = -1
	t, entry := d.start(d.table.Load(), d.contextAt(text, at))
	for i := at; i > 0; read++ {
		class, width := 0, 1
		if c := text[i-1]; c < utf8.RuneSelf {
			class = int(d.classes.ascii[c])
		} else {
			var r rune
			r, width = utf8.DecodeLastRuneInString(text[:i])
			class = d.classes.of(r)
		}
		t, entry = d.step(t, entry, class)
		if entry&entryAccepted != 0 {
			start = i
		}
		if i -= width; entry&entryDead != 0 || i < limit {
			return start, read
		}
	}
	if _, entry = d.step(t, entry, d.classes.edge()); entry&entryAccepted != 0 {
		start = 0
	}
	return start, read
}

// contextAt returns the context of the character at an offset, which may be one outside the text.
func (d *dfa) contextAt(text string, at int) neighbour {
	if at < 0 || at == len(text) {
		return atEdge
	}
	if c := text[at]; c < utf8.RuneSelf {
		return d.classes.contextOf(rune(c))
	}
	return atOther
}

// start returns the entry of the state before the first character, and its table.
func (d *dfa) start(t *table, previous neighbour) (*table, uint32) {
	if entry := atomic.LoadUint32(&t.starts[previous]); entry != 0 {
		return t, entry
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.insts = append(d.insts[:0], uint32(d.prog.Start))
	t, entry := d.intern(d.insts, previous, false)
	atomic.StoreUint32(&t.starts[previous], entry)
	return t, entry
}

// step returns the entry after another entry for a class, and its table.
func (d *dfa) step(t *table, entry uint32, class int) (*table, uint32) {
	if n := t.entry(entry>>entryBits, class); n != 0 {
		return t, n
	}
	return d.derive(t, entry>>entryBits, class)
}

// derive computes and stores the transition of a state for a class.
func (d *dfa) derive(t *table, number uint32, class int) (*table, uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := t.states[number]
	following := d.classes.neighbour(class)
	holds := syntax.EmptyOpContext(sampleOf(s.neighbour), sampleOf(following))
	reached, accepted := d.closure.of(d.prog, s.insts, holds)
	next := d.insts[:0]
	if class != d.classes.edge() {
		for _, pc := range reached {
			if d.classes.matches(pc, class) {
				next = append(next, d.prog.Inst[pc].Out)
			}
		}
		slices.Sort(next)
		next = slices.Compact(next)
	}
	d.insts = next
	now, entry := d.intern(next, following, accepted)
	if int(number) < len(now.states) &&
		now.states[number].neighbour == s.neighbour && slices.Equal(now.states[number].insts, s.insts) {
		now.set(number, class, entry)
	}
	return now, entry
}

// intern returns the entry of a state, which it adds if it is new, and the current table.
func (d *dfa) intern(insts []uint32, neighbour neighbour, accepted bool) (*table, uint32) {
	key := append(d.key[:0], byte(neighbour))
	for _, pc := range insts {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	d.key = key
	t := d.table.Load()
	number, known := t.numbers[string(key)]
	if !known {
		if len(t.states) == maxStates {
			t = d.newTable()
			d.table.Store(t)
		}
		number = uint32(len(t.states))
		if (len(t.states)+1)*t.stride > 2*len(t.next) {
			t = &table{next: slices.Concat(t.next, make([]uint32, len(t.next))), stride: t.stride, states: t.states,
				numbers: t.numbers, starts: t.starts}
			d.table.Store(t)
		}
		t.states = append(t.states, state{slices.Clone(insts), neighbour})
		t.numbers[string(key)] = number
	}
	entry := number << entryBits
	if accepted {
		entry |= entryAccepted
	}
	if len(insts) == 0 {
		entry |= entryDead
	}
	return t, entry
}

// closure follows the instructions that read no character.
type closure struct {
	seen    []uint32 // by instruction: the last round that reached it
	round   uint32
	stack   []uint32
	reached []uint32
}

// of returns the instructions that read a character, reached from insts if the assertions in holds are true. It also
// reports whether the expression matched. The slice is valid until the next call.
func (c *closure) of(prog *syntax.Prog, insts []uint32, holds syntax.EmptyOp) (reached []uint32, accepted bool) {
	if c.seen == nil {
		c.seen = make([]uint32, len(prog.Inst))
	}
	c.round++
	c.stack = append(c.stack[:0], insts...)
	c.reached = c.reached[:0]
	for len(c.stack) > 0 {
		pc := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		if c.seen[pc] == c.round {
			continue
		}
		c.seen[pc] = c.round
		inst := &prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			c.stack = append(c.stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			c.stack = append(c.stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^holds == 0 {
				c.stack = append(c.stack, inst.Out)
			}
		case syntax.InstMatch:
			accepted = true
		case syntax.InstFail:
		default:
			c.reached = append(c.reached, pc)
		}
	}
	return c.reached, accepted
}

// maxSought bounds the states of the automaton that looks for a match anywhere in a text, before a rule runs over
// the whole text. regexp takes some microseconds a byte for bounded repeats, and most such texts have no match.
const maxSought = 512

// nowhere reports whether the expression certainly matches nowhere in a text. It reports false if this takes more
// than maxSought states.
func (s *searcher) nowhere(text string) bool {
	d := s.anywhere.get(func() *dfa { return newDFA(mustParse("(?s:.*?)(?:" + s.source + ")")) })
	found, known := d.accepts(text, maxSought)
	return known && !found
}
