//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"
)

// filtered is what a command did to a text.
type filtered struct {
	stdout, stderr string
	code           int
}

func filter(t *testing.T, dir, stdin string, args ...string) filtered {
	t.Helper()
	cmd := exec.Command(released(t), args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = environment("HOME=" + filepath.Join(dir, "home"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return filtered{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// wide writes a text as Windows does: UTF-16 with a byte order mark, low byte first.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// put writes a file and the directories that it needs.
func put(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

// madeToken is a token of a form that gitleaks knows.
func madeToken() string { return "gh" + "p_" + strings.Repeat("k3Jd9sLq0WmZ", 3) }

func TestScanLooksThroughAllFilesAndShowsNoSecret(t *testing.T) {
	t.Parallel()
	dir, token := t.TempDir(), madeToken()
	for name, content := range map[string]string{
		"b/windows.reg":         wide("Windows\r\n\"x\"=\"é " + token + "\"\r\n"),
		"b/marked.txt":          "\xef\xbb\xbf" + token + "\n",
		"b/binary":              "\x00\x01\xff" + token + "\x00",
		"b/" + token + ".txt":   "its name tells\n",
		"b/" + token + "/plain": "x\n" + token + "\n",
	} {
		put(t, filepath.Join(dir, name), content)
	}
	must(t, os.Symlink(".", filepath.Join(dir, "b", "loop")))
	must(t, os.Symlink("b", filepath.Join(dir, "linked")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "b", "pipe"), 0o600))
	const shown = "[REDACTED:github-pat]"
	want := []string{
		"b/binary:1:4", "b/" + shown + " (its name)", "b/" + shown + "/plain:2:1", "b/" + shown + ".txt (its name)", "b/marked.txt:1:1", "b/windows.reg:2:8",
	}
	for _, top := range []string{"b", "linked"} {
		out := filter(t, dir, "", "scan", top)
		var got []string
		for line := range strings.Lines(out.stdout) {
			place, _, _ := strings.Cut(line, ": github-pat")
			got = append(got, strings.Replace(place, top+"/", "b/", 1))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || out.code != exitFailed {
			t.Errorf("exit %d\n%s\ninstead of\n%s", out.code, out.stdout, strings.Join(want, "\n"))
		}
	}
	for _, form := range []string{"--json", "-v"} {
		if out := filter(t, dir, "", "scan", form, "b"); strings.Contains(out.stdout+out.stderr, token) || out.code != exitFailed {
			t.Errorf("%s: exit %d: %s%s", form, out.code, out.stdout, out.stderr)
		}
	}
}

func TestScanSaysWhatItCouldNotReadAndGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), madeToken())
	out := filter(t, dir, "", "scan", "nowhere", "a")
	if out.code != exitFailed || !strings.HasPrefix(out.stdout, "a:1:1: github-pat") || !strings.Contains(out.stderr, "not scanned: scan nowhere: no such file or directory") {
		t.Errorf("%+v", out)
	}
	put(t, filepath.Join(dir, "b"), "nothing\n")
	if out := filter(t, dir, "", "scan", "nowhere", "b"); out.code != exitFailed || !strings.Contains(out.stderr, "error: 1 path could not be scanned") {
		t.Errorf("%+v", out)
	}
}

func TestRedactKeepsHowATextIsWritten(t *testing.T) {
	t.Parallel()
	dir, token := t.TempDir(), madeToken()
	const marker = "[REDACTED:github-pat]"
	for name, form := range map[string]string{
		"no line end at the end":        "a\n%s",
		"line ends of Windows":          "a\r\n%s\r\nb\r\n",
		"bytes that are no UTF-8":       "\xff \xfe\xc3%s \x80\n\x00",
		"nothing":                       "",
		"lines of JSON":                 "{\"a\":\"%s\",\"n\":1}\n{\"b\":[]}\n",
		"a line that is very long":      strings.Repeat("word ", 1<<19) + "%s " + strings.Repeat("word ", 1000) + "\n",
		"a token that is told by words": strings.Repeat("word\n", 1000) + "%s",
	} {
		with := func(value string) string {
			return strings.Replace(form, "%s", value, 1)
		}
		if out := filter(t, dir, with(token), "redact"); out.stdout != with(marker) || out.code != exitDone {
			t.Errorf("%s: exit %d, %d bytes: %.200q", name, out.code, len(out.stdout), out.stdout)
		}
	}
}

func TestRedactWritesAMarkedTextInUTF8(t *testing.T) {
	t.Parallel()
	for _, text := range []string{wide("é\r\n" + madeToken() + " 😀\r\n"), "\xef\xbb\xbfé\r\n" + madeToken() + " 😀\r\n"} {
		if out := filter(t, t.TempDir(), text, "redact"); out.stdout != "é\r\n[REDACTED:github-pat] 😀\r\n" {
			t.Errorf("%q became %q", text, out.stdout)
		}
	}
}

// What the last line tells goes from the first, although they are not in memory together.
func TestAValueThatALongFileTellsAtItsEndGoesFromItsBeginning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	password := "Zq7!" + "xkLm2#"
	filler := strings.Repeat("nothing to be seen in this line of words\n", 40_000)
	file := filepath.Join(dir, "log")
	put(t, file, "it was "+password+" then\n"+filler+"DB_PASSWORD="+password+"\n")
	out := filter(t, dir, "", "redact", "log")
	if want := "it was [REDACTED:password-environment] then\n" + filler + "DB_PASSWORD=[REDACTED:password-environment]\n"; out.stdout != want {
		t.Errorf("%.200q", out.stdout)
	}
	if want := "memoir: redacted password-environment 2\n"; out.stderr != want {
		t.Errorf("%q", out.stderr)
	}
	put(t, file, filler)
	if out := filter(t, dir, "", "redact", "log"); out.stdout != filler || out.stderr != "" {
		t.Errorf("%d bytes, %q", len(out.stdout), out.stderr)
	}
}
