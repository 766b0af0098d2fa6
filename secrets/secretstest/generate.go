package secretstest

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"unicode"
)

// most bounds the repetitions of a part above its minimum.
const most = 24

// Generate returns a random string that matches an expression, except for its assertions.
func Generate(re *syntax.Regexp, random *rand.Rand) string { return generate(re, random, false) }

// generate is Generate. A plain string has letters and digits in all places that allow them.
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

// pick returns a random character of a class, a printable ASCII character if the class has one.
func pick(ranges []rune, random *rand.Rand, plain bool) rune {
	var all, alphanumeric []rune
	for i := 0; i < len(ranges); i += 2 {
		for c := max(ranges[i], ' '); c <= min(ranges[i+1], '~'); c++ {
			all = append(all, c)
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				alphanumeric = append(alphanumeric, c)
			}
		}
	}
	if plain && len(alphanumeric) > 0 {
		all = alphanumeric
	}
	if len(all) == 0 {
		return ranges[0]
	}
	return all[random.IntN(len(all))]
}
