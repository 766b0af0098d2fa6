package secretstest

import (
	"iter"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// most is how often a part is repeated, beyond what it must be, where its expression
// names no bound.
const most = 24

// Generate makes a random string that an expression matches, assertions aside.
func Generate(re *syntax.Regexp, random *rand.Rand) string { return generate(re, random, false) }

// generate is Generate. A plain string has letters and digits wherever it may.
func generate(re *syntax.Regexp, random *rand.Rand, plain bool) string {
	var b strings.Builder
	var write func(re *syntax.Regexp)
	times := func(re *syntax.Regexp, least, bound int) {
		if bound < 0 || bound > least+most {
			bound = least + most
		}
		for range least + random.IntN(bound-least+1) {
			write(re)
		}
	}
	write = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			b.WriteString(string(re.Rune))
		case syntax.OpCharClass:
			b.WriteRune(pick(re.Rune, random, plain))
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			b.WriteRune(pick([]rune{' ', '~'}, random, plain))
		case syntax.OpCapture, syntax.OpConcat:
			for _, sub := range re.Sub {
				write(sub)
			}
		case syntax.OpAlternate:
			write(re.Sub[random.IntN(len(re.Sub))])
		case syntax.OpStar:
			times(re.Sub[0], 0, 8)
		case syntax.OpPlus:
			times(re.Sub[0], 1, most)
		case syntax.OpQuest:
			times(re.Sub[0], 0, 1)
		case syntax.OpRepeat:
			times(re.Sub[0], re.Min, re.Max)
		}
	}
	write(re)
	return b.String()
}

// alphanumeric are the ranges of letters and digits, in order.
var alphanumeric = [][2]rune{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}

// printable is the range of printable characters in ASCII.
var printable = [][2]rune{{' ', '~'}}

// pick chooses a character of a class, in ASCII if it has any.
func pick(ranges []rune, random *rand.Rand, plain bool) rune {
	among := printable
	if plain && count(ranges, alphanumeric) > 0 {
		among = alphanumeric
	}
	n := count(ranges, among)
	if n == 0 {
		return ranges[0]
	}
	n = random.IntN(n)
	for c := range common(ranges, among) {
		if size := int(c[1]-c[0]) + 1; n >= size {
			n -= size
			continue
		}
		return c[0] + rune(n)
	}
	return ranges[0]
}

// common are the ranges that a class has in common with others.
func common(ranges []rune, among [][2]rune) iter.Seq[[2]rune] {
	return func(yield func([2]rune) bool) {
		for i := 0; i < len(ranges); i += 2 {
			for _, a := range among {
				if from, to := max(ranges[i], a[0]), min(ranges[i+1], a[1]); from <= to && !yield([2]rune{from, to}) {
					return
				}
			}
		}
	}
}

func count(ranges []rune, among [][2]rune) (n int) {
	for c := range common(ranges, among) {
		n += int(c[1]-c[0]) + 1
	}
	return n
}
