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
		if strings.ContainsFunc(value, needsEscape) {
			for _, s := range escapes(value) {
				if s != value && !yield(s) {
					return
				}
			}
		}
		digits := hex.EncodeToString([]byte(value))
		if !yield(digits) || !yield(strings.ToUpper(digits)) {
			return
		}
		for offset := range 3 {
			standard := middle(value, offset)
			if !yield(standard) || !yield(urlAlphabet.Replace(standard)) {
				return
			}
		}
	}
}

// needsEscape reports whether some encoder writes a character as another than itself.
func needsEscape(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
}

var (
	urlAlphabet = strings.NewReplacer("+", "-", "/", "_")
	fewer       = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
	more        = strings.NewReplacer("=", `\u003d`, "'", `\u0027`, "+", `\u002b`)
	again       = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	entities    = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
	apostrophes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
)

// escapes lists the value as JSON, HTML, URLs and shells write it, each by the
// encoders that are most in use.
func escapes(value string) []string {
	quoted, _ := json.Marshal(value) // a string is always valid
	escaped := string(quoted[1 : len(quoted)-1])
	plain := fewer.Replace(escaped)
	query := url.QueryEscape(value)
	path := url.PathEscape(value)
	component := strings.ReplaceAll(query, "+", "%20")
	return []string{
		escaped, plain, strings.ReplaceAll(plain, "/", `\/`), again.Replace(plain), more.Replace(escaped),
		query, path, component, lowerEscapes(query), lowerEscapes(path), lowerEscapes(component),
		html.EscapeString(value), entities.Replace(value), apostrophes.Replace(value),
		strings.ReplaceAll(value, "'", `'\''`),
	}
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
func middle(value string, offset int) string {
	padded := make([]byte, offset, offset+len(value))
	encoded := base64.RawStdEncoding.EncodeToString(append(padded, value...))
	from := (offset*8 + 5) / 6
	to := (offset + len(value)) * 8 / 6
	return encoded[min(from, to):to]
}
