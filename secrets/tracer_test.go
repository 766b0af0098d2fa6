package secrets

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoir/secrets/secretstest"
)

// checkTrace compares a tracer with the expression it is of, at every place of a text.
func checkTrace(t *testing.T, expr, text string) (matches int) {
	t.Helper()
	traced := newTracer(expr)
	if traced == nil {
		return 0
	}
	first := regexp.MustCompile(`\A(?:` + expr + `)`)
	inside := regexp.MustCompile(`\A(?s:.)(` + expr + `)`)
	for start := range len(text) {
		var want []int
		if start == 0 {
			want = first.FindStringSubmatchIndex(text)
		} else if want = inside.FindStringSubmatchIndex(text[start-1:]); want != nil {
			want = slices.Clone(want[2:])
			for i := range want {
				if want[i] >= 0 {
					want[i] += start - 1
				}
			}
		}
		got, ok := traced.trace(text, start, len(text))
		if ok && !slices.Equal(got, want) {
			t.Fatalf("%s at %d of %q: %v, want %v", expr, start, text, got, want)
		}
		if got != nil {
			matches++
		}
	}
	return matches
}

func TestATraceIsWhatTheExpressionCaptures(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{
		``, `a`, `(a)(b)?`, `(a|ab)(c|bcd)(d*)`, `(a*?)(a*)b`, `(?:(a)|b)*`, `((a)|(b))+?c`, `\b(\w+)\b`, `(?m)^(a+)$`,
		`(?m)(a+)$|(b)`, `\A(a)\z`, `(a{2,3}?)(a{1,2})`, `(?i)(K)e(Y)?`, `(?s)(.*?)(b|\n)`, `\B(b)|(a\b)`, `(a?)(a?)(aa)`,
		`(?:a|(b)|(?:c(d)?))+`, `([^a]|a)+`, `(|a)(b|)`, `((?:a*)*)b`, `(?:(a*)|b)*c`,
	} {
		matches := 0
		random := newRandom(uint64(len(expr)))
		for range 200 {
			text := randomText([]string{"a", "a", "a", "b", "b", "c", "d", "\n", " ", "k", "E", "_"}, random.IntN(8), random)
			matches += checkTrace(t, expr, text)
		}
		if matches == 0 && newTracer(expr) != nil {
			t.Errorf("%s never matched", expr)
		}
	}
}

func TestATraceOfEveryRuleIsWhatItsExpressionCaptures(t *testing.T) {
	t.Parallel()
	set := mustLoad(t, true)
	traced := 0
	for n, r := range set.rules {
		random := newRandom(uint64(n))
		tracer := r.tracer()
		if tracer == nil {
			t.Logf("%s is not traced", r.RuleID)
			continue
		}
		for range 12 {
			text := damaged(secretstest.Generate(treeOf(t, r), random), random)
			want := r.first().FindStringSubmatchIndex(text)
			got, ok := tracer.trace(text, 0, len(text))
			if !ok {
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in %q: %v, want %v", r.RuleID, text, got, want)
			}
			if got != nil {
				traced++
			}
		}
	}
	if traced < len(set.rules) {
		t.Errorf("%d traces of %d rules", traced, len(set.rules))
	}
}

func TestATracerStaysRightWhenItsStatesAreForgotten(t *testing.T) {
	t.Parallel()
	const expr = `((?:a|b)*)a((?:a|b){13})c` // needs 2^14 states
	traced, plain := newTracer(expr), regexp.MustCompile(`\A(?:`+expr+`)`)
	random := newRandom(3)
	for range 1200 {
		text := randomText([]string{"a", "b"}, 14+random.IntN(60), random) + "c"
		got, ok := traced.trace(text, 0, len(text))
		if want := plain.FindStringSubmatchIndex(text); !ok || !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
	if n := len(traced.places); n > maxPlaces+maxTraced {
		t.Errorf("keeps %d places", n)
	}
}

func FuzzATraceIsWhatTheExpressionCaptures(f *testing.F) {
	set := mustLoad(f, true)
	for n, r := range set.rules {
		f.Add(uint16(n), secretstest.Generate(treeOf(f, r), newRandom(uint64(n))))
	}
	f.Fuzz(func(t *testing.T, n uint16, text string) {
		r := set.rules[int(n)%len(set.rules)]
		got, ok := r.tracer().trace(text, 0, len(text))
		if want := r.first().FindStringSubmatchIndex(text); ok && !slices.Equal(got, want) {
			t.Errorf("%s in %q: %v, want %v", r.RuleID, text, got, want)
		}
	})
}

// damaged returns a text of which a few characters are others, missing or more.
func damaged(text string, random interface{ IntN(int) int }) string {
	for range random.IntN(3) {
		if text == "" {
			return text
		}
		at := random.IntN(len(text))
		switch random.IntN(3) {
		case 0:
			text = text[:at] + string(rune(' '+random.IntN(95))) + text[at+1:]
		case 1:
			text = text[:at] + text[at+1:]
		case 2:
			text += strings.ToUpper(text[at:])
		}
	}
	return text
}
