package secrets

import (
	"fmt"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zricethezav/gitleaks/v8/detect"

	"memoir/secrets/secretstest"
)

// differ compares what gitleaks' own detector, as a library, finds in a text with what we do. Rules
// for files of a certain name are left out: gitleaks does not apply them to a text without a name,
// we do. So is what the generic rule finds in the secret of another rule, which gitleaks drops where
// both are on one line.
func differ(d *detect.Detector, set *ruleSet, text string) (diff string, found int) {
	type match struct{ rule, secret, match string }
	var want, got []match
	for _, f := range d.DetectString(text) {
		want = append(want, match{f.RuleID, f.Secret, f.Match})
	}
	ours, _ := set.findRules(text)
	for _, f := range ours {
		if f.rule.Path == nil {
			got = append(got, match{f.rule.RuleID, f.secret(), text[f.matchStart:f.matchEnd]})
		}
	}
	tidy := func(list []match) []match {
		all := slices.Clone(list)
		list = slices.DeleteFunc(list, func(m match) bool {
			within := func(other match) bool { return other.rule != m.rule && strings.Contains(other.secret, m.secret) }
			return m.rule == "generic-api-key" && slices.ContainsFunc(all, within)
		})
		slices.SortFunc(list, func(a, b match) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return list
	}
	return cmp.Diff(tidy(want), tidy(got), cmp.AllowUnexported(match{}), cmpopts.EquateEmpty()), len(want)
}

func newDetector(t testing.TB) *detect.Detector {
	t.Helper()
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	d.IgnoreGitleaksAllow = true
	return d
}

// compares is for tests that gitleaks' detector spends minutes in when the race detector
// watches it. They start no goroutine of ours.
func compares(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("under the race detector, most of its time is gitleaks' own: `make test` runs it without")
	}
}

// glue is what stands between secrets in a mixed text, bytes that are no UTF-8 among it.
var glue = []string{
	" ", "\n", "\n\n", "\r\n", "\t", "\"", "'", "`", "=", ": ", ", ", ";", "/", "\\n", "\\\"", "key = ", "token: ",
	"export SECRET=", "password ", "api", "curl -u ", "gitleaks:allow", "é", "\u2028",
	"\xff", "\xe2\x84", "EXAMPLE", "0123456789", "facebook", "sourcegraph ", "sk", "s.",
}

func TestSameFindingsAsGitleaksOnMixedAndDamagedTexts(t *testing.T) {
	compares(t)
	d, set := newDetector(t), mustLoad(t, false)
	rounds := 2000
	if os.Getenv("MEMOIR_THOROUGH") != "" {
		rounds = 100_000
	}
	var trees []*syntax.Regexp
	for _, r := range set.rules {
		tree, err := syntax.Parse(r.Regex.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	random, findings := newRandom(11), 0
	for range rounds {
		var b strings.Builder
		for range 1 + random.IntN(5) {
			b.WriteString(glue[random.IntN(len(glue))])
			b.WriteString(secretstest.Generate(trees[random.IntN(len(trees))], random))
			b.WriteString(glue[random.IntN(len(glue))])
		}
		text := []byte(b.String())
		for range random.IntN(4) { // flip, cut or repeat
			at := random.IntN(len(text))
			switch random.IntN(3) {
			case 0:
				text[at] = byte(random.IntN(256))
			case 1:
				text = slices.Delete(text, at, min(len(text), at+1+random.IntN(8)))
			case 2:
				text = append(text, text[at:]...)
			}
			if len(text) == 0 {
				text = []byte("x")
			}
		}
		diff, n := differ(d, set, string(text))
		if findings += n; diff != "" {
			t.Fatalf("findings differ (-gitleaks +ours) in %q:\n%s", text, diff)
		}
	}
	t.Logf("%d texts, %d findings", rounds, findings)
}

func TestSameFindingsAsGitleaksOnTheCorpus(t *testing.T) {
	compares(t)
	texts := corpusTexts(t)
	d, set := newDetector(t), mustLoad(t, false)
	findings := 0
	for _, text := range texts {
		diff, n := differ(d, set, text)
		if findings += n; diff != "" {
			t.Fatalf("findings differ (-gitleaks +ours) in %.2000q:\n%s", text, diff)
		}
	}
	t.Logf("%d texts, %d bytes, %d findings", len(texts), totalBytes(texts), findings)
}
