//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"memoir/testdata"
)

// A torture is a command to disturb, with the expected results.
type torture struct {
	binary   string   // built with failpoints
	scratch  string   // directory of the homes
	sessions string   // input of runs
	before   string   // home before the command; empty: none
	args     []string // the command; empty: a run
	env      []string // additional variables of all commands
	asks     *asking  // a model; nil: the built-in one
	dense    int      // moments of kills at depth dense; half as many of a full disk

	points []string          // moments of the command: its failpoints in order
	base   int               // extracted sessions in the home before
	texts  []string          // their extractions
	total  int               // sessions that the command extracts from
	calls  int               // calls of the model
	last   map[string]string // live files at the end
	// States after the command and a run, and after a run alone if the command is another.
	ends []state
	// The live files of each project: before, between and after.
	lives   []map[string]map[string]string
	watched bool         // a goroutine reads the memories meanwhile
	read    atomic.Int64 // number of these reads
	// check completes a disturbed command and returns the index of the end that it reached.
	check func(try trial, t *testing.T, what string) int
}

// inMemory returns a directory in memory if it has 512 MiB free, since the tests flush files all the time.
func inMemory(t testing.TB) string {
	t.Helper()
	const shm, enough = "/dev/shm", 512 << 20
	var room unix.Statfs_t
	if err := unix.Statfs(shm, &room); err != nil || uint64(room.Bavail)*uint64(room.Bsize) < enough {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(shm, "memoir-torture-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// newTorture returns a torture without expected results, which undisturbed sets.
func newTorture(t *testing.T, sessions, before string, args ...string) *torture {
	t.Helper()
	return &torture{binary: withFailpoints(t), scratch: inMemory(t), sessions: sessions, before: before, args: args, dense: 12, check: trial.finish}
}

// undisturbed runs the command undisturbed and sets the expected results.
func (x *torture) undisturbed(t *testing.T) {
	t.Helper()
	if x.before != "" {
		same := x.trial(t) // a copy, since opening a home changes it while others copy it
		x.base, x.texts = extracted(t, same.home), storedTexts(t, same.home)
		same.remove()
	}
	try := x.trial(t)
	defer try.remove()
	x.lives = append(x.lives, livesOf(t, try.home))
	out := try.logged(t)
	x.total = int(gjson.Get(out, "phase1.claimed").Int())
	x.lives = append(x.lives, livesOf(t, try.home))
	x.end(t, try)
	x.last = lastOf(t, try.home)
	if x.asks != nil {
		x.calls = x.asks.calls(t, try)
	}
	if len(x.args) == 0 {
		x.flushesBeforeItPublishes(t)
		return
	}
	alone := x.trial(t)
	defer alone.remove()
	x.end(t, alone)
}

// logged runs the command undisturbed, records its moments and returns its standard output.
func (try trial) logged(t *testing.T) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "points")
	out := try.run(t, "log "+log, try.args...)
	if out.code != exitDone {
		t.Fatalf("undisturbed: %d: %s", out.code, out.stderr)
	}
	b, err := os.ReadFile(log)
	must(t, err)
	for line := range strings.Lines(string(b)) {
		_, point, _ := strings.Cut(strings.TrimSpace(line), " ")
		try.points = append(try.points, point)
	}
	return out.stdout
}

// end makes the next run and records the state after it.
func (x *torture) end(t *testing.T, try trial) {
	t.Helper()
	try.succeeds(t, "the run that follows")
	x.ends = append(x.ends, x.stateOf(t, try))
	x.lives = append(x.lives, livesOf(t, try.home))
}

// stateOf is the function stateOf without calls of a model, since a disturbed run may repeat one.
func (x *torture) stateOf(t testing.TB, try trial) state {
	t.Helper()
	s := stateOf(t, try.home)
	if x.asks != nil {
		return s.without("ledger")
	}
	return s
}

// A trial is a home for one disturbance of the command.
type trial struct {
	*torture
	dir, home, user, temp string
}

func (x *torture) trial(t testing.TB) trial {
	t.Helper()
	dir, err := os.MkdirTemp(x.scratch, "")
	must(t, err)
	try := trial{x, dir, filepath.Join(dir, "home"), filepath.Join(dir, "user"), filepath.Join(dir, "tmp")}
	must(t, errors.Join(os.Mkdir(try.user, 0o700), os.Mkdir(try.temp, 0o700)))
	if x.before != "" {
		copyHome(t, x.before, try.home)
	}
	if x.asks != nil {
		configureModel(t, try.user, x.asks.provider)
	}
	return try
}

// copyHome copies a home with its modes.
func copyHome(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func (try trial) remove() { _ = os.RemoveAll(try.dir) }

// output is the result of a process.
type output struct {
	stdout, stderr string
	code           int // -1: a signal ended it
}

// capture runs a process and returns its output.
func capture(t testing.TB, cmd *exec.Cmd) output {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return output{out.String(), errs.String(), codeOf(t, err)}
}

// command returns a command in the home; without arguments, a run over all sessions.
func (try trial) command(failpoint string, args ...string) *exec.Cmd {
	if len(args) == 0 {
		args = []string{"run", "--json", "--all"}
	}
	if args[0] == "run" {
		args = append(slices.Clip(args), "--sessions", try.sessions, "--min-idle", "0", "--max-age", "0", "--now", testdata.Now.Format(time.RFC3339))
	}
	cmd := exec.Command(try.binary, append(slices.Clip(args), "--home", try.home)...)
	cmd.Dir = try.user
	cmd.Env = append(environment("HOME="+try.user, "TMPDIR="+try.temp), try.env...)
	if try.asks != nil {
		cmd.Env = append(cmd.Env, try.asks.environ(try)...)
	}
	if failpoint != "" {
		cmd.Env = append(cmd.Env, "FAILPOINT="+failpoint, "MEMOIR_MEMORIES_CONCURRENCY=1")
	}
	return cmd
}

func (try trial) run(t testing.TB, failpoint string, args ...string) output {
	t.Helper()
	return capture(t, try.command(failpoint, args...))
}

// succeeds runs a command undisturbed and checks that it succeeds.
func (try trial) succeeds(t testing.TB, what string, args ...string) output {
	t.Helper()
	out := try.run(t, "", args...)
	if out.code != exitDone {
		t.Errorf("%s: exit code %d: %s", what, out.code, out.stderr)
	}
	return out
}

// whole checks that the live files of each project are those of one known generation.
func (try trial) whole(t *testing.T, what string) {
	t.Helper()
	now := livesOf(t, try.home)
	known := map[string]bool{}
	for _, lives := range try.lives {
		for project := range lives {
			known[project] = true
		}
	}
	for project := range known {
		if !slices.ContainsFunc(try.lives, func(lives map[string]map[string]string) bool {
			return maps.Equal(lives[project], now[project])
		}) {
			t.Errorf("%s: what is live of %s is none of its generations", what, project)
		}
	}
}

// finish makes the next run after a disturbed command. It returns the index of the end that the home reached: 0 as
// after the undisturbed command, 1 as without the command.
func (try trial) finish(t *testing.T, what string) int {
	t.Helper()
	try.whole(t, what)
	stored, base := extracted(t, try.home), try.base
	out := try.whileRead(t, what, func() output { return try.succeeds(t, what+": the next run") })
	if out.code != exitDone {
		return 0
	}
	if st := openStore(t, try.home); st != nil { // removes the WAL file, which a last reader cannot
		must(t, st.Close())
	}
	if claimed := int(gjson.Get(out.stdout, "phase1.claimed").Int()); len(try.args) == 0 && claimed != try.total-(stored-base) {
		t.Errorf("%s: %d of %d sessions were stored, and the next run extracted %d", what, stored-base, try.total, claimed)
	}
	got, end := try.stateOf(t, try), 0
	differences := try.ends[0].differences(got)
	if differences != "" && len(try.ends) > 1 {
		end = 1
		got.Rows["hand_edit"] = try.ends[1].Rows["hand_edit"] // the command may have been the first to see a hand edit
		if other := try.ends[1].differences(got); other == "" {
			differences = ""
		} else {
			differences += "\nand from what it leaves alone:\n" + other
		}
	}
	if differences != "" {
		t.Errorf("%s: what the next run leaves differs:\n%s", what, differences)
	}
	if left := files(t, try.temp); len(left) > 1 && try.asks == nil {
		t.Errorf("%s: %v are left in the directory for temporary files", what, slices.Sorted(maps.Keys(left)))
	}
	if try.asks != nil {
		try.addsUp(t, what)
	}
	if rand.IntN(8) > 0 { // a sample suffices for the check below
		return end
	}
	if out := try.run(t, ""); out.code != exitDone || gjson.Get(out.stdout, "phase1.claimed").Int() != 0 || gjson.Get(out.stdout, "phase2.#").Int() != 0 {
		t.Errorf("%s: something was left to do: %d %s", what, out.code, out.stdout)
	}
	return end
}

// room bounds the trials of all tests that run at the same time.
var room = make(chan struct{}, runtime.GOMAXPROCS(0))

// trials runs n trials of the command concurrently.
func (x *torture) trials(t *testing.T, n int, once func(try trial, k int)) {
	t.Helper()
	var wg sync.WaitGroup
	for k := range n {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			try := x.trial(t)
			defer try.remove()
			once(try, k)
		})
	}
	wg.Wait()
}

// each runs a trial for chosen moments of the command and returns their ends, in the order of moments.
func (x *torture) each(t *testing.T, purpose string, dense int, once func(try trial, n int, what string) int) []int {
	t.Helper()
	chosen := chosenOf(t, purpose, len(x.points), by(t, 2, dense, every))
	ends := make([]int, len(chosen))
	x.trials(t, len(chosen), func(try trial, k int) {
		i := chosen[k]
		ends[k] = once(try, i+1, fmt.Sprintf("moment %d of %d (%s)", i+1, len(x.points), x.points[i]))
	})
	t.Logf("%s: %d of %d moments; %s=%d", purpose, len(chosen), len(x.points), seedVariable, seed)
	return ends
}

// stopAt starts a run that stops at a moment, and waits until the run stops or ends.
func (try trial) stopAt(t testing.TB, moment string, env ...string) (*exec.Cmd, *bytes.Buffer, syscall.WaitStatus) {
	t.Helper()
	cmd, errs := try.command("stop "+moment), new(bytes.Buffer)
	cmd.Stderr, cmd.Env = errs, append(cmd.Env, env...)
	must(t, cmd.Start())
	var status syscall.WaitStatus
	_, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	must(t, err)
	return cmd, errs, status
}

// timed bounds the moments of heartbeats in the logged command that a repetition may lack.
const timed = 8

// varies bounds the moments that a repetition of the command may lack: heartbeats, and claims, since sessions that end
// at the same time are followed by one claim.
func (x *torture) varies() int {
	claims := 0
	for _, point := range x.points {
		if strings.Contains(point, "ClaimSessions") {
			claims++
		}
	}
	return timed + max(claims-3, 0) // a claim has three moments, and one is always made
}

// killed kills the command at each moment.
func (x *torture) killed(t *testing.T) {
	ends := x.each(t, "killed", x.dense, func(try trial, n int, what string) int {
		what = "killed at " + what
		out := try.run(t, fmt.Sprintf("kill %d", n), x.args...)
		if out.code != -1 && (out.code != exitDone || n <= len(x.points)-x.varies()) {
			t.Errorf("%s: not killed: %d: %s", what, out.code, out.stderr)
			return 0
		}
		return x.check(try, t, what)
	})
	// A kill at a later moment must not lose a command that an earlier kill left done.
	if !slices.IsSortedFunc(ends, func(a, b int) int { return b - a }) {
		t.Errorf("the command was done, and later it was not: %v", ends)
	}
}

// starved makes the disk full from each moment on.
func (x *torture) starved(t *testing.T) {
	x.each(t, "no room", (x.dense+1)/2, func(try trial, n int, what string) int {
		what = "no room from " + what
		out := try.run(t, fmt.Sprintf("fail %d 0", n), x.args...)
		if strings.Contains(out.stderr, "goroutine ") {
			t.Errorf("%s: a stack trace: %s", what, out.stderr)
		}
		if out.code != exitDone && (out.code != exitFailed && out.code != exitPartly ||
			!strings.Contains(out.stderr, "no space left") && !strings.Contains(out.stderr, "full")) {
			t.Errorf("%s: %d: %s", what, out.code, out.stderr)
		}
		return x.check(try, t, what)
	})
}

// flushesBeforeItPublishes checks that the live directory is synced before its link is replaced, so that a power
// failure leaves a whole memory, and the link before the commit, so that the database is not ahead of it.
func (x *torture) flushesBeforeItPublishes(t *testing.T) {
	t.Helper()
	at := func(begin string) int {
		return slices.IndexFunc(x.points, func(point string) bool { return strings.HasPrefix(point, begin+" ") })
	}
	published, replaced := at("name directory"), at("replace link")
	if published < 0 || replaced < published {
		t.Fatalf("the directory has its name at %d, the link at %d", published, replaced)
	}
	for _, name := range []string{"MEMORY.md", "manifest.json", "directory rollout_summaries", "directory generations"} {
		if i := at("sync " + name); i < 0 || i > published {
			t.Errorf("%s is flushed at %d, and published at %d", name, i, published)
		}
	}
	named := strings.Join(x.points[published:replaced], "\n")
	linked, _, _ := strings.Cut(strings.Join(x.points[replaced:], "\n"), "\ncommit store.(*Store).Publish")
	if strings.Count(named, "\nsync directory ") < 2 || !strings.Contains(linked, "\nsync directory ") {
		t.Errorf("the names are not flushed before the link, or the link before the commit:\n%s\n%s", named, linked)
	}
}
