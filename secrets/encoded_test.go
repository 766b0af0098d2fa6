package secrets

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestWhatIsBase64IsLookedInto(t *testing.T) {
	t.Parallel()
	config := "user: deploy\nhost: db.internal\ntoken: " + fakeToken + "\nretries: 3\n"
	once := base64.StdEncoding.EncodeToString([]byte(config))
	twice := base64.StdEncoding.EncodeToString([]byte("data: " + once))
	lines := func(code, margin string) string {
		var b strings.Builder
		for len(code) > 76 {
			b.WriteString(margin + code[:76] + "\n")
			code = code[76:]
		}
		return b.String() + margin + code + "\n"
	}
	for name, text := range map[string]string{
		"base64":              "config: " + once,
		"without padding":     "config=" + strings.TrimRight(once, "=") + "&x=1",
		"of URLs":             base64.URLEncoding.EncodeToString([]byte(config + "\u00ff\u00fe?>")),
		"of base64":           "x " + twice + " y",
		"of another script":   "x " + base64.StdEncoding.EncodeToString([]byte("\u8a2d\u5b9a\u3067\u3059\u3002 \u041f\u0430\u0440\u043e\u043b\u0438: \u00e4\u00f6\n"+config)) + " y",
		"in lines":            "$ base64 config\n" + lines(once, "") + "$",
		"in indented lines":   "data: |\n" + lines(once, "    ") + "kind: x",
		"in escaped lines":    `{"out":"` + strings.ReplaceAll(lines(once, ""), "\n", `\n`) + `"}`,
		"of a line in a line": `{"auth":"` + base64.StdEncoding.EncodeToString([]byte("anna:"+fakeToken)) + `"}`,
	} {
		out, counts := ours.Redact(text)
		if len(counts) == 0 {
			t.Errorf("%s: nothing found in %s", name, text)
		}
		for at := 0; at+40 <= len(text); at++ {
			if piece := text[at : at+40]; strings.Contains(decode(piece), "k3Jd9sLq0W") && strings.Contains(out, piece) {
				t.Errorf("%s: left in %s", name, out)
				break
			}
		}
		checkRedaction(t, text)
	}
	for _, harmless := range []string{config[:30], "lorem ipsum dolor sit amet, consectetur", "{\"alg\":\"none\"}"} {
		text := "x " + base64.StdEncoding.EncodeToString([]byte(harmless)) + " y"
		if out, _ := ours.Redact(text); out != text {
			t.Errorf("%q became %q", text, out)
		}
	}
}

func TestWhatFollowsALineThatEndsInASecretStays(t *testing.T) {
	t.Parallel()
	m := maker{newRandom(3)}
	for _, test := range []struct{ name, line, next string }{
		{"an item of a list", "    password: {{alnum40}}", "- name: basic"},
		{"a sentence", "our API token for all of this is {{alnum40}}", "Please never send it by mail."},
		{"a longer line", "export SECRET_TOKEN_OF_ALL={{alnum40}}", "v12 is what all of these are built with, as the notes of the release say at length"},
		{"a line of a log", "2031-03-12T10:11:12Z export SECRET_TOKEN={{alnum40}}", "2031-03-12T10:11:13Z fine"},
		{"a form", "the request has client_secret={{alnum40}}", "~~struck out~~ and so on"},
		{"a cell", ".a.test\tTRUE\t/\tTRUE\t1700000000\tsessionid\t{{alnum40}}", "b2.test\tTRUE\t/"},
	} {
		value := m.text(letters, 40)
		line, next := strings.ReplaceAll(test.line, "{{alnum40}}", value), strings.ReplaceAll(test.next, "{{word}}", m.word(4))
		out, _ := ours.Redact("x\n" + line + "\n" + next + "\ny\n")
		if strings.Contains(out, value) || !strings.Contains(out, "\n"+next+"\n") {
			t.Errorf("%s: became %s", test.name, out)
		}
	}
}
