//go:build !race

// Excluded under the race detector: these tests start no goroutine of this package, and gitleaks needs a hundred others.

package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"

	"memoir/secrets/secretstest"
)

// The first three benchmarks read the same texts. Compare their MB/s only within one run.

func BenchmarkRedact(b *testing.B) {
	inTexts(b, func(text string) { ours.Redact(text) })
}

func BenchmarkFind(b *testing.B) {
	inTexts(b, func(text string) { ours.Find(text) })
}

func BenchmarkGitleaks(b *testing.B) {
	d := newDetector(b)
	inTexts(b, func(text string) { d.DetectString(text) })
}

// inTexts measures read on the corpus: unchanged, with one secret per rule, and with one per rule and planting.
func inTexts(b *testing.B, read func(text string)) {
	for _, kind := range []struct {
		name  string
		wants func(rule, context int) bool
	}{
		{"corpus", func(int, int) bool { return false }},
		{"rules", func(rule, context int) bool { return rule%len(plantings) == context }},
		{"contexts", func(int, int) bool { return true }},
	} {
		texts := benchmarkTexts(b, kind.wants)
		b.Run(kind.name, func(b *testing.B) {
			for _, text := range texts { // builds the automata's states
				read(text)
			}
			b.SetBytes(int64(totalBytes(texts)))
			b.ReportAllocs()
			for b.Loop() {
				for _, text := range texts {
					read(text)
				}
			}
		})
	}
}

// benchmarkTexts returns the texts of the corpus. Some have an additional line with a secret, for each pair of rule and
// planting that wants selects.
func benchmarkTexts(b *testing.B, wants func(rule, context int) bool) []string {
	b.Helper()
	texts := corpusTexts(b)
	at := 0
	for n, r := range mustLoad(b, false).rules {
		random := newRandom(uint64(n))
		for context, p := range plantings {
			planted := p.plant(r.RuleID, secretstest.Generate(mustParse(r.Regex.String()), random))
			if !wants(n, context) {
				continue
			}
			at = (at + 7919) % len(texts) // a prime, so no text is chosen twice
			lines := strings.SplitAfter(texts[at], "\n")
			line := random.IntN(len(lines))
			texts[at] = strings.Join(lines[:line], "") + "\n" + planted + "\n" + strings.Join(lines[line:], "")
		}
	}
	return texts
}

// longLines are pieces of slow texts: few long lines that repeat one piece.
var longLines = []string{
	`{"name":"token","value":"x"},`, `|"psk": "|`, `":"token|`, `":"token,`, "insert into%22(", "token|x\n---\n---\n", "value: ",
}

// BenchmarkLongLines reads texts that repeat a piece. The time per byte must not grow with the length.
func BenchmarkLongLines(b *testing.B) {
	for _, piece := range append(longLines, "--pwd=&quot;", "cGFzc3dvcmQ9c2VjcmV0\n", "password=Xy12zQ9!ab ", "_AKI"+"AQYLPMN5HHHFPZAM2",
		"gl"+"pat-IdN43JDUXk1vwntB_IU8", "'md5d8e73036156fc28b363033304333da3c'", "cGFzc3dvcmQ9c2VjcmV0cGFzc3dvcmQ=", "?token=a8Kd92mXq0Lz\r") {
		for _, size := range []int{16 << 10, 128 << 10} {
			text := strings.Repeat(piece, size/len(piece))
			b.Run(strconv.Quote(piece)+"/"+strconv.Itoa(size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					ours.Redact(text)
				}
			})
		}
	}
}

// A table is read once, also from the header of another one inside it. Else it would take an hour.
func TestTablesWithoutAValueAreNotReadForEachOfTheirLines(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("token|x\n---\n---\n", 1<<16) + "token|password\n---\ntoken|Zx9!qL4mVt7\n"
	if got, _ := ours.Redact(text); strings.Contains(got, "Zx9!qL4mVt7") {
		t.Errorf("a secret stays: %s", got[len(got)-80:])
	}
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

// corpusTexts returns all distinct strings in the sessions of the corpus, sorted. It skips the test if the corpus is
// missing.
func corpusTexts(t testing.TB) []string {
	t.Helper()
	root := os.Getenv("MEMOIR_CORPUS")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no corpus of sessions: %v (set MEMOIR_CORPUS)", err)
	}
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(filepath.Ext(path), ".json") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(content))
		for {
			var value any
			if decoder.Decode(&value) != nil {
				return nil
			}
			collectStrings(value, seen)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 0, len(seen))
	for text := range seen {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	return texts
}

func collectStrings(value any, into map[string]bool) {
	switch value := value.(type) {
	case string:
		into[value] = true
	case []any:
		for _, v := range value {
			collectStrings(v, into)
		}
	case map[string]any:
		for _, v := range value {
			collectStrings(v, into)
		}
	}
}

func totalBytes(texts []string) int {
	n := 0
	for _, text := range texts {
		n += len(text)
	}
	return n
}

// The tests below bound the work and memory for adversarial texts. BenchmarkLongLines measures the time.

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
	out := set.redact(text, all(text), Counts{}, known, false)
	for _, token := range tokens {
		if strings.Contains(out, token) {
			t.Fatalf("%s is left in %.80s", token, out)
		}
		if again := set.redact("x"+token+"x", all("x"+token+"x"), Counts{}, known, false); strings.Contains(again, token) {
			t.Fatalf("%s is not remembered", token)
		}
	}
	if most := 64 * len(tokens); len(known.values) > most {
		t.Errorf("of %d tokens %d forms are remembered", len(tokens), len(known.values))
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

func TestBase64OfManyLinesIsPutTogetherOnce(t *testing.T) { // not parallel, since it counts allocations
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
