package secrets

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// neighbour is the property of a neighbouring character on which assertions depend.
type neighbour int

const (
	atEdge neighbour = iota // no character: the start or the end of the text
	atBreak
	atWord
	atOther
	contexts
)

func sampleOf(c neighbour) rune {
	return [contexts]rune{atEdge: -1, atBreak: '\n', atWord: 'a', atOther: ' '}[c]
}

// classes groups the characters that a program cannot distinguish: the same instructions read them, and its
// assertions treat them the same.
type classes struct {
	firsts   []rune   // first character of each range, ascending
	class    []uint16 // by range
	ascii    [utf8.RuneSelf]uint16
	contexts []neighbour // by class
	words    bool        // the program has word boundaries
	breaks   bool        // the program has line boundaries
	set      []uint16    // by instruction: the set of characters that it reads
	kinds    []string    // by class: 1 for each set with its characters, and the context
}

func newClasses(prog *syntax.Prog) classes {
	c := classes{set: make([]uint16, len(prog.Inst))}
	var sets []*syntax.Inst // one instruction of each set
	known := map[string]uint16{}
	firsts := make([]rune, 1, 128)
	var key []byte
	split := func(from, to rune) { firsts = append(firsts, from, to+1) }
	for pc := range prog.Inst {
		inst := &prog.Inst[pc]
		switch inst.Op {
		case syntax.InstEmptyWidth:
			op := syntax.EmptyOp(inst.Arg)
			c.words = c.words || op&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
			c.breaks = c.breaks || op&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			key = append(key[:0], byte(inst.Op), byte(inst.Arg))
			for _, r := range inst.Rune {
				key = utf8.AppendRune(key, r)
			}
			n, ok := known[string(key)]
			if !ok {
				n = uint16(len(sets))
				known[string(key)] = n
				sets = append(sets, inst)
				splitInst(inst, split)
			}
			c.set[pc] = n
		}
	}
	if c.words {
		firsts = append(firsts, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	if c.breaks {
		firsts = append(firsts, '\n', '\n'+1)
	}
	slices.Sort(firsts)
	c.firsts = slices.Compact(firsts)
	c.sort(sets)
	at := 0
	for i := range c.ascii {
		for at+1 < len(c.firsts) && c.firsts[at+1] <= rune(i) {
			at++
		}
		c.ascii[i] = c.class[at]
	}
	return c
}

// sort assigns the ranges in the same sets of characters to one class.
func (c *classes) sort(sets []*syntax.Inst) {
	c.class = make([]uint16, 0, len(c.firsts))
	byKind := map[string]uint16{}
	kind := make([]byte, len(sets)+1)
	for _, r := range c.firsts {
		for n, inst := range sets {
			kind[n] = 0
			if inst.MatchRune(r) {
				kind[n] = 1
			}
		}
		kind[len(sets)] = byte(c.contextOf(r))
		class, ok := byKind[string(kind)]
		if !ok {
			class = uint16(len(byKind))
			c.kinds = append(c.kinds, string(kind))
			byKind[c.kinds[class]] = class
			c.contexts = append(c.contexts, c.contextOf(r))
		}
		c.class = append(c.class, class)
	}
}

// splitInst splits the characters at the bounds of an instruction's set.
func splitInst(inst *syntax.Inst, split func(from, to rune)) {
	switch {
	case inst.Op == syntax.InstRuneAnyNotNL:
		split('\n', '\n')
	case inst.Op == syntax.InstRuneAny:
	case len(inst.Rune) == 1:
		c := inst.Rune[0]
		split(c, c)
		if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				split(f, f)
			}
		}
	default:
		for i := 0; i+1 < len(inst.Rune); i += 2 {
			split(inst.Rune[i], inst.Rune[i+1])
		}
	}
}

// contextOf returns the context of a character, as far as the program depends on it.
func (c *classes) contextOf(r rune) neighbour {
	switch {
	case r == '\n' && c.breaks:
		return atBreak
	case c.words && syntax.IsWordChar(r):
		return atWord
	}
	return atOther
}

// of returns the class of a character outside ASCII; ascii has those of the others.
func (c *classes) of(r rune) int {
	at, found := slices.BinarySearch(c.firsts, r)
	if !found {
		at--
	}
	return int(c.class[at])
}

// edge returns the class of the end of the text.
func (c *classes) edge() int { return len(c.contexts) }

// neighbour returns the context of the characters of a class.
func (c *classes) neighbour(class int) neighbour {
	if class == c.edge() {
		return atEdge
	}
	return c.contexts[class]
}

// matches reports whether an instruction reads the characters of a class.
func (c *classes) matches(pc uint32, class int) bool { return c.kinds[class][c.set[pc]] == 1 }
