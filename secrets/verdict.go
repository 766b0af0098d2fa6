package secrets

import (
	"math"
	"strings"
)

// finding is a match that passed gitleaks' checks.
type finding struct {
	rule       *rule
	matchStart int // of the match, without line breaks at its ends
	matchEnd   int
	start      int // of the secret
	end        int
	group      int    // index of the group with the secret, 0 if it is the whole match
	hidden     string // the secret, if the text has it in another form
}

// judge decides whether the match text[start:end] of a rule's expression is a secret. It follows gitleaks' detector
// for a text without a file name or commit, including its quirks. But it ignores "gitleaks:allow" comments, since
// the text is not trusted.
func (r *rule) judge(text string, start, end int, global []*allowlist) (finding, bool) {
	match := strings.TrimLeft(text[start:end], "\n")
	lead := end - start - len(match)
	match = strings.TrimRight(match, "\n")

	// gitleaks matches the expression again, in the match alone. That match nearly always begins at 0, so groups
	// first tries only there.
	secretStart, secretEnd, group := 0, len(match), 0
	if groups := r.groups(match); len(groups) >= 4 {
		if r.SecretGroup > 0 {
			group = r.SecretGroup
			secretStart, secretEnd = groups[2*group], groups[2*group+1]
			if secretStart < 0 {
				secretStart, secretEnd = 0, 0
			}
		} else {
			for g := 2; g < len(groups); g += 2 {
				if groups[g] >= 0 && groups[g+1] > groups[g] {
					secretStart, secretEnd, group = groups[g], groups[g+1], g/2
					break
				}
			}
		}
	}
	secret := match[secretStart:secretEnd]
	if r.rank == rankExtra { // trailing backslashes escape the quote after the secret
		secret = strings.TrimRight(secret, `\`)
		if at := start + lead + secretStart; breaksOff(text, at, at+len(secret)) {
			return finding{}, false
		}
	}
	if r.Entropy != 0 && entropy(secret) <= r.Entropy {
		return finding{}, false
	}
	at := allowTarget{text: text, start: start, end: start + len(match), match: match, secret: secret}
	if r.rank == rankExtra && scrambled(secret) {
		at.secret = asRandom(secret)
	}
	if at.allowed(global) || at.allowed(r.allow) {
		return finding{}, false
	}
	return finding{
		rule:       r,
		matchStart: start + lead,
		matchEnd:   start + lead + len(match),
		start:      start + lead + secretStart,
		end:        start + lead + secretEnd,
		group:      group,
	}, true
}

// groups returns the offsets of the groups in the match alone. It returns nil without groups, or if the expression
// requires the line breaks that were cut off.
func (r *rule) groups(match string) []int {
	if r.parsed().MaxCap() == 0 {
		return nil
	}
	if groups := r.first().FindStringSubmatchIndex(match); groups != nil {
		return groups
	}
	return r.Regex.FindStringSubmatchIndex(match)
}

// entropy returns gitleaks' Shannon entropy: counted by character, normalised by bytes.
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var ascii [128]int
	var other map[rune]int
	for _, c := range s {
		if c < 128 {
			ascii[c]++
			continue
		}
		if other == nil {
			other = map[rune]int{}
		}
		other[c]++
	}
	bits, inverse := 0.0, 1/float64(len(s))
	for _, n := range ascii {
		if n > 0 {
			f := float64(n) * inverse
			bits -= f * math.Log2(f)
		}
	}
	for _, n := range other {
		f := float64(n) * inverse
		bits -= f * math.Log2(f)
	}
	return bits
}

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
