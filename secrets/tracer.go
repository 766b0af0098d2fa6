package secrets

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
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
	ends    [contexts]atomic.Pointer[reach]
	mu      sync.Mutex // held by who adds a state
	key     []byte
	states  map[string]*reach
}

// reach is what can come of a place in a text.
type reach struct {
	reads     set     // the instructions that read the character here and lead to a match
	following context // of that character
	// can holds all instructions that lead to a match from here, by the context of the
	// character before, which assertions look at.
	can  [contexts]atomic.Pointer[set]
	next []atomic.Pointer[reach] // the place before that character, by its class
}

// set is a set of instructions.
type set []uint64

func (s set) has(pc uint32) bool { return s[pc>>6]&(1<<(pc&63)) != 0 }
func (s set) add(pc uint32)      { s[pc>>6] |= 1 << (pc & 63) }

const (
	maxTraced  = 4096    // bytes of a match that is traced; a trail of it is kept
	maxReaches = 1 << 22 // bytes of the sets that a tracer keeps; then all are forgotten
)

// newTracer makes a tracer of an expression. It returns nil for one that can go round
// without reading anything, as (a*)* does: regexp has rules of its own there.
func newTracer(expr string) *tracer {
	prog, err := syntax.Compile(mustParse(expr).Simplify())
	if err != nil {
		panic("secrets: a valid expression does not compile: " + err.Error())
	}
	t := &tracer{prog: prog, classes: newClasses(prog), states: map[string]*reach{}}
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
	if t == nil || end-start > maxTraced {
		return nil, false
	}
	var short [256]*reach
	trail := short[:]
	if end-start >= len(short) {
		trail = make([]*reach, end-start+1)
	}
	at := t.last(t.contextAt(text, end))
	trail[end-start] = at
	for i := end - 1; i >= start; i-- {
		c := text[i]
		if c >= utf8.RuneSelf {
			return nil, false
		}
		class := int(t.classes.ascii[c])
		before := at.next[class].Load()
		if before == nil {
			before = t.derive(at, class)
		}
		at = before
		trail[i-start] = at
	}
	pc, i := uint32(t.prog.Start), start
	can := t.from(at, t.contextAt(text, i-1))
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
			can = t.from(trail[i+1-start], t.classes.contextOf(rune(text[i])))
			i++
			pc = inst.Out
		}
	}
}

// contextAt returns the context of the character that a byte is or belongs to.
func (t *tracer) contextAt(text string, at int) context {
	switch {
	case at < 0 || at >= len(text):
		return atEdge
	case text[at] < utf8.RuneSelf:
		return t.classes.contextOf(rune(text[at]))
	}
	return atOther
}

// last returns the end of a text, after which a character of a context stands.
func (t *tracer) last(following context) *reach {
	if r := t.ends[following].Load(); r != nil {
		return r
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.state(make(set, len(t.prog.Inst)/64+1), following)
	t.ends[following].Store(r)
	return r
}

// derive returns the place before a character of a class, with r behind it.
func (t *tracer) derive(r *reach, class int) *reach {
	context := t.classes.context(class)
	can := t.from(r, context)
	reads := make(set, len(can))
	for _, pc := range t.readers {
		if can.has(t.prog.Inst[pc].Out) && t.classes.matches(pc, class) {
			reads.add(pc)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.state(reads, context)
	r.next[class].Store(before)
	return before
}

// from returns the instructions from which a match can be reached at a place behind a
// character of a context.
func (t *tracer) from(r *reach, previous context) set {
	if can := r.can[previous].Load(); can != nil {
		return *can
	}
	holds := syntax.EmptyOpContext(sampleOf(previous), sampleOf(r.following))
	can := slices.Clone(r.reads)
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
	r.can[previous].Store(&can)
	return can
}

// state returns the one state of a kind, making it if need be, and forgetting all
// others if they are too many.
func (t *tracer) state(reads set, following context) *reach {
	t.key = append(t.key[:0], byte(following))
	for _, word := range reads {
		t.key = binary.LittleEndian.AppendUint64(t.key, word)
	}
	if r := t.states[string(t.key)]; r != nil {
		return r
	}
	if size := 24*len(reads) + 8*t.classes.edge() + 100; len(t.states)*size > maxReaches {
		clear(t.states)
		for i := range t.ends {
			t.ends[i].Store(nil)
		}
	}
	r := &reach{reads: reads, following: following, next: make([]atomic.Pointer[reach], t.classes.edge())}
	t.states[string(t.key)] = r
	return r
}
