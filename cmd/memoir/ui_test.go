package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// captured returns a ui and the buffer that gets its messages.
func captured(t *testing.T) (*ui, *bytes.Buffer) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
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
		{"an error in colour", false, false, func(u *ui) { u.color = true; u.fail(errors.New("broken")) }, "memoir: \x1b[31merror: \x1b[0mbroken\n"},
		{"an error is one line", false, false, func(u *ui) { u.fail(errors.New("a\nb\tc")) }, "memoir: error: a; b c\n"},
		{"no escape sequence passes", false, false, func(u *ui) { u.say("title \x1b[31mred\x1b]0;x\x07 \u202eabc") },
			"memoir: title [31mred]0;x abc\n"},
		{"what shows nothing does not pass", false, false, func(u *ui) { u.say("a\u200bb\u2060c\ufeff \U000e0041\ufe0f\u3164d\u2028e\u009b31m") },
			"memoir: abc d e31m\n"},
		{"a warning of the run", false, false, func(u *ui) { u.progress(pipeline.Progress{Warn: "session x: cut", Hint: "try"}) },
			"memoir: warning: session x: cut\nmemoir: hint: try\n"},
		{"a terminal as input", false, false, func(u *ui) {
			u.inTTY = true
			_, err := (&program{ui: u}).openInput(t.Context(), "-", "-", lossless)
			must(t, err)
		}, "memoir: reading standard input; end it with Ctrl-D\n"},
		{"a file left out", false, false, func(u *ui) { u.progress(pipeline.Progress{Warn: "x is empty", Minor: true}) },
			"memoir: warning: x is empty\n"},
		{"a file left out when quiet", true, false, func(u *ui) { u.progress(pipeline.Progress{Warn: "x is empty", Minor: true}) }, ""},
		{"progress off a terminal says nothing at first", false, false,
			func(u *ui) { u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Done: 1, Total: 2, What: "x"}) }, ""},
		{"progress in detail", false, true,
			func(u *ui) { u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Done: 1, Total: 2, What: "x"}) }, "memoir: extracting: x\n"},
	} {
		u, words := captured(t)
		u.quiet, u.verbose = test.quiet, test.verbose
		test.speak(u)
		if got := words.String(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// A message erases the bar, which is drawn again after it.
func TestAProgressBarIsDrawnAtOnceAndAfterEachLine(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.errTTY, u.verbose = true, true
	for _, step := range []struct {
		what string
		done int
		want string
	}{{"", 0, "(0/3"}, {"x", 0, "(0/3"}, {"", 1, "(1/3"}, {"y", 1, "(1/3"}} {
		words.Reset()
		u.progress(pipeline.Progress{Stage: pipeline.StageExtract, Done: step.done, Total: 3, What: step.what})
		if text := words.String(); !strings.Contains(text[strings.LastIndexByte(text, '\n')+1:], step.want) {
			t.Errorf("%+v: no bar: %q", step, text)
		}
	}
	words.Reset()
	u.say("something")
	if text := words.String(); !strings.HasSuffix(text[:strings.Index(text, "memoir: something")], "\r") {
		t.Errorf("the bar's line was not cleared: %q", text)
	}
	u.stopBar()
	if u.bar != nil {
		t.Error("the bar stays")
	}
}

func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	wide := newTable("session", "reason", "project", "title")
	wide.row("codex:019df239-3e38-79af-ad38-8241b04bb246", "up_to_date", "lanternd-97c055e77a45", "a title\nin two lines that is long")
	want := "session                                     reason      project                title\n" +
		"codex:019df239-3e38-79af-ad38-8241b04bb246  up_to_date  lanternd-97c055e77a45  a title in two lines that is long\n"
	if got := wide.format(0); got != want {
		t.Errorf("without a width: got\n%s", got)
	}
	const id = "codex:019df239-3e38-79af-ad38-8241b04bb246  up_to_date  "
	for width, row := range map[int]string{60: "codex:019df239-3e38-79af-ad38…  up_to_date  a title in two …", 80: id + "a title in two lines th…",
		100: id + "lanternd-97c055e77a45  a title in two lines…", 132: id + "lanternd-97c055e77a45  a title in two lines that is long"} {
		narrow := &table{}
		for _, line := range wide.lines {
			narrow.lines = append(narrow.lines, slices.Clone(line))
		}
		if left := narrow.narrow(width); (len(left) == 1) != (width <= 80) {
			t.Errorf("%d columns: without %s", width, left)
		}
		if _, got, _ := strings.Cut(narrow.format(width), "\n"); got != row+"\n" {
			t.Errorf("%d columns: %s", width, got)
		}
	}
}

func TestProjectsFitTheTerminal(t *testing.T) {
	t.Parallel()
	u, _ := captured(t)
	var out bytes.Buffer
	u.out, u.home = bufio.NewWriter(&out), "/home/mira"
	projects := newTable("project", "sessions", "generation", "published", "directory", "memory")
	projects.row("lanternd-97c055e77a45", 8, 1, "2026-05-20 12:00", "/home/mira/src/a/deep/directory/lanternd", "/home/mira/.local/share/x")
	if left := projects.narrow(80); !slices.Equal(left, []string{"memory", "generation"}) {
		t.Errorf("without %s", left)
	}
	u.table(projects)
	must(t, u.close())
	if !strings.Contains(out.String(), "  ~/src/a/deep/directory/lanternd\n") {
		t.Errorf("got %s", out.String())
	}
	if _, row, _ := strings.Cut(projects.format(80), "\n"); utf8.RuneCountInString(row) != 81 || !strings.HasSuffix(row, "  …rc/a/deep/directory/lanternd\n") {
		t.Errorf("got %s", row)
	}
}

func TestResultsComeBeforeWhatIsSaidAfterThem(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.out = bufio.NewWriter(words) // like a terminal, which shows both
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

// JSON keeps its values, but escapes characters that control a terminal.
func TestJSONHoldsNoCharacterThatSteersATerminal(t *testing.T) {
	t.Parallel()
	title := "a\u009b31m\u202eb\u200b\x7f\x1b]0;x\a\u2066\U000e0041\ufe0f\n\u00e9 \U0001f600 \ufffd\u2028"
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	must(t, err)
	u := newUI(nil, out, os.Stderr, func(string) string { return "" })
	must(t, errors.Join(u.json(map[string]string{"title": title}), u.close(), out.Close()))
	text, err := os.ReadFile(path)
	must(t, err)
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

// planted is a secret that no file of this repository contains.
var planted = "AKIA" + "Q3EGRL5XK7MNV2WT"

func TestWordsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.redact = new(program).redact
	u.warn("see "+planted, "cannot read %s", planted)
	u.say("session %s", planted)
	if said := words.String(); strings.Contains(said, planted) || strings.Count(said, "[REDACTED:") != 3 {
		t.Errorf("said: %s", said)
	}
}

func TestAPersonsOwnRulesHoldForWordsToo(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.toml")
	own := "[[rules]]\nid = \"badge\"\nregex = \"badge-[0-9]{6}\"\nkeywords = [\"badge\"]\n"
	must(t, os.WriteFile(rules, []byte(own), 0o600))
	var c cleaner
	if got := c.clean(""); got != "" || c.scanner != nil {
		t.Errorf("an empty text needs no rules: %q", got)
	}
	if got := c.clean("badge-271828"); got != "badge-271828" {
		t.Errorf("before the rules are known: %q", got)
	}
	c.setRules(rules)
	if got := c.clean("badge-271828"); got != "[REDACTED:own-rule]" {
		t.Errorf("got %q", got)
	}
	must(t, os.WriteFile(rules+".broken", []byte("[[rules"), 0o600))
	c.setRules(rules + ".broken")
	if got := c.clean("key " + planted); strings.Contains(got, planted) {
		t.Errorf("broken rules took the default ones away: %q", got)
	}
}

func TestAProcessThatMemoirStartsKnowsIt(t *testing.T) {
	t.Parallel()
	environ := []string{"HOME=/h", "MEMOIR_CHILD=", "MEMOIR_HOME=/m"}
	want := []string{"HOME=/h", "MEMOIR_HOME=/m", "MEMOIR_CHILD=1"}
	if got := childEnviron(environ); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if environ[1] != "MEMOIR_CHILD=" {
		t.Error("the caller's environment was changed")
	}
}

// Text after "api" or "auth" and a comma resembles a key.
func TestTheProjectsThatANameMayMeanAreNotTakenForSecrets(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memoir.db"), store.Options{})
	must(t, err)
	defer st.Close()
	ids := []string{"api-" + "1beb8fd2de05", "api-" + "d7919c0c7afc", "api-" + "f73b2a1e1428"}
	for _, id := range ids {
		if _, err := st.Register(t.Context(), memoir.Project{ID: id, Name: "api", Identity: "/src/" + id}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = st.FindProject(t.Context(), "api")
	hint := new(program).redact(memoir.HintOf(err))
	for _, id := range ids {
		if !strings.Contains(hint, id) {
			t.Errorf("%s is not in %q", id, hint)
		}
	}
}
