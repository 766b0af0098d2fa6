package secrets

import (
	"regexp/syntax"
	"strings"
	"testing"

	"memoir/secrets/secretstest"
)

// A secret is found whatever stands right behind it that cannot be a part of it.
func TestSecretsAreFoundInFrontOfWhatEndsThem(t *testing.T) {
	t.Parallel()
	s, strict := newScanner("", true), mustLoad(t, false)
	behind := []string{",", ", x", ")", "&page=2", "<", "</a>", "]", "}", "|", ":", "**", `\N`, ". Next", ".", "!", "?"}
	tested := 0
	for n, r := range strict.rules {
		if !strings.HasSuffix(r.Regex.String(), boundary) || strings.HasSuffix(r.Regex.String(), `")`+boundary) {
			continue
		}
		if r.RuleID == "generic-api-key" {
			continue
		}
		tree, err := syntax.Parse(r.Regex.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		random, planted := newRandom(uint64(n)), 0
		for range 400 {
			text := strings.TrimRight(secretstest.Generate(tree, random), " \t\n;'\"`")
			text = strings.TrimSuffix(strings.TrimSuffix(text, `\n`), `\r`)
			found := strict.find(text)
			if len(found) != 1 || found[0].rule != r || found[0].end != len(text) || strings.HasPrefix(found[0].secret(), "s.") {
				continue
			}
			secret := text[found[0].start:]
			for _, more := range behind {
				if out, _ := s.Redact(text + more); strings.Contains(out, secret) {
					t.Errorf("%s: %q is left in %q", r.RuleID, secret, out)
				}
			}
			if planted++; planted == 2 {
				tested++
				break
			}
		}
	}
	if tested < 120 {
		t.Errorf("only %d rules were tested", tested)
	}
	t.Logf("%d rules", tested)
}

func TestNamesBeforeABracketAreNoSecrets(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	for _, text := range []string{
		"if !s.ReadUint16LengthPrefixed(&list) {", "encryptionKey1024: dk.encryptionKey1024,",
		"keyHex:  pkcs8P224PrivateKeyHex,", "PrivateKey:  testRSA2048PrivateKey,",
	} {
		if out, _ := s.Redact(text); out != text {
			t.Errorf("%q became %q", text, out)
		}
	}
}
