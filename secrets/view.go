package secrets

import "strings"

// resolve returns text with JSON's escape sequences replaced by what they stand for,
// each padded with spaces to its own length, so that every offset stays valid:
// `\"` becomes a quote and a space, and `\\n` two spaces and a line break. Transcripts
// hold much JSON inside of JSON, where a key and its value are otherwise torn apart.
// It reports false if there is no escape sequence.
func resolve(text string) (string, bool) {
	at := nextEscape(text, 0)
	if at < 0 {
		return text, false
	}
	out := []byte(text)
	for at >= 0 {
		last := at
		for last < len(out) && out[last] == '\\' {
			last++
		}
		// The run ends before the escaped character, whatever the depth of nesting.
		if last < len(out) {
			if c := escaped(out[last]); c != 0 {
				for i := at; i <= last; i++ {
					out[i] = ' '
				}
				if (c == '"' || c == '\'') && closes(text[last+1:]) {
					out[at] = c // next to what it ends
				} else {
					out[last] = c
				}
			} else if out[last] == 'u' && last+5 <= len(out) {
				if c := codePoint(text[last+1 : last+5]); c != 0 {
					for i := at; i < last+4; i++ {
						out[i] = ' '
					}
					out[last+4] = c
				}
			}
		}
		at = nextEscape(text, last)
	}
	return string(out), true
}

// nextEscape returns the next backslash before an escaped character or another
// backslash.
func nextEscape(text string, from int) int {
	for from < len(text) {
		i := strings.IndexByte(text[from:], '\\')
		if i < 0 || from+i+1 >= len(text) {
			return -1
		}
		from += i
		if c := text[from+1]; c == '\\' || c == 'u' || escaped(c) != 0 {
			return from
		}
		from++
	}
	return -1
}

// escaped returns what a character after a backslash stands for; 0 if the pair is
// no escape sequence that separates words.
func escaped(c byte) byte {
	switch c {
	case 'n', 'r':
		return '\n'
	case 't':
		return '\t'
	case '"', '\'':
		return c
	}
	return 0
}

// closes reports whether a quote before this text ends a string.
func closes(following string) bool {
	return following == "" || strings.IndexByte(" \t\r\n,:;=)]}\\", following[0]) >= 0
}

// codePoint returns the ASCII character of four hexadecimal digits, else 0.
func codePoint(digits string) byte {
	n := 0
	for i := range len(digits) {
		at := strings.IndexByte("0123456789abcdef", lowerASCII(digits[i]))
		if at < 0 {
			return 0
		}
		n = n<<4 | at
	}
	if n < ' ' || n > '~' {
		return 0
	}
	return byte(n)
}
