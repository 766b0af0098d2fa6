package secrets

import (
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"strings"
	"testing"

	"memoir/secrets/secretstest"
)

// quotings are the ways in which texts stand in strings of JSON, of Go and of a shell.
var quotings = []struct {
	name  string
	quote func(string) string
}{
	{"a string", func(s string) string { return asJSON(s) }},
	{"a member", func(s string) string { return `{"n":1,"content":` + asJSON(s) + `,"end":true}` }},
	{"JSON in JSON", func(s string) string { return `{"input":` + asJSON(`{"content":`+asJSON(s)+`,"n":1}`) + `}` }},
	{"JSON three times", func(s string) string { return asJSON(asJSON(`{"content":` + asJSON(s) + `}`)) }},
	{"a line of many", func(s string) string { return "ok\n" + `{"content":` + asJSON(s) + `}` + "\nok" }},
	{"members by lines", func(s string) string { return "{\n  \"n\": 1,\n  \"content\": " + asJSON(s) + "\n}" }},
	{"slashes of others", func(s string) string { return strings.ReplaceAll(asJSON(s), "/", `\/`) }},
	{"an error's argument", func(s string) string { return fmt.Sprintf("unexpected argument %q for \"x\"", s) }},
	{"a shell's argument", shellArgument},
	{"a shell's argument in JSON", func(s string) string { return `{"command":` + asJSON(shellArgument(s)) + `}` }},
	{"a line among others", func(s string) string { return s + "\nand so on\n" }},
}

func shellArgument(s string) string {
	return "bash -c '" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// What a rule finds in a text it finds in a string that holds the text.
func TestASecretIsFoundInAQuotedStringAsInItsText(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	found := 0
	for n, r := range s.rules().rules {
		tree, err := syntax.Parse(r.Regex.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		text := secretstest.Generate(tree, newRandom(uint64(n)))
		out, _ := s.Redact(text)
		if out == text {
			continue
		}
		found++
		for i := range 2 { // the others with other rules
			as := quotings[(n+3*i)%len(quotings)]
			quoted := as.quote(text)
			redacted, _ := s.Redact(quoted)
			if piece := pieceLeft(text, out, redacted); piece != "" {
				t.Errorf("%s as %s: %q is left of %q in %q", r.RuleID, as.name, piece, text, redacted)
			}
			if json.Valid([]byte(quoted)) && !json.Valid([]byte(redacted)) {
				t.Errorf("%s as %s: %q became %q", r.RuleID, as.name, quoted, redacted)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d texts had secrets", found)
	}
}

// pieceLeft returns a word of letters and digits that redacting took from a text and that
// another form of the text still has.
func pieceLeft(text, redacted, other string) string {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !wordChar(byte(min(c, 127))) }) {
		if len(word) >= 2*minRepeated && !strings.Contains(redacted, word) && strings.Contains(other, word) {
			return word
		}
	}
	return ""
}
