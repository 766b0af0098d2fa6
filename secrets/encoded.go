package secrets

import (
	"encoding/base64"
	"strings"
)

const (
	maxDepth   = 3  // of base64 in base64
	minEncoded = 24 // characters of base64 that are looked into
	sniffed    = 24 // of them are decoded first: nearly all runs turn out to be no text
)

// base64Char tells which characters base64 is made of, in either alphabet.
var base64Char = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		set[c] = true
	}
	return set
}()

// findEncoded returns the findings in what text holds in base64. All of the base64 is
// then the secret: what is left of it when a piece is cut out would be of no use.
func (set *ruleSet) findEncoded(text string, depth int) []finding {
	var found []finding
	for at := minEncoded - 1; at < len(text); {
		if !base64Char[text[at]] {
			at += minEncoded
			continue
		}
		start, end := at, at
		for start > 0 && base64Char[text[start-1]] {
			start--
		}
		for end < len(text) && base64Char[text[end]] {
			end++
		}
		at = end + minEncoded
		if end-start < minEncoded || !isText(text[start:start+sniffed]) {
			continue
		}
		code := text[start:end]
		for code != "" { // lines that it was broken into
			next := strings.TrimLeft(text[end:], "\r\n \t")
			skipped := len(text) - end - len(next)
			n := 0
			for n < len(next) && base64Char[next[n]] {
				n++
			}
			if skipped == 0 || skipped > 16 || n < 4 || len(code) < 40 || strings.IndexByte(text[end:end+skipped], '\n') < 0 {
				break
			}
			code += next[:n]
			end += skipped + n
		}
		for end < len(text) && text[end] == '=' {
			end++
		}
		at = end + minEncoded
		decoded := decode(code)
		if !mostlyText(decoded) {
			continue
		}
		for _, f := range set.searchDeep(decoded, depth) {
			from, to := f.span(decoded)
			if from >= to || set.isMarker(decoded, from, to) {
				continue
			}
			hidden := decoded[from:to]
			if f.hidden != "" {
				hidden = f.hidden
			}
			found = append(found, finding{
				rule: f.rule, text: text, hidden: hidden,
				matchStart: start, matchEnd: end, start: start, end: end,
			})
		}
	}
	return found
}

var standard = strings.NewReplacer("-", "+", "_", "/")

// decode decodes as many whole groups as there are, in either alphabet.
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

// groupOfText tells which characters a group of base64 begins with whose first byte is
// printable or white space in ASCII.
var groupOfText = func() (set [256]bool) {
	for _, c := range []byte("CDIJKLMNOPQRSTUVWXYZabcdef") {
		set[c] = true
	}
	return set
}()

// isText reports whether base64 of whole groups is that of text.
func isText(code string) bool {
	for at := 0; at < len(code); at += 4 {
		if !groupOfText[code[at]] {
			return false
		}
	}
	return mostlyText(decode(code))
}

// mostlyText reports whether at least nine bytes of ten are printable ASCII.
func mostlyText(s string) bool {
	odd := 0
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' && c != '\r' {
			odd++
		}
	}
	return s != "" && odd*10 <= len(s)
}
