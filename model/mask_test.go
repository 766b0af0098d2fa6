package model

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMaskKey(t *testing.T) {
	t.Parallel()
	key := "sk-" + "or-v1-" + strings.Repeat("0f", 8) + "9a8b"
	for text, want := range map[string]string{
		"key " + key + " is bad":          "key [key] is bad",
		"x" + key + "y":                   "x[key]y",
		"key sk-or-v1-0f0f****9a8b":       "key [key]",
		"key 'sk-o...9a8b'":               "key '[key]'",
		"key ...9a8b.":                    "key [key]",
		"key •••9a8b":                     "key [key]",
		"?api_key=sk-or-v1-0f&n=1":        "?api_key=[key]&n=1",
		"a sketch of risk-or-v1":          "a sketch of risk-or-v1",
		"line 9a8b":                       "line 9a8b",
		"model openai/gpt-5 is not found": "model openai/gpt-5 is not found",
	} {
		if got := maskKey(text, key); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
	for _, c := range []struct{ key, text, want string }{
		{"", "as it is", "as it is"},
		{"x", "x is no xylophone", "[key] is no xylophone"},
		{"none", "none found", "[key] found"},
	} {
		if got := maskKey(c.text, c.key); got != c.want {
			t.Errorf("key %q in %q: got %q", c.key, c.text, got)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" two\n\tlines ":        "two lines",
		"\x1b]0;title\abell":    "]0;titlebell",
		"bad \xff\xfe bytes":    "bad bytes",
		"Zürich\u202e \u200bok": "Zürich ok",
	} {
		if got := plain(text, ""); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	words := strings.Repeat("word ", 2*maxMessage/5)
	if got := plain(words[:maxMessage-20]+strings.Repeat("k", 40), ""); strings.Contains(got, "k") || !strings.HasSuffix(got, "word…") {
		t.Errorf("a word is cut: %q", got)
	}
	if got := tail(strings.Repeat("k", 40) + " " + words[:maxMessage-20]); strings.Contains(got, "k") || !strings.HasPrefix(got, "word") {
		t.Errorf("a word is cut: %q", got)
	}
	var said ending
	_, _ = said.Write([]byte(strings.Repeat("k", 40) + " " + strings.Repeat("word ", 4*maxMessage/5-3)))
	if got := said.text(); strings.Contains(got, "k") || !strings.HasPrefix(got, "word") {
		t.Errorf("a word is cut: %q", got[:40])
	}
	for n := range 8 {
		got := plain(strings.Repeat("x", n)+strings.Repeat("ü€", 400), "")
		if len(got) > maxMessage || len(got) < maxMessage-6 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("cut to %d bytes: %q", len(got), got)
		}
	}
}
