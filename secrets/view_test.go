package secrets

import (
	"strings"
	"testing"
)

func TestAViewHasWhatTheTextStandsForAndItsPlaces(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		text, want string
	}{
		{"JSON", `a\"b\nc\u003dd`, "a\"b\nc=d"},
		{"JSON in JSON", `a\\\"b\\nc\\u003dd`, "a\"b\nc=d"},
		{"what Go quotes", `\x22a\x20b\\x22`, `"a b"`},
		{"what is no escape", `C:\windows \\server \d\s \xzz`, ""},
		{"colours", "\x1b[1;32mname\x1b[0m: \x1b[Kvalue", "name: value"},
		{"escaped colours", `\u001b[32mname\x1b[m: \033[31mval\e[0mue`, "name: value"},
		{"an escape character that colours nothing", "a\x1bb\x1b", ""},
		{"many colours", "\x1b[1m\x1b[2ma\x1b[0m\x1b[K\x1b[0mb", "ab"},
		{"slashes in JSON", `https:\/\/a.test\/b`, "https://a.test/b"},
		{"HTML", "&quot;a&quot;:&#39;b&#x27;&lt;c&gt; &amp;amp;", `"a":'b'<c> &`},
		{"no references", "a && b; &quota &lt c &#x1;", ""},
		{"a URL", "%7B%22a%22%3a%22b%22%7D%0Ac", "{\"a\":\"b\"}\nc"},
		{"no escapes of a URL", "100%3 %zz %2", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v, changed := normalise(test.text, map[string]bool{"github-pat": true}, hasURLEscapes(test.text))
			if changed != (test.want != "") || changed && v.text != test.want {
				t.Fatalf("read %q as %q, %v", test.text, v.text, changed)
			}
			for at := range len(v.text) {
				raw := v.raw(at)
				if raw < 0 || raw >= len(test.text) || at > 0 && raw < v.rawEnd(at) {
					t.Fatalf("%q is at %d of %q", v.text[at:], raw, test.text)
				}
				if c := v.text[at]; c >= 'a' && c <= 'z' && test.text[raw] != c {
					t.Errorf("%q is taken for %q", test.text[raw:], v.text[at:])
				}
			}
		})
	}
}

func TestAViewIsSearchedWhereItDiffersFromItsText(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("ordinary words ", 5) + "\n"
	far := strings.Repeat(line, 200)
	text := far + `{\"password\":\"Xk29vTqLw8\"}` + "\n" + far + far + `a \"word\"` + "\n" + far
	v, changed := normalise(text, nil, true)
	windows := v.windows()
	if !changed || len(windows) != 2 {
		t.Fatalf("%v, %d windows", changed, len(windows))
	}
	covered, last := 0, 0
	for _, w := range windows {
		begin := w.raw(0)
		if begin < last || begin > 0 && text[begin-1] != '\n' || !strings.HasSuffix(w.text, "\n") {
			t.Errorf("a window of %d bytes at %d", len(w.text), begin)
		}
		last = w.rawEnd(len(w.text))
		covered += len(w.text)
		for at := range len(w.text) {
			if raw := w.raw(at); w.text[at] != text[raw] && text[raw] != '\\' {
				t.Fatalf("%q at %d, %q at %d of the text", w.text[at], at, text[raw], raw)
			}
		}
	}
	if covered > 3*len(far)/5 {
		t.Errorf("%d bytes of %d", covered, len(text))
	}
	if got, counts := ours.Redact(text); strings.Contains(got, "Xk29vTqLw8") || counts.Total() != 1 {
		t.Errorf("%v", counts)
	}
	for _, whole := range []string{`\"a\"`, strings.Repeat(`a long line \"`, 1000)} {
		v, _ := normalise(whole, nil, true)
		if windows := v.windows(); len(windows) != 1 || windows[0].text != v.text {
			t.Errorf("%d windows of a text without ends of lines", len(windows))
		}
	}
}

func TestASecretIsKnownThoughHiddenCharactersStandInIt(t *testing.T) {
	t.Parallel()
	for _, hidden := range []string{"\u200b", "\u00ad", "\u2060\ufeff", "\u200d", "\U000e0041", "\u202e", "\ufe0f", "\u034f", "\u061c", "\u115f", "\u3164", "\uffa0"} {
		text := "set " + fakeToken[:11] + hidden + fakeToken[11:30] + hidden + fakeToken[30:] + " here"
		got, counts := ours.Redact(text)
		if got != "set [REDACTED:github-pat] here" || counts["github-pat"] != 1 {
			t.Errorf("%+q becomes %+q", text, got)
		}
	}
	for _, text := range []string{"a\u200bb done \u2714\ufe0f ok", "zero\u00adwidth", "\u200b" + "word", "word\u200b", "na\u00efve \u65e5\u672c\u8a9e\u200b\u8a9e"} {
		if got, _ := ours.Redact(text); got != text {
			t.Errorf("%+q becomes %+q", text, got)
		}
	}
}

// The printed content of a file may start with a byte order mark.
func TestASecretIsKnownOnALineThatBeginsWithAHiddenCharacter(t *testing.T) {
	t.Parallel()
	value := fake("Zk39", "fjQz7x")
	for _, line := range []string{
		"db.acme.test:5432:app:ada:" + value, "password=" + value, "user,password\nada," + value,
	} {
		want, counts := ours.Redact(line)
		if len(counts) == 0 {
			t.Fatalf("%q has no secret", line)
		}
		for _, before := range []string{"\ufeff", "a file:\n\ufeff", "\u200b\u2060", "a file:\r\n\u200b"} {
			got, _ := ours.Redact(before + line)
			if got != before+want {
				t.Errorf("%+q becomes %+q", before+line, got)
			}
			if again, _ := ours.Redact(got); again != got {
				t.Errorf("%+q becomes %+q", got, again)
			}
		}
	}
}
