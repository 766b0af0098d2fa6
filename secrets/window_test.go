package secrets

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// allMatches returns the matches of one searcher in a text.
func allMatches(s *searcher, text string) ([][2]int, bool) {
	var literals []string
	var owners []*anchorSearch
	for _, a := range s.anchors {
		for _, l := range a.literals {
			literals, owners = append(literals, l), append(owners, a)
		}
	}
	var hits []hit
	newMatcher(literals).scan(text, func(id int32, end int) {
		if h, ok, _ := owners[id].probe(text, end-len(literals[id])); ok {
			hits = append(hits, h)
		}
	})
	return s.matches(text, hits)
}

func TestASearcherFindsTheMatchesOfItsExpression(t *testing.T) {
	t.Parallel()
	alphabet := []string{"a", "b", "ab", "key", "KEY", "Key", "=", " ", "\n", "x", "1", "é", "\xff", "_", "-", "end", "kkey"}
	for _, expr := range []string{
		`key`, `(?i)key`, `\bkey\b`, `key$`, `^key`, `(?m)^key$`, `\Bkey`,
		`(?i)[\w.-]{0,5}?(?:key|end)[ ]{0,2}=([ab1]{2,5})(?:\s|$)`,
		`[ab]*key[ab]*`, `[ab]*?key[ab]*?x?`, `[ab]+key`, `key[^x]{0,4}?end`, `key(?:a|ab)(?:b|$)`,
		`(?:a|ab)key(?:x|$)`, `x(?:key|[ab]{2}end)\b`, `(?:key=)+`, `(?s)key.*end`, `key.*`, `.*key`,
		`(?:^|[^a])key(?:[^a]|$)`, `(?:key|kkey)=`, `k?key[a-z]*`, `\bkey.{0,3}\b`, `é?key`, `key[^\n]*?(?:1|\z)`,
		`(?i)K(?-i:ey)`, `[Kk]ey=`, `key(?:end){2,3}`, `(?:a1)?key`,
	} {
		tree := mustParse(expr)
		s := newSearcher(expr, anchorsOf(tree), nil)
		if s.anchors == nil {
			t.Errorf("%s has no anchor", expr)
			continue
		}
		plain := regexp.MustCompile(expr)
		random := newRandom(3)
		for range 1500 {
			text := randomText(alphabet, 1+random.IntN(14), random)
			got, ok := allMatches(s, text)
			if !ok {
				t.Fatalf("%s gave up on %q", expr, text)
			}
			var want [][2]int
			for _, m := range plain.FindAllStringIndex(text, -1) {
				want = append(want, [2]int{m[0], m[1]})
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s in %q: found %v, want %v", expr, text, got, want)
			}
		}
	}
}

func randomText(alphabet []string, parts int, random *rand.Rand) string {
	var b strings.Builder
	for range parts {
		b.WriteString(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}

func TestAnchorsAreLongLiteralsThatEveryMatchHas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		expr string
		want []string
	}{
		{`\bAIza[\w-]{35}\b`, []string{"aiza"}},
		{`(?i)[\w.-]{0,50}?(?:acme|corp)[ ]{0,20}=`, []string{"acme", "corp"}},
		{`\b((?:A3T[A-Z0-9]|AKIA|ASIA)[A-Z2-7]{16})\b`, []string{"a3t", "akia", "asia"}},
		{`x{3}y?z`, []string{"xxxyz", "xxxz"}},
		{`[a-z]{20}`, nil},
		{`a|bcd`, nil},
		{`(?:secret)?[0-9]+`, nil},
	} {
		tree := mustParse(test.expr)
		var got []string
		for _, a := range anchorsOf(tree) {
			got = append(got, a.literals...)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s is anchored by %q, want %q", test.expr, got, test.want)
		}
	}
}

// A rule without an anchor scans the whole of each text that contains its keyword, since its matches have no literal in
// common. A new one needs a review, because it is slow.
func TestOnlyKnownRulesHaveNoAnchor(t *testing.T) {
	t.Parallel()
	var without []string
	for _, r := range mustLoad(t, true).rules {
		if r.anchors == nil {
			without = append(without, r.RuleID)
		}
	}
	if want := []string{"facebook-access-token", "sourcegraph-access-token"}; !slices.Equal(without, want) {
		t.Errorf("rules without an anchor: %q, want %q", without, want)
	}
}

func TestATextThatWouldTakeTooLongIsSearchedInTheOrdinaryWay(t *testing.T) {
	t.Parallel()
	set := mustLoad(t, false)
	text := strings.Repeat(fake("-----BEGIN ", "PRIVATE KEY-----\n"), 2000) + fakeKey + fake("-----END ", "PRIVATE KEY-----")
	found, _ := set.findRules(text)
	want := set.byID["private-key"].Regex.FindAllStringIndex(text, -1)
	if len(found) != len(want) || len(want) == 0 {
		t.Fatalf("found %d, want %d", len(found), len(want))
	}
	for i, f := range found {
		if f.matchStart != want[i][0] || f.matchEnd != want[i][1] {
			t.Errorf("finding %d is at %d:%d, want %v", i, f.matchStart, f.matchEnd, want[i])
		}
	}
}

func TestADFAStaysRightWhenItsStatesAreForgotten(t *testing.T) {
	t.Parallel()
	const expr = `(?:a|b)*a(?:a|b){13}c`
	tree := mustParse(expr)
	d := newDFA(tree)
	plain := regexp.MustCompile(`\A(?:` + expr + `)`)
	var group sync.WaitGroup
	for seed := range uint64(4) {
		group.Go(func() {
			random := newRandom(seed)
			for range 300 {
				text := randomText([]string{"a", "b"}, 14+random.IntN(60), random) + "c"
				if got, _ := d.accepts(text, 0); got != plain.MatchString(text) {
					t.Errorf("accepts %q: %v", text, got)
					return
				}
			}
		})
	}
	group.Wait()
	if len(d.table.Load().states) > maxStates {
		t.Errorf("keeps %d states", len(d.table.Load().states))
	}
}

func TestAMatcherFindsEveryLiteral(t *testing.T) {
	t.Parallel()
	literals := []string{"he", "she", "hers", "his", "s.", "e"}
	random := newRandom(5)
	m := newMatcher(literals)
	for range 500 {
		text := randomText([]string{"h", "e", "S", "r", "i", "s", ".", "é"}, random.IntN(20), random)
		got := map[[2]int]bool{}
		m.scan(text, func(id int32, end int) { got[[2]int{int(id), end}] = true })
		want := map[[2]int]bool{}
		for id, l := range literals {
			for end := len(l); end <= len(text); end++ {
				if strings.EqualFold(text[end-len(l):end], l) {
					want[[2]int{id, end}] = true
				}
			}
		}
		if len(got) != len(want) {
			t.Fatalf("in %q found %v, want %v", text, got, want)
		}
		for at := range want {
			if !got[at] {
				t.Fatalf("in %q missed %v", text, at)
			}
		}
	}
}
