package testdata_test

import (
	"strings"
	"testing"

	"memoir/secrets"
	"memoir/testdata"
)

func TestNoStoredFixtureHoldsWhatLooksLikeASecret(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range testdata.Expected {
		for _, name := range s.Files {
			text := string(read(t, name))
			for _, finding := range scanner.Find(text) {
				t.Errorf("%s:%d: rule %s: %s", name, finding.Line, finding.Rule, text[finding.Start:finding.End])
			}
		}
	}
}

func TestEachPlantedSecretIsOneThatItsRuleFinds(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range testdata.Rules() {
		text := testdata.Fill("value: @@SECRET:" + rule + "@@ end")
		found := false
		for _, finding := range scanner.Find(text) {
			found = found || finding.Rule == rule
		}
		if !found {
			t.Errorf("rule %s does not find its fake", rule)
		}
	}
}

func TestRedactedSessionsHoldNoPlantedSecret(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	planted, err := testdata.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, items, _ := thread(t, dir, testdata.Find("sync"))
	total := secrets.Counts{}
	var before, after strings.Builder
	for _, it := range items {
		before.WriteString(it.Text + it.Input + it.Output)
		redactor := scanner.Session() // one an item, so that no item helps another
		clean := redactor.Item(it)
		total.Merge(redactor.Counts())
		after.WriteString(clean.Text + clean.Input + clean.Output)
	}
	for _, secret := range planted {
		if !strings.Contains(before.String(), secret) {
			t.Errorf("no item of the session holds %.8s…", secret)
		}
		if strings.Contains(after.String(), secret) {
			t.Errorf("%.8s… is not redacted", secret)
		}
	}
	for _, rule := range testdata.Rules() {
		if total[rule] == 0 {
			t.Errorf("nothing was redacted by rule %s", rule)
		}
	}
}
