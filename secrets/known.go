package secrets

import (
	"encoding/base64"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"

	"memoir/internal/lazyregexp"
)

const (
	// minRepeated is how long a secret must be, in bytes, for its further occurrences
	// to be taken for the same secret.
	minRepeated = 8
	// longWord is the same for a password of nothing but letters.
	longWord = 16
)

// margin is what may stand before a line's text: indentation, the bar of a quotation or of a box.
const margin = " \t>|│"

// knownSet remembers secrets and finds their further occurrences: one look at every position of
// a text, however many secrets there are. Growing it is cheap, unlike an automaton that would
// be built anew for each secret. It holds hashes, so that a secret takes some 50 bytes for each of its
// forms and keeps no text alive. A nil *knownSet is empty.
type knownSet struct {
	filter  [1 << 7]uint64    // bits by hash of the first eight bytes
	heads   map[uint64]uint64 // by the first eight bytes: a bit for each length of a value, modulo 64
	lengths []int             // of all values, longest first
	values  map[uint64]*rule  // by the hash of a value: the rule that found it first
	count   int               // of values, without their encoded forms
}

func newKnownSet() *knownSet {
	return &knownSet{heads: map[uint64]uint64{}, values: map[uint64]*rule{}}
}

// knownSeed makes the hashes of values unforeseeable, so that no text is made to equal a secret.
var knownSeed = maphash.MakeSeed()

func (k *knownSet) empty() bool { return k.size() == 0 }

func (k *knownSet) size() int {
	if k == nil {
		return 0
	}
	return k.count
}

const (
	// minLine is how long a line of a secret of several lines must be, in bytes, to be one of
	// its own: of a key each line is.
	minLine = 40
	// minEncodedForm is how long a secret must be, in bytes, to be known in base64, too.
	minEncodedForm = 16
)

// add remembers a secret, and the forms that base64 gives it, if its other occurrences can be
// taken for the same secret.
func (k *knownSet) add(value string, r *rule) {
	if !telling(value, r) || !k.insert(value, r) {
		return
	}
	k.count++
	if v, changed := normalise(value, nil); changed {
		k.insert(v.text, r)
	}
	if len(value) >= minEncodedForm {
		for offset := range 3 {
			standard := middle(value, offset)
			k.insert(standard, r)
			k.insert(urlAlphabet.Replace(standard), r)
		}
	}
	if strings.Contains(value, "\n") {
		for line := range strings.Lines(value) {
			if line = strings.Trim(line, margin+"\r\n"); len(line) >= minLine && !strings.ContainsAny(line, " ") {
				k.insert(line, r)
			}
		}
	}
}

// addParts remembers what is secret in a header of cookies or in the address of a webhook: their
// values and path elements that mix letters and digits.
func (k *knownSet) addParts(value string, r *rule) {
	value = strings.TrimRight(value, "=")
	if !strings.ContainsAny(value, "=;") && !(strings.Contains(value, "/") && strings.Contains(value, ".")) {
		return
	}
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune("=;/?&, \t\n", c) }) {
		if strings.ContainsAny(part, "0123456789") && strings.ContainsFunc(part, unicode.IsLetter) || scrambled(part) {
			k.add(part, r)
		}
	}
}

// insert reports whether the value is a new one.
func (k *knownSet) insert(value string, r *rule) bool {
	if len(value) < minRepeated {
		return false
	}
	hash := maphash.String(knownSeed, value)
	if k.values[hash] != nil {
		return false
	}
	k.values[hash] = r
	head := headOf(value, 0)
	k.heads[head] |= 1 << (len(value) % 64)
	if at, known := slices.BinarySearchFunc(k.lengths, len(value), func(a, b int) int { return b - a }); !known {
		k.lengths = slices.Insert(k.lengths, at, len(value))
	}
	h := hashHead(head)
	k.filter[h>>6] |= 1 << (h & 63)
	return true
}

var urlAlphabet = strings.NewReplacer("+", "-", "/", "_")

// middle encodes a value that begins so many bytes after a group of three in base64, and leaves
// out the characters that share bits with what is before and behind it.
func middle(value string, offset int) string {
	padded := make([]byte, offset, offset+len(value))
	encoded := base64.RawStdEncoding.EncodeToString(append(padded, value...))
	from := (offset*8 + 5) / 6
	to := (offset + len(value)) * 8 / 6
	return encoded[from:to]
}

// telling reports whether a secret is unlikely to stand elsewhere as something else.
// Passwords, which only this package's rules look for, can be words: "database" must
// not go from a whole session because it once was a password.
func telling(value string, r *rule) bool {
	switch {
	case r.RuleID == printedRule:
		return true
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

// occurrences returns where the known secrets stand in text, as they are or escaped.
func (k *knownSet) occurrences(text string) []span {
	if k.empty() {
		return nil
	}
	spans := k.plain(text)
	if v, changed := normalise(text, nil); changed {
		for _, s := range k.plain(v.text) {
			s.start, s.end = v.raw(s.start), v.rawEnd(s.end)
			if s.start < s.end {
				spans = append(spans, s)
			}
		}
	}
	return spans
}

func (k *knownSet) plain(text string) []span {
	var spans []span
	for i := 0; i+minRepeated <= len(text); i++ {
		head := headOf(text, i)
		h := hashHead(head)
		if k.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		ofHead := k.heads[head]
		if ofHead == 0 {
			continue
		}
		for _, n := range k.lengths {
			if ofHead&(1<<(n%64)) == 0 || i+n > len(text) {
				continue
			}
			if r := k.values[maphash.String(knownSeed, text[i:i+n])]; r != nil {
				spans = append(spans, span{start: i, end: i + n, rule: r})
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
