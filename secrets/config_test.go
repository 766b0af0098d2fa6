package secrets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

// writeConfig writes a .gitleaks.toml and returns its path.
func writeConfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".gitleaks.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPersonsOwnRulesAreMergedIntoTheDefaultOnes(t *testing.T) {
	t.Parallel()
	pass := "password = \"" + fake("q9!", "xLm2#zP") + "\""
	for _, test := range []struct {
		name, config, text, want string
	}{
		{
			"a rule of one's own", `
[[rules]]
id = "Acme Key"
regex = '''acme-[0-9]{8}'''
keywords = ["acme-"]`,
			"acme-12345678 " + fakeToken, "[REDACTED:own-rule] [REDACTED:github-pat]",
		},
		{
			"a keyword outside of ASCII", `
[[rules]]
id = "schluessel"
regex = '''Schlüssel ([0-9]{8})'''
keywords = ["SCHLÜSSEL"]`,
			"Schlüssel 12345678", "Schlüssel [REDACTED:own-rule]",
		},
		{
			"a rule without a keyword", `
[[rules]]
id = "digits"
regex = '''\b[0-9]{12}\b'''`,
			"x 123456789012 y", "x [REDACTED:own-rule] y",
		},
		{
			"a default rule that is switched off", `
[extend]
useDefault = true
disabledRules = ["github-pat", "password-assignment"]`,
			"use " + fakeToken + " " + pass, "use " + fakeToken + " " + pass,
		},
		{
			"an allowlist for all rules", `
[[allowlists]]
regexes = ['''k3Jd9s''']`,
			"use " + fakeToken, "use " + fakeToken,
		},
		{
			"an allowlist for a default rule", `
[[rules]]
id = "github-pat"
[[rules.allowlists]]
stopwords = ["k3jd9s"]`,
			"use " + fakeToken, "use " + fakeToken,
		},
		{
			"an allowlist for an extra rule, from outside", `
[[allowlists]]
targetRules = ["password-assignment"]
regexTarget = "line"
regexes = ['''^password''']`,
			pass, pass,
		},
		{
			"an allowlist that demands a path never holds", `
[[allowlists]]
condition = "AND"
paths = ['''.*''']
regexes = ['''k3Jd9s''']`,
			"use " + fakeToken, "use [REDACTED:github-pat]",
		},
		{
			"a rule that needs another near it is found without", `
[[rules]]
id = "acme-key"
regex = '''acme-[0-9]{8}'''
keywords = ["acme-"]
[[rules.required]]
id = "acme-user"
withinLines = 1
[[rules]]
id = "acme-user"
regex = '''acmeuser'''
keywords = ["acmeuser"]
skipReport = true`,
			"acme-12345678\nacmeuser", "[REDACTED:own-rule]\nacmeuser",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := New(Options{ConfigPath: writeConfig(t, test.config)})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := s.Redact(test.text); got != test.want {
				t.Errorf("Redact(%q)\n got %q\nwant %q", test.text, got, test.want)
			}
		})
	}
}

func TestAConfigurationCanExtendAnother(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, "[extend]\npath = \"team.toml\"\n")
	team := "[[rules]]\nid = \"team\"\nregex = '''team-[0-9]+'''\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "team.toml"), []byte(team), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 { // gitleaks' own loader ignores [extend] after the second call
		s, err := New(Options{ConfigPath: path})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Redact("team-42"); got != "[REDACTED:own-rule]" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestAMistakeInAConfigurationNamesTheFileAndTheRule(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, config, mentions string }{
		{"not TOML", "[[rules]]\nid = 'x'\nregex = [[\n", "line 3"},
		{"a word for a number", "[[rules]]\nid = 'x'\nregex = 'x'\n[[rules]]\nid = 'acme'\nregex = 'x'\nentropy = 'high'\n", `rule "acme": entropy`},
		{"a broken expression", "[[rules]]\nid = \"acme\"\nregex = '''(acme'''\n", "acme"},
		{"a broken expression in an allowlist", "[[rules]]\nid = \"acme\"\nregex = '''x'''\n[[rules.allowlists]]\nregexes = ['''[''']\n", "acme"},
		{"a broken expression in an older allowlist", "[[rules]]\nid = \"acme\"\nregex = '''x'''\n[rules.allowlist]\nregexes = ['''[''']\n", "acme"},
		{"a broken global allowlist", "[[allowlists]]\ndescription = \"mine\"\nregexes = ['''[''']\n", "mine"},
		{"an allowlist that checks nothing", "[[rules]]\nid = \"acme\"\nregex = '''x'''\n[[rules.allowlists]]\ndescription = \"x\"\n", "acme"},
		{"too many rules", strings.Repeat("[[rules]]\nid = \"acme\"\nregex = 'x'\n", 501), "501 rules, at most 500"},
		{"a long expression", "[[rules]]\nid = \"acme\"\nregex = '" + strings.Repeat("x", 16<<10+1) + "'\n", "at most 16384"},
		{"too many bytes", "#" + strings.Repeat("x", 512<<10), "more than 524288 bytes"},
		{"no id", "[[rules]]\nregex = '''x'''\n", "rule 1"},
		{"a group that is not there", "[[rules]]\nid = \"acme\"\nregex = '''x'''\nsecretGroup = 2\n", "acme"},
		{"a negative group", "[[rules]]\nid = \"acme\"\nregex = '''x'''\nsecretGroup = -1\n", "acme"},
		{"neither expression nor path", "[[rules]]\nid = \"acme\"\n", "acme"},
		{"an allowlist for an unknown rule", "[[allowlists]]\ntargetRules = [\"acme\"]\nregexes = ['''x''']\n", "acme"},
		{"a required rule that is not there", "[[rules]]\nid = \"x\"\nregex = '''x'''\n[[rules.required]]\nid = \"acme\"\n", "acme"},
		{"a path and the defaults", "[extend]\npath = \"x\"\nuseDefault = true\n", "extend"},
		{"a file to extend that is not there", "[extend]\npath = \"missing.toml\"\n", "missing.toml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := writeConfig(t, test.config)
			_, err := New(Options{ConfigPath: path})
			if memoir.CodeOf(err) != memoir.CodeConfig {
				t.Fatalf("error is %v", err)
			}
			if !strings.Contains(err.Error(), filepath.Dir(path)) || !strings.Contains(err.Error(), test.mentions) {
				t.Errorf("error %q does not name the file and %q", err, test.mentions)
			}
			if memoir.HintOf(err) == "" {
				t.Error("no hint")
			}
		})
	}
}

func TestWithoutAFileTheDefaultRulesHold(t *testing.T) {
	t.Parallel()
	s, err := New(Options{ConfigPath: filepath.Join(t.TempDir(), "none.toml")})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"github-pat", "generic-api-key", "url-credentials"} {
		if s.rules().byID[id] == nil {
			t.Errorf("no rule %s", id)
		}
	}
}

func TestMistakesInRulesAreToldWithoutTheSecretsOfTheFile(t *testing.T) {
	t.Parallel()
	value, id := "YoUQlQUx2oh"+"us8ErNSzsY", "efcb96a2-24cc-9ea8-"+"2f96-ac9ce9a78163"
	for content, secret := range map[string]string{
		"[[rules]]\nid = \"x\"\nregex = \"(password[].EQUALS('" + value + "'\"":      value,
		"[[rules]]\nid = \"token=" + id + "\"\nregex = \"x(\"":                       id,
		"[[rules]]\nid = \"x\"\nregex = \"x\"\nentropy = \"password=" + value + "\"": value,
		"[extend]\npassword = '" + value:                                             value,
	} {
		path := writeConfig(t, content)
		_, err := New(Options{ConfigPath: path})
		if err == nil || strings.Contains(err.Error(), secret[:8]) || strings.Contains(err.Error(), secret[len(secret)-8:]) {
			t.Errorf("of %s it is said: %v", content, err)
		}
	}
}
