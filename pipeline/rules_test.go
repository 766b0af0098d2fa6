package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/secrets"
)

func TestAProjectsOwnSecretRulesCountForItsSessions(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	below := filepath.Join(project, "cmd", "app")
	must(t, os.MkdirAll(below, 0o700))
	rules := config.RulesFile(project)
	const text = "[[rules]]\nid = \"acme-ticket\"\nregex = '''ACME-[0-9a-f]{16}'''\n[[allowlists]]\nregexes = ['''^ACME-0''']\n"
	must(t, os.WriteFile(rules, []byte(text), 0o600))
	ticket := "ACME-" + "0123456789abcdef"
	redacted := func(dir string) string {
		r, err := newRun(nil, Options{Home: home})
		must(t, err)
		out, _ := r.scannerOf(dir).Redact(ticket)
		return out
	}
	if got := redacted(below); got != "[REDACTED:acme-ticket]" {
		t.Errorf("below the project: %s", got)
	}
	if got := redacted(home); got != ticket {
		t.Errorf("elsewhere: %s", got)
	}
	must(t, config.Trust(home, rules))
	if got := redacted(below); got != ticket {
		t.Errorf("its allowlist does not count although it is trusted: %s", got)
	}
	must(t, os.WriteFile(rules, []byte(text+"# changed\n"), 0o600))
	if got := redacted(below); got != "[REDACTED:acme-ticket]" {
		t.Errorf("changed since it was trusted: %s", got)
	}
}

// A repository may make its file of rules a link to what never ends, or as large as it likes.
func TestRulesThatAreNoFileOfThatKindAreNotReadAndSaidToBeInvalid(t *testing.T) {
	t.Parallel()
	for want, make := range map[string]func(path string) error{
		"not a regular file": func(path string) error { return os.Symlink(os.DevNull, path) },
		"too large":          func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
	} {
		home, project := t.TempDir(), t.TempDir()
		must(t, make(config.RulesFile(project)))
		r, err := newRun(nil, Options{Home: home})
		must(t, err)
		if err := r.rulesIn(project).err; memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPublishedNamesAndFilesAreRedacted(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	must(t, err)
	r := &run{scanner: scanner}
	token := func(tail string) string {
		return strings.Join([]string{"ghp", "_", "k3Jd9sLq0WmZx7Yt2Rv5Bn8Cf4Hg6Pa1U", tail}, "")
	}
	value := strings.Join([]string{"q9!", "xLm2#zP"}, "")
	in := memory.Files{
		"MEMORY.md":                       []byte("it was " + value), // bare: only the script tells what it is
		"memory_summary.md":               []byte("clean"),
		"skills/deploy/SKILL.md":          []byte("use " + token("e0o")),
		"notes/" + token("e0o") + ".md":   []byte("one"),
		"notes/" + token("e1p") + ".md":   []byte("two"),
		"skills/deploy/scripts/deploy.sh": []byte("password=\"" + value + "\""),
	}
	out, counts, err := r.cleanFiles(memoir.Project{}, in)
	must(t, err)
	want := memory.Files{
		"MEMORY.md":                       []byte("it was [REDACTED:password-assignment]"),
		"memory_summary.md":               []byte("clean"),
		"skills/deploy/SKILL.md":          []byte("use [REDACTED:github-pat]"),
		"notes/redacted-github-pat.md":    []byte("one"),
		"notes/redacted-github-pat-2.md":  []byte("two"),
		"skills/deploy/scripts/deploy.sh": []byte("password=\"[REDACTED:password-assignment]\""),
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if counts.Total() != 5 {
		t.Errorf("counts %v", counts)
	}
	if string(in["skills/deploy/SKILL.md"]) != "use "+token("e0o") {
		t.Error("the input was changed")
	}
}
