package rollout

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

func TestARemoteKeepsItsSpellingButForItsAccount(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://host.example/a/b.git":            "https://host.example/a/b.git",
		"https://ann:pw@host.example/a/b.git":     "https://host.example/a/b.git",
		"https://ann@host.example:8443":           "https://host.example:8443",
		"https://ann:p@w@host.example/a@b?x=y@z":  "https://host.example/a@b?x=y@z",
		"https://ann:p/w@host.example/a":          "https://host.example/a",
		"https://host.example/a b -U'x%D4'/%20.q": "https://host.example/a b -U'x%D4'/%20.q",
		"git@host.example:a/b.git":                "git@host.example:a/b.git",
		"/srv/a@b":                                "/srv/a@b",
		"":                                        "",
	} {
		if got := withoutCredentials(remote); got != want {
			t.Errorf("%q became %q, not %q", remote, got, want)
		}
	}
}

func TestATitleIsCleanedAsThePartOfItsTextThatItIs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("q7Z", 8)
	for _, test := range []struct{ name, text, asked, want string }{
		{"a line of a key", long + "\n" + long + "\nEND KEY", long + "\n" + long + "\nEND KEY", "<secret>"},
		{"what tabs tell", "use\tTRUE\t" + long, "use\tTRUE\t" + long, "<secret>"},
		{"a title of short words", "fix the build\n" + long, "fix the build", "<secret>"},
		{"a short password", "printf 2J6:Z9I7\n| su", "printf 2J6:Z9I7\n| su", "<secret>"},
		{"one line", "fix " + long, "fix " + long, "<secret>"},
	} {
		var h Head
		h.entitle(" \n", test.text)
		asked := ""
		got := h.CleanTitle(func(text string) string {
			asked = text
			return "<secret>"
		})
		if got != test.want || asked != test.asked {
			t.Errorf("%s: %q was asked about, the title is %q", test.name, asked, got)
		}
	}
}

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
		id, _ := json.Marshal(tt.id)
		text := fmt.Sprintf(`{"timestamp":"2026-09-01T10:00:00Z","type":"session_meta","payload":{"id":%s,"timestamp":"2026-09-01T10:00:00Z","cwd":"/src/x"}}`, id)
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
