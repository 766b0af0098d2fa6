package secrets

import (
	"regexp/syntax"
	"unicode/utf8"
)

// maxBehind bounds the characters behind an anchor's literal that are looked at before its
// automata are: most places where a literal stands are told apart by these, and automata
// that no place needs are not built.
const maxBehind = 3

// byteSet is a set of characters of ASCII.
type byteSet [2]uint64

func (s byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// meets reports whether two sets have a character in common.
func (s byteSet) meets(other byteSet) bool { return s[0]&other[0] != 0 || s[1]&other[1] != 0 }

// behind tells which characters of ASCII may stand first, second and so on behind an
// anchor's literals. It knows no more of them than that every match has one there: a place
// without one is none. The expression begins with the literal.
func behind(from *syntax.Regexp, literals []string) []byteSet {
	prog, err := syntax.Compile(from.Simplify())
	if err != nil {
		return nil
	}
	sets := make([]byteSet, maxBehind)
	for _, literal := range literals {
		at := []uint32{uint32(prog.Start)}
		for _, c := range literal {
			at, _ = read(prog, at, func(inst *syntax.Inst) bool { return readsFolded(inst, c) })
		}
		for n := range sets {
			var ends bool
			at, ends = read(prog, at, func(inst *syntax.Inst) bool {
				for c := range rune(utf8.RuneSelf) {
					if inst.MatchRune(c) {
						sets[n][c>>6] |= 1 << (c & 63)
					}
				}
				return true
			})
			if ends {
				sets = sets[:n]
				break
			}
		}
	}
	if len(sets) == 0 {
		return nil
	}
	return sets
}

// readsFolded reports whether an instruction reads a character of a literal in some case.
func readsFolded(inst *syntax.Inst, c rune) bool {
	if inst.MatchRune(c) || c >= 'a' && c <= 'z' && inst.MatchRune(c+'A'-'a') {
		return true
	}
	for _, hazard := range foldHazards {
		odd, _ := utf8.DecodeRuneInString(hazard)
		if foldsTo(odd) == byte(c) && c < utf8.RuneSelf && inst.MatchRune(odd) {
			return true
		}
	}
	return false
}

// read returns where a program is once the instructions that are wanted have read a
// character, whatever its assertions say, and whether it may have matched before.
func read(prog *syntax.Prog, from []uint32, wanted func(*syntax.Inst) bool) (to []uint32, matched bool) {
	var c closure
	reached, matched := c.of(prog, from, ^syntax.EmptyOp(0))
	known := map[uint32]bool{}
	for _, pc := range reached {
		inst := &prog.Inst[pc]
		if wanted(inst) && !known[inst.Out] {
			known[inst.Out] = true
			to = append(to, inst.Out)
		}
	}
	return to, matched
}

// stands reports whether what stands from an offset on, behind a literal, may be behind it
// in a match.
func (a *anchor) stands(text string, at int) bool {
	for n, set := range a.behind {
		if at+n >= len(text) || text[at+n] >= utf8.RuneSelf {
			return true
		}
		if !set.has(text[at+n]) {
			return false
		}
	}
	return true
}
