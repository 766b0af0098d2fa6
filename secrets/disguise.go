package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"iter"
	"strings"
)

// disguises lists the forms of a value that have none of its characters, or others than a
// stripped text has: in hexadecimal, with its spaces as forms send them, and in base64 at
// each of the three places where it can begin in a group of three bytes. Of base64 it lists
// the characters that depend on the value alone, so those around it do not matter. A long one may
// also have become a part of a file's name.
func disguises(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if slug := slugged(value); len(slug) >= minSlug && len(slug) <= maxSlug && slug != value && !yield(slug) {
			return
		}
		digits := hex.EncodeToString([]byte(value))
		if !yield(digits) || !yield(strings.ToUpper(digits)) {
			return
		}
		if strings.IndexByte(value, ' ') >= 0 {
			bare, _ := strip(strings.ReplaceAll(value, " ", "+"))
			if !yield(bare.text) {
				return
			}
		}
		for offset := range 3 {
			standard := middle(value, offset)
			if !yield(standard) || strings.ContainsAny(standard, "+/") && !yield(urlAlphabet.Replace(standard)) {
				return
			}
		}
	}
}

// minSlug and maxSlug bound a secret, in bytes, that is told in a name by its letters and
// digits alone: a short one may be words, and names are not longer.
const minSlug, maxSlug = 16, 128

// slugged writes a value as names that are made of titles have it: small letters and digits,
// and a dash for all that stands between.
func slugged(value string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(value), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
}

var urlAlphabet = strings.NewReplacer("+", "-", "/", "_")

// middle encodes a value that begins so many bytes after a group of three, and leaves
// out the characters that share bits with what is before and behind it.
func middle(value string, offset int) string {
	padded := make([]byte, offset, offset+len(value))
	encoded := base64.RawStdEncoding.EncodeToString(append(padded, value...))
	from := (offset*8 + 5) / 6
	to := (offset + len(value)) * 8 / 6
	return encoded[min(from, to):to]
}
