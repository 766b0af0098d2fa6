package secrets

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// overEdges are texts whose secrets stand on several lines, or are told by what stands on
// others.
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
	table := "user,password,port\n"
	for i := range 150 {
		table += fmt.Sprintf("u%d,%s,%d\n", i, password(), i)
	}
	indented, _ := json.MarshalIndent(map[string]any{"a": []int{1, 2, 3}, "password": password(), "list": []string{"x", password()}}, "", "  ")
	return map[string]string{
		"a private key":        key,
		"a key in a heredoc":   "cat > id_rsa <<'EOF'\n" + key + "EOF\nchmod 600 id_rsa\n",
		"a key in YAML":        "key: |\n  " + strings.ReplaceAll(strings.TrimSpace(key), "\n", "\n  ") + "\nnext: 1\n",
		"a table":              table,
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
			for _, p := range cutUp(t, whole, pieceSizes{part: 1024, beyond: 2048, longest: 4096, head: 64}) {
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
