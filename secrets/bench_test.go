package secrets

import (
	"regexp/syntax"
	"strconv"
	"strings"
	"testing"

	"memoir/secrets/secretstest"
)

// The first three benchmarks read the same texts, the corpus with a secret of every
// rule in every context mixed in: the ratio of their MB/s in one run is what counts.

func BenchmarkRedact(b *testing.B) {
	texts := benchmarkTexts(b)
	s := newScanner("", true)
	for _, text := range texts { // the automata grow with what they read
		s.Redact(text)
	}
	b.SetBytes(int64(totalBytes(texts)))
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			s.Redact(text)
		}
	}
}

// BenchmarkRedactCold begins each time with rules that are not compiled, as a run of
// the program does.
func BenchmarkRedactCold(b *testing.B) {
	texts := benchmarkTexts(b)
	b.SetBytes(int64(totalBytes(texts)))
	for b.Loop() {
		s := newScanner("", true)
		for _, text := range texts {
			s.Redact(text)
		}
	}
}

func BenchmarkGitleaks(b *testing.B) {
	texts := benchmarkTexts(b)
	d := newDetector(b)
	b.SetBytes(int64(totalBytes(texts)))
	for b.Loop() {
		for _, text := range texts {
			d.DetectString(text)
		}
	}
}

func BenchmarkCompileRules(b *testing.B) {
	for b.Loop() {
		newScanner("", true).rules()
	}
}

func BenchmarkNewScanner(b *testing.B) {
	for b.Loop() {
		if _, err := New(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkTexts(b *testing.B) []string {
	b.Helper()
	texts := corpusTexts(b)
	for n, r := range mustLoad(b, false).rules {
		tree, err := syntax.Parse(r.Regex.String(), syntax.Perl)
		if err != nil {
			b.Fatal(err)
		}
		random := newRandom(uint64(n))
		for _, p := range plantings {
			texts = append(texts, p.plant(r.RuleID, secretstest.Generate(tree, random)))
		}
	}
	return texts
}

// BenchmarkFirstSmallText is what a hook pays for a text without a secret in it, with
// rules of which nothing is compiled.
func BenchmarkFirstSmallText(b *testing.B) {
	const text = "The handler returns an error when the API key is missing.\n\n" +
		"\tpassword := os.Getenv(\"DB_PASSWORD\")\n\treturn open(token, password) // curl -u is for tests\n"
	for b.Loop() {
		newScanner("", true).Redact(text)
	}
}

// BenchmarkLongLines reads texts that repeat a name: what one takes by the byte may not grow
// with its length.
func BenchmarkLongLines(b *testing.B) {
	s := newScanner("", true)
	for _, piece := range append(longLines, "--pwd=&quot;", "cGFzc3dvcmQ9c2VjcmV0\n", "password=Xy12zQ9!ab ", "_AKI"+"AQYLPMN5HHHFPZAM2",
		"gl"+"pat-IdN43JDUXk1vwntB_IU8", "'md5d8e73036156fc28b363033304333da3c'", "cGFzc3dvcmQ9c2VjcmV0cGFzc3dvcmQ=", "?token=a8Kd92mXq0Lz\r") {
		for _, size := range []int{16 << 10, 128 << 10} {
			text := strings.Repeat(piece, size/len(piece))
			b.Run(strconv.Quote(piece)+"/"+strconv.Itoa(size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s.Redact(text)
				}
			})
		}
	}
}
