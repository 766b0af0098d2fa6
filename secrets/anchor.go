package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// anchor is a position in an expression at which one of a few literals stands. Each path through the expression has
// one of its anchors, so every match is
//
//	before | literal rest
//
// for one of them, and a search only needs to look at literals. Literals are in lower case and match in any case.
// They cover every match that has none of the letters of foldsToASCII.
type anchor struct {
	literals []string
	path     []int     // position of the literal: see parts
	behind   []byteSet // characters that can follow a literal: see the function behind
}

// parts returns the expression before an anchor's literal, and the expression from the literal on. The path has two
// indexes for each alternation that it enters, of the alternation and its branch, and then the index of the literal.
func parts(tree *syntax.Regexp, path []int) (before, from *syntax.Regexp) {
	seq := flatten(tree)
	for ; len(path) > 1; path = path[2:] {
		seq = slices.Concat(seq[:path[0]], flatten(seq[path[0]].Sub[path[1]]), seq[path[0]+1:])
	}
	return concat(seq[:path[0]]), concat(seq[path[0]:])
}

const (
	maxLiterals   = 128 // in one anchor
	maxLiteral    = 64  // bytes in a literal
	maxClassWidth = 4   // characters of a class, or repetitions, that are enumerated
	minLiteral    = 2   // bytes; a shorter literal is too frequent
	goodLiteral   = 4   // bytes; with literals of this length, no alternation is split
	maxSplits     = 2   // nesting of alternations that are split
	longLiteral   = 6   // bytes; from this length on, longer literals must be at most manyLiterals
	manyLiterals  = 12
)

// foldsToASCII reports whether a letter outside ASCII folds to an ASCII letter: the long s and the Kelvin sign. The
// search does not find these letters.
func foldsToASCII(c rune) bool { return c == '\u017f' || c == '\u212a' }

// anchorsOf returns the anchors of an expression, or nil if it has none and can match at any offset.
func anchorsOf(tree *syntax.Regexp) []anchor {
	anchors, _ := locate(flatten(tree), maxSplits)
	for i := range anchors {
		anchors[i].literals = shortened(anchors[i].literals)
		_, from := parts(tree, anchors[i].path)
		anchors[i].behind = behind(from, anchors[i].literals)
	}
	return anchors
}

// shortened removes the literals that begin with another literal, which is found at the same offset.
func shortened(literals []string) []string {
	slices.Sort(literals)
	var kept []string
	for _, l := range literals {
		if n := len(kept); n == 0 || !strings.HasPrefix(l, kept[n-1]) {
			kept = append(kept, l)
		}
	}
	return kept
}

// locate returns the anchors of a concatenation whose shortest literal is longest, and the length of that literal.
func locate(seq []*syntax.Regexp, splits int) (best []anchor, score int) {
	score = minLiteral - 1
	for i := range seq {
		literals := []string{""}
		for j := i; j < len(seq); j++ {
			set, ok := spell(seq[j])
			if ok {
				literals, ok = cross(literals, set)
			}
			if !ok {
				break
			}
			if n := shortest(literals); n > score && (score < longLiteral || len(literals) <= manyLiterals) {
				score = n
				best = []anchor{{literals: literals, path: []int{i}}}
			}
		}
	}
	if score >= goodLiteral || splits == 0 {
		return best, score
	}
	for i, node := range seq {
		if node.Op != syntax.OpAlternate {
			continue
		}
		var all []anchor
		least := maxLiteral
		for which, branch := range node.Sub {
			some, n := locate(slices.Concat(seq[:i], flatten(branch), seq[i+1:]), splits-1)
			if some == nil {
				all = nil
				break
			}
			for _, a := range some {
				all = append(all, anchor{literals: a.literals, path: slices.Concat([]int{i, which}, a.path)})
			}
			least = min(least, n)
		}
		if all != nil && least > score {
			best, score = all, least
		}
	}
	return best, score
}

// flatten returns the parts of a concatenation, without captures, which do not change a match, and with x+ as x x*.
func flatten(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture:
		return flatten(re.Sub[0])
	case syntax.OpConcat:
		var seq []*syntax.Regexp
		for _, sub := range re.Sub {
			seq = append(seq, flatten(sub)...)
		}
		return seq
	case syntax.OpPlus:
		rest := &syntax.Regexp{Op: syntax.OpStar, Flags: re.Flags, Sub: re.Sub}
		return append(flatten(re.Sub[0]), rest)
	}
	return []*syntax.Regexp{re}
}

func concat(seq []*syntax.Regexp) *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: slices.Clone(seq)}
}

// spell returns the strings that an expression matches, or a superset, with ASCII letters in lower case. It reports
// false if they exceed the bounds, or if a letter outside ASCII matches in any case.
func spell(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpLiteral:
		var b strings.Builder
		for _, c := range re.Rune {
			switch {
			case c <= unicode.MaxASCII:
				b.WriteByte(lowerASCII(byte(c)))
			case re.Flags&syntax.FoldCase == 0:
				b.WriteRune(c)
			default:
				return nil, false
			}
		}
		return []string{b.String()}, b.Len() <= maxLiteral
	case syntax.OpCharClass:
		return spellClass(re.Rune)
	case syntax.OpCapture:
		return spell(re.Sub[0])
	case syntax.OpConcat:
		out := []string{""}
		for _, sub := range re.Sub {
			set, ok := spell(sub)
			if ok {
				out, ok = cross(out, set)
			}
			if !ok {
				return nil, false
			}
		}
		return out, true
	case syntax.OpAlternate, syntax.OpQuest:
		var out []string
		if re.Op == syntax.OpQuest {
			out = []string{""}
		}
		for _, sub := range re.Sub {
			set, ok := spell(sub)
			if !ok {
				return nil, false
			}
			out = append(out, set...)
		}
		return distinct(out), len(out) <= maxLiterals
	case syntax.OpRepeat:
		return spellRepeat(re)
	}
	return nil, false
}

func spellRepeat(re *syntax.Regexp) ([]string, bool) {
	if re.Max < 0 || re.Max > maxClassWidth {
		return nil, false
	}
	set, ok := spell(re.Sub[0])
	if !ok {
		return nil, false
	}
	var out []string
	power := []string{""}
	for n := 0; n <= re.Max; n++ {
		if n >= re.Min {
			out = append(out, power...)
		}
		if power, ok = cross(power, set); !ok {
			return nil, false
		}
	}
	return distinct(out), len(out) <= maxLiterals
}

func spellClass(ranges []rune) ([]string, bool) {
	var out []string
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			if foldsToASCII(c) {
				continue
			}
			if c > unicode.MaxASCII {
				return nil, false
			}
			out = append(out, string(lowerASCII(byte(c))))
		}
		if len(out) > 2*maxClassWidth {
			return nil, false
		}
	}
	out = distinct(out)
	return out, len(out) > 0 && len(out) <= maxClassWidth
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// cross returns each string of a followed by each string of b. It reports false beyond the bounds.
func cross(a, b []string) ([]string, bool) {
	if len(a)*len(b) > maxLiterals {
		return nil, false
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxLiteral {
				return nil, false
			}
			out = append(out, x+y)
		}
	}
	return distinct(out), true
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// shortest returns the length of the shortest string of a list.
func shortest(list []string) int {
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// reverse returns the expression for the matches read backwards.
func reverse(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	switch re.Op {
	case syntax.OpLiteral:
		out.Rune = slices.Clone(re.Rune)
		slices.Reverse(out.Rune)
	case syntax.OpBeginLine:
		out.Op = syntax.OpEndLine
	case syntax.OpEndLine:
		out.Op = syntax.OpBeginLine
	case syntax.OpBeginText:
		out.Op = syntax.OpEndText
		out.Flags &^= syntax.WasDollar
	case syntax.OpEndText:
		out.Op = syntax.OpBeginText
	}
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = reverse(sub)
	}
	if re.Op == syntax.OpConcat {
		slices.Reverse(out.Sub)
	}
	return &out
}
