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
		if err := os.WriteFile(path, []byte(outsideMark), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"absolute.md": secret, "climbing.md": "../../secret.md", "up": "..", "home": home, "inside.md": "MEMORY.md",
	} {
		if err := os.Symlink(target, filepath.Join(r.Live(1), name)); err != nil {
			t.Fatal(err)
		}
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
