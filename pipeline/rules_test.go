package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/config"
)

func TestAProjectsOwnSecretRulesCountForItsSessions(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	below := filepath.Join(project, "cmd", "app")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	rules := config.RulesFile(project)
	const text = "[[rules]]\nid = \"acme-ticket\"\nregex = '''ACME-[0-9a-f]{16}'''\n[[allowlists]]\nregexes = ['''^ACME-0''']\n"
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ticket := "ACME-" + "0123456789abcdef"
	redacted := func(dir string) string {
		r, err := newRun(nil, Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := r.scannerOf(dir).Redact(ticket)
		return out
	}
	if got := redacted(below); got != "[REDACTED:acme-ticket]" {
		t.Errorf("below the project: %s", got)
	}
	if got := redacted(home); got != ticket {
		t.Errorf("elsewhere: %s", got)
	}
	if err := config.Trust(home, rules); err != nil {
		t.Fatal(err)
	}
	if got := redacted(below); got != ticket {
		t.Errorf("its allowlist does not count although it is trusted: %s", got)
	}
	if err := os.WriteFile(rules, []byte(text+"# changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := redacted(below); got != "[REDACTED:acme-ticket]" {
		t.Errorf("changed since it was trusted: %s", got)
	}
}

// A repository may make its file of rules a link to what never ends, or as large as it likes.
func TestRulesThatAreNoFileOfThatKindAreNotReadAndSaidToBeInvalid(t *testing.T) {
	t.Parallel()
	for want, make := range map[string]func(path string) error{
		"is not a file":  func(path string) error { return os.Symlink(os.DevNull, path) },
		"is larger than": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
	} {
		home, project := t.TempDir(), t.TempDir()
		if err := make(config.RulesFile(project)); err != nil {
			t.Fatal(err)
		}
		r, err := newRun(nil, Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.rulingIn(project).err; memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
