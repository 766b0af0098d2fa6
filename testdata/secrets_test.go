package testdata_test

import (
	"slices"
	"strings"
	"testing"

	"memoir/secrets"
	"memoir/testdata"
)

// planting are the rules whose secrets the fixtures plant.
var planting = []string{"github-pat", "aws-access-token", "private-key"}

func TestNoStoredFixtureHoldsWhatLooksLikeASecret(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range testdata.Expected() {
		for _, name := range s.Files {
			text := string(read(t, name))
			for _, finding := range scanner.Find(text) {
				t.Errorf("%s:%d: rule %s: %s", name, finding.Line, finding.Rule, text[finding.Start:finding.End])
			}
		}
	}
}

func TestEveryFakeIsFoundAndNothingOfItStays(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, rule := range append(planting, "gitlab-pat", "slack-bot-token", "generic-api-key") {
		value, planted, ok := testdata.Fake(rule)
		if again, _, _ := testdata.Fake(rule); !ok || again != value || len(planted) == 0 {
			t.Errorf("%s: %d planted, the same twice is %v", rule, len(planted), again == value)
		}
		if slices.Contains(seen, value) {
			t.Errorf("%s has the fake of another rule", rule)
		}
		seen = append(seen, value)
		redacted, counts := scanner.Redact("api_token = \"" + value + "\"\n")
		if len(counts) == 0 || testdata.Holds(redacted, value) {
			t.Errorf("%s: its fake is not found (%v)", rule, counts)
		}
	}
	if _, _, ok := testdata.Fake("no-such-rule"); ok {
		t.Error("there is a fake for any rule")
	}
}

func TestRedactedSessionsHoldNoPlantedSecret(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir, planted := fixtures(t)
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
	for _, rule := range planting {
		if total[rule] == 0 {
			t.Errorf("nothing was redacted by rule %s", rule)
		}
	}
}
