package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"iter"
	"net/url"
	"strings"
)

// disguises lists the forms in which a value may stand elsewhere: escaped as JSON,
// HTML, a URL or a shell would, in hexadecimal, and in base64 at each of the three
// places where it can begin in a group of three bytes. Of base64 it lists the
// characters that depend on the value alone, so those around it do not matter.
func disguises(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{value: true}
		form := func(s string) bool {
			if seen[s] {
				return true
			}
			seen[s] = true
			return yield(s)
		}
		for _, s := range escapes(value) {
			if !form(s) {
				return
			}
		}
		digits := hex.EncodeToString([]byte(value))
		if !form(digits) || !form(strings.ToUpper(digits)) {
			return
		}
		for _, s := range []string{value, value + "\n"} { // as echo writes it
			for offset := range 3 {
				std := middle(base64.RawStdEncoding, s, offset)
				if !form(std) || !form(middle(base64.RawURLEncoding, s, offset)) {
					return
				}
			}
		}
	}
}

// escapes lists the value as JSON, HTML, URLs and shells write it, each by the
// encoders that are most in use.
func escapes(value string) []string {
	quoted, _ := json.Marshal(value) // a string is always valid
	escaped := string(quoted[1 : len(quoted)-1])
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(escaped)
	query := url.QueryEscape(value)
	path := url.PathEscape(value)
	component := strings.ReplaceAll(query, "+", "%20")
	out := []string{
		escaped, plain, strings.ReplaceAll(plain, "/", `\/`),
		strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain), // JSON in JSON
		strings.NewReplacer("=", `\u003d`, "'", `\u0027`, "+", `\u002b`).Replace(escaped),
		query, path, component, lowerEscapes(query), lowerEscapes(path), lowerEscapes(component),
		html.EscapeString(value), strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(value),
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(value),
		strings.ReplaceAll(value, "'", `'\''`),
	}
	return out
}

// lowerEscapes writes the digits of percent escapes in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = lowerASCII(b[i+1]), lowerASCII(b[i+2])
		}
	}
	return string(b)
}

// middle encodes a value that begins so many bytes after a group of three, and leaves
// out the characters that share bits with what is before and behind it.
func middle(encoding *base64.Encoding, value string, offset int) string {
	encoded := encoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + value))
	from := (offset*8 + 5) / 6
	to := (offset + len(value)) * 8 / 6
	return encoded[min(from, to):to]
}
