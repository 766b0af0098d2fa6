package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memoir/testdata"
)

// completing returns a home with the fixture sessions.
var completing = once(func(t *testing.T) string {
	t.Helper()
	dir := sharedDir(t)
	sessions, home := filepath.Join(dir, "sessions"), filepath.Join(dir, "home")
	_, err := testdata.Write(sessions)
	must(t, err)
	cmd := exec.Command(released(t), "run", "--sessions", sessions, "--home", home, "--now", testdata.Now.Format("2006-01-02"))
	cmd.Env = environment("HOME=" + t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil && codeOf(t, err) != exitPartly {
		t.Fatalf("run: %v\n%s", err, out)
	}
	return home
})

func TestCompletionOffersWhatMayStandThere(t *testing.T) {
	t.Parallel()
	home := completing(t)
	for _, test := range []struct{ line, want string }{
		{"sta", "status"},
		{"--ver", "--verbose --version"},
		{"sessions ", "disable enable"},
		{"sessions --rea", "--reason"},
		{"sessions --reason el", "eligible"},
		{"sessions --reason=el", "--reason=eligible"},
		{"sessions --reason = el", "eligible"}, // bash splits words at =
		{"sessions --limit ", ""},
		{"run --limit 3 --hom", "--home"},
		{"run --start", "--startup"}, // --starting is hidden
		{"run ", ""},
		{"run -- --ho", ""},
		{"--home status run --dry", "--dry-run"},
		{"reb", "rebuild"},
		{"rebuild --al", "--all"},
		{"help sta", "status"},
		{"help sessions dis", "disable"},
		{"help sessions disable ", ""},
		{"completion ", "bash zsh fish"},
		{"journal ", "add search today yesterday"},
		{"install cl", "claude"},
		{"install claude cod", "codex"},
		{"remember --category per", "person"},
		{"sessions disable 019df239", "019df239-3e38-79af-ad38-8241b04bb246"},
		{"sessions disable 019df239 01", ""},
		{"sessions disable --h", "--home --help"},
		{"retry x 019df239", "019df239-3e38-79af-ad38-8241b04bb246"},
		{"show --at 1 019df239", "019df239-3e38-79af-ad38-8241b04bb246 :files"},
		{"view --project ", "lanternd papertrail"},
		{"view --project=la", "--project=lanternd"},
		{"view --project ./", ":files"},
		{"scan ", ":files"},
		{"restore --project lanternd ", "1"},
		{"diff --project=lanternd 1 ", "1"},
		{"restore ", ""},
		{"--home /nonexistent view --project ", ""},
	} {
		p := newProgram([]string{"HOME=" + t.TempDir(), "MEMOIR_HOME=" + home})
		u, _ := captured(t)
		var words bytes.Buffer
		u.out, p.ui = bufio.NewWriter(&words), u
		must(t, p.execute(t.Context(), append(strings.Split(test.line, " "), completeFlag)))
		must(t, u.close())
		var got []string
		for line := range strings.Lines(words.String()) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, word)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%q: offered %q, want %q", test.line, got, test.want)
		}
	}
}

// keys presses tab in a separate shell and prints the completed line.
const keys = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; TERM=dumb; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source ./_memoir; zstyle ":completion:*" list-colors ""
show() { print -r -- "<$BUFFER>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^X" show; print ready'
zpty -r shell seen '*ready*ready*'
zpty -w -n shell "$1"$'\t\x18'
zpty -r shell seen '*<*>*'
print -r -- "${${seen##*<}%%>*}"
zpty -d shell
`

// TestShellsCompleteWithTheirScripts runs the real shells. It skips shells that are not installed.
func TestShellsCompleteWithTheirScripts(t *testing.T) {
	t.Parallel()
	home, dir := completing(t), t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "afile"), nil, 0o600))
	for shell, ask := range map[string]string{
		"bash": `source ./_memoir; COMP_WORDS=($1); [[ $1 = *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]}-1))
			compopt() { COMPREPLY+=(afile); }
			_memoir; [ ${#COMPREPLY[@]} = 1 ] && COMP_WORDS[COMP_CWORD]=${COMPREPLY[0]}; echo "${COMP_WORDS[*]}"`,
		"zsh":  keys,
		"fish": `source ./_memoir; set -l found (complete -C $argv[1] | string split -f1 \t); test -n "$found"; or set found ""; echo (string replace -r '\S*$' '' $argv[1])$found`,
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		dir := filepath.Join(dir, shell)
		must(t, os.Mkdir(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "_memoir"), []byte(completionScripts[shell]), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "afile"), nil, 0o600))
		for _, test := range []struct{ line, want string }{
			{"memoir sessions dis", "memoir sessions disable"},
			{"memoir sessions disable 019df239", "memoir sessions disable 019df239-3e38-79af-ad38-8241b04bb246"},
			{"memoir view --project lan", "memoir view --project lanternd"},
			{"memoir run --dry", "memoir run --dry-run"},
			{"memoir run ", "memoir run"},
			{"memoir scan af", "memoir scan afile"},
		} {
			args := []string{"-c", ask, "x", test.line}
			if shell == "fish" {
				args = []string{"-c", ask, test.line}
			}
			cmd := exec.Command(path, args...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + filepath.Dir(released(t)) + ":/usr/bin:/bin", "HOME=" + dir, "MEMOIR_HOME=" + home, "TERM=dumb"}
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != test.want {
				t.Errorf("%s: %q becomes %q, want %q (%v)", shell, test.line, got, test.want, err)
			}
		}
	}
}
