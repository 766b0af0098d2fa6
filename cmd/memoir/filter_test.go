//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// filter runs a command with a text on its standard input.
func filter(t *testing.T, stdin string, args ...string) (code int, out, said string) {
	t.Helper()
	s := newScene(t, "", "api: exec, command: [false]")
	s.input = stdin
	return s.memoir(args...)
}

// wide encodes a text as UTF-16, little endian, with a byte order mark.
func wide(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// put writes a file and its parent directories.
func put(t testing.TB, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

// madeToken returns a token that a rule of gitleaks matches.
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
		code, out, _ := filter(t, "", "scan", filepath.Join(dir, top))
		var got []string
		for line := range strings.Lines(out) {
			place, _, _ := strings.Cut(line, ": github-pat")
			got = append(got, strings.Replace(place, filepath.Join(dir, top), "b", 1))
		}
		if diff := cmp.Diff(want, got); diff != "" || code != exitFailed {
			t.Errorf("exit %d\n%s", code, diff)
		}
	}
	for _, form := range []string{"--json", "-v"} {
		if code, out, said := filter(t, "", "scan", form, filepath.Join(dir, "b")); strings.Contains(out+said, token) || code != exitFailed {
			t.Errorf("%s: exit %d: %s%s", form, code, out, said)
		}
	}
}

func TestScanSaysWhatItCouldNotReadAndGoesOn(t *testing.T) {
	t.Parallel()
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	put(t, a, madeToken())
	put(t, b, "nothing\n")
	code, out, said := filter(t, "", "scan", "nowhere", a)
	if code != exitFailed || !strings.HasPrefix(out, a+":1:1: github-pat") || !strings.Contains(said, "not scanned: nowhere: no such file or directory") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if code, _, said := filter(t, "", "scan", "nowhere", b); code != exitFailed || !strings.Contains(said, "error: 1 path could not be scanned") {
		t.Errorf("exit %d: %s", code, said)
	}
}

func TestRedactKeepsHowATextIsWritten(t *testing.T) {
	t.Parallel()
	token := madeToken()
	const marker = "[REDACTED:github-pat]"
	wanted := map[string]string{}
	for _, form := range []string{
		"a\n%s", // no line end at the end
		"a\r\n%s\r\nb\r\n",
		"\xff \xfe\xc3%s \x80\n\x00", // not UTF-8
		"",
		"{\"a\":\"%s\",\"n\":1}\n{\"b\":[]}\n",
		strings.Repeat("word ", 1<<19) + "%s " + strings.Repeat("word ", 1000) + "\n", // a very long line
		strings.Repeat("word\n", 1000) + "%s",
	} {
		wanted[strings.Replace(form, "%s", token, 1)] = strings.Replace(form, "%s", marker, 1)
	}
	for _, mark := range []func(string) string{wide, func(text string) string { return "\xef\xbb\xbf" + text }} {
		wanted[mark("é\r\n"+token+" 😀\r\n")] = "é\r\n" + marker + " 😀\r\n" // UTF-8 without the mark
	}
	for text, want := range wanted {
		if code, out, _ := filter(t, text, "redact"); out != want || code != exitDone {
			t.Errorf("%.100q: exit %d, %d bytes: %.200q", text, code, len(out), out)
		}
	}
}

// A secret that only the last line identifies is redacted in the first line, too, although the file is read in pieces.
func TestAValueThatALongFileTellsAtItsEndGoesFromItsBeginning(t *testing.T) {
	t.Parallel()
	password := "Zq7!" + "xkLm2#"
	filler := strings.Repeat("nothing to be seen in this line of words\n", 40_000)
	file := filepath.Join(t.TempDir(), "log")
	put(t, file, "it was "+password+" then\n"+filler+"DB_PASSWORD="+password+"\n")
	_, out, said := filter(t, "", "redact", file)
	if want := "it was [REDACTED:password-environment] then\n" + filler + "DB_PASSWORD=[REDACTED:password-environment]\n"; out != want {
		t.Errorf("%.200q", out)
	}
	if want := "memoir: redacted 2 secrets (password-environment 2)\n"; said != want {
		t.Errorf("%q", said)
	}
}

func TestADatabaseThatIsReadAsTextIsNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t, t.TempDir(), "api: exec, command: [false]")
	for name, test := range map[string]struct {
		content string
		warned  bool
	}{
		"a database": {"SQLite format 3\x00\x10\x00more", true},
		"its head":   {"SQLite format 3\x00", true},
		"a text":     {"SQLite format 3 is a format\n", false},
		"nothing":    {"", false},
	} {
		file := filepath.Join(t.TempDir(), "x.db")
		must(t, os.WriteFile(file, []byte(test.content), 0o600))
		for _, args := range [][]string{{"redact", file}, {"scan", file}, {"redact", "-"}} {
			s.input = ""
			if args[1] == "-" {
				s.input = test.content + " "
			}
			_, out, said := s.memoir(args...)
			if warned := strings.Contains(said, "secrets in it may be missed"); warned != test.warned {
				t.Errorf("%s: %v said %q", name, args, said)
			}
			if args[0] == "redact" && strings.TrimSuffix(out, " ") != test.content {
				t.Errorf("%s: %v printed %q", name, args, out)
			}
		}
	}
}
