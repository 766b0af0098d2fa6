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
		if got := o.words(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := o.lastWords(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	words := strings.Repeat("word ", 2*maxMessage/5)
	if got := o.words(words[:maxMessage-20] + strings.Repeat("k", 40)); strings.Contains(got, "k") || !strings.HasSuffix(got, "word…") {
		t.Errorf("a word is cut: %q", got)
	}
	if got := o.lastWords(strings.Repeat("k", 40) + " " + words[:maxMessage-20]); strings.Contains(got, "k") || !strings.HasPrefix(got, "word") {
		t.Errorf("a word is cut: %q", got)
	}
	var said ending
	_, _ = said.Write([]byte(strings.Repeat("k", 40) + " " + strings.Repeat("word ", 4*maxMessage/5-3)))
	if got := said.text(); strings.Contains(got, "k") || !strings.HasPrefix(got, "word") {
		t.Errorf("a word is cut: %q", got[:40])
	}
	for n := range 8 {
		got := o.words(strings.Repeat("x", n) + strings.Repeat("ü€", 400))
		if len(got) > maxMessage || len(got) < maxMessage-6 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("cut to %d bytes: %q", len(got), got)
		}
	}
}
