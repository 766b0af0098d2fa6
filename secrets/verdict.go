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
	text       string // to which the offsets refer
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
		text:       text,
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
