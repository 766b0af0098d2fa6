package secrets

import "strings"

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
