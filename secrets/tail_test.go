package secrets

import (
	"strings"
	"testing"

	"memoir/secrets/secretstest"
)

// A rule that knows its tokens by a beginning and a length finds the head of a longer one.
func TestNoTailOfALongerTokenStays(t *testing.T) {
	t.Parallel()
	s := newScanner("", true)
	tested := 0
	for n, r := range s.rules().rules {
		if r.rank != rankSpecific {
			continue
		}
		tree, random := treeOf(t, r), newRandom(uint64(n))
		m := maker{random}
		for range 20 {
			head := strings.TrimRight(secretstest.Generate(tree, random), " \t\r\n;'\"`\\")
			if head == "" || !wordChar(head[len(head)-1]) {
				continue
			}
			tail := m.text(letters, 6) + m.text(numbers, 1) + m.text(letters, 5)
			for _, longer := range []string{head + tail, head + "-" + tail, head + "." + m.text(numbers, 2) + tail} {
				found := false
				all, _ := s.rules().findRules(longer)
				for _, f := range all {
					found = found || f.rule == r && f.end == len(head)
				}
				if !found {
					continue
				}
				tested++
				for name, text := range map[string]string{
					"itself": longer, "a remote": "https://oauth2:" + longer + "@git.test/x.git", "a path": "/src/" + longer + ".git",
					"JSON": `{"token":"` + longer + `"}`, "a sentence": "It is " + longer + ".",
				} {
					if out, _ := s.Redact(text); pieceOf(tail, out) != "" {
						t.Errorf("%s, %s: the tail of %q is left in %q", r.RuleID, name, longer, out)
					}
				}
			}
		}
	}
	if tested < 50 {
		t.Errorf("only %d tokens were longer than what a rule found", tested)
	}
}

func TestATokenEndsWhereItsWordDoes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"abc1 x": "abc1", "abc1.": "abc1", "abc1. Next": "abc1", "abc1.git": "abc1", "abc1def2": "abc1def2", "abc1-def": "abc1-def",
		"abc1--": "abc1", "abc1.0123456789": "abc1.0123456789", "abc1.example": "abc1", `abc1\nx`: "abc1", "abc1": "abc1",
	} {
		if end := (&tails{text: text}).tokenEnd(0, len("abc1")); text[:end] != want {
			t.Errorf("%q ends as %q, want %q", text, text[:end], want)
		}
	}
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
