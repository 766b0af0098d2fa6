package secrets

import (
	"math"
	"strings"
)

// finding is a match that gitleaks' checks let pass.
type finding struct {
	rule       *rule
	matchStart int // of the match without the line breaks around it
	matchEnd   int
	start      int // of the secret
	end        int
	group      int    // of the expression that captured it, 0 if it is the whole match
	text       string // in which it was found
	hidden     string // the secret, where it does not stand in the text as it is
}

func (f finding) secret() string { return f.text[f.start:f.end] }

// judge decides whether the match text[start:end] of a rule's expression is a
// secret, step by step as gitleaks' detector does for a text without a file name
// or commit, its oddities included, except that "gitleaks:allow" comments count
// for nothing: the text is not ours to trust.
func (r *rule) judge(text string, start, end int, global []*allowlist) (finding, bool) {
	match := strings.TrimLeft(text[start:end], "\n")
	lead := end - start - len(match)
	match = strings.TrimRight(match, "\n")

	// gitleaks looks for the groups in the match alone, without what surrounds it. It
	// nearly always begins where the match does; looking there only is cheaper.
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
	if r.rank == rankExtra { // backslashes behind it escape the quote that it stands in
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

// groups returns the offsets of a match and its groups in the match alone, nil if it is none
// there, once line breaks were cut off at its beginning or end.
func (r *rule) groups(match string) []int {
	if r.parsed().MaxCap() == 0 {
		return nil
	}
	if groups := r.first().FindStringSubmatchIndex(match); groups != nil {
		return groups
	}
	return r.Regex.FindStringSubmatchIndex(match)
}

// entropy is gitleaks' Shannon entropy: of characters, normalised by bytes.
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
