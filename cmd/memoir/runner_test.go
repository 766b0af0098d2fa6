//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"memoir/testdata"
)

// A runner makes runs over its sessions in homes that a test names.
type runner struct {
	binary   string
	sessions string
	before   string // a home to begin with; empty: none
	want     state  // what a run leaves that nothing disturbs
	last     map[string]string
	points   []string // the moments of that run, if the program has failpoints
}

// newRunner finds out what an undisturbed run does.
func newRunner(t *testing.T, binary, sessions, before string) *runner {
	t.Helper()
	x := &runner{binary: binary, sessions: sessions, before: before}
	home, log := x.home(t), filepath.Join(t.TempDir(), "points")
	if out, err := x.run(t, home, "log "+log); err != nil {
		t.Fatalf("undisturbed run: %v: %s", err, out.stderr)
	}
	x.want, x.last = stateOf(t, home), lastOf(t, home)
	b, _ := os.ReadFile(log) // none, of a program without failpoints
	for line := range strings.Lines(string(b)) {
		_, point, _ := strings.Cut(strings.TrimSpace(line), " ")
		x.points = append(x.points, point)
	}
	return x
}

// home is a home to run in, as it is before the run.
func (x *runner) home(t testing.TB) string {
	t.Helper()
	home := filepath.Join(inMemory(t), "home")
	if x.before != "" {
		must(t, os.CopyFS(home, os.DirFS(x.before)))
	}
	return home
}

func (x *runner) command(home, failpoint string) *exec.Cmd {
	cmd := exec.Command(x.binary, "run", "--json", "--all", "--sessions", x.sessions, "--home", home,
		"--min-idle", "0", "--max-age", "0", "--now", testdata.Now.Format(time.RFC3339))
	cmd.Env = environment("HOME=" + filepath.Dir(home))
	if failpoint != "" {
		cmd.Env = append(cmd.Env, "FAILPOINT="+failpoint, "MEMOIR_MEMORIES_CONCURRENCY=1")
	}
	return cmd
}

func (x *runner) run(t testing.TB, home, failpoint string) (output, error) {
	t.Helper()
	cmd := x.command(home, failpoint)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return output{out.String(), errs.String()}, err
}

// each tries moments.
func (x *runner) each(t *testing.T, purpose string, many int, points []string, try func(t *testing.T, n int, what string)) {
	t.Helper()
	chosen := chosenOf(t, purpose, len(points), many)
	var wg sync.WaitGroup
	for _, i := range chosen {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			try(t, i+1, fmt.Sprintf("moment %d of %d (%s)", i+1, len(points), points[i]))
		})
	}
	wg.Wait()
	t.Logf("%s: %d of %d moments", purpose, len(chosen), len(points))
}

// grownBy is a home with a memory that a person edited, made by a build of the program,
// and sessions of which some came later than the memory.
func grownBy(t *testing.T, binary string) (sessions, home string) {
	t.Helper()
	sessions = fixtures(t)
	aside := filepath.Join(t.TempDir(), "aside")
	var later []string
	for _, s := range testdata.Expected {
		if len(s.Files) == 1 && s.Reason == "eligible" && len(later) < 4 {
			later = append(later, filepath.FromSlash(s.Files[0]))
		}
	}
	move := func(from, to string) {
		for _, name := range later {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700))
			must(t, os.Rename(filepath.Join(from, name), filepath.Join(to, name)))
		}
	}
	move(sessions, aside)
	home = filepath.Join(t.TempDir(), "before")
	x := runner{binary: binary, sessions: sessions}
	if out, err := x.run(t, home, ""); err != nil {
		t.Fatalf("%v: %s", err, out.stderr)
	}
	move(aside, sessions)
	edit(t, home)
	return sessions, home
}
