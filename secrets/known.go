package secrets

import (
	"encoding/base64"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	// minRepeated is the least length of a secret, in bytes, whose further occurrences are redacted.
	minRepeated = 8
	// longWord is the same for a password that has only letters.
	longWord = 16
)

// margin has the characters before the text of a line: indentation, and the bar of a quotation or box.
const margin = " \t>|│"

// knownSet remembers secrets and finds their further occurrences with one lookup at each offset of a text, for any
// number of secrets. Adding a secret is cheap, unlike with an automaton. It stores the first eight bytes and a hash
// of each form of a secret, some 50 bytes, and keeps no text alive. A nil *knownSet is empty.
type knownSet struct {
	filter  [1 << 7]uint64    // bits by hash of the first eight bytes
	heads   map[uint64]uint64 // by the first eight bytes: a bit for each length of a value, modulo 64
	lengths []int             // of all values, longest first
	values  map[uint64]*rule  // by hash of a value: the first rule that found it
	count   int               // of secrets, without their other forms
}

func newKnownSet() *knownSet {
	return &knownSet{heads: map[uint64]uint64{}, values: map[uint64]*rule{}}
}

// knownSeed makes the hashes unpredictable, so that no text can be made to collide with a secret.
var knownSeed = maphash.MakeSeed()

func (k *knownSet) empty() bool { return k == nil || k.count == 0 }

const (
	// minLine is the least length of a line, in bytes, that is remembered alone from a secret of several lines, such
	// as a key.
	minLine = 40
	// minEncodedForm is the least length of a secret, in bytes, that is also remembered in base64.
	minEncodedForm = 16
)

// add remembers a secret that telling accepts, its form in a slug, its decoded form, its forms in base64 and its long
// lines.
func (k *knownSet) add(value string, r *rule) {
	if !telling(value, r) || !k.insert(value, r) {
		return
	}
	k.count++
	k.insert(strings.Join(memoir.PlainWords(value), "-"), r)
	if v, changed := normalise(value, nil, true); changed {
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

// addParts remembers the secrets in a cookie header or the address of a webhook: parts with letters and digits, and
// scrambled ones.
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

// insert adds a value and reports whether it is new. It skips a value that is shorter than minRepeated.
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

// middle returns the base64 of a value that begins offset bytes after a group of three. It omits the characters that
// share bits with the bytes before and after the value.
func middle(value string, offset int) string {
	padded := make([]byte, offset, offset+len(value))
	encoded := base64.RawStdEncoding.EncodeToString(append(padded, value...))
	from := (offset*8 + 5) / 6
	to := (offset + len(value)) * 8 / 6
	return encoded[from:to]
}

// telling reports whether further occurrences of a value are likely the same secret. A password, which only this
// package's rules find, can be a word: "database" must stay in the rest of the session.
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

// name matches an identifier: words in camel case, possibly with a number. The generic rule finds some of them, and
// their redaction in a whole session would make code unreadable.
var name = lazyregexp.New(`^_*[A-Z]{0,4}[a-z]{2,}(?:\d{0,4}[A-Z]{1,4}[a-z]{2,})+\d{0,4}$`)

func notLetter(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }

// occurrences returns the spans of the known secrets in text, plain or escaped.
func (k *knownSet) occurrences(text string) []span {
	if k.empty() {
		return nil
	}
	spans := k.plain(text)
	if v, changed := normalise(text, nil, true); changed {
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

func headOf(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

func hashHead(head uint64) uint64 { return head * 0x9E3779B97F4A7C15 >> 51 }
