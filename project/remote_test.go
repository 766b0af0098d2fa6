package project

import (
	"strings"
	"testing"
	"unicode"
)

func TestFormsOfOneRemoteAreOne(t *testing.T) {
	t.Parallel()
	secret := "ghp" + "_abc"
	for want, forms := range map[string][]string{
		"github.com/jdx/mise": {
			"https://github.com/jdx/mise.git", "https://github.com/jdx/mise", "https://github.com/jdx/mise/",
			"http://GitHub.com:80/jdx/mise.git/", "git@github.com:jdx/mise.git", "git@github.com:/jdx/mise.git",
			"github.com:jdx/mise", "ssh://git@github.com/jdx/mise.git", "ssh://git@github.com:22/jdx/mise",
			"ssh://git@ssh.github.com:443/jdx/mise.git", "git+ssh://git@github.com/jdx/mise", "git://github.com/jdx/mise.git",
			"https://ann:" + secret + "@github.com/jdx/mise.git", "https://" + secret + "@github.com/jdx/mise",
			"https://x-access-token:" + secret + "@github.com/jdx/mise.git?token=" + secret + "#readme",
			" https://github.com/jdx/mise.git\n", "https://github.com//jdx/./x/../mise.git", "https://www.github.com/JDX/Mise",
			"https://github.com/jdx%2Fmise", "github.com/jdx/mise", "github.com./jdx/mise.git.git", "HTTPS://github.com/jdx/mise",
		},
		"example.invalid/demo":    {"https://example.invalid/demo.git", "git@example.invalid:demo.git"},
		"git.corp.example/Team/A": {"ssh://git@git.corp.example:7999/Team/A.git", "git@git.corp.example:Team/A", "https://git.corp.example:8443/Team/A"},
		"gitlab.com/a/b/c":        {"https://gitlab.com/a/b/c.git", "git@altssh.gitlab.com:a/b/c.git"},
		"nas/u/r":                 {"http://nas:3000/u/r.git", "nas:u/r", "ssh://me@nas/u/r"},
		"host.example/~ann/r":     {"ssh://host.example/~ann/r.git", "host.example:~ann/r"},
		"/srv/git/app.git":        {"/srv/git/app.git", "file:///srv/git/app.git", "file://localhost/srv/git/app.git/", "/srv/git/../git/app.git"},
		"a.example/b c":           {"https://a.example/b%20c.git"},
		"":                        {"", " ", "/", "..", "../app", "./app", "app", "origin", "https://", "https://github.com", "https://github.com/", "https:///x", "git@github.com:", ":x", "https://github.com/.git", "git@host:x\ny", "a/b:c", "...///x", "ssh://git@[::1]:2222/x/y.git", "https://h/%zz", `C:\src\app`, "c:/src/app"},
	} {
		for _, form := range forms {
			if got := NormalizeRemote(form); got != want {
				t.Errorf("%q: got %q, want %q", form, got, want)
			}
		}
	}
}

func TestDifferentRepositoriesStayDifferent(t *testing.T) {
	t.Parallel()
	seen := make(map[string]string)
	for _, remote := range []string{
		"https://github.com/a/b", "https://github.com/a/b.c", "https://github.com/a-b", "https://gitlab.com/a/b", "https://github.com/a/b/c",
		"https://git.example/A/b", "https://git.example/a/b", "/srv/a/b", "/srv/a/b.git",
	} {
		got := NormalizeRemote(remote)
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s are both %s", other, remote, got)
		}
		seen[got] = remote
	}
}

// FuzzNormalizeRemote checks for any text that the result has no credentials and no "..", and that normalising is
// idempotent.
func FuzzNormalizeRemote(f *testing.F) {
	for _, seed := range []string{
		"https://u:p@github.com:443/a/b.git?x#y", "git@h.example:a/../../b.git", "file:///C:/x", "ssh://[::1]:22/x", `\\a\b`, "a::b::c", "/a//b/..",
		"https://h/%2e%2e/%2e%2e", "https://h/%00", "h.x:/.git/.git", "https://@/x", "x@y@z.w:/a", "C:\\..\\..", "https://a.b/.git.git/", "/%2e", "http://h./x", "}:00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		got := NormalizeRemote(remote)
		if got == "" {
			return
		}
		if strings.ContainsFunc(got, unicode.IsControl) {
			t.Fatalf("%q: %q has control characters", remote, got)
		}
		for element := range strings.SplitSeq(got, "/") {
			if element == ".." || element == "." {
				t.Fatalf("%q: %q leaves its path", remote, got)
			}
		}
		if isLocal(got) {
			if again := NormalizeRemote(got); again != got {
				t.Fatalf("%q: %q becomes %q", remote, got, again)
			}
			return
		}
		host, path, ok := strings.Cut(got, "/")
		if !ok || strings.Contains(host, "@") || host != strings.ToLower(host) {
			t.Fatalf("%q: %q has the host %q", remote, got, host)
		}
		escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
		if again := NormalizeRemote("ssh://" + host + "/" + escaped); again != got {
			t.Fatalf("%q: %q becomes %q", remote, got, again)
		}
	})
}
