package secrets

import "strings"

// undoubled reads text with quotes as they stand inside of others: doubled in CSV, YAML and
// SQL, between other quotes in a shell's word. It reports false if there are none.
func undoubled(text string) (view, bool) {
	if !hasDoubled(text) {
		return view{}, false
	}
	var v view
	var out []byte
	from := 0 // what is copied up to
	for at := 0; at+1 < len(text); {
		if c := text[at]; c != '"' && c != '\'' {
			at++
			continue
		}
		length := innerQuote(text, at)
		if length == 0 {
			for c := text[at]; at < len(text) && text[at] == c; {
				at++
			}
			continue
		}
		out = append(out, text[from:at]...)
		v.mark(len(out), at+length-1)
		out = append(out, text[at])
		at += length
		from = at
	}
	v.text = string(append(out, text[from:]...))
	return v, len(v.marks) > 0
}

// hasDoubled reports whether a text has a quote that stands inside of others.
func hasDoubled(text string) bool {
	return hasPair(text, `""`) || strings.IndexByte(text, '\'') >= 0 && (hasPair(text, "''") || strings.Contains(text, backslashed) || strings.Contains(text, requoted))
}

// hasPair reports whether one of the pairs of a quote in a text stands inside of others.
func hasPair(text, pair string) bool {
	for at := 0; ; at++ {
		i := strings.Index(text[at:], pair)
		if i < 0 {
			return false
		}
		if at += i; innerQuote(text, at) > 0 {
			return true
		}
	}
}

// innerQuote returns the length of a quote that stands inside of others, 0 if it is none.
// An empty string is none: before it is what it is set to, behind it a separator.
func innerQuote(text string, at int) int {
	switch next := text[at+1]; {
	case text[at] == '\'' && next == '\\' && strings.HasPrefix(text[at:], `'\''`):
		return len(`'\''`)
	case text[at] == '\'' && next == '"' && strings.HasPrefix(text[at:], `'"'"'`):
		return len(`'"'"'`)
	}
	if text[at+1] != text[at] || at > 0 && text[at-1] == text[at] || at+2 < len(text) && text[at+2] == text[at] {
		return 0
	}
	opens := at+2 < len(text) && (wordChar(text[at+2]) || strings.IndexByte("{[<", text[at+2]) >= 0)
	closes := at > 0 && strings.IndexByte(" \t\r\n=,(:[{+", text[at-1]) < 0
	if opens || closes {
		return 2
	}
	return 0
}
