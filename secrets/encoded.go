package secrets

import (
	"cmp"
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

const (
	minEncoded = 24 // characters; shorter base64 is not decoded
	sniffed    = 24 // characters decoded first: nearly all runs are not text
)

// base64Char contains the characters of base64, in both alphabets.
var base64Char = charSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

func charSet(chars string) (set [256]bool) {
	for _, c := range []byte(chars) {
		set[c] = true
	}
	return set
}

// findEncoded returns the findings in the base64 parts of text. Each secret is then the whole base64, which is
// useless without one of its pieces.
func (set *ruleSet) findEncoded(text string, depth int) []finding {
	var found []finding
	for code, decoded, ok := encoded(text, 0); ok; code, decoded, ok = encoded(text, code.end) {
		tails := tails{text: decoded}
		for _, f := range set.searchDeep(decoded, depth) {
			from, to := tails.span(f)
			if from >= to || set.isMarker(decoded, from, to) {
				continue
			}
			found = append(found, finding{
				rule: f.rule, hidden: cmp.Or(f.hidden, decoded[from:to]),
				matchStart: code.start, matchEnd: code.end, start: code.start, end: code.end,
			})
		}
	}
	return found
}

// encoded returns the extent and the content of the next base64 of a text, from an offset on. It reports false
// without base64 of a text.
func encoded(text string, from int) (code extent, decoded string, ok bool) {
	for at := from + minEncoded - 1; at < len(text); {
		if !base64Char[text[at]] {
			at += minEncoded
			continue
		}
		start, end := at, at
		for start > from && base64Char[text[start-1]] {
			start--
		}
		for end < len(text) && base64Char[text[end]] {
			end++
		}
		at = end + minEncoded
		if end-start < minEncoded || !isText(text[start:start+sniffed]) {
			continue
		}
		code, end := codeOf(text, start, end)
		at = end + minEncoded
		if decoded := decode(code); mostlyText(decoded) {
			return extent{start, end}, decoded, true
		}
	}
	return extent{}, "", false
}

// codeOf returns the base64 that begins at text[start:end], joined with the lines that continue it, and its end.
func codeOf(text string, start, end int) (string, int) {
	first, length := end, end-start
	var lines []byte // the joined lines, nil for a single line
	for {
		next := strings.TrimLeft(text[end:], "\r\n \t")
		skipped := len(text) - end - len(next)
		n := 0
		for n < len(next) && base64Char[next[n]] {
			n++
		}
		if skipped == 0 || skipped > 16 || n < 4 || n > first-start && outgrows(text, start, first, n) || length < 40 ||
			strings.IndexByte(text[end:end+skipped], '\n') < 0 || !goesOn(length, next[:n], next[n:]) {
			break
		}
		if lines == nil {
			lines = append(lines, text[start:first]...)
		}
		lines = append(lines, next[:n]...)
		length += n
		end += skipped + n
	}
	code := text[start:first]
	if lines != nil {
		code = string(lines)
	}
	for end < len(text) && text[end] == '=' {
		end++
	}
	return code, end
}

// outgrows reports whether n is more than the length of the line up to end. It looks back only n bytes: a line may
// be long and have much base64.
func outgrows(text string, start, end, n int) bool {
	return n > end || strings.IndexByte(text[end-n:start], '\n') >= 0
}

// goesOn reports whether a line continues base64 of a length, and is not a name of the same characters. The line
// must have nothing else, and it must be long or complete the last group.
func goesOn(length int, line, behind string) bool {
	padded := strings.TrimLeft(behind, "=")
	rest := strings.TrimLeft(padded, " \t\r")
	return (len(line) >= minEncoded || (length+len(line)+len(behind)-len(padded))%4 == 0) &&
		(rest == "" || strings.IndexByte("\n\"'`\\|<,;)]}", rest[0]) >= 0)
}

var standard = strings.NewReplacer("-", "+", "_", "/")

// decode decodes base64 in either alphabet, without a single character after the last group. It returns "" on an
// error.
func decode(code string) string {
	if strings.ContainsAny(code, "-_") {
		code = standard.Replace(code)
	}
	if len(code)%4 == 1 {
		code = code[:len(code)-1]
	}
	decoded, err := base64.RawStdEncoding.DecodeString(code)
	if err != nil {
		return ""
	}
	return string(decoded)
}

// noText contains the first characters of base64 groups whose first byte is a control character other than white space
// or occurs in no UTF-8.
var noText = charSet("ABEFGHf+/-_")

// isText reports whether the first characters of base64 decode to text in UTF-8, whose last character may be cut.
func isText(code string) bool {
	for at := 0; at < len(code); at += 4 {
		if noText[code[at]] {
			return false
		}
	}
	var buffer [sniffed / 4 * 3]byte
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(code, "-_") {
		encoding = base64.RawURLEncoding
	}
	if _, err := encoding.Decode(buffer[:], []byte(code)); err != nil {
		return false
	}
	return mostlyText(string(buffer[:characterStart(buffer[:], len(buffer)-1)]))
}

// mostlyText reports whether at least nine bytes of ten are of printable characters or white space.
func mostlyText(s string) bool {
	odd := 0
	for _, c := range s {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f || c == utf8.RuneError {
			if odd++; odd*10 > len(s) {
				return false
			}
		}
	}
	return s != ""
}
