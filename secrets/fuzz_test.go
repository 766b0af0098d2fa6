package secrets

import (
	"slices"
	"strings"
	"testing"
)

func FuzzRedactKeepsItsPromises(f *testing.F) {
	for _, seed := range []string{
		"", "\\", "[REDACTED:", "[REDACTED:github-pat]" + fakeToken,
		`{"a":"\"` + fakeToken + `\\","password":"` + "q9!xLm2#z" + `"}`,
		`{"recovery_codes":["ab123-cd456","ef789-gh012"],"n":1}`,
		`["password", {"x": "password=\"q9!xLm2#z\""}]`,
		"curl -u 'a:" + "b1$c9zz' x\n" + fakeToken + fakeToken,
		beginKey + "\r\n" + fakeKey + endKey + "\n",
		`"` + beginKey + `\n` + strings.ReplaceAll(fakeKey, "\n", `\n`) + endKey + `"`,
		"postgres://a:" + "b1c!2d@h/" + "\xff\xe2\x84\n\u017f\u212a\u0130",
		`{"asana_client_id":1234567890123456 ,"asana_client_id":"1234567890123456"}`,
		`\\\"api_key\\\": \\\"` + fakeOpaque + `\\\"\u0022`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRedaction(t, text) })
}

func FuzzFindIsWhatTheSlowSearchFinds(f *testing.F) {
	f.Add("key = " + fakeOpaque)
	f.Add("curl -H 'Authorization: Bearer " + fakeOpaque + "'\n" + beginKey)
	f.Add("sk-" + fakeOpaque + " sourcegraph " + strings.Repeat("a1b2", 10))
	set := mustLoad(f, true)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\u017f\u0130\u212a") { // equal to ASCII letters if case is ignored
			return
		}
		fast, _ := set.findRules(text)
		lower := strings.ToLower(text)
		slow := &search{set: set, text: text}
		for _, r := range set.rules { // as gitleaks does
			has := func(k string) bool { return strings.Contains(lower, k) }
			if len(r.Keywords) == 0 || slices.ContainsFunc(r.Keywords, has) {
				slow.judgeWhole(r)
			}
		}
		slices.SortFunc(slow.found, byPlace)
		if len(fast) != len(slow.found) {
			t.Fatalf("found %d, want %d in %q", len(fast), len(slow.found), text)
		}
		for i, want := range slow.found {
			if got := fast[i]; byPlace(got, want) != 0 {
				t.Errorf("finding %d is %s %d-%d, want %s %d-%d in %q",
					i, got.rule.RuleID, got.start, got.end, want.rule.RuleID, want.start, want.end, text)
			}
		}
	})
}
