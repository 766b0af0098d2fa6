//go:build !race

// Excluded under the race detector: these tests start no goroutine of this package, and gitleaks would be very slow.

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

// differ compares the findings of gitleaks' detector in a text with those of a rule set. It ignores rules with a path,
// which gitleaks does not apply to a text without a file name. It also ignores findings of the generic rule within the
// secret of another rule, since gitleaks drops these on the same line.
func differ(d *detect.Detector, set *ruleSet, text string) (diff string, found int) {
	type match struct{ rule, secret, match string }
	var want, got []match
	for _, f := range d.DetectString(text) {
		want = append(want, match{f.RuleID, f.Secret, f.Match})
	}
	ours, _ := set.findRules(text)
	for _, f := range ours {
		if d.Config.Rules[f.rule.RuleID].Path == nil {
			got = append(got, match{f.rule.RuleID, text[f.start:f.end], text[f.matchStart:f.matchEnd]})
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

// glue are the texts between secrets in a mixed text, some of them invalid UTF-8.
var glue = []string{
	" ", "\n", "\n\n", "\r\n", "\t", "\"", "'", "`", "=", ": ", ", ", ";", "/", "\\n", "\\\"", "key = ", "token: ",
	"export SECRET=", "password ", "api", "curl -u ", "gitleaks:allow", "é", "\u2028",
	"\xff", "\xe2\x84", "EXAMPLE", "0123456789", "facebook", "sourcegraph ", "sk", "s.",
}

func TestSameFindingsAsGitleaksOnMixedAndDamagedTexts(t *testing.T) {
	d, set := newDetector(t), mustLoad(t, false)
	rounds := 2000
	if os.Getenv("MEMOIR_THOROUGH") != "" {
		rounds = 100_000
	}
	var trees []*syntax.Regexp
	for _, r := range set.rules {
		tree := mustParse(r.Regex.String())
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
		for range random.IntN(4) { // replace a byte, delete or repeat some
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
