//go:build unix

package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

// script is a model that is a shell script; $1 is a directory of the test's.
func script(t *testing.T, text string, o Options) (Model, string) {
	t.Helper()
	dir := t.TempDir()
	o.API, o.Command = APIExec, []string{"sh", "-c", text, "sh", dir}
	m, err := Open(Spec{Provider: "mine", Model: "lamp"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, dir
}

// ask expects an answer.
func ask(t *testing.T, m Model, q Request) Answer {
	t.Helper()
	a, err := m.Call(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// failure expects an Error, and returns it.
func failure(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	return e
}

func TestAProgramReadsThePromptAndPrintsTheAnswer(t *testing.T) {
	t.Parallel()
	m, dir := script(t, `cat >"$1/prompt"; echo " the north one"`, Options{Window: 1000})
	if m.Name() != "mine/lamp" || m.Window() != 1000 {
		t.Errorf("%s, %d", m.Name(), m.Window())
	}
	a := ask(t, m, Request{System: "Keep the log.", Input: "Which lamp?", Schema: json.RawMessage(`{"type":"object"}`),
		Earlier: []Exchange{{Answer: "all", Objection: "not an object"}}})
	want := "memoir:own-run\n\nKeep the log.\n\nWhich lamp?\n\nYou answered:\n\nall\n\nThat answer could not be used: not an object\n\n" +
		"Answer with one JSON object that conforms to this JSON Schema, and with nothing before or after it:\n\n{\"type\":\"object\"}\n"
	if got := read(t, dir, "prompt"); got != want {
		t.Errorf("asked:\n%s\nwant:\n%s", got, want)
	}
	if a.Text != "the north one" || a.Stop != StopEnd {
		t.Errorf("%+v", a)
	}
	if want := (memoir.Usage{Calls: 1, InputTokens: int64(memoir.Tokens(want)), OutputTokens: 4}); a.Usage != want || !a.Estimated {
		t.Errorf("usage %+v, want the estimate %+v", a.Usage, want)
	}
}

func TestAProgramRunsAloneInAnEmptyDirectoryThatIsRemoved(t *testing.T) {
	t.Setenv("CLAUDECODE", "1")
	m, dir := script(t, `pwd -P >"$1/pwd"; ls -A | wc -l; echo "${MEMOIR_CHILD-unset} ${CLAUDECODE-unset}" >"$1/env"
		ls -d "$TMPDIR" >"$1/tmp"; touch left "$TMPDIR/left"
		(: </dev/tty) 2>/dev/null && echo terminal; exit 0`, Options{})
	if a := ask(t, m, Request{Input: "x"}); strings.TrimSpace(a.Text) != "0" {
		t.Errorf("files there, or a terminal: %q", a.Text)
	}
	if got := read(t, dir, "env"); got != "1 unset\n" {
		t.Errorf("MEMOIR_CHILD, CLAUDECODE: %s", got)
	}
	for _, name := range []string{"pwd", "tmp"} {
		if place := strings.TrimSpace(read(t, dir, name)); place == "" || exists(place) || exists(filepath.Dir(place)) {
			t.Errorf("%s %q is still there", name, place)
		}
	}
}

func TestAProgramThatFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text    string
		class   Class
		status  int
		message string        // what it begins with
		tokens  *memoir.Usage // an estimate; nil: it costs nothing
	}{
		"a limit":          {`echo 'error: 429 Too Many Requests' >&2; exit 1`, ClassLimited, 1, "error: 429", nil},
		"a quota":          {`echo 'you exceeded your current quota' >&2; exit 1`, ClassLimited, 1, "you exceeded", nil},
		"a limit and more": {`echo 'hourly rate limit: 0 left' >&2; echo 'segmentation fault' >&2; exit 2`, ClassLimited, 2, "hourly", nil},
		"nobody logged in": {`echo 'not logged in: run lamp login' >&2; exit 1`, ClassDenied, 1, "not logged in", nil},
		"a bad key":        {`echo 'invalid API key' >&2; exit 1`, ClassDenied, 1, "invalid API key", nil},
		"too long":         {`echo 'prompt is too long: 9000 tokens > 4096 maximum' >&2; exit 1`, ClassTooLong, 1, "prompt is too long", nil},
		"a missing file":   {`echo 'no such file: 404.html' >&2; exit 1`, ClassProgram, 1, "no such file", nil},
		"half an answer":   {`cat >/dev/null; echo 'it was about a 429 of another server'; exit 1`, ClassProgram, 1, "it was about", nil},
		"says why":         {`echo ignored; echo no lamp >&2; exit 7`, ClassProgram, 7, "no lamp", nil},
		"says nothing":     {`exit 3`, ClassProgram, 3, "", nil},
		"is killed":        {`cat >/dev/null; kill -9 $$`, ClassProgram, 0, "signal: killed", &memoir.Usage{InputTokens: 5}},
		"echoes":           {`cat`, ClassProgram, 0, "it printed the prompt", &memoir.Usage{InputTokens: 5, OutputTokens: 5}},
		"says too much":    {`yes xxx | head -c 100001 >&2; printf '\303\251 end' >&2; exit 1`, ClassProgram, 1, "xxx", nil},
		"prints too much":  {`echo $$ >"$1/pid"; trap '' PIPE; cat /dev/zero; sleep 600`, ClassProgram, 0, "it printed more than 16 MiB", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, dir := script(t, tt.text, Options{})
			_, err := m.Call(t.Context(), Request{Input: "x"})
			e := failure(t, err)
			if e.Class != tt.class || e.Status != tt.status || !strings.HasPrefix(e.Message, tt.message) {
				t.Errorf("%s, status %d, %q", e.Class, e.Status, e.Message)
			}
			said := fmt.Sprintf(" exited with status %d and printed no answer", tt.status)
			if tt.message != "" {
				said = fmt.Sprintf(" exited with status %d: %s", tt.status, tt.message)
			}
			if tt.status > 0 && !strings.HasPrefix(e.Error(), e.Model+said) {
				t.Errorf("said: %v", e)
			}
			if len(e.Message) > maxMessage || !utf8.ValidString(e.Message) || e.Again() != (tt.class == ClassLimited) {
				t.Errorf("%d bytes: %q", len(e.Message), e.Message)
			}
			want := memoir.Usage{}
			if tt.tokens != nil {
				want = *tt.tokens
			}
			if want.Calls = 1; e.Usage != want || e.Estimated != (tt.tokens != nil) || e.Unreported {
				t.Errorf("%+v", e)
			}
			if exists(filepath.Join(dir, "pid")) {
				gone(t, dir, "pid")
			}
		})
	}
}

func TestAProgramThatPrintsOddThings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want Answer
	}{
		"nothing":                {`:`, Answer{Stop: StopEmpty}},
		"blanks":                 {`printf ' \n'`, Answer{Stop: StopEmpty}},
		"bytes that are no text": {`printf 'a\377'`, Answer{Text: "a\uFFFD", Stop: StopEnd}},
		"much on both":           {`head -c 3000000 /dev/zero | tr '\0' x | tee /dev/stderr | tail -c 1`, Answer{Text: "x", Stop: StopEnd}},
		"without reading":        {`exec <&-; echo blind`, Answer{Text: "blind", Stop: StopEnd}},
		"once its input ends":    {`while read -r _; do :; done; echo all`, Answer{Text: "all", Stop: StopEnd}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := script(t, tt.text, Options{Price: Price{Output: 2e6}})
			a := ask(t, m, Request{Input: strings.Repeat("a long question ", 100_000)})
			tt.want.Estimated = true // it tells no tokens
			tt.want.Usage = memoir.Usage{Calls: 1, InputTokens: 400_005, OutputTokens: int64(memoir.Tokens(tt.want.Text))}
			tt.want.Usage.Cost = 2 * float64(tt.want.Usage.OutputTokens)
			if diff := cmp.Diff(tt.want, a); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each script writes the ids of its processes, then hangs or ends; none survives.
func TestNothingSurvivesACall(t *testing.T) {
	t.Parallel()
	hangs := map[string]string{
		"a child":                       `sleep 600 & echo $! >"$1/child"; echo $$ >"$1/pid"; wait`,
		"one that ignores the request":  `trap '' TERM; sh -c 'trap "" TERM; echo $$ >"$0/child"; while :; do sleep 600; done' "$1" & while ! [ -s "$1/child" ]; do :; done; echo $$ >"$1/pid"; while :; do sleep 600; done`,
		"a child that holds the output": `(sleep 600) & echo $! >"$1/child"; echo $$ >"$1/pid"; sleep 600`,
		"one that stopped itself":       `echo $$ >"$1/child"; echo $$ >"$1/pid"; kill -STOP $$; sleep 600`,
	}
	for name, text := range hangs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, dir := script(t, text, Options{})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for { // a file is there before its content is
					if b, _ := os.ReadFile(filepath.Join(dir, "pid")); bytes.HasSuffix(b, []byte("\n")) {
						break
					}
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			_, err := m.Call(ctx, Request{Input: "x"})
			if e := failure(t, err); !errors.Is(err, context.Canceled) || e.Class != ClassTemporary || !e.Unreported {
				t.Error(err)
			}
			gone(t, dir, "pid")
			gone(t, dir, "child")
		})
		if strings.Contains(text, "-STOP") {
			continue // it is the program itself that hangs
		}
		t.Run(name+" after an answer", func(t *testing.T) {
			t.Parallel()
			at := strings.Index(text, `echo $$ >"$1/pid"`)
			m, dir := script(t, text[:at]+`echo lit; echo $$ >"$1/pid"; exit 0`, Options{})
			if a := ask(t, m, Request{Input: "x"}); a.Text != "lit" {
				t.Errorf("%+v", a)
			}
			gone(t, dir, "child")
		})
	}
}

func TestACallEndsInTime(t *testing.T) {
	t.Parallel()
	m, dir := script(t, `echo $$ >"$1/pid"; sleep 600`, Options{Timeout: 200 * time.Millisecond})
	_, err := m.Call(t.Context(), Request{Input: "x"})
	if e := failure(t, err); errors.Is(err, context.DeadlineExceeded) || e.Class != ClassTemporary || !e.Again() ||
		e.Message != "no answer within 200ms" || !strings.Contains(e.Hint(), "providers.mine.timeoutSeconds") {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "pid")); bytes.HasSuffix(b, []byte("\n")) {
		gone(t, dir, "pid")
	}
}

func TestACallThatIsOverBeforeItBeginsStartsNothing(t *testing.T) {
	t.Parallel()
	m, dir := script(t, `echo $$ >"$1/pid"`, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Call(ctx, Request{Input: "x"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if exists(filepath.Join(dir, "pid")) {
		t.Error("it was started")
	}
}

func TestCallsDoNotMeetEachOther(t *testing.T) {
	t.Parallel()
	m, _ := script(t, `pwd >mine; sed -n 3p; cat mine >>all; wc -l <all`, Options{})
	answers := make(chan string)
	for i := range 8 {
		go func() {
			a, err := m.Call(t.Context(), Request{Input: fmt.Sprint("lamp ", i)})
			if err != nil || strings.Join(strings.Fields(a.Text), " ") != fmt.Sprintf("lamp %d 1", i) {
				answers <- fmt.Sprintf("%d: %q, %v", i, a.Text, err)
				return
			}
			answers <- ""
		}()
	}
	for range 8 {
		if wrong := <-answers; wrong != "" {
			t.Error(wrong)
		}
	}
}

func TestAProgramThatCannotBeRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spec Spec
		o    Options
		want string
	}{
		"missing": {Spec{"mine", "x"}, Options{Command: []string{"no-such-lamp"}},
			"mine/x: program no-such-lamp cannot be run: executable file not found in $PATH; install no-such-lamp, or give the provider's command another path"},
		"an unknown preset":     {Spec{"exec", "lamp/x"}, Options{}, `exec/lamp/x has the unknown preset "lamp"; use one of claude, codex,`},
		"an unknown own preset": {Spec{"mine", "x"}, Options{Preset: "lamp", Command: []string{"sh"}}, `mine/x has the unknown preset "lamp"; use one of`},
	} {
		tt.o.API = APIExec
		_, err := Open(tt.spec, tt.o)
		if got := fmt.Sprint(err) + "; " + memoir.HintOf(err); memoir.CodeOf(err) != memoir.CodeConfig || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	path := filepath.Join(t.TempDir(), "lamp")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := Open(Spec{"mine", "x"}, Options{API: APIExec, Command: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = m.Call(t.Context(), Request{Input: "x"})
	if e := failure(t, err); e.Class != ClassUnreachable || e.Usage.Calls != 0 || e.Hint() != "install lamp, or give the provider's command another path" {
		t.Errorf("%s: %v, %+v", e.Class, err, e.Usage)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// gone waits until the process whose id is in a file has ended: it was killed, but the
// system takes its time.
func gone(t *testing.T, dir, name string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, dir, name)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") { // nobody here waits for an orphan
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("process %d, %s, is alive", pid, name)
		case <-time.After(time.Millisecond):
		}
	}
}
