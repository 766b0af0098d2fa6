package secrets

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hiddenLeads are the first bytes of the characters that show nothing and that pages and
// tools put between the characters of a word, so that it may be broken there.
const hiddenLeads = "\xc2\xcd\xd8\xe1\xe2\xe3\xef\xf3"

// seen reads text without the characters that show nothing and stand within a word, since
// what takes them out later would put a secret together again, or before the first one of a
// line, where files have the mark of their encoding. It reports false if there are none.
func seen(text string) (view, bool) {
	if isASCII(text) {
		return view{}, false
	}
	found := false
	for _, lead := range []byte(hiddenLeads) {
		for at := 0; !found; at++ {
			i := strings.IndexByte(text[at:], lead)
			if i < 0 {
				break
			}
			at += i
			found = hiddenWithin(text, at) > 0
		}
	}
	if !found {
		return view{}, false
	}
	var v view
	var out strings.Builder
	from := 0 // what is copied up to
	for at := 0; at < len(text); at++ {
		if n := hiddenWithin(text, at); n > 0 {
			out.WriteString(text[from:at])
			from = at + n
			v.mark(out.Len(), from)
			at = from - 1
		}
	}
	out.WriteString(text[from:])
	v.text = out.String()
	return v, true
}

// isASCII reports whether a text has nothing but ASCII, eight bytes at a look.
func isASCII(text string) bool {
	const high = 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		if headOf(text, 0)&high != 0 {
			return false
		}
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hiddenWithin measures the characters that show nothing from an offset on, 0 if there are
// none or if they do not stand between two characters of a word, or before the first one of
// a line.
func hiddenWithin(text string, at int) (length int) {
	if text[at] < utf8.RuneSelf || at > 0 && text[at-1] != '\n' && !wordly(text[at-1]) {
		return 0
	}
	end := at
	for end < len(text) && text[end] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return 0
		}
		end += size
	}
	if end == at || end == len(text) || !wordly(text[end]) {
		return 0
	}
	return end - at
}

// wordly reports whether a character of ASCII is no blank and no control.
func wordly(c byte) bool { return c > ' ' && c < 0x7f }
