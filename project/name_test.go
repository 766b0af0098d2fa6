package project

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"memoir"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for identity, want := range map[string]string{
		"github.com/jdx/mise": "mise",
		"/home/ann/my app":    "my-app",
		"/srv/git/app.git":    "app",
		"/home/ann/app/.bare": "app",
		"/home/ann/.dotfiles": "dotfiles",
		"/.bare":              "project", "/..": "project", "/.x": "x",
		"C:/src/Über-App":                     "Über-App",
		"host/日本語":                            "日本語",
		"/a/\x00$(rm -rf)":                    "rm-rf",
		"/a/---":                              "project",
		"/a/x\xff\xfey":                       "x-y",
		"/a/-rf":                              "rf",
		"h/" + strings.Repeat("é", 60):        strings.Repeat("é", 24),
		"/a/b.":                               "b",
		"/a/x\ufe0fy\u3164z\u034f":            "xyz",
		"/a/z" + strings.Repeat("\u0336", 30): "z" + strings.Repeat("\u0336", 5),
	} {
		if got := nameOf(identity); got != want {
			t.Errorf("%q: got %q, want %q", identity, got, want)
		}
	}
}

func TestNamesNeverCollide(t *testing.T) {
	t.Parallel()
	seen := make(map[string]string)
	for _, identity := range []string{"/a/b-c", "/a-b/c", "/a/b/c", "/x/c", "h/c", "/a/b c", "/a/b_c", "/a/b-c/", "/A/b-c", "/a/B-C", "/a/B/c", "H/c"} {
		got := strings.ToLower(Named(identity).ID) // as on a file system that ignores case
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s are both %s", other, identity, got)
		}
		seen[got] = identity
	}
	if got, want := memoir.ProjectID("mise", "github.com/jdx/mise"), "mise-"; !regexp.MustCompile(`^mise-[0-9a-f]{12}$`).MatchString(got) {
		t.Errorf("got %s, want %s and 12 hex digits", got, want)
	}
}

func FuzzSanitise(f *testing.F) {
	f.Add("..")
	f.Add("a/b\\c:d")
	f.Add("-\u0301x")
	f.Fuzz(func(t *testing.T, text string) {
		name := sanitise(text)
		if name == "" || len(name) > maxNameBytes || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\:*?\"<>|\x00 \n") ||
			name[0] == '.' || name[0] == '-' || strings.HasSuffix(name, ".") {
			t.Errorf("%q became %q", text, name)
		}
		if again := sanitise(name); again != name {
			t.Errorf("%q became %q, then %q", text, name, again)
		}
	})
}
