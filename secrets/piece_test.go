package secrets

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func cutUp(t *testing.T, text string, sizes pieceSizes) (out []Piece) {
	t.Helper()
	err := pieces(context.Background(), iotest.OneByteReader(strings.NewReader(text)), sizes, func(p Piece) error {
		out = append(out, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPiecesEndAtLinesAndLoseNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string // pieces, with their part in brackets
	}{
		{"empty", "", nil},
		{"one piece", "a\nb", []string{"<a\nb>"}},
		{"several", "aaaa\nbbbb\ncccc\ndd", []string{"<aaaa\n>bbbb\n", "aaaa\n<bbbb\ncccc\ndd>"}},
		{"a line that is longer than a part", "aaaaaaaaaaaa\nb\ncccccc\nd", []string{"<aaaaaaaaaaaa\n>b\n", "aaaaa\n<b\ncccccc\nd>"}},
		{"a line that is longer than any may be", "aaaaaaaaaaaaaaaa bbbbbbbbbbb\nc", []string{"<aaaaaaaaaaaaaaaa >bbbbbb", "aaaaa <bbbbbbbbbbb\nc>"}},
		{"one without words", strings.Repeat("é", 15), []string{"<ééééééééé>ééé", "ééé<éééééé>"}},
		{"no line end at the end", "aaaa\nbbbb\ncccccccccccccccc", []string{"<aaaa\n>bbbb\n", "aaaa\n<bbbb\n>cccccc", "bbbb\n<cccccccccccccccc>"}},
	} {
		var got []string
		whole := ""
		for _, p := range cutUp(t, test.text, pieceSizes{part: 8, beyond: 6, longest: 20}) {
			got = append(got, p.Text[:p.Start]+"<"+p.Part()+">"+p.Text[p.End:])
			whole += p.Part()
		}
		if whole != test.text {
			t.Errorf("%s: lost something: %q", test.name, got)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A position in a piece has the same line and column as in the text.
func TestPiecesKnowWhereTheyAre(t *testing.T) {
	t.Parallel()
	text := "name,token\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%s\n", i, strings.Repeat("x", i*i%23))
	}
	text += strings.Repeat("ü", 90) + " " + strings.Repeat("ß", 60) + "\n\nend"
	for _, p := range cutUp(t, text, pieceSizes{part: 48, beyond: 20, longest: 64}) {
		for i := p.Start; i < p.End; i++ {
			line, column := p.Line+strings.Count(p.Text[:i], "\n"), len([]rune(p.Text[strings.LastIndexByte(p.Text[:i], '\n')+1:i]))
			if !strings.Contains(p.Text[:i], "\n") {
				column += p.Column
			}
			lines := strings.Split(text, "\n")
			if want := []rune(lines[line] + "\n")[column]; !strings.HasPrefix(p.Text[i:], string(want)) && p.Text[i]&0xc0 != 0x80 {
				t.Fatalf("byte %d of %q is at line %d, column %d, where %q is", i, p.Text, line, column, want)
			}
		}
	}
}

// overEdges are texts with a secret of several lines, or with a secret that another line identifies.
func overEdges() map[string]string {
	random := rand.NewChaCha8([32]byte{1})
	bytes := make([]byte, 1200)
	_, _ = random.Read(bytes)
	coded := base64.StdEncoding.EncodeToString(bytes)
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n"
	for len(coded) > 64 {
		key, coded = key+coded[:64]+"\n", coded[64:]
	}
	key += coded + "\n-----END RSA " + "PRIVATE KEY-----\n"
	password := func() string { return fmt.Sprintf("q%013x!X", random.Uint64()>>12) }
	indented, _ := json.MarshalIndent(map[string]any{"a": []int{1, 2, 3}, "password": password(), "list": []string{"x", password()}}, "", "  ")
	return map[string]string{
		"a private key":        key,
		"a key in a heredoc":   "cat > id_rsa <<'EOF'\n" + key + "EOF\nchmod 600 id_rsa\n",
		"a key in YAML":        "key: |\n  " + strings.ReplaceAll(strings.TrimSpace(key), "\n", "\n  ") + "\nnext: 1\n",
		"a document":           string(indented) + "\n",
		"a value below a name": "the password:\n\n    " + password() + "\n",
	}
}

func TestASecretOverTheEdgeOfPiecesIsTakenOut(t *testing.T) {
	t.Parallel()
	scanner, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	const filler = "an ordinary line of words\n"
	for name, text := range overEdges() {
		for shift := 0; shift < 1024; shift += 600 {
			whole := strings.Repeat(filler, 40) + strings.Repeat("x", shift) + "\n\n" + text + "\n" + strings.Repeat(filler, 80)
			want, counts := scanner.Redact(whole)
			if len(counts) == 0 {
				t.Errorf("%s: nothing is found", name)
			}
			redactor, got := scanner.Session(), ""
			for _, p := range cutUp(t, whole, pieceSizes{part: 1024, beyond: 2048, longest: 4096}) {
				got += redactor.Part(p.Text, p.Start, p.End)
			}
			if got != want {
				t.Fatalf("%s, behind %d: became\n%s\nnot\n%s", name, shift, got, want)
			}
			if n := redactor.Counts(); n.Total() != counts.Total() {
				t.Errorf("%s, behind %d: %v was counted, not %v", name, shift, n, counts)
			}
		}
	}
}
