package model

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestForeignWordsAreOneShortLineWithoutTheKey(t *testing.T) {
	t.Parallel()
	key := "sk-" + "or-v1-" + strings.Repeat("0f", 8) + "9a8b"
	o := Options{Key: key, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "REDACTED") }}
	for text, want := range map[string]string{
		" two\n\tlines ":              "two lines",
		"\x1b]0;title\abell":          "]0;titlebell",
		"bad \xff\xfe bytes":          "bad bytes",
		"Zürich\u202e \u200bok":       "Zürich ok",
		"key " + key + " is bad":      "key [key] is bad",
		"x" + key + "y":               "x[key]",
		"key '" + key[:12] + "...'":   "key '[key]'",
		"?api_key=" + key + "&n=1":    "?api_key=[key]&n=1",
		"the password hunter2 is bad": "the password REDACTED is bad",
		"a sketch of risk":            "a sketch of risk",
	} {
		for _, end := range []bool{false, true} {
			if got := o.words(text, end); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		}
	}
	words := strings.Repeat("word ", 2*maxMessage/5)
	var said ending
	_, _ = said.Write([]byte(strings.Repeat("k", 40) + " " + strings.Repeat("word ", 4*maxMessage/5-3)))
	for _, got := range []string{
		o.words(words[:maxMessage-20]+strings.Repeat("k", 40), false),
		o.words(strings.Repeat("k", 40)+" "+words[:maxMessage-20], true),
		strings.TrimSpace(string(said.kept)),
	} {
		if strings.Contains(got, "k") || !strings.HasPrefix(got, "word") || !strings.HasSuffix(strings.TrimSuffix(got, "…"), "word") {
			t.Errorf("a word is cut: %q", got)
		}
	}
	for n := range 8 {
		got := o.words(strings.Repeat("x", n)+strings.Repeat("ü€", 400), false)
		if len(got) > maxMessage || len(got) < maxMessage-6 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("cut to %d bytes: %q", len(got), got)
		}
	}
}
