package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// An anchor is a place in an expression at which one of a few literals stands. The
// anchors of an expression together lie on all its paths, so every match is
//
//	before | literal rest
//
// for one of them, and a search needs to look only where a literal stands. Literals
// are in lower case and are looked for without regard to case. They cover at least
// what the expression accepts without the letters outside of ASCII that fold to ASCII.
type anchor struct {
	literals []string
	path     []int     // how to come to it: see parts
	behind   []byteSet // what may stand behind a literal: see behind
}

// parts returns what stands before an anchor's literal, and the literal, exactly, with
// what follows it. The path has the place of an alternation and of one of its branches,
// as often as branches are entered, and then the place of the literal.
func parts(tree *syntax.Regexp, path []int) (before, from *syntax.Regexp) {
	seq := flatten(tree)
	for ; len(path) > 1; path = path[2:] {
		seq = slices.Concat(seq[:path[0]], flatten(seq[path[0]].Sub[path[1]]), seq[path[0]+1:])
	}
	return concat(seq[:path[0]]), concat(seq[path[0]:])
}

const (
	maxLiterals   = 128 // in one anchor
	maxLiteral    = 64  // bytes of a literal
	maxClassWidth = 4   // letters of a character class that is spelled out
	minLiteral    = 2   // bytes; a shorter literal stands everywhere
	goodLiteral   = 4   // bytes; from here on, splitting an alternation gains nothing
	maxSplits     = 2   // of alternations in alternations
	longLiteral   = 6   // bytes; from here on, more of them are not worth more than so many literals
	manyLiterals  = 12
)

// foldsToASCII reports whether a letter that is not of ASCII equals one without regard to case: the
// long s and the Kelvin sign. They are looked for in no text.
func foldsToASCII(c rune) bool { return c == '\u017f' || c == '\u212a' }

// anchorsOf finds anchors for an expression; nil means that it has none, and can
// match anywhere.
func anchorsOf(tree *syntax.Regexp) []anchor {
	anchors, _ := locate(flatten(tree), maxSplits)
	for i := range anchors {
		anchors[i].literals = shortened(anchors[i].literals)
		_, from := parts(tree, anchors[i].path)
		anchors[i].behind = behind(from, anchors[i].literals)
	}
	return anchors
}

// shortened drops the literals that begin with another of the same anchor: where they
// stand, that one stands too.
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

// locate finds the best anchors of a concatenation, those whose shortest literal is
// longest, and that literal's length.
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

// flatten lists the parts of a concatenation, without captures, which do not change
// what is matched, and with x+ as x x*.
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

// spell lists the strings that an expression matches, their ASCII letters in lower case,
// or a superset of them, if they are few and no case of other letters is disregarded.
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
		return spellSequence(re.Sub)
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

func spellSequence(seq []*syntax.Regexp) ([]string, bool) {
	out, ok := []string{""}, true
	for _, sub := range seq {
		set, known := spell(sub)
		if !known {
			return nil, false
		}
		if out, ok = cross(out, set); !ok {
			return nil, false
		}
	}
	return out, true
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

// cross appends every string of b to every one of a.
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
	seen := map[string]bool{}
	out := list[:0:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func shortest(list []string) int {
	n := maxLiteral
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}

// reverse turns an expression into the one for its matches read backwards.
func reverse(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	switch re.Op {
	case syntax.OpLiteral:
		out.Rune = make([]rune, len(re.Rune))
		for i, c := range re.Rune {
			out.Rune[len(re.Rune)-1-i] = c
		}
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
		if re.Op == syntax.OpConcat {
			out.Sub[len(re.Sub)-1-i] = reverse(sub)
		} else {
			out.Sub[i] = reverse(sub)
		}
	}
	return &out
}
