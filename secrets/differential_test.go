package secrets

import (
	"fmt"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zricethezav/gitleaks/v8/detect"

	"memoir/secrets/secretstest"
)

// gitleaksFindings runs gitleaks' own detector, as a library, over one text.
func gitleaksFindings(d *detect.Detector, text string) []string {
	var out []string
	for _, f := range d.DetectString(text) {
		out = append(out, fmt.Sprintf("%s %q in %q at %d:%d", f.RuleID, f.Secret, f.Match, f.StartLine, f.StartColumn))
	}
	slices.Sort(out)
	return out
}

// ourFindings describes ours in the same way. Rules for files of a certain name are
// left out: gitleaks does not apply them to a text without a name, we do.
func ourFindings(set *ruleSet, text string) []string {
	var out []string
	for _, f := range set.find(text) {
		if f.rule.Path == nil {
			out = append(out, fmt.Sprintf("%s %q in %q at %d:%d",
				f.rule.RuleID, f.secret(), text[f.matchStart:f.matchEnd], f.line, f.column))
		}
	}
	slices.Sort(out)
	return out
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

func TestSameFindingsAsGitleaksOnSecretsOfEveryRuleInEveryContext(t *testing.T) {
	compares(t)
	d, set := newDetector(t), mustLoad(t, false)
	rounds := 2
	if os.Getenv("MEMOIR_THOROUGH") != "" {
		rounds = 40
	}
	texts, found := 0, map[string]bool{}
	for n, r := range set.rules {
		tree, err := syntax.Parse(r.Regex.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		random := newRandom(uint64(n))
		for range rounds {
			for _, p := range plantings {
				secret := secretstest.Generate(tree, random)
				text := p.plant(r.RuleID, secret)
				texts++
				want, got := gitleaksFindings(d, text), ourFindings(set, text)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, %s: findings differ (-gitleaks +ours) in %q:\n%s", r.RuleID, p.name, text, diff)
				}
				for _, f := range want {
					found[strings.Fields(f)[0]] = true
				}
			}
		}
	}
	t.Logf("%d texts, %d of %d rules found something", texts, len(found), len(set.rules))
	for _, r := range set.rules {
		if !found[r.RuleID] && r.Path == nil {
			t.Logf("never found: %s", r.RuleID)
		}
	}
}

// glue is what stands between secrets in a mixed text, the letters that fold into
// ASCII and bytes that are no UTF-8 among it.
var glue = []string{
	" ", "\n", "\n\n", "\r\n", "\t", "\"", "'", "`", "=", ": ", ", ", ";", "/", "\\n", "\\\"", "key = ", "token: ",
	"export SECRET=", "password ", "api", "curl -u ", "gitleaks:allow", "--mount=type=secret,", "é", "\u2028",
	"\u017f", "\u212aey ", "ap\u0130 = ", "\xff", "\xe2\x84", "EXAMPLE", "0123456789", "facebook", "sourcegraph ", "sk", "s.",
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
		if random.IntN(4) == 0 { // letters that others equal
			for n, odd := range foldHazards {
				plain := "ski"[n : n+1]
				parts := strings.Split(string(text), plain)
				at := random.IntN(len(parts))
				text = []byte(strings.Join(parts[:at], plain) + strings.Repeat(odd, min(at, 1)) + strings.Join(parts[at:], plain))
			}
		}
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
		want, got := gitleaksFindings(d, string(text)), ourFindings(set, string(text))
		findings += len(want)
		if diff := cmp.Diff(want, got); diff != "" {
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
		want, got := gitleaksFindings(d, text), ourFindings(set, text)
		findings += len(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("findings differ (-gitleaks +ours) in %.2000q:\n%s", text, diff)
		}
	}
	t.Logf("%d texts, %d bytes, %d findings", len(texts), totalBytes(texts), findings)
}
