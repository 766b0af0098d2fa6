// Package secretstest makes secrets for tests: strings that match a rule's expression, and texts in which gitleaks' own
// detector finds a secret of the rule. It reads rules in gitleaks' format and does not use the scanner under test.
package secretstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// Rule makes secrets that gitleaks' detector finds with one rule. It is safe for concurrent use.
type Rule struct {
	ID       string
	tree     *syntax.Regexp
	keywords []string
	judge    func() judge // created at the first use
}

type judge struct {
	*detect.Detector
	whole bool // all matches have the same secret group, so the match is the secret
}

// A Canary is a text with a secret.
type Canary struct {
	Rule string
	Text string
	// Parts are strings that no output may contain: the secret and the tail of a long one, or the long lines of a secret
	// of several lines.
	Parts []string
}

const (
	tries    = 200 // at a secret that the detector finds
	minPart  = 8   // bytes
	minBits  = 40  // with fewer, a text may contain the same by chance
	tailPart = 16  // bytes
)

// BuiltIn returns the built-in rules; dir is the directory of package secrets.
func BuiltIn(dir string) ([]Rule, error) {
	configs := []string{config.DefaultConfig}
	for _, name := range []string{"extra.toml", "passwords.toml", "commands.toml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		configs = append(configs, string(text))
	}
	return Rules(configs...)
}

// Rules merges configurations in gitleaks' format and returns the rules with an expression. Their path conditions are
// ignored.
func Rules(configs ...string) ([]Rule, error) {
	var all config.ViperConfig
	for _, text := range configs {
		var c config.ViperConfig
		v := viper.New()
		v.SetConfigType("toml")
		if err := v.ReadConfig(strings.NewReader(text)); err != nil {
			return nil, err
		}
		if err := v.Unmarshal(&c); err != nil {
			return nil, err
		}
		for _, r := range c.Rules {
			if r.Regex != "" || r.Path != "" { // others only extend a rule of the same id
				all.Rules = append(all.Rules, r)
			}
		}
		all.Allowlists = append(all.Allowlists, c.Allowlists...)
	}
	whole, err := all.Translate()
	if err != nil {
		return nil, err
	}
	var out []Rule
	for _, id := range whole.OrderedRules {
		r, err := newRule(whole, id)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", id, err)
		}
		if r.tree != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

func newRule(all config.Config, id string) (Rule, error) {
	one := all.Rules[id]
	if one.Regex == nil {
		return Rule{}, nil
	}
	one.Path, one.SkipReport = nil, false
	all.Rules, all.OrderedRules, all.Keywords = map[string]config.Rule{id: one}, []string{id}, map[string]struct{}{}
	for _, k := range one.Keywords {
		all.Keywords[k] = struct{}{}
	}
	tree, err := syntax.Parse(one.Regex.String(), syntax.Perl)
	r := Rule{ID: id, tree: tree, keywords: one.Keywords}
	r.judge = sync.OnceValue(func() judge {
		j := judge{Detector: detect.NewDetector(all)}
		j.IgnoreGitleaksAllow = true
		random, bare := rand.New(rand.NewPCG(1, 2)), func(s string) string { return s }
		a, found := r.plant(j, random, false, bare)
		b, again := r.plant(j, random, false, bare)
		j.whole = found && again && slices.Equal(a.Parts, b.Parts)
		return j
	})
	return r, err
}

// Plant makes a secret and puts it into a text by the first way in which the detector finds it. It reports false if the
// detector finds it in none. A plain secret has letters and digits in all places that allow them; others may have any
// allowed characters, such as quotes and backslashes.
func (r Rule) Plant(random *rand.Rand, plain bool, ways ...func(match string) string) (Canary, bool) {
	return r.plant(r.judge(), random, plain, ways...)
}

func (r Rule) plant(j judge, random *rand.Rand, plain bool, ways ...func(match string) string) (Canary, bool) {
	for try := range tries {
		match, keyword, rest := generate(r.tree, random, plain), "", ""
		if r.tree.Op == syntax.OpLiteral { // the rule matches only a prefix
			rest = generate(restOfToken, random, plain)
			match += rest
		}
		if n := len(r.keywords); n > 0 && try%2 == 1 { // the rule may need a keyword outside its match
			keyword = r.keywords[random.IntN(n)]
			match = keyword + " " + match
		}
		if odd.MatchString(match) {
			continue
		}
		for _, way := range ways {
			text := way(match)
			for _, f := range j.DetectString(text) {
				if keyword != "" && strings.HasPrefix(strings.TrimLeft(f.Match, " \t\r\n\"'`"), keyword) {
					continue // a finding from the keyword itself, not from the secret
				}
				secret := f.Secret
				if j.whole { // for example one part of a URL
					secret = f.Match
				}
				if rest != "" {
					return Canary{Rule: r.ID, Text: text, Parts: []string{rest}}, true
				}
				// Parts that the text contains without the secret are not secret.
				empty := way("")
				parts := slices.DeleteFunc(parts(secret, f.Match, !j.whole), func(part string) bool {
					return strings.Contains(empty, part)
				})
				if len(parts) > 0 {
					return Canary{Rule: r.ID, Text: text, Parts: parts}, true
				}
			}
		}
	}
	return Canary{}, false
}

// restOfToken is the rest of a secret whose rule matches only a prefix.
var restOfToken = func() *syntax.Regexp {
	tree, err := syntax.Parse("[A-Za-z0-9]{24}", syntax.Perl)
	if err != nil {
		panic(err) // a constant
	}
	return tree
}()

// odd matches \N or \R at the end, which a rule that ignores case mistakes for an escaped line break.
var odd = regexp.MustCompile(`\\[NR]$`)

// bits estimates the entropy of a text in bits, from its length and kinds of characters. White space counts as 0, since
// programs print much of it.
func bits(text string) float64 {
	kinds, telling := map[int]bool{}, 0
	for i := range len(text) {
		if strings.IndexByte(" \t\r\n\v\f", text[i]) >= 0 {
			continue
		}
		telling++
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			kinds[10] = true
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			kinds[6] = true
		case c >= 'g' && c <= 'z', c >= 'G' && c <= 'Z':
			kinds[20] = true
		default:
			kinds[30] = true
		}
	}
	choice := 1
	for n := range kinds {
		choice += n
	}
	return math.Log2(float64(choice)) * float64(telling)
}

// key matches the key material in a line, without the prefix and suffix of the tool that shows it.
var key = regexp.MustCompile(`[A-Za-z0-9+/=_-]{16,}`)

// parts returns Canary.Parts for a secret in its match, none for one that is too easy to guess. tails adds the tail.
func parts(secret, match string, tails bool) (out []string) {
	lines := strings.Split(strings.Trim(secret, "\n"), "\n")
	if len(lines) > 1 {
		for _, line := range lines {
			if part := key.FindString(line); bits(part) >= minBits && !strings.Contains(part, "---") {
				out = append(out, part)
			}
		}
		return out
	}
	line := strings.Trim(lines[0], " \t\r\"'`\\")
	if bits(line) < minBits { // with the text before it
		end := strings.LastIndex(match, line) + len(line)
		from := end - len(line)
		for from > 0 && (bits(match[from:end]) < minBits || end-from < minPart) {
			from--
		}
		line, tails = match[from:end], false
	}
	if bits(line) < minBits || strings.Contains(line, "\n") {
		return nil
	}
	out = append(out, line)
	if tail := line[max(0, len(line)-tailPart):]; tails && len(line) >= 2*tailPart && bits(tail) >= minBits {
		out = append(out, tail)
	}
	return out
}
