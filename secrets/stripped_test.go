package secrets

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestAStrippedTextHasTheCharactersOfItsValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain": "plain", `a\"b`: "ab", `a\\\"b`: "ab", `a\u0041b\u00e9`: "aAbé", `\x41\101\055`: "A\\101-"[:1] + "A-",
		"a%2Fb%252fc%25252Fd": "a/b/c/d", "100%": "100%", "a&amp;b&amp;amp;c&#65;&#x42;&quot;d&x;": "a&b&cABd&x;",
		"one\ntwo": "onetwo", "one \\\r\n  two": "onetwo", "one │\n│ two": "onetwo", `one\n  two`: "onetwo", `one\\n> two`: "onetwo",
		"it'\\''s": "its", "'a''b'": "ab", `\_a\*b`: "_a*b", "a\\": "a", "%c3%bc": "ü", `\xc3\xbc`: "ü",
	} {
		s, changed := strip(text)
		if s.text != want || changed != (text != want && text != "") && text != "100%" {
			t.Errorf("%q is %q stripped, %v, want %q", text, s.text, changed, want)
		}
		for from := range s.text {
			for to := from + 1; changed && to <= len(s.text); to++ {
				start, end := s.span(text, from, to)
				if part, _ := strip(text[start:end]); start < 0 || end > len(text) || start >= end || !strings.Contains(part.text, s.text[from:to]) {
					t.Fatalf("%q of %q is said to be %q", s.text[from:to], text, text[start:end])
				}
			}
		}
	}
}

// written are ways in which programs and people write a value down.
var written = map[string]func(string) string{
	"JSON three times":          func(s string) string { return asJSON(asJSON(asJSON(s))) },
	"JSON with slashes escaped": func(s string) string { return strings.ReplaceAll(asJSON(s), "/", `\/`) },
	"a URL, twice":              func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"a URL, each character":     eachByte("%%%02x"),
	"numbers of HTML":           eachByte("&#%d;"),
	"HTML in JSON":              func(s string) string { return asJSON("<b>" + html.EscapeString(s) + "</b>") },
	"hexadecimal escapes":       eachByte(`\x%02x`),
	"Unicode escapes":           eachByte(`\u%04X`),
	"octal escapes":             eachByte(`\%03o`),
	"a shell's quotes":          func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	"other quotes of a shell":   func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" },
	"doubled quotes":            func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" },
	"what Go quotes":            strconv.Quote,
	"a soft wrap":               broken2("\n"),
	"a wrap with a margin":      broken2("\n    "),
	"a wrap in a box":           broken2(" │\n│ "),
	"a wrap behind a backslash": broken2(" \\\n  "),
	"a wrap in JSON":            func(s string) string { return asJSON(asJSON(broken2("\n> ")(s))) },
	"base64 of JSON":            func(s string) string { return inBase64(`{"v":` + asJSON(s) + `,"n":1}`) },
	"base64 of base64":          func(s string) string { return inBase64("it is " + inBase64("value: "+s+" there")) },
	"base64 in the query":       func(s string) string { return url.QueryEscape(inBase64("of " + s + ".")) },
	"base64 in lines":           func(s string) string { return eachLength(inBase64(strings.Repeat("text ", 9)+s+" and so on"), 64) },
	"base64 of UTF-16":          func(s string) string { return inBase64(wide("Set-Thing '" + s + "' -Now")) },
	"a backslash before symbols": func(s string) string {
		return strings.NewReplacer("/", `\/`, "!", `\!`, "&", `\&`, "=", `\=`, "_", `\_`).Replace(s)
	},
}

func eachByte(form string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, form, s[i])
		}
		return b.String()
	}
}

// broken2 breaks a value in two places.
func broken2(at string) func(string) string {
	return func(s string) string { return s[:3] + at + s[3:len(s)-4] + at + s[len(s)-4:] }
}

// wide writes a text in UTF-16, the lower byte first.
func wide(s string) string {
	b := make([]byte, 0, 2*len(s))
	for _, unit := range utf16.Encode([]rune(s)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

func inBase64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func eachLength(s string, n int) string {
	var b strings.Builder
	for ; len(s) > n; s = s[n:] {
		b.WriteString(s[:n] + "\n")
	}
	return b.String() + s
}

func TestAKnownSecretGoesHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	m := maker{newRandom(21)}
	for _, told := range []string{"password: `%s`", "token: gh" + "p_%[2]s", "PASSWORD=%[3]s\n"} {
		strong, long, weak := m.strong("!/&+=")+m.text(`"'<`, 1)+m.text(letters, 4), m.text(letters, 36), m.word(2)+m.text(numbers, 3)
		value := map[byte]string{'p': strong, 't': "gh" + "p_" + long, 'P': weak}[told[0]]
		for name, write := range written {
			r := s.Session()
			r.Text(fmt.Sprintf(told, strong, long, weak))
			if r.Secrets() == 0 {
				t.Fatalf("%q is not seen where it is told", value)
			}
			form := write(value)
			out := r.Text("seen " + form + " again\n")
			if strings.Contains(out, form) || strings.Contains(out, value) {
				t.Errorf("%s: %q is left in %q", name, value, out)
			}
			if strings.HasPrefix(name, "a wrap") || strings.HasPrefix(name, "a soft") {
				if piece := pieceOf(value, out); piece != "" {
					t.Errorf("%s: %q is left of %q in %q", name, piece, value, out)
				}
			}
			if strings.Count(out, "\n") != strings.Count(form, "\n")+1 || !strings.HasPrefix(out, "seen ") || !strings.HasSuffix(out, " again\n") {
				t.Errorf("%s: what is around it changed: %q", name, out)
			}
		}
	}
}

func TestAWordThatHasQuotesOfItsOwnGoesWithThem(t *testing.T) {
	t.Parallel()
	r := newScanner("", true).Session()
	r.Text("PGPASSWORD=" + "kirlan" + "vus!met psql")
	if out := r.Text("psql 'kirlan'\"vus!met\" x"); out != "psql [REDACTED:password-environment] x" {
		t.Errorf("became %s", out)
	}
}

func TestALineOfAKnownKeyGoesAlone(t *testing.T) {
	t.Parallel()
	r := newScanner("", true).Session()
	key := maker{newRandom(8)}.pem("RSA ", "")
	r.Text("key:\n" + key + "\n")
	for line := range strings.Lines(key) {
		if line = strings.TrimSpace(line); len(line) >= minLine && !strings.Contains(line, "-----") {
			if out := r.Text("conf/x.y-7-" + line + "\n"); strings.Contains(out, line) {
				t.Errorf("left: %s", out)
			}
		}
	}
}
