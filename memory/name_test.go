package memory_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/memory"
)

func TestPathsOfARoot(t *testing.T) {
	t.Parallel()
	legal := []string{
		"MEMORY.md", "rollout_summaries/2026-07-01-fix-019f1fd6.md", "skills/a/scripts/run.sh",
		"a..b", "x-y_z.0", strings.Repeat("a", 128), "CON1", "com", "comma.md",
	}
	for _, path := range legal {
		if err := memory.CheckPath(path); err != nil {
			t.Errorf("%q is refused: %v", path, err)
		}
	}
	illegal := []string{
		"", "/etc/passwd", "../x", "a/../b", "a/./b", ".", "..", "a//b", "a/", ".git/config", "a/.hidden",
		`a\b`, `C:\x`, "C:/x", "a:b", "a\x00b", "a\nb", "a\x1bb", "a b", "é.md", "a\u202egpj.md", "a\uff0fb",
		"-rf", "a.", "a./b", "con", "CON.md", "aux.txt", "skills/nul/SKILL.md", "COM1", "lpt9.md",
		"manifest.json", "Manifest.JSON", "%2e%2e/x", "~/x",
		strings.Repeat("a", 129), strings.Repeat("a/", 8) + "a", strings.Repeat("abcdefgh/", 40) + "a",
	}
	for _, path := range illegal {
		if err := memory.CheckPath(path); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%q gives %v, want an invalid path", path, err)
		}
	}
}

func TestFreelyNamedFilesGetTheNearestLegalPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"MEMORY.md":                "MEMORY.md",
		"my notes.md":              "my-notes.md",
		"skills/My Skill/SKILL.md": "skills/my-skill/SKILL.md",
		"Übersicht.md":             "bersicht.md",
		"a  (copy).md":             "a-copy-.md",
		"con.md":                   "file-con.md",
	} {
		if got, ok := memory.LegalName(name); !ok || got != want {
			t.Errorf("%q becomes %q %v, want %q", name, got, ok, want)
		}
	}
	if got, ok := memory.LegalName(strings.Repeat("x ", 500)); ok {
		t.Errorf("an over-long name becomes %q", got)
	}
}

func FuzzLegalName(f *testing.F) {
	for _, seed := range []string{"my notes.md", "../x", "a/./b", "\x00", "skills/Ü/x", "con", "...", "日本.md", "manifest.json", "a:b", "-x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, ok := memory.LegalName(name)
		if err := memory.CheckPath(got); ok && err != nil {
			t.Errorf("%q becomes the illegal %q: %v", name, got, err)
		}
		if again, _ := memory.LegalName(got); ok && again != got {
			t.Errorf("%q becomes %q, and that %q", name, got, again)
		}
	})
}
