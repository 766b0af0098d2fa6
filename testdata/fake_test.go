package testdata_test

import (
	"slices"
	"testing"

	"memoir/secrets"
	"memoir/testdata"
)

func TestEveryFakeIsFoundAndNothingOfItStays(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, rule := range testdata.FakeRules() {
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
