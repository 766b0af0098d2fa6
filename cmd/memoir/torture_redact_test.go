//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A lateHome keeps a token in many places, and a rule tells it by what stands before it
// in one of them.
type lateHome struct {
	runner
	config, token string
}

func newLateHome(t *testing.T) *lateHome {
	t.Helper()
	l := &lateHome{config: filepath.Join(t.TempDir(), "config"), token: "zqx_" + strings.ToLower(rand.Text()[:23]) + "7"}
	l.binary, l.sessions = withFailpoints(t), few(t, 3)
	record := func(kind, payload string) string {
		return `{"timestamp":"2026-05-01T10:00:01Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	must(t, os.WriteFile(filepath.Join(l.sessions, "late.jsonl"), []byte(
		record("session_meta", `{"id":"aaaaaaaa-1111-4222-8333-444444444444","timestamp":"2026-05-01T10:00:00Z","cwd":"/srv/app","originator":"codex-tui","cli_version":"0.150.0","source":"cli","git":{"branch":"wip/`+l.token+`"}}`)+
			record("event_msg", `{"type":"user_message","message":"Never print the pass phrase `+l.token+` anywhere, always use pnpm."}`)), 0o600))
	home := filepath.Join(t.TempDir(), "before")
	if out, err := l.run(t, home, ""); err != nil {
		t.Fatalf("%v: %s", err, out.stderr)
	}
	memories, err := filepath.Glob(filepath.Join(home, "projects", "app-*", "memory", "MEMORY.md"))
	must(t, err)
	for _, path := range memories {
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append(b, "\n- ask Ada for "+l.token+"\n"...), 0o600))
	}
	must(t, os.MkdirAll(filepath.Join(home, "log"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, "log", "run.log"), []byte(l.token+"\n"), 0o600))
	must(t, os.Mkdir(l.config, 0o700))
	must(t, os.WriteFile(filepath.Join(l.config, ".gitleaks.toml"), []byte(`title = "own"
[[rules]]
id = "late-token"
regex = '''pass phrase (zqx_[a-z0-9]{24})'''
secretGroup = 1
keywords = ["pass phrase"]
`), 0o600))
	l.before = home
	return l
}

func (l *lateHome) redact(home, failpoint string) (output, error) {
	cmd := exec.Command(l.binary, "redact", "--stored", "--yes", "--home", home, "--config", l.config)
	cmd.Env = environment("HOME="+filepath.Dir(home), "FAILPOINT="+failpoint)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return output{out.String(), errs.String()}, err
}

// finishRedaction calls it again, undisturbed: then no byte is left, and the memory is what it is
// when nothing disturbs.
func (l *lateHome) finishRedaction(t *testing.T, home, what string) {
	t.Helper()
	if out, err := l.redact(home, ""); err != nil {
		t.Errorf("%s: called again: %v: %s", what, err, out.stderr)
		return
	}
	for _, name := range []string{"memoir.db", "memoir.db-wal", "log/run.log"} {
		if b, err := os.ReadFile(filepath.Join(home, name)); err == nil && bytes.Contains(b, []byte(l.token)) {
			t.Errorf("%s: it is left in %s", what, name)
		}
	}
	for path, text := range files(t, filepath.Join(home, "projects")) {
		if strings.Contains(text, l.token) || strings.Contains(path, ".stage") || strings.Contains(path, ".gone") {
			t.Errorf("%s: it, or debris, is left in %s", what, path)
		}
	}
	if now := lastOf(t, home); !sameFiles(now, l.last) {
		t.Errorf("%s: the memory ended otherwise", what)
	}
}

func sameFiles(a, b map[string]string) bool {
	for path, text := range a {
		if b[path] != text {
			return false
		}
	}
	return len(a) == len(b)
}

func TestRedactingThatIsKilledOrFindsNoRoomAtAnyWriteIsFinishedWhenCalledAgain(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before anything is prepared
	l := newLateHome(t)
	home, log := l.home(t), filepath.Join(t.TempDir(), "points")
	if out, err := l.redact(home, "log "+log); err != nil {
		t.Fatalf("undisturbed: %v: %s", err, out.stderr)
	}
	l.last = lastOf(t, home)
	l.finishRedaction(t, home, "undisturbed")
	b, err := os.ReadFile(log)
	must(t, err)
	l.points = strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(l.points) < 40 {
		t.Fatalf("only %d moments", len(l.points))
	}
	l.each(t, "killed", by(t, 3, 24, every), l.points, func(t *testing.T, n int, what string) {
		tried.killed.Add(1)
		home := l.home(t)
		_, err := l.redact(home, fmt.Sprintf("kill %d", n))
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%s: not killed: %v", what, err)
		}
		l.finishRedaction(t, home, "killed at "+what)
	})
	l.each(t, "no room", by(t, 2, 12, every), l.points, func(t *testing.T, n int, what string) {
		tried.starved.Add(1)
		home := l.home(t)
		out, err := l.redact(home, fmt.Sprintf("fail %d 0", n))
		if exit, ok := errors.AsType[*exec.ExitError](err); strings.Contains(out.stderr, "goroutine ") || ok && !slices.Contains([]int{1, 3}, exit.ExitCode()) {
			t.Errorf("no room from %s: %v: %s", what, err, out.stderr)
		}
		l.finishRedaction(t, home, "no room from "+what)
	})
	again, err := l.run(t, home, "")
	if err != nil || !strings.Contains(again.stdout, `"claimed": 0`) {
		t.Errorf("the next run found work: %v %s", err, again.stdout)
	}
}
