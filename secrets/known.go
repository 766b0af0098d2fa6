package secrets

import (
	"slices"
	"strings"

	"memoir/lazyregexp"
)

const (
	// minRepeated is how long a secret must be, in bytes, for its further occurrences
	// to be taken for the same secret.
	minRepeated = 8
	// longWord is the same for a password of nothing but letters.
	longWord = 16
)

// knownSet remembers secrets and finds their further occurrences: one look at
// every position of a text, however many secrets there are. Growing it is cheap,
// unlike an automaton that would be built anew for each secret. A nil *knownSet is
// empty.
type knownSet struct {
	filter [1 << 7]uint64 // bits by hash of a secret's first eight bytes
	byHead map[uint64][]knownSecret
	count  int // of values, without their encoded forms
}

// knownSecret is a secret and the rule that found it first.
type knownSecret struct {
	value string
	rule  *rule
}

func newKnownSet() *knownSet { return &knownSet{byHead: map[uint64][]knownSecret{}} }

func (k *knownSet) empty() bool { return k == nil || k.count == 0 }

// add remembers a secret, and the forms that encodings give it, if its other
// occurrences can be taken for the same secret.
func (k *knownSet) add(value string, r *rule) {
	if !telling(value, r) || !k.insert(value, r) {
		return
	}
	k.count++
	for form := range disguises(value) {
		k.insert(form, r)
	}
}

// insert reports whether the value is a new one.
func (k *knownSet) insert(value string, r *rule) bool {
	if len(value) < minRepeated {
		return false
	}
	head := headOf(value, 0)
	group := k.byHead[head]
	at, found := slices.BinarySearchFunc(group, value, func(s knownSecret, v string) int {
		if len(s.value) != len(v) {
			return len(v) - len(s.value) // longest first
		}
		return strings.Compare(s.value, v)
	})
	if found {
		return false
	}
	k.byHead[head] = slices.Insert(group, at, knownSecret{value, r})
	h := hashHead(head)
	k.filter[h>>6] |= 1 << (h & 63)
	return true
}

// telling reports whether a secret is unlikely to stand elsewhere as something else.
// Passwords, which only this package's rules look for, can be words: "database" must
// not go from a whole session because it once was a password.
func telling(value string, r *rule) bool {
	switch {
	case len(value) < minRepeated, r.rank == rankGeneric && name.MatchString(value):
		return false
	case r.rank == rankExtra && len(value) < longWord:
		return strings.ContainsFunc(value, notLetter)
	}
	return true
}

// name matches what programs call things: words in camel case, with a number perhaps.
// The generic rule takes some for secrets; one that went from a whole session would
// leave code that nobody can read.
var name = lazyregexp.New(`^_*[A-Z]{0,4}[a-z]{2,}(?:\d{0,4}[A-Z]{1,4}[a-z]{2,})+\d{0,4}$`)

func notLetter(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }

// occurrences returns where the known secrets stand in text.
func (k *knownSet) occurrences(text string) []span {
	if k.empty() {
		return nil
	}
	var spans []span
	for i := 0; i+minRepeated <= len(text); i++ {
		head := headOf(text, i)
		h := hashHead(head)
		if k.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, s := range k.byHead[head] {
			if strings.HasPrefix(text[i:], s.value) {
				spans = append(spans, span{start: i, end: i + len(s.value), rule: s.rule})
				break
			}
		}
	}
	return spans
}

// headOf reads the eight bytes of s from i.
func headOf(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

func hashHead(head uint64) uint64 { return head * 0x9E3779B97F4A7C15 >> 51 }
