//go:build unix

package memory_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/memory"
)

const outsideMark = "must never be read"

// guarded is a memory with a file next to it, and links from it to that file.
func guarded(t testing.TB) memory.Root {
	t.Helper()
	home := t.TempDir()
	r := memory.At(home, project)
	publish(t, r, 1, generation(1))
	secret := filepath.Join(home, "secret.md")
	for _, path := range []string{secret, filepath.Join(r.Dir(), "secret.md"), filepath.Join(r.Dir(), "live", "secret.md")} {
		must(t, os.WriteFile(path, []byte(outsideMark), 0o600))
	}
	for name, target := range map[string]string{
		"absolute.md": secret, "climbing.md": "../../secret.md", "up": "..", "home": home, "inside.md": "MEMORY.md",
	} {
		must(t, os.Symlink(target, filepath.Join(r.Live(1), name)))
	}
	return r
}

func TestPlacesInTheMemory(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	files := generation(1)
	for place, path := range map[string]string{
		"memory://root":                            "memory_summary.md",
		"memory://root/":                           "memory_summary.md",
		"MEMORY://root/MEMORY.md":                  "MEMORY.md",
		"memory://root/MEMORY.md":                  "MEMORY.md",
		"memory://root/MEMORY%2Emd":                "MEMORY.md",
		"memory://root/skills/deploy/SKILL.md":     "skills/deploy/SKILL.md",
		"skills/deploy/scripts/go.sh":              "skills/deploy/scripts/go.sh",
		"./MEMORY.md":                              "MEMORY.md",
		"inside.md":                                "MEMORY.md",
		"memory://root/%72ollout_summaries/a-b.md": "rollout_summaries/a-b.md",
	} {
		content, err := r.Open(place)
		if err != nil || !bytes.Equal(content, files[path]) {
			t.Errorf("%s gives %q, %v; want %s", place, content, err, path)
		}
	}
	for place, want := range map[string]string{
		"skills":                        "deploy/\n",
		"memory://root/skills/deploy/":  "SKILL.md\nscripts/\n",
		"memory://root/skills/deploy":   "SKILL.md\nscripts/\n",
		"memory://root/skills/./deploy": "",
	} {
		if content, err := r.Open(place); string(content) != want || (want == "") != (err != nil) {
			t.Errorf("%s lists %q, %v; want %q", place, content, err, want)
		}
	}
	root, err := r.Open(".")
	if err != nil || !strings.HasPrefix(string(root), "MEMORY.md\n") || strings.Contains(string(root), "manifest") {
		t.Errorf("the root lists %q, %v", root, err)
	}
}

func TestPlacesThatAreNotThere(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	for _, place := range []string{
		"memory://root/memory.txt", "memory://root/skills/nope/SKILL.md", "MEMORY.md/x",
		"%4dEMORY.md", // a path is not decoded
	} {
		if _, err := r.Open(place); memoir.CodeOf(err) != memoir.CodeNotFound || memoir.HintOf(err) == "" {
			t.Errorf("%s gives %v (hint %q)", place, err, memoir.HintOf(err))
		}
	}
	empty := memory.At(t.TempDir(), project)
	if _, err := empty.Open("memory://root"); memoir.CodeOf(err) != memoir.CodeNotFound || memoir.HintOf(err) == "" {
		t.Errorf("without a memory: %v", err)
	}
}

var hostile = []string{
	"", "/", "/etc/passwd", "..", "../secret.md", "skills/../../secret.md", "./../secret.md", ".hidden", "a//b",
	`..\secret.md`, "C:/x", "a\x00b", "a\nb", "\x1b[31m", "\xff", strings.Repeat("a/", 1000),
	"memory://", "memory://other", "memory://root@evil/x", "memory://root:80/MEMORY.md", "memory:/root/x", "memory://root//etc/passwd",
	"memory://root/../secret.md", "memory://root/%2e%2e/secret.md", "memory://root/..%2fsecret.md", "memory://root/..%5Csecret.md",
	"memory://root/%2E%2E%2Fsecret.md", "memory://root/%252e%252e/secret.md", "memory://root/%zz", "memory://root/%00",
	"memory://root/absolute.md", "absolute.md", "climbing.md", "up/secret.md", "home/secret.md", "up", "home",
	"file:///etc/passwd", "https://example.com/",
}

func TestPlacesOutsideAreRefused(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	for _, place := range hostile {
		content, err := r.Open(place)
		if code := memoir.CodeOf(err); code != memoir.CodeUsage && code != memoir.CodeNotFound {
			t.Errorf("%q gives %q and %v", place, content, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, seed := range hostile {
		f.Add(seed)
	}
	f.Add("memory://root/skills/deploy/SKILL.md")
	r := guarded(f)
	f.Fuzz(func(t *testing.T, place string) {
		content, err := r.Open(place)
		if err == nil && (bytes.Contains(content, []byte(outsideMark)) || bytes.Contains(content, []byte("secret.md"))) {
			t.Errorf("%q leads out of the memory: %q", place, content)
		}
		if err != nil && memoir.CodeOf(err) == memoir.CodeInternal {
			t.Errorf("%q gives an error without a code: %v", place, err)
		}
	})
}

func TestTheSummaryIsReadAsItStands(t *testing.T) {
	t.Parallel()
	r := memory.At(t.TempDir(), project)
	publish(t, r, 1, generation(1))
	write(t, r, "memory_summary.md", "by hand\n")
	if text, err := r.Summary(); err != nil || text != "by hand\n" {
		t.Errorf("got %q, %v", text, err)
	}
	name := filepath.Join(r.Link(), "memory_summary.md")
	must(t, os.Remove(name))
	if text, err := r.Summary(); err != nil || text != "" {
		t.Errorf("a deleted summary gives %q, %v", text, err)
	}
	must(t, os.Symlink("/etc/passwd", name))
	if text, err := r.Summary(); err == nil || text != "" {
		t.Errorf("a link out of the memory gives %q, %v", text, err)
	}
}

func TestTextsAreCutByWholeLines(t *testing.T) {
	t.Parallel()
	const mark = "(cut here; more is in memory://root/MEMORY.md)\n"
	long := strings.Repeat("- a line of some length\n", 100)
	for name, test := range map[string]struct {
		text   string
		tokens int
		want   string
	}{
		"a text that fits":              {"# A\n- b\n", 2, "# A\n- b\n"},
		"a text that fits to the byte":  {"12345678", 2, "12345678"},
		"an empty text":                 {"", 0, ""},
		"no budget":                     {"x", 0, ""},
		"a negative budget":             {"x", -1, ""},
		"too little for the mark":       {long, 10, ""},
		"just the mark":                 {long, 15, mark},
		"two lines":                     {long, 29, "- a line of some length\n- a line of some length\n" + mark},
		"a heading without its content": {"- one\n\n## Two\n" + long, 20, "- one\n" + mark},
		"a code block is not left open": {"- one\n```\nx\n" + long, 22, "- one\n" + mark},
		"a code block that is closed":   {"```\nx\n```\n" + long, 18, "```\nx\n```\n" + mark},
		"a line longer than the budget": {strings.Repeat("é", 500), 40, mark},
	} {
		got := memory.FitTokens(test.text, test.tokens)
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if memoir.Tokens(got) > max(test.tokens, 0) {
			t.Errorf("%s: %d tokens", name, memoir.Tokens(got))
		}
	}
}

func FuzzFitTokens(f *testing.F) {
	f.Add("# A\n\n- b\n```\nx\n", 17)
	f.Fuzz(func(t *testing.T, text string, tokens int) {
		got := memory.FitTokens(text, tokens)
		if memoir.Tokens(got) > max(tokens, 0) {
			t.Errorf("%d tokens for a budget of %d: %q", memoir.Tokens(got), tokens, got)
		}
		if got != text && got != "" && !strings.HasSuffix(got, "memory://root/MEMORY.md)\n") {
			t.Errorf("a cut text does not say so: %q", got)
		}
	})
}
