package secrets

import (
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// dfa runs an expression from one given position of a text, forwards or backwards,
// and tells the farthest position at which it matches. It is built state by state
// as texts demand, so it costs what is used; a step is then one look-up. Go's
// regexp would need a search of its own for each of the many places where a
// keyword stands and nothing follows. It is safe for concurrent use.
type dfa struct {
	prog    *syntax.Prog
	classes classes
	mu      sync.Mutex
	states  map[string]*state
	starts  [contexts]atomic.Pointer[state]
}

// state is a set of instructions that may come next, before assertions that
// depend on the next character are looked at.
type state struct {
	insts    []uint32
	context  context // of the character just read
	accepted bool    // the expression matched just before that character
	dead     bool    // no instruction is left
	next     []atomic.Pointer[state]
}

// context is as much of a neighbouring character as assertions look at.
type context int

const (
	atEdge context = iota // no character: the text begins or ends here
	atBreak
	atWord
	atOther
	contexts
)

// maxStates bounds what a dfa keeps. When it is reached all states are forgotten and
// made anew as needed; searches under way go on with those that they hold.
const maxStates = 4096

// newDFA compiles an expression; one for reading backwards must be reversed.
func newDFA(tree *syntax.Regexp) *dfa {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		panic("secrets: a part of a valid expression does not compile: " + err.Error())
	}
	return &dfa{prog: prog, classes: newClasses(prog), states: map[string]*state{}}
}

// forward runs from text[at:]. It returns the ends of the shortest and the longest
// match, -1 if there is none, and how many characters it read.
func (d *dfa) forward(text string, at int) (shortest, longest, read int) {
	shortest, longest = -1, -1
	previous := atEdge
	if at > 0 {
		c, _ := utf8.DecodeLastRuneInString(text[:at])
		previous = contextOf(c)
	}
	s := d.start(previous)
	for i := at; i < len(text); read++ {
		class, width := 0, 1
		if c := text[i]; c < utf8.RuneSelf {
			class = int(d.classes.ascii[c])
		} else {
			var r rune
			r, width = utf8.DecodeRuneInString(text[i:])
			class = d.classes.of(r)
		}
		s = d.step(s, class)
		if s.accepted {
			if longest = i; shortest < 0 {
				shortest = i
			}
		}
		if s.dead {
			return shortest, longest, read
		}
		i += width
	}
	if d.step(s, d.classes.edge()).accepted {
		if longest = len(text); shortest < 0 {
			shortest = longest
		}
	}
	return shortest, longest, read
}

// accepts reports whether the expression matches some beginning of text.
func (d *dfa) accepts(text string) bool {
	s := d.start(atEdge)
	for i := 0; i < len(text); {
		c, width := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, width = utf8.DecodeRuneInString(text[i:])
		}
		if s = d.step(s, d.classes.of(c)); s.accepted || s.dead {
			return s.accepted
		}
		i += width
	}
	return d.step(s, d.classes.edge()).accepted
}

// backward runs from text[:at] towards the start of the text and no farther than
// limit. It returns the start of the longest match, -1 if there is none.
func (d *dfa) backward(text string, at, limit int) (start, read int) {
	start = -1
	previous := atEdge
	if at < len(text) {
		c, _ := utf8.DecodeRuneInString(text[at:])
		previous = contextOf(c)
	}
	s := d.start(previous)
	for i := at; i > 0; read++ {
		class, width := 0, 1
		if c := text[i-1]; c < utf8.RuneSelf {
			class = int(d.classes.ascii[c])
		} else {
			var r rune
			r, width = utf8.DecodeLastRuneInString(text[:i])
			class = d.classes.of(r)
		}
		s = d.step(s, class)
		if s.accepted {
			start = i
		}
		if i -= width; s.dead || i < limit {
			return start, read
		}
	}
	if d.step(s, d.classes.edge()).accepted {
		start = 0
	}
	return start, read
}

func (d *dfa) start(previous context) *state {
	if s := d.starts[previous].Load(); s != nil {
		return s
	}
	s := d.state([]uint32{uint32(d.prog.Start)}, previous, false)
	d.starts[previous].Store(s)
	return s
}

func (d *dfa) step(s *state, class int) *state {
	if n := s.next[class].Load(); n != nil {
		return n
	}
	n := d.derive(s, class)
	s.next[class].Store(n)
	return n
}

// derive computes the state after s and a character of a class.
func (d *dfa) derive(s *state, class int) *state {
	c := d.classes.sample(class)
	following := atEdge
	if c >= 0 {
		following = contextOf(c)
	}
	holds := syntax.EmptyOpContext(sampleOf(s.context), sampleOf(following))
	reached, accepted := d.closure(s.insts, holds)
	var next []uint32
	for _, pc := range reached {
		inst := &d.prog.Inst[pc]
		if c >= 0 && inst.MatchRune(c) && !slices.Contains(next, inst.Out) {
			next = append(next, inst.Out)
		}
	}
	slices.Sort(next)
	return d.state(next, following, accepted)
}

// closure follows the instructions that read nothing; it returns those that read
// a character, and whether the expression has matched.
func (d *dfa) closure(insts []uint32, holds syntax.EmptyOp) (reached []uint32, accepted bool) {
	seen := make(map[uint32]bool, 2*len(insts))
	stack := slices.Clone(insts)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		inst := &d.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^holds == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstMatch:
			accepted = true
		case syntax.InstFail:
		default:
			reached = append(reached, pc)
		}
	}
	return reached, accepted
}

// state returns the one state of a kind, making it if need be.
func (d *dfa) state(insts []uint32, context context, accepted bool) *state {
	key := make([]byte, 1, 1+4*len(insts))
	key[0] = byte(context) << 1
	if accepted {
		key[0]++
	}
	for _, pc := range insts {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.states[string(key)]; ok {
		return s
	}
	if len(d.states) == maxStates {
		clear(d.states)
		for i := range d.starts {
			d.starts[i].Store(nil)
		}
	}
	s := &state{
		insts: insts, context: context, accepted: accepted, dead: len(insts) == 0,
		next: make([]atomic.Pointer[state], d.classes.edge()+1),
	}
	d.states[string(key)] = s
	return s
}

func contextOf(c rune) context {
	switch {
	case c == '\n':
		return atBreak
	case syntax.IsWordChar(c):
		return atWord
	}
	return atOther
}

func sampleOf(c context) rune {
	return [contexts]rune{atEdge: -1, atBreak: '\n', atWord: 'a', atOther: ' '}[c]
}

// classes divides all characters into those that a program cannot tell apart.
type classes struct {
	firsts []rune // the first character of each class, ascending
	ascii  [utf8.RuneSelf]uint16
}

func newClasses(prog *syntax.Prog) classes {
	firsts := []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	split := func(from, to rune) { firsts = append(firsts, from, to+1) }
	for _, inst := range prog.Inst {
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(inst.Rune) == 1 {
				c := inst.Rune[0]
				split(c, c)
				if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
					for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
						split(f, f)
					}
				}
				continue
			}
			for i := 0; i+1 < len(inst.Rune); i += 2 {
				split(inst.Rune[i], inst.Rune[i+1])
			}
		}
	}
	slices.Sort(firsts)
	c := classes{firsts: slices.Compact(firsts)}
	for i := range c.ascii {
		c.ascii[i] = uint16(c.search(rune(i)))
	}
	return c
}

// of returns the class of a character.
func (c *classes) of(r rune) int {
	if r < utf8.RuneSelf {
		return int(c.ascii[r])
	}
	return c.search(r)
}

func (c *classes) search(r rune) int {
	at, found := slices.BinarySearch(c.firsts, r)
	if found {
		return at
	}
	return at - 1
}

// edge is the class of what stands where the text has ended.
func (c *classes) edge() int { return len(c.firsts) }

// sample returns a character of a class, -1 for the edge.
func (c *classes) sample(class int) rune {
	if class == c.edge() {
		return -1
	}
	return c.firsts[class]
}
