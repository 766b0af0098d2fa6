package secrets

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// tracer tells what the groups of an expression capture in a match of which the start
// is known, the same as Regexp.FindStringSubmatchIndex, at one look-up a character.
//
// It reads the text twice. Backwards from its end it notes for every place the
// instructions from which a match can be reached; that is a set, so an automaton that
// is built as texts demand tells it. Then forwards it does what the program says: where
// that has a choice, the expression prefers the first branch from which a match can be
// reached. It is safe for concurrent use.
type tracer struct {
	prog    *syntax.Prog
	classes classes
	order   []uint32 // the instructions that read nothing, each behind those it goes on to
	readers []uint32 // the others
	mu      sync.RWMutex
	places  []outcome        // place 0 is none: what is not known yet
	next    []uint16         // by place and class of the character before it: the place before that
	ends    [contexts]uint16 // of a text, by the context of what stands behind it
	known   map[string]uint16
	key     []byte
}

// outcome is what can come of a place in a text.
type outcome struct {
	reads     set       // the instructions that read the character here and lead to a match
	following neighbour // of that character
	// can holds all instructions that lead to a match from here, by the context of the
	// character before, which assertions look at; nil if that is not known yet.
	can [contexts]set
}

// set is a set of instructions.
type set []uint64

func (s set) has(pc uint32) bool { return s[pc>>6]&(1<<(pc&63)) != 0 }
func (s set) add(pc uint32)      { s[pc>>6] |= 1 << (pc & 63) }

const (
	maxTraced = 4096    // bytes of a match that is traced; a trail of it is kept
	maxPlaces = 1 << 13 // that a tracer keeps when it begins with a text; else all are forgotten
	maxSets   = 1 << 22 // bytes of their sets, as far
)

// newTracer makes a tracer of an expression. It returns nil for one that can go round
// without reading anything, as (a*)* does: regexp has rules of its own there.
func newTracer(expr string) *tracer {
	prog, err := syntax.Compile(mustParse(expr).Simplify())
	if err != nil {
		panic("secrets: a valid expression does not compile: " + err.Error())
	}
	t := &tracer{prog: prog, classes: newClasses(prog)}
	t.forget()
	var ok bool
	if t.order, ok = sorted(prog); !ok {
		return nil
	}
	for pc := range prog.Inst {
		switch prog.Inst[pc].Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			t.readers = append(t.readers, uint32(pc))
		}
	}
	return t
}

// sorted lists the instructions of a program that read nothing, each behind those that
// it goes on to. It reports false if some of them form a circle.
func sorted(prog *syntax.Prog) (order []uint32, ok bool) {
	const under, done = 1, 2
	mark := make([]byte, len(prog.Inst))
	var visit func(pc uint32) bool
	visit = func(pc uint32) bool {
		if mark[pc] != 0 {
			return mark[pc] == done
		}
		mark[pc] = under
		inst := &prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			if !visit(inst.Out) || !visit(inst.Arg) {
				return false
			}
			order = append(order, pc)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			if !visit(inst.Out) {
				return false
			}
			order = append(order, pc)
		case syntax.InstMatch:
			order = append(order, pc)
		}
		mark[pc] = done
		return true
	}
	for pc := range prog.Inst {
		if !visit(uint32(pc)) {
			return nil, false
		}
	}
	return order, true
}

// trace finds the match that begins at text[start] and ends at end or before. The
// assertions see the characters around it. It returns the offsets of the match and
// its groups, none if there is no match, and reports false if it cannot tell.
func (t *tracer) trace(text string, start, end int) (groups []int, ok bool) {
	if t == nil || end-start > maxTraced || !isASCII(text[start:end]) {
		return nil, false
	}
	var short [256]uint16
	trail := short[:]
	if end-start >= len(short) {
		trail = make([]uint16, end-start+1)
	}
	t.mu.RLock()
	groups, known := t.walk(text, start, end, trail, false)
	t.mu.RUnlock()
	if !known {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(t.places) > maxPlaces || len(t.places)*len(t.prog.Inst)/8 > maxSets {
			t.forget()
		}
		groups, _ = t.walk(text, start, end, trail, true)
	}
	return groups, true
}

// forget drops all places.
func (t *tracer) forget() {
	t.places, t.next = make([]outcome, 1), make([]uint16, t.classes.edge())
	t.ends, t.known = [contexts]uint16{}, map[string]uint16{}
}

// walk is trace along places that are known, or are made where that is wanted. It reports
// false if it came to one that is not.
func (t *tracer) walk(text string, start, end int, trail []uint16, grow bool) (groups []int, known bool) {
	behind := t.contextAt(text, end)
	at := t.ends[behind]
	if at == 0 {
		if !grow {
			return nil, false
		}
		at = t.place(make(set, len(t.prog.Inst)/64+1), behind)
		t.ends[behind] = at
	}
	trail[end-start] = at
	stride, ascii := t.classes.edge(), &t.classes.ascii
	for i := end - 1; i >= start; i-- {
		class := int(ascii[text[i]])
		before := t.next[int(at)*stride+class]
		if before == 0 {
			if !grow {
				return nil, false
			}
			before = t.derive(at, class)
		}
		at = before
		trail[i-start] = at
	}
	return t.follow(text, start, at, trail, grow)
}

// follow reads a text forward along a trail of places that walk left, and marks the groups.
func (t *tracer) follow(text string, start int, at uint16, trail []uint16, grow bool) (groups []int, known bool) {
	pc, i := uint32(t.prog.Start), start
	can := t.from(at, t.contextAt(text, i-1), grow)
	if can == nil {
		return nil, false
	}
	if !can.has(pc) {
		return nil, true
	}
	groups = make([]int, max(2, t.prog.NumCap))
	for n := range groups {
		groups[n] = -1
	}
	groups[0] = start
	for {
		inst := &t.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			if pc = inst.Out; !can.has(pc) {
				pc = inst.Arg
			}
		case syntax.InstCapture:
			groups[inst.Arg] = i
			pc = inst.Out
		case syntax.InstNop, syntax.InstEmptyWidth:
			pc = inst.Out
		case syntax.InstMatch:
			groups[1] = i
			return groups, true
		default:
			if can = t.from(trail[i+1-start], t.classes.contextOf(rune(text[i])), grow); can == nil {
				return nil, false
			}
			i++
			pc = inst.Out
		}
	}
}

// contextAt returns the context of the character that a byte is or belongs to.
func (t *tracer) contextAt(text string, at int) neighbour {
	switch {
	case at < 0 || at >= len(text):
		return atEdge
	case text[at] < utf8.RuneSelf:
		return t.classes.contextOf(rune(text[at]))
	}
	return atOther
}

// derive makes the place before a character of a class, with another place behind it.
func (t *tracer) derive(at uint16, class int) uint16 {
	neighbour := t.classes.neighbour(class)
	can := t.from(at, neighbour, true)
	reads := make(set, len(can))
	for _, pc := range t.readers {
		if can.has(t.prog.Inst[pc].Out) && t.classes.matches(pc, class) {
			reads.add(pc)
		}
	}
	before := t.place(reads, neighbour)
	t.next[int(at)*t.classes.edge()+class] = before
	return before
}

// from returns the instructions from which a match can be reached at a place behind a
// character of a context, nil if that is not known and not wanted.
func (t *tracer) from(at uint16, previous neighbour, grow bool) set {
	p := &t.places[at]
	if can := p.can[previous]; can != nil || !grow {
		return can
	}
	holds := syntax.EmptyOpContext(sampleOf(previous), sampleOf(p.following))
	can := slices.Clone(p.reads)
	for _, pc := range t.order {
		inst := &t.prog.Inst[pc]
		possible := true
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			possible = can.has(inst.Out) || can.has(inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			possible = can.has(inst.Out)
		case syntax.InstEmptyWidth:
			possible = syntax.EmptyOp(inst.Arg)&^holds == 0 && can.has(inst.Out)
		}
		if possible {
			can.add(pc)
		}
	}
	p.can[previous] = can
	return can
}

// place returns the one place of a kind, making it if need be.
func (t *tracer) place(reads set, following neighbour) uint16 {
	t.key = append(t.key[:0], byte(following))
	for _, word := range reads {
		t.key = binary.LittleEndian.AppendUint64(t.key, word)
	}
	if at, ok := t.known[string(t.key)]; ok {
		return at
	}
	at := uint16(len(t.places))
	t.places = append(t.places, outcome{reads: reads, following: following})
	t.next = append(t.next, make([]uint16, t.classes.edge())...)
	t.known[string(t.key)] = at
	return at
}

// beginnings tells of one beginning of a text after another whether an automaton accepts it.
// A longer one is read on from where the last one ended: of a text whose last line has many
// carriage returns, gitleaks takes what is before each for a line.
type beginnings struct {
	text     string
	d        *dfa
	table    *table
	entry    uint32
	at       int  // what was read
	decided  bool // whatever follows
	accepted bool
	read     int // characters, in all
}

// accept reports whether the automaton accepts text[:to].
func (b *beginnings) accept(to int) bool {
	if b.table == nil || to < b.at {
		b.at, b.decided = 0, false
		b.table, b.entry = b.d.start(b.d.table.Load(), atEdge)
	}
	for b.at < to && !b.decided {
		class, width := 0, 1
		if c := b.text[b.at]; c < utf8.RuneSelf {
			class = int(b.d.classes.ascii[c])
		} else {
			var r rune
			r, width = utf8.DecodeRuneInString(b.text[b.at:])
			if b.at+width > to { // it is cut in two
				return b.d.accepts(b.text[:to])
			}
			class = b.d.classes.of(r)
		}
		b.table, b.entry = b.d.step(b.table, b.entry, class)
		b.at += width
		b.read++
		b.decided, b.accepted = b.entry&(entryAccepted|entryDead) != 0, b.entry&entryAccepted != 0
	}
	if b.decided {
		return b.accepted
	}
	_, entry := b.d.step(b.table, b.entry, b.d.classes.edge())
	return entry&entryAccepted != 0
}
