package secrets

import (
	"encoding/base64"
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

func TestASearcherGivesUpWhereHitsOverlapTooOften(t *testing.T) {
	t.Parallel()
	expr := `[a-z=]*?key=[ab]`
	tree := mustParse(expr)
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
