package main

import (
	"os/exec"
	"strings"
	"testing"
)

// completeBash asks a real bash what it would offer for the last word.
func completeBash(t *testing.T, words ...string) []string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	script := bashCompletion(testApp()) + `
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _memoir; printf '%s\n' "${COMPREPLY[@]}"`
	out, err := exec.Command(bash, append([]string{"-c", script, "bash", "memoir"}, words...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("bash: %v\n%s", err, out)
	}
	return strings.Fields(string(out))
}

func TestBashOffersCommandsAndFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"sta"}, "status"},
		{[]string{"--ver"}, "--verbose --version"},
		{[]string{"sessions", "dis"}, "disable"},
		{[]string{"sessions", "--rea"}, "--reason"},
		{[]string{"sessions", "--reason", "too"}, "too_recent too_old"},
		{[]string{"sessions", "--source", "cl"}, "claude"},
		{[]string{"sessions", "--kind", "sub"}, "subagent"},
		{[]string{"sessions", "--json", "--sort", "c"}, "created"},
		{[]string{"run", "--min"}, "--min-idle"},
		{[]string{"run", "--limit", "3", "--hom"}, "--home"},
		{[]string{"sessions", "disable", "--js"}, ""},
		{[]string{"--home", "status", "run", "--dry"}, "--dry-run"},
		{[]string{"reb"}, "rebuild"},
		{[]string{"rebuild", "--al"}, "--all"},
		{[]string{"help", "sta"}, "status"},
		{[]string{"completion", "b"}, "bash"},
		{[]string{"run", "--start"}, "--startup"}, // and not the hidden --starting
	} {
		if got := strings.Join(completeBash(t, test.words...), " "); got != test.want {
			t.Errorf("%q: offered %q, want %q", test.words, got, test.want)
		}
	}
}

func TestEveryShellKnowsEveryCommand(t *testing.T) {
	t.Parallel()
	app := testApp()
	for shell, script := range map[string]string{"zsh": zshCompletion(app), "fish": fishCompletion(app), "bash": bashCompletion(app)} {
		for path := range visible(app) {
			words := strings.Fields(path)
			if !strings.Contains(script, words[len(words)-1]) {
				t.Errorf("%s: %s is missing", shell, path)
			}
		}
		if strings.Contains(script, "--starting") || strings.Contains(script, "-l starting") {
			t.Errorf("%s: offers a hidden flag", shell)
		}
	}
}

func TestScriptsAreValid(t *testing.T) {
	t.Parallel()
	app := testApp()
	for shell, script := range map[string]string{"zsh": zshCompletion(app), "bash": bashCompletion(app)} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.Command(path, "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}
