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

// A torture is a command that is disturbed, and what must become of it.
type torture struct {
	binary   string   // built with failpoints
	scratch  string   // where homes are made
	sessions string   // that runs read
	before   string   // a home to begin with; empty: none
	args     []string // the command; none: a run
	env      []string // of all commands
	asks     *asking  // a model; nil: the built-in one
	dense    int      // moments at which a dense sample kills it; half as many find no room

	points []string          // the moments of the command
	base   int               // sessions that were extracted from before
	texts  []string          // what was extracted from them
	total  int               // sessions that it extracts from
	calls  int               // of the model
	last   map[string]string // what is live in the end
	// What the command and a run leave, and a run alone, where that is another.
	ends []state
	// The live files of each project: before, between and after.
	lives   []map[string]map[string]string
	watched bool         // whether others read the memories meanwhile
	read    atomic.Int64 // how often they did
	// How a disturbed command is brought to its end, and which of the ends that is.
	check func(try trial, t *testing.T, what string) int
}

// inMemory is a directory in memory if there is room for it: on a disk most of the time
// would go into flushing it.
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

// newTorture prepares a command to be disturbed; undisturbed finds out what it does if
// it is not.
func newTorture(t *testing.T, sessions, before string, args ...string) *torture {
	t.Helper()
	return &torture{binary: withFailpoints(t), scratch: inMemory(t), sessions: sessions, before: before, args: args, dense: 12, check: trial.finish}
}

// undisturbed finds out what the command does when it is left alone.
func (x *torture) undisturbed(t *testing.T) {
	t.Helper()
	if x.before != "" {
		same := x.trial(t) // others copy that home at any time, and opening it changes it
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

// logged gives the command undisturbed, notes its moments and returns its results.
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

// end makes the next run and remembers how it ends.
func (x *torture) end(t *testing.T, try trial) {
	t.Helper()
	try.succeeds(t, "the run that follows")
	x.ends = append(x.ends, x.stateOf(t, try))
	x.lives = append(x.lives, livesOf(t, try.home))
}

// stateOf is stateOf without the calls of a model, which a disturbed run has more of.
func (x *torture) stateOf(t testing.TB, try trial) state {
	t.Helper()
	s := stateOf(t, try.home)
	if x.asks != nil {
		return s.without("ledger")
	}
	return s
}

// A trial is a home in which the command is disturbed once.
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

// output is what a process left.
type output struct {
	stdout, stderr string
	code           int // -1: a signal ended it
}

// capture runs a process to its end.
func capture(t testing.TB, cmd *exec.Cmd) output {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return output{out.String(), errs.String(), codeOf(t, err)}
}

// command is a command line in the home; without arguments it is a run. A run reads all sessions.
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

// succeeds runs a command line that nothing disturbs.
func (try trial) succeeds(t testing.TB, what string, args ...string) output {
	t.Helper()
	out := try.run(t, "", args...)
	if out.code != exitDone {
		t.Errorf("%s: exit code %d: %s", what, out.code, out.stderr)
	}
	return out
}

// whole checks that of each project the live files are those of one generation.
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

// finish brings what was disturbed to its end, and says which of the ends it is: 0, as
// if the command had not been disturbed; 1, as if it had not been given.
func (try trial) finish(t *testing.T, what string) int {
	t.Helper()
	try.whole(t, what)
	stored, base := extracted(t, try.home), try.base
	out := try.whileRead(t, what, func() output { return try.succeeds(t, what+": the next run") })
	if out.code != exitDone {
		return 0
	}
	if st := openStore(t, try.home); st != nil { // a reader that was the last to close cannot remove the database's log
		must(t, st.Close())
	}
	if claimed := int(gjson.Get(out.stdout, "phase1.claimed").Int()); len(try.args) == 0 && claimed != try.total-(stored-base) {
		t.Errorf("%s: %d of %d sessions were stored, and the next run extracted %d", what, stored-base, try.total, claimed)
	}
	got, end := try.stateOf(t, try), 0
	differences := try.ends[0].differences(got)
	if differences != "" && len(try.ends) > 1 {
		end = 1
		got.Rows["note"] = try.ends[1].Rows["note"] // the command may have been the first to see an edit by hand
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
	if rand.IntN(8) > 0 { // what is left to do would show in one trial like in another
		return end
	}
	if out := try.run(t, ""); out.code != exitDone || gjson.Get(out.stdout, "phase1.claimed").Int() != 0 || gjson.Get(out.stdout, "phase2.#").Int() != 0 {
		t.Errorf("%s: something was left to do: %d %s", what, out.code, out.stdout)
	}
	return end
}

// room bounds how many trials of all tests go on at a time.
var room = make(chan struct{}, runtime.GOMAXPROCS(0))

// trials makes so many trials of the command.
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

// each tries moments of the command, and returns how each ended, in their order.
func (x *torture) each(t *testing.T, purpose string, dense int, once func(try trial, n int, what string) int) []int {
	t.Helper()
	chosen := chosenOf(t, purpose, len(x.points), by(t, 3, dense, every))
	ends := make([]int, len(chosen))
	x.trials(t, len(chosen), func(try trial, k int) {
		i := chosen[k]
		ends[k] = once(try, i+1, fmt.Sprintf("moment %d of %d (%s)", i+1, len(x.points), x.points[i]))
	})
	t.Logf("%s: %d of %d moments; %s=%d", purpose, len(chosen), len(x.points), seedVariable, seed)
	return ends
}

// stopAt starts a run that stops at a moment, and waits for that, or for its end.
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

// timed bounds by how many moments a command can be shorter than the logged one, where
// that one wrote heartbeats.
const timed = 8

// varies bounds by how many moments this command can be shorter than the logged one: by heartbeats, and by claims,
// since sessions that are done at the same time are followed by one claim.
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
	// What was begun is not taken back by being killed later.
	if !slices.IsSortedFunc(ends, func(a, b int) int { return b - a }) {
		t.Errorf("the command was done, and later it was not: %v", ends)
	}
}

// starved lets the disk be full from each moment on.
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

// flushesBeforeItPublishes checks that what a link leads to is on the disk before the link is,
// so that a power failure leaves a whole memory, too.
func (x *torture) flushesBeforeItPublishes(t *testing.T) {
	t.Helper()
	at := func(begin string) int {
		return slices.IndexFunc(x.points, func(point string) bool { return strings.HasPrefix(point, begin+" ") })
	}
	published := at("name directory")
	if linked := at("replace link"); published < 0 || linked < published {
		t.Fatalf("the directory has its name at %d, the link at %d", published, linked)
	}
	for _, name := range []string{"MEMORY.md", "manifest.json", "directory rollout_summaries", "directory generations"} {
		if i := at("sync " + name); i < 0 || i > published {
			t.Errorf("%s is flushed at %d, and published at %d", name, i, published)
		}
	}
}
