package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// shape tells where the one group of an expression stands in a match, from what the match
// begins and ends with. Most rules have one: a name or nothing, the secret, and what is no
// part of it. A tracer would have to be made for them, and read each character twice.
//
// Two of three things tell it: how many characters stand before it, how many it has, and that
// what stands behind it is made of others. If it is also made of others than what stands
// before it, no number is needed.
type shape struct {
	none    bool // there is no group
	known   bool // the other fields tell the group
	group   byteSet
	before  int  // characters before the group, -1 if that differs
	width   int  // characters of the group, -1 if that differs
	apart   bool // what stands behind the group has none of its characters
	missing bool // what stands behind the group may be missing where the text ends
	starts  bool // the match begins at the boundary of a word
	ends    bool // it ends at one, or a boundary is within the group
	marked  bool // the boundary is one of several things that may stand there: see tokenHead
}

// shapeOf looks for the shape of an expression.
func shapeOf(tree *syntax.Regexp) shape {
	seq := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		seq = tree.Sub
	}
	at := slices.IndexFunc(seq, func(re *syntax.Regexp) bool { return re.Op == syntax.OpCapture })
	if tree.MaxCap() == 0 {
		return shape{none: true}
	}
	if at < 0 || tree.MaxCap() != 1 || has(tree, syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpBeginText) {
		return shape{}
	}
	head, group, tail := concat(seq[:at]), seq[at], concat(seq[at+1:])
	s := shape{
		group: charsOf(group), before: -1, width: -1,
		missing: mayMiss(tail), starts: has(head, syntax.OpWordBoundary),
		ends: has(group, syntax.OpWordBoundary) || has(tail, syntax.OpWordBoundary),
		marked: slices.ContainsFunc(seq[:at], func(re *syntax.Regexp) bool {
			return re.Op != syntax.OpWordBoundary && has(re, syntax.OpWordBoundary)
		}),
	}
	if least, most := widthOf(group); least == most {
		s.width = least
	} else if least == 0 {
		return shape{}
	}
	if least, most := widthOf(head); least == most {
		s.before = least
	} else if at == 1 && isTokenHead(seq[0]) {
		s.before = 0 // as long as the match does not begin with what may stand for the boundary
	}
	s.apart = !s.group.meets(charsOf(tail))
	s.known = s.width > 0 && (s.before >= 0 || s.apart) || s.apart && (s.before >= 0 || !s.group.meets(charsOf(head)))
	return s
}

// isTokenHead reports whether an expression is what tokens begin behind.
func isTokenHead(re *syntax.Regexp) bool {
	head := strings.TrimSuffix(tokenHead, "(")
	return re.Equal(mustParse(head)) || re.Equal(mustParse("(?i)"+head))
}

// groups returns the offsets of a match, of which nothing was cut off at its beginning, and
// of its group. It reports false if it cannot tell them.
func (s *shape) groups(match string, cut bool) (found [4]int, ok bool) {
	if !s.known || match == "" || cut && !s.missing || !isASCII(match) {
		return found, false
	}
	first, last := match[0], match[len(match)-1]
	if s.starts && !wordChar(first) || s.ends && !wordChar(last) || s.marked && (first == '_' || first == '%') {
		return found, false
	}
	start, end := s.bounds(match)
	if start < 0 || start >= end {
		return found, false
	}
	return [4]int{0, len(match), start, end}, true
}

// bounds returns where the group of a match begins and ends; start may be negative.
func (s *shape) bounds(match string) (start, end int) {
	end = len(match)
	for s.apart && end > 0 && !s.group.has(match[end-1]) {
		end--
	}
	start = s.before
	switch {
	case s.before >= 0 && s.width > 0:
		end = min(end, start+s.width)
	case s.before >= 0:
	case s.width > 0:
		start = end - s.width
	default:
		for start = end; start > 0 && s.group.has(match[start-1]); {
			start--
		}
	}
	return start, end
}

// has reports whether an expression has a part of some kinds.
func has(re *syntax.Regexp, ops ...syntax.Op) bool {
	return slices.Contains(ops, re.Op) ||
		slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return has(sub, ops...) })
}

// charsOf returns the characters of ASCII that an expression reads.
func charsOf(re *syntax.Regexp) (set byteSet) {
	for c := range rune(utf8.RuneSelf) {
		if reads(re, c) {
			set[c>>6] |= 1 << (c & 63)
		}
	}
	return set
}

// reads reports whether an expression reads a character of ASCII somewhere.
func reads(re *syntax.Regexp, c rune) bool {
	switch re.Op {
	case syntax.OpLiteral:
		folded := re.Flags&syntax.FoldCase != 0
		return slices.ContainsFunc(re.Rune, func(r rune) bool {
			return r == c || folded && r < utf8.RuneSelf && lowerASCII(byte(r)) == lowerASCII(byte(c))
		})
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= c && c <= re.Rune[i+1] {
				return true
			}
		}
		return false
	case syntax.OpAnyChar:
		return true
	case syntax.OpAnyCharNotNL:
		return c != '\n'
	}
	return slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return reads(sub, c) })
}

// endless is the width of what has no bound.
const endless = 1 << 20

// widthOf returns how many characters an expression reads at least and at most.
func widthOf(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return widthOf(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			a, b := widthOf(sub)
			least, most = least+a, min(endless, most+b)
		}
	case syntax.OpAlternate:
		least = endless
		for _, sub := range re.Sub {
			a, b := widthOf(sub)
			least, most = min(least, a), max(most, b)
		}
	case syntax.OpStar:
		return 0, endless
	case syntax.OpPlus:
		least, _ = widthOf(re.Sub[0])
		return least, endless
	case syntax.OpQuest:
		_, most = widthOf(re.Sub[0])
		return 0, most
	case syntax.OpRepeat:
		least, most = widthOf(re.Sub[0])
		if re.Max < 0 {
			return least * re.Min, endless
		}
		return least * re.Min, min(endless, most*re.Max)
	}
	return least, most
}

// mayMiss reports whether an expression matches nothing where a text ends.
func mayMiss(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !mayMiss(sub) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, mayMiss)
	case syntax.OpRepeat:
		return re.Min == 0 || mayMiss(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return mayMiss(re.Sub[0])
	}
	return false
}

// Rules for what stands behind a name leave values of letters alone, which are words and
// identifiers as a rule. One in six of the random passwords of ten characters has no digit,
// either. scrambled tells those by what letters follow one another, and by how often
// capitals and small letters do.

const (
	minScrambled = 8    // letters
	minChanges   = 3    // from a capital to a small letter or back
	scrambledBy  = 3.7  // the mean of -ln P(letter | the one before it), from which a long value is no word
	shortValues  = 8.0  // letters divide it: the mean of few differs more
	changeCost   = 3.6  // what a change in each place would add to it
	freeChanges  = 0.15 // changes a letter that identifiers have
	pairScale    = 7    // of a character of letterPairs
)

// letterPairs has for each pair of letters how rare the second is behind the first in the
// words and identifiers of Go's standard library (96,084 different ones): -7 ln P, in the
// alphabet below.
const letterPairs = "" +
	"bNJHbUNiQlVFKHkNpFIETNZRXlGSQXHVYdGOiCWaJVcJKVFWUgLdFXOVGWRHPsHKPXDUgMNHQTegYo" +
	"KROHASVXFchNSTLPYLKROTRWUfKUJIQPQaUneMNGWPUDGIZRSKXjJYPSKIadBqfIPSFSmJKMKcYcVk" +
	"OVLTASUNIrhNSJFSgIHNQYahghATURAWZWGtcSRWGUjMOMNZWhXfRVKLPONkfoiJL9IQjPIGmQjUxO" +
	"HWPOARXgNmWWQPFUgXDWGYdXemITPR8RLTHjeRPOQNfPGQNbVeagHVULBTVXDuYHbYEVfUNNOWWcPh" +
	"BPVSCWcdIvcTOXGFmWLQLYdfdsIYIFFOGbLjSSUSKUhXIDQSbpbkRRHJbOThTpTLLDOJwEMMKNPcls" +
	"DaPRDWWSNyPKTZHNjDKJOfcfYrVTMOZXYXUnkSRWaKSKMV4MWcnVGXPQATRcGtTROSGViLJKRUafQo" +
	"NVLUDWWLGtTPSYOMZSJBLbTdNiGWOTCTaLFqdRSXKQgFJOQYXZLeQJQTJOSbLzlHJCYJeJHHnaaVta" +
	"DTMQAMUVJzgRJTSMWRISTRPUwfESPSGOXPEqgRRLHQfEJSQWZapbNOKOKQYXMpkQTWOEaQIBUGSOYg" +
	"RSNSOTYYNnfRFIS9jRFHUYVgdWLTRS4VbSKmsWbdNgpWUWWTTRVM"

const pairAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var pairCost = func() (cost [26 * 26]float64) {
	for i := range cost {
		cost[i] = float64(strings.IndexByte(pairAlphabet, letterPairs[i])) / pairScale
	}
	return cost
}()

// scrambled reports whether a value is of random letters: with at most two digits at its
// end, and with dashes and underscores between them.
func scrambled(value string) bool {
	value = strings.Trim(value, "\"'`")
	if digits := len(value) - len(strings.TrimRight(value, "0123456789")); digits <= 2 {
		value = value[:len(value)-digits]
	}
	letters, changes := 0, 0
	cost := 0.0
	var last byte
	for i := range len(value) {
		c := value[i]
		small := c | 0x20
		switch {
		case small >= 'a' && small <= 'z':
			if letters > 0 {
				cost += pairCost[int(last|0x20-'a')*26+int(small-'a')]
				if (last^c)&0x20 != 0 {
					changes++
				}
			}
			letters++
			last = c
		case c != '-' && c != '_':
			return false
		}
	}
	if letters < minScrambled || changes < minChanges {
		return false
	}
	n := float64(letters)
	return cost/(n-1)+changeCost*max(0, float64(changes)/n-freeChanges) > scrambledBy+shortValues/n
}

// asRandom is a scrambled value as lists of words see it: with a digit in the place of a
// letter, since what they say of letters alone is said of words.
func asRandom(value string) string {
	half := len(value) / 2
	if at := strings.IndexFunc(value[half:], func(c rune) bool { return !notLetter(c) }); at >= 0 {
		half += at
	}
	return value[:half] + "7" + value[half+1:]
}
