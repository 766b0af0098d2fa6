//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"memoir"
)

func TestAnInterruptEndsACommandThatWaits(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"redact"}, {"scan", "-"}} {
		cmd := exec.Command(released(t), append(args, "--home", filepath.Join(t.TempDir(), "home"))...)
		stdin, err := cmd.StdinPipe()
		must(t, err)
		stderr := new(strings.Builder)
		cmd.Stderr = stderr
		must(t, cmd.Start())
		// The text is larger than a pipe's buffer, so the command is reading after the write.
		if _, err := io.WriteString(stdin, strings.Repeat("text\n", 100_000)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		must(t, cmd.Process.Signal(os.Interrupt))
		err = cmd.Wait()
		stdin.Close()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != exitInterrupted {
			t.Errorf("%s: %v", args, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: took %s", args, took)
		}
		if !strings.Contains(stderr.String(), "memoir: error: interrupted\n") {
			t.Errorf("%s: said %q", args, stderr)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	u, _ := captured(t)
	if _, err := (&program{ui: u}).openInput(ctx, pipe, pipe, lossless); !errors.Is(err, context.Cause(ctx)) {
		t.Errorf("a pipe without a writer: %v", err)
	}
}

// typed is a terminal: each second read is an end of file, and what is typed next can be read.
type typed struct{ reads int }

func (t *typed) Read(p []byte) (int, error) {
	if t.reads++; t.reads%2 == 0 {
		return 0, io.EOF
	}
	return copy(p, "text\n"), nil
}

func TestTheFirstEndOfAnInputEndsIt(t *testing.T) {
	t.Parallel()
	in := bufio.NewReader(&interruptible{ctx: t.Context(), r: &typed{}})
	head, _ := in.Peek(16)
	all, err := io.ReadAll(in)
	if string(head) != "text\n" || string(all) != "text\n" || err != nil {
		t.Errorf("%q, %q, %v", head, all, err)
	}
}

// A server answers requests with the home's token until a signal ends it, while other processes write.
func TestServeAnswersUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		home := filepath.Join(t.TempDir(), "home")
		memoir := func(args ...string) *exec.Cmd {
			cmd := exec.Command(released(t), append(args, "--home", home)...)
			cmd.Env = []string{"HOME=" + filepath.Dir(home)}
			return cmd
		}
		cmd := memoir("serve", "--json")
		stdout, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		var said struct {
			Address string `json:"address"`
			Open    string `json:"open"`
			Token   string `json:"token_file"`
		}
		must(t, json.NewDecoder(stdout).Decode(&said))
		token, err := os.ReadFile(said.Token)
		must(t, err)
		bearer := strings.TrimSpace(string(token))
		if said.Open != said.Address+"?token="+bearer || !strings.HasPrefix(said.Address, "http://127.0.0.1:") {
			t.Errorf("said %+v", said)
		}
		must(t, memoir("remember", "--user", "likes short answers").Run())
		for token, want := range map[string]string{bearer: "likes short answers", bearer + "x": "unauthorized"} {
			r, err := http.NewRequest("GET", said.Address+"memory", nil)
			must(t, err)
			r.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(r)
			must(t, err)
			text, err := io.ReadAll(answer.Body)
			must(t, errors.Join(err, answer.Body.Close()))
			if !strings.Contains(string(text), want) {
				t.Errorf("answered %s", text)
			}
		}
		must(t, cmd.Process.Signal(signal))
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", signal, err)
		}
	}
}

func TestASecondSignalEndsAtOnceButTheEchoOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		signals, done := make(chan os.Signal), make(chan struct{})
		exited := 0
		go handleSignals(signals, done, cancel, func(code int) {
			if code != exitInterrupted {
				t.Errorf("exit code %d", code)
			}
			exited++
		})
		for _, step := range []struct {
			after  time.Duration
			signal os.Signal
			exited int
		}{{0, os.Interrupt, 0}, {0, os.Interrupt, 0}, {signalEcho, syscall.SIGTERM, 0}, {time.Millisecond, os.Interrupt, 1}} {
			time.Sleep(step.after)
			signals <- step.signal
			synctest.Wait()
			if cause := context.Cause(ctx); exited != step.exited || memoir.CodeOf(cause) != memoir.CodeInterrupted || cause.Error() != "interrupted" {
				t.Errorf("%v after %s: %d exits, %v", step.signal, step.after, exited, cause)
			}
		}
		close(done)
	})
}

// inGroup makes a run in a new process group and waits until all its child processes have ended.
func (try trial) inGroup(t *testing.T, failpoint string) output {
	t.Helper()
	cmd := try.command(failpoint)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, ours, err := os.Pipe() // each process of the group holds ours open
	must(t, err)
	defer alive.Close()
	cmd.ExtraFiles = []*os.File{ours}
	out := capture(t, cmd)
	must(t, ours.Close())
	_, err = io.Copy(io.Discard, alive)
	must(t, err)
	return out
}

// interrupted checks that an interrupted run left no claims and no failed or crashed jobs.
func (try trial) interrupted(t *testing.T, out output, what string) {
	t.Helper()
	if out.code != exitInterrupted || !strings.Contains(out.stderr, "memoir: error: ") || !strings.Contains(out.stderr, "interrupted") {
		t.Errorf("%s: %d: %s", what, out.code, out.stderr)
	}
	blameless(t, try.home, what)
}

func TestARunThatIsInterruptedAtAnyMomentGivesBackAndIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before the preparation
	for name, asks := range map[string]*asking{"built-in": nil, "model": byExec(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTorture(t, few(t, len(fewNames)), "")
			x.asks = asks
			x.undisturbed(t)
			x.each(t, "interrupt", 16, func(try trial, n int, what string) int {
				signal := []string{"interrupt", "terminate"}[n/2%2]
				whom := []string{"", " group"}[n%2]
				what = fmt.Sprintf("%s%s at %s", signal, whom, what)
				// If the command succeeds, the signal came after its work.
				if out := try.inGroup(t, fmt.Sprintf("%s %d%s", signal, n, whom)); out.code != exitDone {
					try.interrupted(t, out, what)
				}
				return try.finish(t, what)
			})
		})
	}
}
