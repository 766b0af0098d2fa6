package secrets

import "strings"

// Rules for the value after a name ignore values of letters, which mostly are words and identifiers. But one in six
// random passwords of ten letters and digits has no digit. scrambled detects these by their pairs of letters and
// their changes between upper and lower case.

const (
	minScrambled = 8    // letters
	minChanges   = 3    // from upper to lower case or back
	scrambledBy  = 3.7  // the mean of -ln P(letter | the letter before) above which a long value is random
	shortValues  = 8.0  // divided by the number of letters: the mean of few letters varies more
	changeCost   = 3.6  // added to the mean for one change per letter
	freeChanges  = 0.15 // changes per letter in identifiers
	pairScale    = 7    // of the numbers in letterPairs
)

// letterPairs is the cost of each pair of letters, -7 ln P(second | first), as a character of pairAlphabet. P is
// from the 96,084 different words and identifiers of Go's standard library.
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

// scrambled reports whether a value has only random letters, with dashes and underscores between them and at most
// two digits at its end.
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

// asRandom returns a scrambled value with a digit in place of a letter, so that the allowlists for words of letters
// do not match it.
func asRandom(value string) string {
	half := len(value) / 2
	if at := strings.IndexFunc(value[half:], func(c rune) bool { return !notLetter(c) }); at >= 0 {
		half += at
	}
	return value[:half] + "7" + value[half+1:]
}
