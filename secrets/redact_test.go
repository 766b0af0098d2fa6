package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestRedactReplacesEverySecretByItsRule(t *testing.T) {
	t.Parallel()
	bot := fake("xoxb", "-123456789012-1234567890123-", "AbCdEfGhIjKlMnOpQrStUvWx")
	for _, test := range []struct {
		name, text, want string
		counts           Counts
	}{
		{"nothing", "nothing to see", "nothing to see", Counts{}},
		{"empty", "", "", Counts{}},
		{"one", "use " + fakeToken + " please", "use [REDACTED:github-pat] please", Counts{"github-pat": 1}},
		{
			"two rules", fakeToken + " " + bot, "[REDACTED:github-pat] [REDACTED:slack-bot-token]",
			Counts{"github-pat": 1, "slack-bot-token": 1},
		},
		{
			"every occurrence, also where no rule sees it", "password = \"" + "q9!xLm2#z" + "\"\nthen q9!xLm2#zzz",
			"password = \"[REDACTED:password-assignment]\"\nthen [REDACTED:password-assignment]zz",
			Counts{"password-assignment": 2},
		},
		{
			"a password that is a word, where it is a password", "amqp://app:" + "database@mq:5672 is no database",
			"amqp://app:[REDACTED:url-credentials]@mq:5672 is no database", Counts{"url-credentials": 1},
		},
		{
			"a short secret only where it is seen", "curl -u me:x7 http://x # x7",
			"curl -u me:x7 http://x # x7", Counts{},
		},
		{
			"what two rules see goes once, under the more specific name", "token = \"" + fakeToken + "\"",
			"token = \"[REDACTED:github-pat]\"", Counts{"github-pat": 1},
		},
		{
			"a comment that asks to allow it is not obeyed", fakeToken + " # gitleaks:allow",
			"[REDACTED:github-pat] # gitleaks:allow", Counts{"github-pat": 1},
		},
		{
			"line breaks stay", "a\n" + beginKey + "\n" + fakeKey + endKey + "\nb",
			"a\n[REDACTED:private-key]" + strings.Repeat("\n", 7) + "\nb", Counts{"private-key": 1},
		},
		{
			"a webhook's whole address goes, not four digits of it",
			fake("https://acme.webhook", ".office.com/webhookb2/", "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f@",
				"0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f/Incoming", "Webhook/0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d/",
				"0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"),
			"[REDACTED:microsoft-teams-webhook]", Counts{"microsoft-teams-webhook": 1},
		},
		{
			"a token goes whole where gitleaks reports its header",
			fake("ZXlKMGVYQWlPaUpL", "VjFRaUxDSmhiR2NpT2lKSVV6STFOaUo5LmV5SnpkV0lpT2lJeE1qTTBOVFkzT0Rrd0luMA=="),
			"[REDACTED:jwt-base64]", Counts{"jwt-base64": 1},
		},
		{
			"quotes that a rule counts to the secret stay", `curl -u "deploy:` + `n4Kq2!vTz" https://x`,
			`curl -u "[REDACTED:curl-auth-user]" https://x`, Counts{"curl-auth-user": 1},
		},
		{
			"the closing quote of a shell word stays", "PGPASSWORD='" + "Zx9!qL&m4TvB7w" + "' psql",
			"PGPASSWORD='[REDACTED:password-assignment]' psql", Counts{"password-assignment": 1},
		},
		{
			"an escaped quote behind a secret stays whole",
			`{\"t\":\"` + fake("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0", ".dozjgNryP4J3jVmNHl0w5N") + `\"}`,
			`{\"t\":\"[REDACTED:jwt]\"}`, Counts{"jwt": 1},
		},
		{
			"an escape before a secret stays whole", `"x\n` + fakeToken + `"`, `"x\n[REDACTED:github-pat]"`, Counts{"github-pat": 1},
		},
		{
			"a number in JSON becomes a string", `{"n":1,"asana_client_id":1234567890123456 }`,
			`{"n":1,"asana_client_id":"[REDACTED:asana-client-id]" }`, Counts{"asana-client-id": 1},
		},
		{
			"a secret over several strings of JSON leaves the strings",
			`["` + beginKey + `","` + strings.ReplaceAll(strings.TrimSpace(fakeKey), "\n", `","`) + `","` + endKey + `"]`,
			`["[REDACTED:private-key]"` + strings.Repeat(`,"[REDACTED:private-key]"`, 7) + `]`, Counts{"private-key": 1},
		},
		{
			"an escape that a secret begins in goes with it", `{"t":"\u0041` + fake("bcdefgh1k.", "atlasv1.", strings.Repeat("aB3-x", 13)) + `"}`,
			`{"t":"[REDACTED:hashicorp-tf-api-token]"}`, Counts{"hashicorp-tf-api-token": 1},
		},
		{
			"each line of JSON is looked after", "log\n{\"asana_id\": 1234567890123456 }\nend",
			"log\n{\"asana_id\": \"[REDACTED:asana-client-id]\" }\nend", Counts{"asana-client-id": 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, counts := ours.Redact(test.text)
			if got != test.want {
				t.Errorf("Redact(%q)\n got %q\nwant %q", test.text, got, test.want)
			}
			if len(counts) != len(test.counts) || counts.Total() != test.counts.Total() {
				t.Errorf("counts = %v, want %v", counts, test.counts)
			}
			if again, more := ours.Redact(got); again != got || len(more) > 0 {
				t.Errorf("redacted again it becomes %q, %v", again, more)
			}
		})
	}
}

func TestFindingsThatOverlapAreOneReplacement(t *testing.T) {
	t.Parallel()
	s, err := New(Options{ConfigPath: writeConfig(t, `
[[rules]]
id = "left"
regex = '''one [0-9]{8} two [0-9]{8}'''
[[rules]]
id = "right"
regex = '''two [0-9]{8} three [0-9]{8}'''
[[rules]]
id = "wide"
regex = '''four [0-9]{8} two [0-9]{8} five [0-9]{8}'''
[[rules]]
id = "inner"
regex = '''two [0-9]{8} five'''
`)})
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := fake("3141", "5926"), fake("2718", "2818"), fake("1414", "2135")
	for name, test := range map[string]struct{ text, want string }{
		"one ends in the other":   {"at one " + a + " two " + b + " three " + c + " end", "at [REDACTED:own-rule] end"},
		"one is inside the other": {"at four " + a + " two " + b + " five " + c + " end", "at [REDACTED:own-rule] end"},
	} {
		if got, _ := s.Redact(test.text); got != test.want {
			t.Errorf("%s: %q became %q, want %q", name, test.text, got, test.want)
		}
	}
}

// checkRedaction checks the guarantees of Redact on a text.
func checkRedaction(t *testing.T, text string) {
	t.Helper()
	out, counts := ours.Redact(text)
	for _, f := range ours.Find(text) {
		value := text[f.Start:f.End]
		if telling(value, ours.rules().byID[f.Rule]) && strings.Contains(out, value) {
			t.Errorf("%s is still in %q, redacted from %q", f.Rule, out, text)
		}
	}
	if again, more := ours.Redact(out); again != out || len(more) > 0 {
		t.Errorf("redacting %q again gives %q", out, again)
	}
	if (out != text) != (counts.Total() > 0) {
		t.Errorf("counts are %v for %q", counts, text)
	}
	if strings.Count(out, "\n") != strings.Count(text, "\n") {
		t.Errorf("lines were lost from %q to %q", text, out)
	}
	if json.Valid([]byte(text)) && !json.Valid([]byte(out)) {
		t.Errorf("JSON %q became %q", text, out)
	}
}

func TestFindTellsTheRuleAndThePlaceAndAMaskedHint(t *testing.T) {
	t.Parallel()
	text := "first\nzwölf: " + fakeToken + "\n\n" + fakeToken
	found := ours.Find(text)
	if len(found) != 2 {
		t.Fatalf("found %v", found)
	}
	for i, want := range []struct{ line, column int }{{2, 8}, {4, 1}} {
		f := found[i]
		if f.Rule != "github-pat" || f.Line != want.line || f.Column != want.column || text[f.Start:f.End] != fakeToken {
			t.Errorf("finding %d is %+v, want line %d column %d", i, f, want.line, want.column)
		}
		if f.Hint != "ghp_… (40 bytes)" {
			t.Errorf("hint is %q", f.Hint)
		}
	}
	if ours.Find("nothing") != nil {
		t.Error("found something in nothing")
	}
}

func TestAHintShowsAtMostAFifthOfASecret(t *testing.T) {
	t.Parallel()
	for secret, want := range map[string]string{
		"":                    "… (0 bytes)",
		"abcd":                "… (4 bytes)",
		"abcdefghij":          "ab… (10 bytes)",
		"äöüäöüäöüä":          "äö… (20 bytes)",
		"\x1b[31m" + "abcdef": ".[… (11 bytes)",
	} {
		if got := hint(secret); got != want {
			t.Errorf("hint(%q) = %q, want %q", secret, got, want)
		}
	}
}

func TestWhatAMessageQuotesIsReadAlone(t *testing.T) {
	t.Parallel()
	long := "lMEW31UWoRP53ErN" + "1P3curgjmekowD3uEqu2S"
	for _, value := range []string{
		"SECRETTOKEN " + long + "```",
		"Dq_PW* ? :: *  ** *** **:" + long + "             ",
		"Q: SET O4z9PRIVATEKEY2B6VnWnaCS   '" + long + "        */",
	} {
		if out, _ := ours.Redact(value); strings.Contains(out, long) {
			t.Fatalf("it is no secret by itself: %q", out)
		}
		for _, message := range []string{
			fmt.Sprintf("config.yml:1: unknown setting %q", value),
			fmt.Sprintf("%q must be a number, not %q\nhint: \"", "x", value),
			fmt.Sprintf("run %s: %q", "a\"", value),
			fmt.Sprintf("missing closing ]: `%s`", strings.ReplaceAll(value, "`", "")),
		} {
			out := ours.Message(message)
			if strings.Contains(out, long[:8]) || strings.Contains(out, long[len(long)-8:]) {
				t.Errorf("said: %s", out)
			}
			if again := ours.Message(out); again != out {
				t.Errorf("%s said again: %s", out, again)
			}
		}
	}
	parts := "you sent --pass,,,\"pass:" + "Xq7vLr2Kw9" + `"iMOC""Arr6ZjjCA"`
	if out := ours.Message(parts); strings.Contains(out, "Xq7v") || strings.Contains(out, "6ZjjCA") {
		t.Errorf("of a value with quotes in it: %s", out)
	}
	for _, plain := range []string{
		"", "\"", "`", "a \"b", "`a` and \"b\\\"c\"", "open \"a/very/long/path\": no such file",
		"unknown setting \"memories.concurency\": did you mean `memories.concurrency`?", "\"\\x00\\u202e is not printable\"",
	} {
		if out := ours.Message(plain); out != plain {
			t.Errorf("%q became %q", plain, out)
		}
	}
}

func TestAMessageOfEscapedQuotesIsReadOnce(t *testing.T) {
	t.Parallel()
	word := fake("p4ss!", "w0rd-of-it")
	// If each quote were read to the end of the quotation, this would take hours.
	out := ours.Message("answer \"" + strings.Repeat(`{\"a\":`, 1<<17) + "\" and \"password: " + word + "\"")
	if strings.Contains(out, word) || !strings.HasSuffix(out, "]\"") {
		t.Errorf("said: …%s", out[len(out)-80:])
	}
}

func TestAMessageOfJSONStaysJSON(t *testing.T) {
	t.Parallel()
	word := fake("p4ss!", "w0rd-of-it")
	for _, between := range []string{"\\n", "\\u0007", "\\u000b", "\x7f", "\U000e0001"} {
		out := ours.Message(`{"error":"bad` + between + ` password: ` + word + `"}`)
		if strings.Contains(out, word) || !json.Valid([]byte(out)) {
			t.Errorf("said: %s", out)
		}
		if again := ours.Message(out); again != out {
			t.Errorf("%s said again: %s", out, again)
		}
	}
}
