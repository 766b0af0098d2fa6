package secretstest_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"memoir/secrets"
	"memoir/secrets/secretstest"
)

func TestASecretOfEveryRuleCanBePlanted(t *testing.T) {
	t.Parallel()
	rules, err := secretstest.BuiltIn("..")
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i, r := range slices.Concat(rules, rules) {
		c, ok := r.Plant(random, i < len(rules), func(match string) string { return match }, func(match string) string { return "x\n" + match + "\ny" })
		if !ok {
			t.Errorf("no secret of %s can be planted", r.ID)
			continue
		}
		out, _ := scanner.Redact(c.Text)
		for _, part := range c.Parts {
			if !strings.Contains(c.Text, part) {
				t.Errorf("%s: what was planted is not in its text", r.ID)
			}
			if strings.Contains(out, part) {
				t.Errorf("%s: %q is left in %q", r.ID, part, out)
			}
		}
	}
	t.Logf("%d rules", len(rules))
}

func TestWhatMustNotTurnUpIsNothingThatProgramsPrintAnyway(t *testing.T) {
	t.Parallel()
	rules, err := secretstest.Rules("[[rules]]\nid = \"x\"\nregex = '''(?i):_auth\\s*((?:[0-9a-f]{2},[ ]{9,12}){9,12}[0-9a-f]{2}|:_auth=[a-z]{9,12})'''\nkeywords = [\":_auth\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		c, ok := rules[0].Plant(random, true, func(match string) string { return "x " + match })
		if !ok {
			t.Fatal("no secret can be planted")
		}
		for _, part := range c.Parts {
			if len(strings.Join(strings.Fields(part), "")) < 8 || strings.EqualFold(part, ":_auth") {
				t.Errorf("%q must not turn up", part)
			}
		}
	}
}

func TestATextThatIsTakenForASecretWithoutOneIsNoCanary(t *testing.T) {
	t.Parallel()
	rules, err := secretstest.Rules("[[rules]]\nid = \"x\"\nregex = '''\\w+:([^:\\s]{4,40})\\b'''\n")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		c, _ := rules[0].Plant(random, true, func(match string) string { return "ci:127.0.0.1/app " + match })
		for _, part := range c.Parts {
			if strings.Contains("ci:127.0.0.1/app ", part) {
				t.Errorf("%q must not turn up", part)
			}
		}
	}
}
