package secrets

import (
	"strings"
	"testing"
)

func FuzzRedactKeepsItsPromises(f *testing.F) {
	token := fake("ghp", "_", "k3Jd9sLq0WmZx7Yt2Rv5Bn8Cf4Hg6Pa1Ue0o")
	for _, seed := range []string{
		"", "\\", "[REDACTED:", "[REDACTED:github-pat]" + token,
		`{"a":"\"` + token + `\\","password":"` + "q9!xLm2#z" + `"}`,
		`["password", {"x": "password=\"q9!xLm2#z\""}]`,
		"curl -u 'a:" + "b1$c9zz' x\n" + token + token,
		beginKey + "\r\n" + fakeKey + endKey + "\n",
		`"` + beginKey + `\n` + strings.ReplaceAll(fakeKey, "\n", `\n`) + endKey + `"`,
		"postgres://a:" + "b1c!2d@h/" + "\xff\xe2\x84\n\u017f\u212a\u0130",
		`{"asana_client_id":1234567890123456 ,"asana_client_id":"1234567890123456"}`,
		`\\\"api_key\\\": \\\"` + fakeOpaque + `\\\"\u0022`,
	} {
		f.Add(seed)
	}
	s := newScanner("", true)
	f.Fuzz(func(t *testing.T, text string) { checkRedaction(t, s, text) })
}

// findSlowly searches as gitleaks does: each rule of which the text has a keyword runs
// over the whole text.
func (s *search) findSlowly() {
	lower := strings.ToLower(s.text)
	for _, late := range []bool{false, true} {
		for _, r := range s.set.rules {
			if r.fallback == late && r.hasKeyword(lower) {
				s.appendWhole(r)
			}
		}
	}
}

func FuzzFindIsWhatTheSlowSearchFinds(f *testing.F) {
	f.Add("key = " + fakeOpaque)
	f.Add("curl -H 'Authorization: Bearer " + fakeOpaque + "'\n" + beginKey)
	f.Add("pa\u017f\u017fword = " + fakeOpaque + " AP\u0130_\u212aEY=" + fakeOpaque)
	f.Add("sk-" + fakeOpaque + " sourcegraph " + strings.Repeat("a1b2", 10))
	set := mustLoad(f, true)
	f.Fuzz(func(t *testing.T, text string) {
		fast := set.find(text)
		slow := &search{set: set, text: text, lines: newLineIndex(text)}
		slow.findSlowly()
		want := set.report(slow.found)
		if len(fast) != len(want) {
			t.Fatalf("found %d, want %d in %q", len(fast), len(want), text)
		}
		for i := range want {
			if fast[i].place() != want[i].place() {
				t.Errorf("finding %d is %v, want %v in %q", i, fast[i].place(), want[i].place(), text)
			}
		}
	})
}
