package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/pipeline"
)

// captured is a ui whose words go into a buffer instead of a terminal.
func captured(t *testing.T) (*ui, *bytes.Buffer) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	u := newUI(null, null, null, func(string) string { return "" })
	var words bytes.Buffer
	u.errw = &words
	return u, &words
}

func TestWordsForAPerson(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		quiet, verbose bool
		speak          func(u *ui)
		want           string
	}{
		{"say", false, false, func(u *ui) { u.say("scanned %d files", 3) }, "memoir: scanned 3 files\n"},
		{"say when quiet", true, false, func(u *ui) { u.say("scanned") }, ""},
		{"detail", false, false, func(u *ui) { u.detail("more") }, ""},
		{"detail when verbose", false, true, func(u *ui) { u.detail("more") }, "memoir: more\n"},
		{"warning when quiet", true, false, func(u *ui) { u.warn("look at it", "cannot read %s", "x") },
			"memoir: warning: cannot read x\nmemoir: hint: look at it\n"},
		{"error without a hint", true, false, func(u *ui) { u.fail(errors.New("broken")) }, "memoir: error: broken\n"},
		{"error with a hint", true, false, func(u *ui) { u.fail(memoir.Errorf(memoir.CodeStorage, "make room", "disk full")) },
			"memoir: error: disk full\nmemoir: hint: make room\n"},
		{"an error is one line", false, false, func(u *ui) { u.fail(errors.New("a\nb\tc")) }, "memoir: error: a; b c\n"},
		{"no escape sequence passes", false, false, func(u *ui) { u.say("title \x1b[31mred\x1b]0;x\x07 \u202eabc") },
			"memoir: title [31mred]0;x abc\n"},
		{"what shows nothing does not pass", false, false, func(u *ui) { u.say("a\u200bb\u2060c\ufeff \U000e0041\ufe0f\u3164d\u2028e\u009b31m") },
			"memoir: abc d e31m\n"},
		{"a warning of the run", false, false, func(u *ui) { u.progress(pipeline.Progress{Warn: "session x: cut", Hint: "try"}) },
			"memoir: warning: session x: cut\nmemoir: hint: try\n"},
		{"a file left out", false, false, func(u *ui) { u.progress(pipeline.Progress{Warn: "x is empty", Minor: true}) },
			"memoir: warning: x is empty\n"},
		{"a file left out when quiet", true, false, func(u *ui) { u.progress(pipeline.Progress{Warn: "x is empty", Minor: true}) }, ""},
		{"progress off a terminal says nothing at first", false, false,
			func(u *ui) { u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Done: 1, Total: 2, What: "x"}) }, ""},
		{"progress in detail", false, true,
			func(u *ui) { u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Done: 1, Total: 2, What: "x"}) }, "memoir: extracting x\n"},
		{"progress of what goes on", false, true,
			func(u *ui) {
				u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Total: 2, What: "x", Since: time.Minute})
			}, "memoir: extracting x: 1m0s so far\n"},
	} {
		u, words := captured(t)
		u.quiet, u.verbose = test.quiet, test.verbose
		test.speak(u)
		if got := words.String(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestColourOnlyWhereItIsWanted(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.color = true
	u.fail(errors.New("broken"))
	if got, want := words.String(), "memoir: \x1b[31merror: \x1b[0mbroken\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAProgressBarIsErasedBeforeWords(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.errTTY = true
	u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Done: 1, Total: 3})
	if !strings.Contains(words.String(), "memoir: extracting") {
		t.Fatalf("no bar: %q", words)
	}
	u.say("something")
	text := words.String()
	line := text[:strings.Index(text, "memoir: something")]
	if !strings.HasSuffix(line, "\r") {
		t.Errorf("the bar's line was not cleared: %q", text)
	}
	u.stopBar()
	if u.bar != nil {
		t.Error("the bar stays")
	}
}

func TestAProgressBarIsDrawnAtOnceAndAfterEachLine(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.errTTY, u.verbose = true, true
	for _, step := range []struct {
		what string
		done int
		want string
	}{{"", 0, "(0/3"}, {"x", 0, "(0/3"}, {"", 1, "(1/3"}, {"y", 1, "(1/3"}} { // a line erases the bar
		words.Reset()
		u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Done: step.done, Total: 3, What: step.what})
		if text := words.String(); !strings.Contains(text[strings.LastIndexByte(text, '\n')+1:], step.want) {
			t.Errorf("%+v: no bar: %q", step, text)
		}
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	table := newTable("session", "title")
	table.row("codex:1", "a title\nin two lines that is long")
	table.row("claude:22", "ß")
	want := "session    title\ncodex:1    a title in two lines that is long\nclaude:22  ß\n"
	if got := table.format(0); got != want {
		t.Errorf("without a width: got\n%s", got)
	}
	table.narrower = []step{{"title", 10}, {"session", 4}}
	want = "session    title\ncodex:1    a title i…\nclaude:22  ß\n"
	if got := table.format(21); got != want {
		t.Errorf("in 21 columns: got\n%s", got)
	}
	want = "ses…  title\ncod…  a title i…\ncla…  ß\n"
	if got := table.format(16); got != want {
		t.Errorf("in 16 columns: got\n%s", got)
	}
	table.narrower = []step{{"title", 4}, {"session", 0}}
	want = "title\na title i…\nß\n"
	if got := table.format(10); got != want {
		t.Errorf("without a column, which leaves room for the other: got\n%s", got)
	}
	table.narrower = []step{{"title", below}}
	want = "session\n  title\ncodex:1\n  a title in two lines that is long\nclaude:22\n  ß\n"
	if got := table.format(16); got != want {
		t.Errorf("with the last column on its own line: got\n%s", got)
	}
}

func TestTheTableOfSessionsFitsNarrowTerminals(t *testing.T) {
	t.Parallel()
	table := newSessionTable()
	table.row("codex:019df239-3e38-79af-ad38-8241b04bb246", "16d", "996.4 kB", "up_to_date", "lanternd-97c055e77a45", strings.Repeat("title ", 14))
	for _, width := range []int{40, 60, 80, 100, 132, 200} {
		for line := range strings.Lines(table.format(width)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns: a line of %d: %s", width, n, line)
			}
		}
	}
	if got := table.format(80); !strings.Contains(got, "codex:019df239") || !strings.Contains(got, "up_to_date") || !strings.Contains(got, "lanternd") {
		t.Errorf("80 columns leave out what names a session:\n%s", got)
	}
}

func TestResultsComeBeforeWhatIsSaidAfterThem(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.out = bufio.NewWriter(words) // a terminal shows both
	u.printf("result\n")
	u.say("1 result")
	if got, want := words.String(), "result\nmemoir: 1 result\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbersInWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ got, want string }{
		{count(0, "session"), "0 sessions"}, {count(1, "session"), "1 session"}, {count(2, "memory"), "2 memories"},
		{countAre(1, "job"), "1 job is"}, {countAre(2, "job"), "2 jobs are"},
		{size(999), "999 B"}, {size(1500), "1.5 kB"}, {size(2_000_000), "2.0 MB"}, {size(3_100_000_000), "3.1 GB"},
		{byRule(map[string]int{"b": 2, "a": 1}), "a 1, b 2"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestADiffIsInColourOnATerminal(t *testing.T) {
	t.Parallel()
	const text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old \x1b[5m\n--- old rule\n+new"
	for _, test := range []struct {
		name     string
		terminal bool
		colour   bool
		want     string
	}{
		{"a pipe gets the bytes", false, false, text},
		{"a terminal without colour", true, false, strings.ReplaceAll(text, "\x1b", "")},
		{"a terminal", true, true, "\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n same\n" +
			"\x1b[31m-old [5m\x1b[0m\n\x1b[31m--- old rule\x1b[0m\n\x1b[32m+new\x1b[0m\n"},
	} {
		u, _ := captured(t)
		var out bytes.Buffer
		u.out, u.outTTY, u.outColor = bufio.NewWriter(&out), test.terminal, test.colour
		u.diff(text)
		if err := u.close(); err != nil || out.String() != test.want {
			t.Errorf("%s: %q, %v", test.name, out.String(), err)
		}
	}
}

// What stands in JSON is what it was, and steers no terminal that the pipe ends at.
func TestJSONHoldsNoCharacterThatSteersATerminal(t *testing.T) {
	t.Parallel()
	title := "a\u009b31m\u202eb\u200b\x7f\x1b]0;x\a\u2066\U000e0041\ufe0f\n\u00e9 \U0001f600 \ufffd\u2028"
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	u := newUI(nil, out, os.Stderr, func(string) string { return "" })
	if err := errors.Join(u.json(map[string]string{"title": title}), u.close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(text, &got); err != nil || got["title"] != title {
		t.Errorf("%v: %q is read as %q", err, text, got)
	}
	if strings.ContainsFunc(string(text), escapable) || !strings.Contains(string(text), "\u00e9 \U0001f600") {
		t.Errorf("got %q", text)
	}
}

func TestSecretsGoBeforeLinesOfAnErrorBecomeOne(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.redact = func(text string) string { return strings.ReplaceAll(text, "a secret\nof two lines", "[gone]") }
	u.fail(errors.New("no a secret\nof two lines"))
	u.warn("", "no %s", "a secret\nof two lines")
	if want := "memoir: error: no [gone]\nmemoir: warning: no [gone]\n"; !strings.HasPrefix(words.String(), want) {
		t.Errorf("said %q", words)
	}
}
