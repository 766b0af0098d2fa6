//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/store"
	"memoir/testdata"
)

// tortureVariable, set to anything, has these tests go through every moment instead
// of one in many. `make torture` sets it.
const tortureVariable = "MEMOIR_TORTURE_TESTS"

// A torture is a run that is disturbed, and what it would have come to.
type torture struct {
	binary   string // built with failpoints
	sessions string
	before   string // a home to begin with; empty: none
	want     state
	last     map[string]string // the live files alone
	points   []string          // the moments of an undisturbed run
	total    int               // sessions that it extracts from
}

// newTorture builds the program and lets it run undisturbed.
func newTorture(t *testing.T, sessions, before string) *torture {
	t.Helper()
	x := &torture{binary: withFailpoints(t), sessions: sessions, before: before}
	home, log := x.home(t), filepath.Join(t.TempDir(), "points")
	out, err := x.run(t, home, "log "+log)
	if err != nil {
		t.Fatalf("undisturbed run: %v: %s", err, out.stderr)
	}
	x.want, x.last = stateOf(t, home), lastOf(t, home)
	x.total = int(gjson.Get(out.stdout, "phase1.claimed").Int())
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	x.points = strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(x.want.live) == 0 || x.total == 0 {
		t.Fatalf("an undisturbed run published nothing: %s", out.stdout)
	}
	return x
}

// withFailpoints is the program with failpoints in it, built once.
func withFailpoints(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go here to build the program with failpoints")
	}
	path := filepath.Join(t.TempDir(), "memoir")
	cmd := exec.Command("go", "build", "-tags", "failpoint", "-o", path, ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build with failpoints: %v\n%s", err, out)
	}
	return path
}

// home is a home to run in, as it is before the run.
func (x *torture) home(t testing.TB) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if x.before != "" {
		if err := os.CopyFS(home, os.DirFS(x.before)); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

type output struct{ stdout, stderr string }

func (x *torture) command(home, failpoint string) *exec.Cmd {
	cmd := exec.Command(x.binary, "run", "--json", "--all", "--sessions", x.sessions, "--home", home,
		"--min-idle", "0", "--max-age", "0", "--now", testdata.Now.Format(time.RFC3339))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(home)}
	if failpoint != "" {
		cmd.Env = append(cmd.Env, "FAILPOINT="+failpoint, "MEMOIR_MEMORIES_CONCURRENCY=1")
	}
	return cmd
}

func (x *torture) run(t testing.TB, home, failpoint string) (output, error) {
	t.Helper()
	cmd := x.command(home, failpoint)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return output{out.String(), errs.String()}, err
}

// finish runs again, undisturbed, and compares what there is then with what an
// undisturbed run leaves.
func (x *torture) finish(t *testing.T, home, what string) {
	t.Helper()
	stored := extracted(t, home)
	out, err := x.run(t, home, "")
	if err != nil {
		t.Errorf("%s: the next run: %v: %s", what, err, out.stderr)
		return
	}
	if diff := cmp.Diff(x.want, stateOf(t, home), cmp.AllowUnexported(state{})); diff != "" {
		t.Errorf("%s: what the next run leaves differs:\n%s", what, diff)
	}
	base := 0
	if x.before != "" {
		base = extracted(t, x.before)
	}
	if claimed := int(gjson.Get(out.stdout, "phase1.claimed").Int()); claimed != x.total-(stored-base) {
		t.Errorf("%s: %d of %d sessions were stored, and the next run extracted %d", what, stored-base, x.total, claimed)
	}
	if rand.IntN(8) > 0 { // what is left over would show in one place like in another
		return
	}
	if out, err := x.run(t, home, ""); err != nil || gjson.Get(out.stdout, "phase1.claimed").Int() != 0 || gjson.Get(out.stdout, "phase2.#").Int() != 0 {
		t.Errorf("%s: something was left over: %v %s", what, err, out.stdout)
	}
}

// state is what a home holds, without the bookkeeping of jobs.
type state struct {
	live        map[string]string // the files of the projects' folders
	extractions map[string]string
	generations map[string]string
	ledger      []string
}

func stateOf(t testing.TB, home string) state {
	t.Helper()
	s := state{live: files(t, filepath.Join(home, "projects")), extractions: map[string]string{}, generations: map[string]string{}}
	st := openStore(t, home)
	if st == nil {
		return s
	}
	defer st.Close()
	ctx := t.Context()
	projects, err := st.Projects(ctx)
	must(t, err)
	for _, p := range projects {
		extractions, err := st.Extractions(ctx, p.ID)
		must(t, err)
		for _, e := range extractions {
			e.Seq = 0 // the order in which sessions were done
			s.extractions[e.SessionKey] = fmt.Sprintf("%+v", e)
		}
		generations, err := st.Generations(ctx, p.ID)
		must(t, err)
		for _, g := range generations {
			inputs, err := json.Marshal(g.Inputs)
			must(t, err)
			s.generations[fmt.Sprintf("%s %d", p.ID, g.N)] = g.ManifestHash + " " + string(inputs)
		}
	}
	rows, err := st.UsageRows(ctx, time.Time{})
	must(t, err)
	for _, r := range rows {
		s.ledger = append(s.ledger, fmt.Sprintf("%s %s %s %s %+v", r.ProjectID, r.Model, r.Phase, r.Outcome, r.Usage))
	}
	return s
}

// openStore opens the database of a home; nil if there is none yet.
func openStore(t testing.TB, home string) *store.Store {
	t.Helper()
	path := filepath.Join(home, databaseName)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil
	}
	st, err := store.Open(t.Context(), path, store.Options{})
	must(t, err)
	return st
}

// extracted is how many sessions were extracted from.
func extracted(t testing.TB, home string) int {
	t.Helper()
	st := openStore(t, home)
	if st == nil {
		return 0
	}
	defer st.Close()
	done, err := st.Sessions(t.Context(), store.Filter{Reason: memoir.ReasonUpToDate})
	must(t, err)
	return len(done)
}

// files reads all below a directory; a link is where it leads.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			out[rel] = "directory"
		case entry.Type()&fs.ModeSymlink != 0:
			out[rel], err = os.Readlink(path)
		default:
			var b []byte
			b, err = os.ReadFile(path)
			out[rel] = string(b)
		}
		return err
	})
	must(t, err)
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// each tries the moments of a run: all of them, or every nth.
func (x *torture) each(t *testing.T, nth int, try func(t *testing.T, n int, what string)) {
	t.Helper()
	if os.Getenv(tortureVariable) != "" {
		nth = 1
	}
	var g errgroup.Group
	g.SetLimit(4)
	tried := 0
	for n := 1; n <= len(x.points); n += nth {
		tried++
		g.Go(func() error {
			try(t, n, fmt.Sprintf("moment %d of %d (%s)", n, len(x.points), x.points[n-1]))
			return nil
		})
	}
	_ = g.Wait() // no goroutine returns an error
	t.Logf("%d of %d moments", tried, len(x.points))
}

// fixtures writes the fixture sessions.
func fixtures(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	_, err := testdata.Write(dir)
	must(t, err)
	return dir
}

// grown is a home with a memory that a person edited, and sessions of which some came
// later than the memory.
func grown(t *testing.T) (sessions, home string) {
	t.Helper()
	return grownBy(t, withFailpoints(t))
}

// grownBy is grown by a build of the program.
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
	x := torture{binary: binary, sessions: sessions}
	if out, err := x.run(t, home, ""); err != nil {
		t.Fatalf("%v: %s", err, out.stderr)
	}
	move(aside, sessions)
	memories, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "MEMORY.md"))
	must(t, err)
	for _, path := range memories {
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append(b, "\n## House rules\n\n- never on a Friday\n"...), 0o600))
	}
	return sessions, home
}

func TestARunThatIsKilledAtAnyWriteIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	sessions, before := grown(t)
	for name, x := range map[string]*torture{
		"first run": newTorture(t, sessions, ""),
		"next run":  newTorture(t, sessions, before),
	} {
		x.each(t, 40, func(t *testing.T, n int, what string) {
			home := x.home(t)
			_, err := x.run(t, home, fmt.Sprintf("kill %d", n))
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Errorf("%s, %s: not killed: %v", name, what, err)
				return
			}
			x.finish(t, home, name+", killed at "+what)
		})
	}
}

func TestARunThatFindsNoRoomAtAnyWriteLosesNothing(t *testing.T) {
	t.Parallel()
	sessions, before := grown(t)
	for name, x := range map[string]*torture{
		"first run": newTorture(t, sessions, ""),
		"next run":  newTorture(t, sessions, before),
	} {
		earlier := map[string]string{}
		if x.before != "" {
			earlier = files(t, filepath.Join(x.before, "projects"))
		}
		x.each(t, 40, func(t *testing.T, n int, what string) {
			home := x.home(t)
			out, err := x.run(t, home, fmt.Sprintf("fail %d 0", n))
			if strings.Contains(out.stderr, "goroutine ") {
				t.Errorf("%s, %s: a stack trace: %s", name, what, out.stderr)
			}
			if exit, ok := errors.AsType[*exec.ExitError](err); ok && !slices.Contains([]int{1, 3}, exit.ExitCode()) || err != nil && !strings.Contains(out.stderr, "no space left") && !strings.Contains(out.stderr, "full") {
				t.Errorf("%s, %s: %v: %s", name, what, err, out.stderr)
			}
			now := files(t, filepath.Join(home, "projects"))
			for path, text := range earlier {
				if strings.Contains(path, "/live/1/") && now[path] != text {
					t.Errorf("%s, %s: %s is not what it was", name, what, path)
				}
			}
			x.finish(t, home, name+", no room from "+what)
		})
	}
}

func TestARunThatIsKilledAtAnyTimeIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	sessions, _ := grown(t)
	x := newTorture(t, sessions, "")
	began := time.Now()
	if _, err := x.run(t, x.home(t), ""); err != nil {
		t.Fatal(err)
	}
	lasts := time.Since(began)
	times := 6
	if os.Getenv(tortureVariable) != "" {
		times = 200
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range times {
		after := time.Duration(random.Int64N(int64(lasts)))
		home := x.home(t)
		cmd := x.command(home, "")
		must(t, cmd.Start())
		time.Sleep(after) // the moment of death is anywhere in the run
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		x.finish(t, home, "killed after "+after.String())
	}
}
