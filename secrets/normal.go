package secrets

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir/internal/lazyregexp"
)

// special contains the bytes at which normalise may decode something.
var special = func() (set [256]bool) {
	set = charSet("\\%&'[\x00" + string(escapeChar))
	for c := utf8.RuneSelf; c < 256; c++ {
		set[c] = true
	}
	return set
}()

// normalise decodes string escapes of JSON, code and shells at any depth of nesting, HTML references, and with urls
// escapes of URLs. A NUL, or U+FFFD, which readers of sessions write for it, becomes a line break or space between
// variables or arguments. Terminal sequences, invisible characters and markers inside words are removed. A marker
// must have the label of a rule. Without labels, markers stay.
func normalise(text string, labels map[string]bool, urls bool) (view, bool) {
	n := normaliser{viewWriter: viewWriter{text: text}, labels: labels, urls: urls}
	for at := 0; at < len(text); {
		if !special[text[at]] {
			at++
			continue
		}
		if with, length := n.decode(at); length > 0 {
			n.replace(at, length, with)
			at += length
		} else {
			at += max(1, -length)
		}
	}
	return n.view()
}

type normaliser struct {
	viewWriter
	labels map[string]bool
	urls   bool // decode URL escapes
}

// decode returns the replacement for the text at an offset and the number of bytes that it replaces. A length of 0
// or less means that -length bytes, at least one, stay unchanged.
func (n *normaliser) decode(at int) (with string, length int) {
	rest := n.text[at:]
	switch rest[0] {
	case '\\':
		return unescape(rest)
	case escapeChar:
		if length := sequence(rest[1:]); length > 0 {
			return "", 1 + length
		}
	case '%':
		if c, end := codePoint(rest, 1, 2); n.urls && (c == '\n' || c >= ' ' && c <= '~') {
			return string(c), end
		}
	case '&':
		return htmlReference(rest)
	case '\'':
		if behind := strings.TrimLeft(rest[1:], `\`); len(behind) < len(rest)-1 && strings.HasPrefix(behind, "''") {
			return "'", len(rest) - len(behind) + 2 // a quote inside a quoted shell word
		}
	case '[':
		return n.marker(at)
	case 0:
		return separator(rest)
	default:
		if strings.HasPrefix(rest, replacement) {
			return separator(rest)
		}
		return "", hiddenWithin(n.text, at)
	}
	return "", 0
}

// escapeChar begins a terminal sequence.
const escapeChar = '\x1b'

// unescape decodes a run of backslashes and the character after it. Text that was escaped more often has longer
// runs, so any length is accepted.
func unescape(text string) (with string, length int) {
	at := 0
	for at < len(text) && text[at] == '\\' {
		at++
	}
	if at == len(text) {
		return "", -at
	}
	c, end := rune(-1), at+1
	switch text[at] {
	case 'n':
		c = '\n'
	case 'r':
		if c = '\n'; crlf.MatchString(text[at:]) {
			return "", end
		}
	case 't':
		c = '\t'
	case '"', '\'', '/', ':', '=', '_', '|':
		c = rune(text[at])
	case 'u':
		c, end = codePoint(text, at+1, 4)
	case 'x':
		c, end = codePoint(text, at+1, 2)
	case escapeChar, 'e':
		c = escapeChar
	case '0':
		if strings.HasPrefix(text[at:], "033") {
			c, end = escapeChar, at+3
		}
	}
	switch {
	case c == escapeChar:
		if length := sequence(text[end:]); length > 0 {
			return "", end + length
		}
	case c == 0:
		return separated(text[end:]), end
	case legible(c):
		return string(c), end
	}
	return "", -at
}

// legible reports whether c is a printable character, a tab or a line break.
func legible(c rune) bool { return c == '\t' || c == '\n' || unicode.IsPrint(c) && c != utf8.RuneError }

// crlf matches the end of a line of Windows from its r on.
var crlf = lazyregexp.New(`^r\\+n`)

// codePoint returns the character with count hexadecimal digits at an offset and the end of the digits, or -1
// without enough digits.
func codePoint(text string, at, count int) (c rune, end int) {
	if at+count > len(text) {
		return -1, at
	}
	for _, digit := range []byte(text[at : at+count]) {
		n := strings.IndexByte("0123456789abcdef", lowerASCII(digit))
		if n < 0 {
			return -1, at
		}
		c = c<<4 | rune(n)
	}
	return c, at + count
}

// sequence returns the length of a terminal sequence after the escape character, or 0. It accepts only the sequences
// for colours (m) and for erasing a line (K).
func sequence(text string) int {
	if !strings.HasPrefix(text, "[") {
		return 0
	}
	at := 1
	for at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at] == ';') {
		at++
	}
	if at < len(text) && (text[at] == 'm' || text[at] == 'K') {
		return at + 1
	}
	return 0
}

// hasURLEscapes reports whether a text contains %22, %27 or an escape from %30 to %3F. URLs escape quotes, equals
// signs and colons in this way.
func hasURLEscapes(text string) bool {
	return strings.Contains(text, "%22") || strings.Contains(text, "%27") || strings.Contains(text, "%3")
}

// htmlReference decodes a reference to an ASCII character or a no-break space. Its ampersand may be a reference, too.
func htmlReference(text string) (with string, length int) {
	at := 1
	for strings.HasPrefix(text[at:], "amp;") {
		at += len("amp;")
	}
	if end := strings.IndexByte(text[at:min(len(text), at+8)], ';'); end > 0 {
		switch c := html.UnescapeString("&" + text[at:at+end+1]); {
		case c == "\u00a0":
			return " ", at + end + 1
		case len(c) == 1 && (c == "\n" || c >= " " && c <= "~"):
			return c, at + end + 1
		}
	}
	if at > 1 {
		return "&", at
	}
	return "", 0
}

const replacement = "\uFFFD"

// separator replaces the NULs at the beginning of a text, as in /proc/PID/cmdline, /proc/PID/environ and `env -0`.
func separator(text string) (with string, length int) {
	rest := strings.TrimLeft(text, "\x00"+replacement)
	return separated(rest), len(text) - len(rest)
}

// separated returns a line break if rest begins with an environment variable, otherwise a space between arguments.
func separated(rest string) string {
	at := 0
	for at < len(rest) && wordChar(rest[at]) {
		at++
	}
	if at > 0 && at < len(rest) && rest[at] == '=' {
		return "\n"
	}
	return " "
}

// hiddenWithin returns the length in bytes of the invisible characters at an offset, if they stand between two
// visible ASCII characters, or before the first one of a line. Tools insert them to allow a line break in a word;
// their removal later would restore a secret.
func hiddenWithin(text string, at int) (length int) {
	if at > 0 && text[at-1] != '\n' && !visible(text[at-1]) {
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
	if end == len(text) || !visible(text[end]) {
		return 0
	}
	return end - at
}

// visible reports whether c is an ASCII character other than white space and control characters.
func visible(c byte) bool { return c > ' ' && c < 0x7f }

// marker removes a marker next to a word character, and the brackets around text that is no rule's label. Neither
// may split or cover a secret.
func (n *normaliser) marker(at int) (with string, length int) {
	inside, end := maskAt(n.text, at)
	switch {
	case end == 0 || n.labels == nil:
	case inside != "" && !n.labels[inside]:
		return inside, end - at
	case at > 0 && wordChar(n.text[at-1]) || end < len(n.text) && wordChar(n.text[end]):
		return "", end - at
	}
	return "", 0
}

// maskAt returns the text inside a marker of memoir or another program at an offset, and the end of the marker, or 0
// without a marker.
func maskAt(text string, at int) (inside string, end int) {
	const open = "[REDACTED"
	if !strings.HasPrefix(text[at:], open) {
		return "", 0
	}
	at += len(open)
	length := strings.Index(text[at:min(len(text), at+maxLabel+2)], markerClose)
	if length < 0 {
		return "", 0
	}
	return strings.TrimPrefix(text[at:at+length], ":"), at + length + len(markerClose)
}
