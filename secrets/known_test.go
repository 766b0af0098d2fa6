package secrets

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"memoir"
)

// written are forms in which programs and people write a value.
var written = map[string]func(string) string{
	"JSON three times":          func(s string) string { return asJSON(asJSON(asJSON(s))) },
	"JSON with slashes escaped": func(s string) string { return strings.ReplaceAll(asJSON(s), "/", `\/`) },
	"a URL, each character":     eachByte("%%%02x"),
	"numbers of HTML":           eachByte("&#%d;"),
	"HTML in JSON":              func(s string) string { return asJSON("<b>" + html.EscapeString(s) + "</b>") },
	"Unicode escapes":           eachByte(`\u%04X`),
	"a shell's quotes":          func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	"other quotes of a shell":   func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" },
	"what Go quotes":            strconv.Quote,
	"a slug":                    func(s string) string { return strings.Join(memoir.PlainWords(s), "-") },
	"base64 in the query":       func(s string) string { return url.QueryEscape(inBase64("of " + s + ".")) },
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

func inBase64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestAKnownSecretGoesHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(21)}
	for _, told := range []string{"password: `%s`", "token: gh" + "p_%[2]s", "PASSWORD=%[3]s\n"} {
		strong, long, weak := m.strong("!/&+=")+m.text(`"'<`, 1)+m.text(letters, 4), m.text(letters, 36), m.word(5)+m.text(numbers, 6)
		value := map[byte]string{'p': strong, 't': "gh" + "p_" + long, 'P': weak}[told[0]]
		for name, write := range written {
			r := ours.Session()
			r.Text(fmt.Sprintf(told, strong, long, weak))
			if r.Secrets() == 0 {
				t.Fatalf("%q is not seen where it is told", value)
			}
			form := write(value)
			out := r.Text("seen " + form + " again\n")
			if strings.Contains(out, form) || strings.Contains(out, value) {
				t.Errorf("%s: %q is left in %q", name, value, out)
			}
			if strings.Count(out, "\n") != strings.Count(form, "\n")+1 || !strings.HasPrefix(out, "seen ") || !strings.HasSuffix(out, " again\n") {
				t.Errorf("%s: what is around it changed: %q", name, out)
			}
		}
	}
}

func TestALineOfAKnownKeyGoesAlone(t *testing.T) {
	t.Parallel()
	r := ours.Session()
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

func TestAKnownSecretGoesInBase64(t *testing.T) {
	t.Parallel()
	value := fake("q9!x/Lm=2", "+z-P*w3e8r")
	told := "password: `" + value + "`\n"
	r := ours.Session()
	if out := r.Text(told); strings.Contains(out, value) {
		t.Fatalf("not found where it is told: %s", out)
	}
	for offset := range 6 {
		text := strings.Repeat("u", offset) + ":" + value
		for name, encoding := range map[string]*base64.Encoding{"standard": base64.StdEncoding, "URL": base64.RawURLEncoding} {
			form := encoding.EncodeToString([]byte(text))
			out := r.Text("seen " + form + " again")
			decoded, _ := encoding.DecodeString(form)
			if out == "seen "+form+" again" || !strings.Contains(string(decoded), value) {
				t.Errorf("left as base64 (%s) behind %d bytes: %s", name, offset+1, out)
			}
			if piece := form[4*((offset+1)/3)+4 : len(form)-4]; strings.Contains(out, piece) {
				t.Errorf("a piece is left: %s", out)
			}
		}
	}
}

func TestWordsThatWereAPasswordOnceStayElsewhere(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"changeme", "localhost", "true", "database", "postgres", "required"} {
		r := ours.Session()
		r.Text("password: \"" + word + "\"\nredis://:" + word + "@cache:6379\nDB_PASSWORD=" + word + "\n")
		if text := "the " + word + " is here"; r.Text(text) != text {
			t.Errorf("%s was taken for a secret elsewhere: %s", word, r.Text(text))
		}
	}
}

func TestNamesThatTheGenericRuleFindsStayElsewhere(t *testing.T) {
	t.Parallel()
	r := ours.Session()
	r.Text("// parses an encapsulation key, NewEncapsulationKey768 returns it")
	if text := "func NewEncapsulationKey768() error"; r.Text(text) != text {
		t.Errorf("became %s", r.Text(text))
	}
}

func TestAStringThatDoesNotEndIsRedactedToTheEndOfTheText(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(31)}
	for _, text := range []string{`x "a\tPASSWORD=` + m.strong("!%") + "\n", `{"a":"b\nkey: ` + "gh" + "p_" + m.text(letters, 36), `"\u0041 PASSWORD=` + m.strong("!%")} {
		checkRedaction(t, text)
		if out, counts := ours.Redact(text); counts.Total() != 1 || !strings.HasPrefix(out, text[:8]) {
			t.Errorf("%q became %q", text, out)
		}
	}
}
