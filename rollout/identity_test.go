package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

func TestAnIDThatIsFitForNoFileNameIsReplacedByTheFilesOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen := map[string]string{}
	for i, tt := range []struct{ id, file, want string }{
		{"01a20000-0000-7000-8000-000000000001", "a.jsonl", "01a20000-0000-7000-8000-000000000001"},
		{"ses_4f:a@b", "b.jsonl", "ses_4f:a@b"},
		{"../../../etc/passwd", "c.jsonl", "c"},
		{"two\nlines\x1b[31m", "d.jsonl", "d"},
		{strings.Repeat("x", 10000), "e.jsonl", "e"},
		{"", "my notes.jsonl", "my-notes-"},
		{"", "my\nnotes.jsonl", "my-notes-"},
		{"", "\x1b[31m.jsonl", "31m-"},
		{"", "...jsonl", "session-"},
		{"", strings.Repeat("n", 200) + ".jsonl", strings.Repeat("n", 48) + "-"},
	} {
		path := filepath.Join(dir, tt.file)
		text := fmt.Sprintf(`{"timestamp":"2026-09-01T10:00:00Z","type":"session_meta","payload":{"id":%s,"timestamp":"2026-09-01T10:00:00Z","cwd":"/src/x"}}`, quoted(tt.id))
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Logf("%d: %v", i, err)
			continue
		}
		head, err := Probe(Entry{File: memoir.File{Path: path}})
		if err != nil {
			t.Errorf("%q: %v", tt.file, err)
			continue
		}
		exact := !strings.HasSuffix(tt.want, "-")
		if head.ID != tt.want && (exact || !strings.HasPrefix(head.ID, tt.want)) || !legalID.MatchString(head.ID) {
			t.Errorf("%q in %q became %q", tt.id, tt.file, head.ID)
		}
		if other, taken := seen[head.ID]; taken {
			t.Errorf("%q and %q share the id %q", other, tt.file, head.ID)
		}
		seen[head.ID] = tt.file
	}
}

func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	b.WriteByte('"')
	return b.String()
}
