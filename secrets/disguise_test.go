package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"
)

func TestASecretGoesInEveryFormThatAnEncodingGivesIt(t *testing.T) {
	t.Parallel()
	value := fake("q9!x/Lm=2", "+z<P&w'e\"r")
	told := "password: `" + value + "`\n"
	asJSON := func(s string) string {
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(quoted[1 : len(quoted)-1])
	}
	forms := map[string]string{
		"itself": value, "JSON": asJSON(value), "JSON in JSON": asJSON(asJSON(value)),
		"JSON with slashes escaped": strings.ReplaceAll(asJSON(value), "/", `\/`),
		"a URL's query":             url.QueryEscape(value), "a URL's path": url.PathEscape(value),
		"escapes in lower case": strings.NewReplacer("%2F", "%2f", "%3D", "%3d", "%2B", "%2b", "%3C", "%3c").Replace(url.QueryEscape(value)),
		"HTML":                  html.EscapeString(value), "hexadecimal": hex.EncodeToString([]byte(value)),
	}
	r := newScanner("", true).Session()
	if out := r.Text(told); strings.Contains(out, value) {
		t.Fatalf("not found where it is told: %s", out)
	}
	for name, form := range forms {
		if out := r.Text("seen " + form + " again"); strings.Contains(out, form) {
			t.Errorf("left as %s: %s", name, out)
		}
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

func TestASecretGoesFromNamesThatWereMadeOfIt(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(17)}
	r := newScanner("", true).Session()
	for _, characters := range []string{letters, "abcdefghijklmnopqrstuvwxyz"} { // one token may have no digit
		token := "gh" + "p_" + m.text(characters, 36)
		r.Learn(token)
		name := "print-ghp-" + strings.ToLower(token[4:]) + "-in-a-log.md"
		if out := r.Text(name); out != "print-[REDACTED:github-pat]-in-a-log.md" {
			t.Errorf("%s became %s", name, out)
		}
	}
	password := "Blue" + "_Horse-Staple"
	r.Learn("password: '" + password + "'")
	if name := "blue-horse-staple.md"; r.Text(name) != name {
		t.Errorf("words of a password went: %s", r.Text(name))
	}
}

func TestWordsThatWereAPasswordOnceStayElsewhere(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"changeme", "localhost", "true", "database", "postgres", "required"} {
		r := newScanner("", true).Session()
		r.Text("password: \"" + word + "\"\nredis://:" + word + "@cache:6379\nDB_PASSWORD=" + word + "\n")
		if text := "the " + word + " is here"; r.Text(text) != text {
			t.Errorf("%s was taken for a secret elsewhere: %s", word, r.Text(text))
		}
	}
}

func TestNamesThatTheGenericRuleFindsStayElsewhere(t *testing.T) {
	t.Parallel()
	r := newScanner("", true).Session()
	r.Text("// parses an encapsulation key, NewEncapsulationKey768 returns it")
	if text := "func NewEncapsulationKey768() error"; r.Text(text) != text {
		t.Errorf("became %s", r.Text(text))
	}
}
