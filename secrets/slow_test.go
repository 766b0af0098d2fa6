package secrets

import (
	"encoding/base64"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"testing"
)

// The tests of this file count what is read, made or kept for texts that somebody writes to
// hang a redactor. BenchmarkLongLines takes the time.

// kept is how many bytes of values a set remembers.
func (k *knownSet) kept() (bytes int) {
	for value := range k.values {
		bytes += len(value)
	}
	return bytes
}

func TestWhatIsRememberedOfALongWordGrowsWithTheWord(t *testing.T) {
	t.Parallel()
	set := mustLoad(t, true)
	random := newRandom(4)
	var tokens []string
	for range 800 {
		tokens = append(tokens, fake("gl", "pat-", randomText(strings.Split("aBcDeF1234567890", ""), 20, random)))
	}
	text := strings.Join(tokens, "") + " " + tokens[500] + "."
	known := newKnownSet()
	out := set.redact(text, all(text), Counts{}, known)
	for _, token := range tokens {
		if strings.Contains(out, token) {
			t.Fatalf("%s is left in %.80s", token, out)
		}
		if again := set.redact("x"+token+"x", all("x"+token+"x"), Counts{}, known); strings.Contains(again, token) {
			t.Fatalf("%s is not remembered", token)
		}
	}
	if kept := known.kept(); kept > 64*len(text) {
		t.Errorf("of %d bytes %d are remembered", len(text), kept)
	}
}

func TestATokenEndsWhereItsWordDoesWhateverWasAskedBefore(t *testing.T) {
	t.Parallel()
	random := newRandom(5)
	for range 400 {
		text := randomText([]string{"a", "-", ".", " ", "ab1", ".a2b3c4d5e", "--", "_"}, random.IntN(40), random)
		asked := tails{text: text}
		for range 30 {
			end := random.IntN(len(text) + 1)
			start := random.IntN(end + 1)
			if got, want := asked.tokenEnd(start, end), (&tails{text: text}).tokenEnd(start, end); got != want {
				t.Fatalf("from %d to %d of %q the token ends at %d, want %d", start, end, text, got, want)
			}
		}
	}
}

func TestAGenericFindingIsDroppedForOneOfManySecretsThatHasIt(t *testing.T) {
	t.Parallel()
	random := newRandom(7)
	letters := []string{"a", "b", "c", "\x00"}
	for _, size := range []int{0, 1, fewSecrets, fewSecrets + 1, 300} {
		var s secretsOf
		for range size {
			s.add(randomText(letters[:3], 12, random))
		}
		for range 300 {
			part := randomText(letters, random.IntN(7), random)
			want := false
			for _, secret := range s.secrets {
				want = want || strings.Contains(secret, part)
			}
			if got := s.contain(part); got != want {
				t.Fatalf("one of %d secrets has %q: %v, want %v", size, part, got, want)
			}
		}
		if size > fewSecrets && s.index == nil {
			t.Error("the secrets are looked into one by one")
		}
	}
}

func TestWhatComesBeforeEachCarriageReturnIsReadOnce(t *testing.T) {
	t.Parallel()
	tree, err := syntax.Parse(`(?s:.*?)(?:key$|b.?d|aaaa\b)`, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	d := newDFA(tree)
	random := newRandom(8)
	for range 300 {
		text := randomText([]string{"a", "key", "b", "d", "\r", "é", "\xff", " "}, random.IntN(40), random)
		b := beginnings{text: text, d: d}
		for range 20 {
			to := random.IntN(len(text) + 1)
			if got, want := b.accept(to), d.accepts(text[:to]); got != want {
				t.Fatalf("the first %d bytes of %q are accepted: %v, want %v", to, text, got, want)
			}
		}
		b = beginnings{text: text, d: d}
		for to := range len(text) {
			b.accept(to)
		}
		if b.read > len(text) {
			t.Errorf("%d characters of %q are read", b.read, text)
		}
	}
	lines := newLineIndex("\n" + strings.Repeat("key=value\r", 1000))
	list := newAllowlist(listSpec{regexes: []string{"nowhere"}, target: "line"})
	for at := 1; at < len(lines.text); at += len("key=value\r") {
		lines.lineAllowed(list, at, at+len("key=value"))
	}
	if read := lines.begins[list].read; read > len(lines.text) {
		t.Errorf("%d characters of %d are read", read, len(lines.text))
	}
}

func TestASearcherGivesUpWhereHitsOverlapTooOften(t *testing.T) {
	t.Parallel()
	expr := `[a-z=]*?key=[ab]`
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearcher(expr, anchorsOf(tree), nil)
	for times, want := range map[int]bool{20: true, 3000: false} {
		if _, ok := allMatches(s, strings.Repeat("key=a", times)); ok != want {
			t.Errorf("%d hits come to an end: %v, want %v", times, ok, want)
		}
	}
}

func TestBase64OfManyLinesIsPutTogetherOnce(t *testing.T) { // not parallel, for allocations are counted
	line := base64.StdEncoding.EncodeToString([]byte("nothing that anybody would look for in a text."))[:60] + "\n"
	text := "first\n" + strings.Repeat(line, 3000)
	start := len("first\n")
	code, end := codeOf(text, start, start+len(line)-1)
	if want := strings.ReplaceAll(text[start:], "\n", ""); code != want || end != len(text)-1 {
		t.Fatalf("of %d characters %d are put together, up to %d", len(want), len(code), end)
	}
	if n := testing.AllocsPerRun(3, func() { codeOf(text, start, start+len(line)-1) }); n > 100 {
		t.Errorf("it takes %.0f pieces of memory", n)
	}
}

func TestALineOfBase64IsNotLongerThanTheFirst(t *testing.T) {
	t.Parallel()
	code := strings.Repeat("abcd", 12)
	for _, before := range []string{"", "\n", "x\n", "data: ", "\ndata: ", "a\nb\ndata: ", strings.Repeat("x ", 40)} {
		for _, length := range []int{4, 40, 44, 48, 52, 53, 54, 55, 56, 60, 100, 300} {
			text := before + code + "\n" + strings.Repeat("efgh", 100)[:length] + "\n"
			width := len(before) + len(code) - 1 - strings.LastIndexByte(before, '\n')
			want := code
			if length <= width && (length >= minEncoded || length%4 == 0) {
				want = text[len(before) : len(text)-1]
				want = strings.ReplaceAll(want, "\n", "")
			}
			if got, _ := codeOf(text, len(before), len(before)+len(code)); got != want {
				t.Errorf("behind "+strconv.Quote(before)+" a line of %d goes on with %d", len(code), len(got)-len(code))
			}
		}
	}
}

func TestWhatMatchesNowhereIsNotLeftToRegexp(t *testing.T) {
	t.Parallel()
	random := newRandom(9)
	alphabet := []string{"a", "b", "key", "=", " ", "\n", "é", "\xff", strings.Repeat("x", soughtPiece/2)}
	for _, expr := range []string{`key$`, `^key`, `(?m)^key$`, `\bkey\b`, `(?i)KEY=[ab]{2,3}`, `key(?s:.*)=a`, `key[^\n]*=\z`, `aé+b`} {
		s := newSearcher(expr, nil, nil)
		plain := regexp.MustCompile(expr)
		for range 400 {
			text := randomText(alphabet, random.IntN(8), random)
			if got, want := s.nowhere(text), !plain.MatchString(text); got != want {
				t.Fatalf("%s matches nowhere in %.40q: %v, want %v", expr, text, got, want)
			}
		}
		if s.sought().size() > maxSought {
			t.Errorf("%s takes %d states", expr, s.sought().size())
		}
	}
	set := mustLoad(t, true)
	text := strings.Repeat("--pwd=&quot;", 2000)
	words := len(set.rules)/64 + 1
	s := &search{set: set, text: text, lines: newLineIndex(text), seen: make(bitset, words), whole: make(bitset, words)}
	set.index.matcher.scan(text, func(id int32, end int) { s.visit(id, end-set.index.literals[id].length, end) })
	some := false
	for n := range s.whole.all() {
		some = true
		if r := set.rules[n]; !r.nowhere(text) {
			t.Errorf("%s runs over the whole text", r.RuleID)
		}
	}
	if !some {
		t.Error("no rule has read too much")
	}
}
