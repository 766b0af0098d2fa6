package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"memoir"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
	"memoir/operation"
)

// A scene is a home, sessions, and settings with one model for both phases. The method memoir runs commands in this
// process, without waits between calls of the model.
type scene struct {
	t        *testing.T
	home     string
	sessions string
	user     string // the user's home directory, with config.yml
	asked    string // file in which poisonous models record questions
	input    string // standard input of commands
	env      []string
}

// price is the price of the model's tokens in all scenes.
var price = model.Price{Input: 2, Cached: 0.5, Output: 8}

const (
	sceneModel = "mine/m"
	sceneKey   = "k-0123456789-scene"
)

// A wire is an HTTP API of a model.
type wire struct {
	api  string
	base string // path of the API on the server
}

var wires = []wire{
	{"openai-chat", "/v1"},
	{"anthropic", ""},
}

// reply returns a model's reaction to question n, counted from 0. good is a good answer.
type reply func(n int, q scribe.Question, good modeltest.Step) modeltest.Step

func well(_ int, _ scribe.Question, good modeltest.Step) modeltest.Step { return good }

// start starts a server that answers with a reply.
func (w wire) start(t testing.TB, r reply) *modeltest.Server {
	t.Helper()
	return modeltest.Serve(t, func(n int, c modeltest.Call) modeltest.Step {
		q := scribe.Asked(c)
		return r(n, q, modeltest.Step{Text: q.Answer()})
	})
}

// provider returns the setting of a server with more settings.
func (w wire) provider(url, more string) string {
	return fmt.Sprintf("api: %s, baseURL: '%s%s', keyEnv: SCENE_KEY%s", w.api, url, w.base, more)
}

// newScene returns a scene with a provider.
func newScene(t *testing.T, sessions, provider string) scene {
	t.Helper()
	s := scene{t: t, home: filepath.Join(t.TempDir(), "home"), sessions: sessions, user: t.TempDir()}
	configureModel(t, s.user, provider)
	return s
}

// executing serialises command lines, since urfave/cli shares its help flag among all command lines of a process.
var executing sync.Mutex

// memoir runs a command line and returns its exit code, standard output and standard error.
func (s scene) memoir(args ...string) (code int, out, said string) {
	s.t.Helper()
	words := func() *bytes.Buffer { return new(bytes.Buffer) }
	u, _ := captured(s.t)
	results, errors := words(), words()
	u.out, u.errw = bufio.NewWriter(results), errors
	if s.input != "" {
		u.stdin = inputOf(s.t, s.input)
	}
	p := newProgram(append([]string{"HOME=" + s.user, "SCENE_KEY=" + sceneKey}, s.env...))
	u.redact, p.ui = p.redact, u
	p.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	err := func() error {
		executing.Lock()
		defer executing.Unlock()
		return p.execute(s.t.Context(), append(args, "--home", s.home))
	}()
	if closed := u.close(); err == nil {
		err = closed
	}
	if _, silent := err.(status); err != nil && !silent {
		u.fail(err)
	}
	return exitCode(err), results.String(), errors.String()
}

// inputOf returns an open file with a text.
func inputOf(t *testing.T, text string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	f, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// status returns the output of `status --usage --json`.
func (s scene) status() operation.Status {
	s.t.Helper()
	code, out, said := s.memoir("status", "--usage", "--json")
	var now operation.Status
	if err := json.Unmarshal([]byte(out), &now); err != nil || code != exitDone {
		s.t.Fatalf("status: %d, %v\n%s", code, err, said)
	}
	return now
}

// counted returns the number of calls that reached a server and the tokens that it reported.
func counted(server *modeltest.Server) memoir.Usage {
	used := server.Used()
	used.Calls = len(server.Calls())
	used.Cost = price.Cost(used)
	return used
}

// sameUsage reports whether two usages are equal, with costs that differ by less than 1e-9.
func sameUsage(a, b memoir.Usage) bool {
	cost := a.Cost - b.Cost
	a.Cost, b.Cost = 0, 0
	return a == b && cost < 1e-9 && cost > -1e-9
}

// scribeVariable makes the test binary a program that answers the question on its standard input. Its value is the file
// to which each call appends an entered as JSON.
const scribeVariable = "SCRIBE_BOOK"

type entered struct{ In, Out int } // tokens

func answerAsScribe(book string) error {
	question, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	answer := scribe.Read(string(question)).Answer()
	line, err := json.Marshal(entered{memoir.Tokens(string(question)), memoir.Tokens(answer)})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(book, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(answer + "\n")
	return err
}

// script writes a shell script that is a model. In body, the function scribe gives a good answer.
func script(t testing.TB, body string) (provider, book string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.sh")
	book = path + ".book"
	text := fmt.Sprintf("#!/bin/sh\nbook='%s'\nscribe() { %s='%s' '%s'; }\n%s\n", book, scribeVariable, book, os.Args[0], body)
	must(t, os.WriteFile(path, []byte(text), 0o700))
	return fmt.Sprintf("api: exec, command: ['%s']", path), book
}

// entries returns the usage in the book of a script.
func entries(t testing.TB, book string) (used memoir.Usage) {
	t.Helper()
	content, err := os.ReadFile(book)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(content)) {
		var one entered
		must(t, json.Unmarshal([]byte(l), &one))
		used = used.Add(memoir.Usage{Calls: 1, InputTokens: int64(one.In), OutputTokens: int64(one.Out)})
	}
	used.Cost = price.Cost(used)
	return used
}

// once makes a value at the first call. All tests share the value.
func once[T any](make func(t *testing.T) T) func(t *testing.T) T {
	var mu sync.Mutex
	var value *T
	return func(t *testing.T) T {
		mu.Lock()
		defer mu.Unlock()
		if value == nil {
			v := make(t)
			value = &v
		}
		return *value
	}
}

// writeSession writes a session of a day in May 2026 in directory cwd: the user's messages and one agent command.
func writeSession(t *testing.T, dir, cwd string, day int, said ...string) {
	t.Helper()
	id := fmt.Sprintf("0b1c7a52-0000-4000-8000-0000000%05d", day)
	var b strings.Builder
	n := 0
	entry := func(role, content string) {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"%d-e%d"`, day, n-1)
		}
		fmt.Fprintf(&b, `{"type":%q,"uuid":"%d-e%d","parentUuid":%s,"sessionId":%q,"cwd":%q,"timestamp":"2026-05-%02dT10:00:%02dZ","message":{"id":"m%d","role":%q,"content":%s}}`+"\n",
			role, day, n, parent, id, cwd, day, n, n, role, content)
		n++
	}
	for _, text := range said {
		entry("user", fmt.Sprintf("%q", text))
		entry("assistant", `[{"type":"text","text":"Understood, that is noted."}]`)
	}
	entry("assistant", `[{"type":"tool_use","id":"t0","name":"Bash","input":{"command":"make check"}}]`)
	entry("user", `[{"type":"tool_result","tool_use_id":"t0","content":"ok, all of it"}]`)
	entry("assistant", `[{"type":"text","text":"Everything that was asked for is in place."}]`)
	path := filepath.Join(dir, id+".jsonl")
	put(t, path, b.String())
	at := time.Date(2026, time.May, day, 10, 30, 0, 0, time.UTC)
	must(t, os.Chtimes(path, at, at))
}
