package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompletionOffersCommandsAndFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ words, begins, want string }{
		{"", "sta", "status"},
		{"", "--ver", "--verbose --version"},
		{"sessions", "dis", "disable"},
		{"sessions", "--rea", "--reason"},
		{"sessions --reason", "", ""},
		{"run --limit 3", "--hom", "--home"},
		{"sessions disable", "--js", ""},
		{"--home status run", "--dry", "--dry-run"},
		{"", "reb", "rebuild"},
		{"rebuild", "--al", "--all"},
		{"help", "sta", "status"},
		{"completion", "b", "bash"},
		{"run", "--start", "--startup"}, // and not the hidden --starting
	} {
		var got []string
		for _, word := range completions(testApp(), strings.Fields(test.words)) {
			if strings.HasPrefix(word, test.begins) {
				got = append(got, word)
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%q, %q: offered %q, want %q", test.words, test.begins, got, test.want)
		}
	}
}

func TestShellsCompleteWithTheirScripts(t *testing.T) {
	t.Parallel()
	for shell, ask := range map[string]string{
		"bash": `COMP_WORDS=(memoir sessions dis); COMP_CWORD=2; _memoir; echo "${COMPREPLY[@]}"`,
		"zsh":  "true",
		"fish": "complete -C 'memoir sessions dis'",
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.Command(path, "-c", completionScripts[shell]+ask)
		if shell == "zsh" { // whose completion needs a terminal
			cmd = exec.Command(path, "-n", "-c", completionScripts[shell])
		}
		cmd.Env = []string{"PATH=" + filepath.Dir(released(t)) + ":/usr/bin:/bin", "HOME=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		if err != nil || shell != "zsh" && !strings.HasPrefix(string(out), "disable") {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}
