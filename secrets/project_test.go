package secrets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

const projectRules = `
[extend]
disabledRules = ["github-pat"]
[[rules]]
id = "acme-ticket"
regex = '''ACME-[0-9a-f]{16}'''
keywords = ["acme-"]
[[rules.allowlists]]
regexes = ['''^ACME-0''']
[[rules]]
id = "gitlab-pat"
regex = '''never-[0-9]{99}'''
[[allowlists]]
regexes = ['''.*''']
`

func TestAProjectThatIsNotTrustedCanOnlyAddRules(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ".gitleaks.toml")
	if err := os.WriteFile(path, []byte(projectRules), 0o600); err != nil {
		t.Fatal(err)
	}
	github := fake("ghp", "_", "k3Jd9sLq0WmZx7Yt2Rv5Bn8Cf4Hg6Pa1Ue0o")
	gitlab := fake("glp", "at-", "k3Jd9sLq0WmZx7Yt2Rv5")
	ticket := "ACME-" + "0123456789abcdef"
	text := strings.Join([]string{github, gitlab, ticket}, "\n")
	for trusted, want := range map[bool]string{
		false: "[REDACTED:github-pat]\n[REDACTED:gitlab-pat]\n[REDACTED:acme-ticket]",
		true:  text,
	} {
		s, err := New(Options{ProjectPath: path, ProjectTrusted: trusted})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Redact(text); got != want {
			t.Errorf("trusted %v: %s, want %s", trusted, got, want)
		}
	}
}

func TestARuleOfAProjectThatIsNotValidIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ".gitleaks.toml")
	if err := os.WriteFile(path, []byte("[[rules]]\nid = \"acme-ticket\"\nregex = '''ACME-(['''\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []bool{false, true} {
		_, err := New(Options{ProjectPath: path, ProjectTrusted: trusted})
		if memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error(), "acme-ticket") || !strings.Contains(err.Error(), path) {
			t.Errorf("trusted %v: %v", trusted, err)
		}
	}
}
