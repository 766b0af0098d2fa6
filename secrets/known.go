package secrets

import (
	"strings"

	"memoir/internal/lazyregexp"
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
	plain, stripped headIndex // what stands in a text, and in a stripped one
	count           int       // of values, without their encoded forms
}

// headIndex finds values by their first eight bytes.
type headIndex struct {
	filter [1 << 7]uint64 // bits by hash of them
	byHead map[uint64]alike
}

func newKnownSet() *knownSet {
	return &knownSet{plain: headIndex{byHead: map[uint64]alike{}}, stripped: headIndex{byHead: map[uint64]alike{}}}
}

func (k *knownSet) empty() bool { return k.size() == 0 }

func (k *knownSet) size() int {
	if k == nil {
		return 0
	}
	return k.count
}

// minLine is how long a line of a secret of several lines must be, in bytes, to be one of
// its own: of a key each line is.
const minLine = 40

// maxDisguised is of how many secrets the disguises are remembered, which take ten times the
// memory that they do themselves: of a table with a token in each row they would fill it.
// Those of later secrets are found where base64 is that of text, but not in hexadecimal or
// inside of other base64. A session has some, and not thousands.
const maxDisguised = 1 << 15

// add remembers a secret, and the forms that encodings give it, if its other
// occurrences can be taken for the same secret.
func (k *knownSet) add(value string, r *rule) {
	if !telling(value, r) || !k.plain.insert(value, r) {
		return
	}
	k.count++
	bare, _ := strip(value)
	k.stripped.insert(bare.text, r)
	if k.count <= maxDisguised {
		for form := range disguises(value) {
			k.stripped.insert(form, r)
		}
	}
	if strings.Contains(value, "\n") {
		for line := range strings.Lines(value) {
			if line = strings.Trim(line, margin+"\r\n"); len(line) >= minLine && !strings.ContainsAny(line, " ") {
				k.plain.insert(line, r)
			}
		}
	}
}

// insert reports whether the value is a new one.
func (x *headIndex) insert(value string, r *rule) bool {
	if len(value) < minRepeated {
		return false
	}
	head := headOf(value, 0)
	group := x.byHead[head]
	if !group.add(minRepeated, value, r) {
		return false
	}
	x.byHead[head] = group
	h := hashHead(head)
	x.filter[h>>6] |= 1 << (h & 63)
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
		return strings.ContainsFunc(value, notLetter) || scrambled(value)
	}
	return true
}

// name matches what programs call things: words in camel case, with a number perhaps.
// The generic rule takes some for secrets; one that went from a whole session would
// leave code that nobody can read.
var name = lazyregexp.New(`^_*[A-Z]{0,4}[a-z]{2,}(?:\d{0,4}[A-Z]{1,4}[a-z]{2,})+\d{0,4}$`)

func notLetter(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }

// occurrences returns where the known secrets stand in text, in whatever form.
func (k *knownSet) occurrences(text string) []span {
	if k.empty() {
		return nil
	}
	return k.occurrencesDeep(text, maxDepth)
}

func (k *knownSet) occurrencesDeep(text string, depth int) []span {
	spans := k.plain.occurrences(text)
	bare, changed := strip(text)
	for _, s := range k.stripped.occurrences(bare.text) {
		if changed {
			s.start, s.end = bare.span(text, s.start, s.end)
		}
		spans = append(spans, s)
	}
	if depth > 0 {
		for code, decoded, ok := encoded(text, 0); ok; code, decoded, ok = encoded(text, code.end) {
			if inside := k.occurrencesDeep(decoded, depth-1); len(inside) > 0 {
				spans = append(spans, span{code.start, code.end, inside[0].rule})
			}
		}
	}
	return spans
}

func (x *headIndex) occurrences(text string) []span {
	var spans []span
	for i := 0; i+minRepeated <= len(text); i++ {
		head := headOf(text, i)
		h := hashHead(head)
		if x.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		if group, ok := x.byHead[head]; ok {
			if s := group.longest(text[i:]); s.value != "" {
				spans = append(spans, span{start: i, end: i + len(s.value), rule: s.rule})
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
