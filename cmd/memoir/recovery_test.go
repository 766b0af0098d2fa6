//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// A heard is a moment of a process, as it was told while it lived.
type heard struct {
	point string
	after time.Duration // since the process was started
}

// listened starts a run whose moments are told to each as they come, until it ends. What
// each returns true for kills the process.
func (try trial) listened(t *testing.T, env []string, each func(heard) (kill bool)) (output, error) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "points")
	must(t, syscall.Mkfifo(pipe, 0o600))
	cmd := try.command("log " + pipe)
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	must(t, cmd.Start())
	lines, err := os.Open(pipe) // there once the process writes to it
	must(t, err)
	defer lines.Close()
	for scan := bufio.NewScanner(lines); scan.Scan(); {
		_, point, _ := strings.Cut(scan.Text(), " ")
		if each(heard{point, time.Since(began)}) {
			must(t, cmd.Process.Kill())
		}
	}
	err = cmd.Wait()
	return output{out.String(), errs.String()}, err
}

// What a killed run held is taken up by the next one as soon as that begins: no lease has
// to run out, for the system tells that its holder is dead.
func TestARunThatIsKilledAmongManySessionsIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	sessions := by(t, 100, 2000, 2000)
	x := newTorture(t, multiply(t, sessions, 3), "")
	try := x.trial(t)
	defer try.remove()
	env := []string{"MEMOIR_MEMORIES_MAXROLLOUTSPERSTARTUP=" + strconv.Itoa(sessions), "MEMOIR_MEMORIES_CONCURRENCY=8"}
	const claimed, stored = "committed store.(*Store).ClaimSessions", "committed store.(*Store).StoreExtraction"

	n, died := 0, time.Duration(0)
	if _, err := try.listened(t, env, func(h heard) bool {
		if h.point == stored {
			n++
		}
		if n == sessions/2 && died == 0 {
			died = h.after
			return true
		}
		return false
	}); err == nil {
		t.Fatal("it was not killed")
	}
	tried.killed.Add(1)
	left := sessions - extracted(t, try.home)
	held := gjson.Get(try.status(t), "running.#").Int()
	if left == 0 || held == 0 {
		t.Fatalf("%d sessions are left, %d of them claimed by the dead process", left, held)
	}

	first := map[string]time.Duration{}
	began := time.Now()
	out, err := try.listened(t, env, func(h heard) bool {
		if _, ok := first[h.point]; !ok {
			first[h.point] = h.after
		}
		return false
	})
	took := time.Since(began)
	if err != nil {
		t.Fatalf("the next run: %v: %s", err, out.stderr)
	}
	if got := gjson.Get(out.stdout, "phase1.stored").Int(); got != int64(left) {
		t.Errorf("the next run stored %d, and %d were left", got, left)
	}
	if now := try.status(t); gjson.Get(now, "sessions.up_to_date").Int() != int64(sessions) || gjson.Get(now, "running.#").Int() != 0 {
		t.Errorf("after it: %s", now)
	}
	if first[claimed] == 0 || first[stored] == 0 {
		t.Fatal("it says of no claim, or of nothing stored")
	}
	t.Logf("%d sessions, killed after %s with %d left and %d claimed: the next run claims after %s, stores after %s, is done after %s", sessions,
		died.Round(time.Millisecond), left, held, first[claimed].Round(time.Millisecond), first[stored].Round(time.Millisecond), took.Round(time.Millisecond))
}

func (try trial) status(t *testing.T) string {
	t.Helper()
	out, err := try.run("", "status", "--json")
	if err != nil {
		t.Fatalf("status: %v: %s", err, out.stderr)
	}
	return out.stdout
}
