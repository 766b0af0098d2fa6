//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/store"
	"memoir/testdata"
)

// multiply writes copies of a fixture session as separate sessions, in a number of projects.
func multiply(t *testing.T, sessions, projects int) string {
	t.Helper()
	from := fixtures(t)
	var source string
	for _, s := range testdata.Expected() {
		if s.Source == memoir.SourceCodex && len(s.Files) == 1 && s.Reason == memoir.ReasonEligible && s.Project == testdata.Lanternd {
			source = filepath.Join(from, filepath.FromSlash(s.Files[0]))
			break
		}
	}
	text, err := os.ReadFile(source)
	must(t, err)
	id := gjson.GetBytes(text, "payload.id").String()
	cwd := gjson.GetBytes(text, "payload.cwd").String()
	if id == "" || cwd == "" {
		t.Fatalf("%s names no thread or directory", source)
	}
	dir := filepath.Join(t.TempDir(), "many")
	must(t, os.Mkdir(dir, 0o700))
	for i := range sessions {
		own := fmt.Sprintf("019e%04x-0000-7000-8000-%012x", i/256, i)
		copied := bytes.ReplaceAll(text, []byte(id), []byte(own))
		copied = bytes.ReplaceAll(copied, []byte(cwd), fmt.Appendf(nil, "%s-%d", cwd, i%projects))
		copied = bytes.ReplaceAll(copied, []byte("github.com"), fmt.Appendf(nil, "git%d.example.com", i%projects))
		must(t, os.WriteFile(filepath.Join(dir, "rollout-2026-05-04T09-02-11-"+own+".jsonl"), copied, 0o600))
	}
	return dir
}

// Eight processes run on one home, and are killed and restarted at random. Each session is extracted from once, one
// process publishes at a time, and the result is the same as that of one process.
func TestManyProcessesOnOneHomeThatAreKilledEndAsOneAlone(t *testing.T) {
	t.Parallel()
	sessions, kills := by(t, 60, 1200, 2000), by(t, 4, 40, 40)
	x := newTorture(t, multiply(t, sessions, 3), "")
	x.env = []string{"MEMOIR_MEMORIES_MAXROLLOUTSPERSTARTUP=" + strconv.Itoa(sessions), "MEMOIR_MEMORIES_BUSYTIMEOUTSECONDS=120"}
	start := func(in trial, failpoint string) (*exec.Cmd, *bytes.Buffer) {
		cmd := in.command("")
		if failpoint != "" {
			cmd.Env = append(cmd.Env, "FAILPOINT="+failpoint)
		}
		errs := new(bytes.Buffer)
		cmd.Stderr = errs
		must(t, cmd.Start())
		return cmd, errs
	}
	alone, shared := x.trial(t), x.trial(t)
	if cmd, errs := start(alone, ""); cmd.Wait() != nil {
		t.Fatal(errs.String())
	}

	home, log := shared.home, filepath.Join(t.TempDir(), "log")
	var mu sync.Mutex
	killed := map[int]bool{}
	random := chance(t, "kill")
	began := time.Now()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				cmd, errs := start(shared, "log "+log)
				mu.Lock()
				kill := kills > 0
				after := time.Duration(random.Int64N(int64(2 * time.Second)))
				if kill {
					kills--
					killed[cmd.Process.Pid] = true
				}
				mu.Unlock()
				if kill {
					time.Sleep(after) // kill at any moment
					_ = cmd.Process.Signal(syscall.SIGKILL)
				}
				err := cmd.Wait()
				if kill {
					continue
				}
				if code := cmd.ProcessState.ExitCode(); code == exitBusy {
					continue // another process did the work
				} else if err != nil {
					t.Errorf("%v: %s", err, errs)
				}
				return
			}
		})
	}
	wg.Wait()
	took := time.Since(began)

	got, want := stateOf(t, home), stateOf(t, alone.home)
	// The number of generations depends on timing, the content of the last does not.
	if diff := cmp.Diff(lastOf(t, alone.home), lastOf(t, home)); diff != "" {
		t.Errorf("the memory differs from that of one process:\n%s", diff)
	}
	if diff := cmp.Diff(want.Rows["extraction"], got.Rows["extraction"]); diff != "" {
		t.Errorf("extractions differ:\n%s", diff)
	}
	b, err := os.ReadFile(log)
	must(t, err)
	stored, publisher := 0, 0
	for line := range strings.Lines(string(b)) {
		pid, moment, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(pid)
		must(t, err)
		switch moment {
		case "stored store.(*Store).StoreExtraction":
			stored++
		case "replace link memory.Root.Swap":
			if publisher != 0 && publisher != n && !killed[publisher] {
				t.Errorf("process %d published while %d did", n, publisher)
			}
			publisher = n
		case "committed store.(*Store).Publish":
			publisher = 0
		}
	}
	// A process may be killed between a commit and its line in the log.
	if stored > sessions || stored < sessions-8*len(killed) {
		t.Errorf("%d extractions were stored of %d sessions", stored, sessions)
	}
	st := openStore(t, home)
	defer st.Close()
	rows, err := st.Sessions(t.Context(), store.Filter{})
	must(t, err)
	if left := slices.DeleteFunc(rows, func(s memoir.Session) bool { return s.Reason == memoir.ReasonUpToDate }); len(left) > 0 {
		t.Errorf("%d sessions are left, such as %+v", len(left), left[0])
	}
	t.Logf("8 processes, %d sessions, %d killed: %s", sessions, len(killed), took.Round(time.Millisecond))
}

// A process is stopped for longer than its lease while another does its work. After that, it must change nothing.
func TestAProcessThatWasStoppedBeyondItsLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	all := by(t, false, true, true)
	x := newTorture(t, few(t, len(fewNames)), "")
	x.undisturbed(t)
	x.env = []string{"MEMOIR_MEMORIES_PHASE1_LEASE_SECONDS=2", "MEMOIR_MEMORIES_PHASE2LEASESECONDS=2", "MEMOIR_MEMORIES_HEARTBEATSECONDS=1"}
	// A process that is stopped within a write holds the lock of the database or of files, so these moments are left out.
	moments := map[string]bool{}
	for _, name := range x.points {
		if strings.HasPrefix(name, "commit ") || strings.HasPrefix(name, "append") || strings.HasPrefix(name, "replace link") || strings.HasPrefix(name, "set aside") || strings.HasPrefix(name, "name ") || strings.HasPrefix(name, "sum up texts") || strings.HasSuffix(name, "store.(*Store).Alone") {
			continue
		}
		if !strings.Contains(name, "store.") { // one moment for all files
			name, _, _ = strings.Cut(name, " ")
		}
		moments[name] = true
	}
	var names []string
	for name := range moments {
		if all || strings.HasPrefix(name, "begin store.(*Store).StoreExtraction") || strings.HasPrefix(name, "begin store.(*Store).Publish") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	x.trials(t, len(names), func(try trial, k int) {
		name, home := names[k], try.home
		late, errs, status := try.stopAt(t, name)
		if !status.Stopped() {
			t.Errorf("%s: did not stop: %s", name, errs)
			return
		}
		other := try.command("")
		other.Args = append(other.Args, "--wait", "20s")
		for range 100 { // until the leases have expired
			again := exec.Command(other.Path, other.Args[1:]...)
			again.Env = other.Env
			out, err := again.CombinedOutput()
			if code := again.ProcessState.ExitCode(); err != nil && code != exitBusy {
				t.Errorf("%s: the other run: %v: %s", name, err, out)
				break
			}
			if settled(t, home) {
				break
			}
			if strings.Contains(string(out), "nothing to do") {
				t.Errorf("%s: of work that another run has: %s", name, out)
			}
			time.Sleep(200 * time.Millisecond) // a real lease, so no fake clock
		}
		// The other run may have published before the lease of the last session expired.
		taken := stateOf(t, home)
		if diff := cmp.Diff(x.last, lastOf(t, home)); diff != "" {
			t.Errorf("%s: what the other run left differs:\n%s", name, diff)
		}
		must(t, late.Process.Signal(syscall.SIGCONT))
		_ = late.Wait()
		if strings.Contains(errs.String(), "goroutine ") {
			t.Errorf("%s: %s", name, errs.String())
		}
		after := stateOf(t, home)
		if diff := cmp.Diff(taken.published(), after.published()); diff != "" {
			t.Errorf("%s: the late process changed:\n%s", name, diff)
		}
	})
	t.Logf("%d moments", len(names))
}

// settled reports whether no job is running, no session eligible and no project due.
func settled(t *testing.T, home string) bool {
	t.Helper()
	st := openStore(t, home)
	if st == nil {
		return false
	}
	defer st.Close()
	status, err := st.Status(t.Context())
	must(t, err)
	projects, err := st.Projects(t.Context())
	must(t, err)
	for _, p := range projects {
		if p.Due {
			return false
		}
	}
	open, err := st.Sessions(t.Context(), store.Filter{Reason: memoir.ReasonEligible})
	must(t, err)
	return len(status.Running) == 0 && len(open) == 0 && len(projects) > 0
}

// Commands of all kinds run on one home at once. Each succeeds or is busy, and the home is consistent afterwards.
func TestCommandsOfAllKindsAtOnceLeaveAHomeInOrder(t *testing.T) {
	t.Parallel()
	sessions, rounds := by(t, 24, 60, 200), by(t, 3, 8, 25)
	x := newTorture(t, multiply(t, sessions, 3), "")
	x.env = []string{"MEMOIR_MEMORIES_MAXROLLOUTSPERSTARTUP=" + strconv.Itoa(sessions), "MEMOIR_MEMORIES_BUSYTIMEOUTSECONDS=120"}
	try := x.trial(t)
	try.succeeds(t, "the first run")
	st := openStore(t, try.home)
	projects, err := st.Projects(t.Context())
	must(t, err)
	must(t, st.Close())
	id := func(i int) string { return fmt.Sprintf("019e%04x-0000-7000-8000-%012x", i/256, i) }
	commands := []func(i int) []string{
		func(int) []string { return nil },
		func(i int) []string {
			return []string{"run", "--project", projects[i%len(projects)].ID}
		},
		func(i int) []string { return []string{"forget", id(i), "--yes", "--wait", "2m"} },
		func(int) []string { return []string{"retry", "--all"} },
		func(i int) []string {
			return []string{"clear", "--project", projects[i%len(projects)].ID, "--yes"}
		},
		func(int) []string { return []string{"status", "--json"} },
		func(int) []string { return []string{"inject"} },
		func(int) []string { return []string{"sessions", "--json"} },
	}
	began := time.Now()
	var wg sync.WaitGroup
	for k, command := range commands {
		wg.Go(func() {
			for i := range rounds {
				args := command(i)
				out := try.run(t, "", args...)
				// A cleared project does not exist until the next run.
				gone := strings.Contains(out.stderr, "no project matches") || strings.Contains(out.stderr, "no session matches") || strings.Contains(out.stderr, "no project with the id")
				if out.code != exitDone && out.code != exitBusy && !gone {
					t.Errorf("command %d, %v: exit code %d: %s", k, args, out.code, out.stderr)
				}
				if strings.Contains(out.stderr, "database is locked") || strings.Contains(out.stderr, "goroutine ") {
					t.Errorf("command %d, %v: %s", k, args, out.stderr)
				}
			}
		})
	}
	wg.Wait()
	for range 2 { // the first extracts from cleared sessions again
		try.succeeds(t, "the last run")
	}
	st = openStore(t, try.home)
	defer st.Close()
	rows, err := st.Sessions(t.Context(), store.Filter{})
	must(t, err)
	for _, s := range rows {
		if s.Reason != memoir.ReasonUpToDate && s.Reason != memoir.ReasonForgotten {
			t.Errorf("%s is left %s", s.ID, s.Reason)
		}
	}
	forgotten, err := st.Forgotten(t.Context())
	must(t, err)
	for key := range forgotten {
		for path, text := range lastOf(t, try.home) {
			if _, id := memoir.SplitKey(key); strings.Contains(text, id) {
				t.Errorf("%s still tells of %s, which was forgotten", path, id)
			}
		}
	}
	if !settled(t, try.home) {
		t.Error("something is left to do")
	}
	for path := range files(t, try.home) {
		if strings.HasPrefix(filepath.Base(path), ".") && path != "." {
			t.Errorf("%s is left lying about", path)
		}
	}
	t.Logf("%d commands of %d kinds in %s, %d sessions forgotten", rounds*len(commands), len(commands), time.Since(began).Round(time.Millisecond), len(forgotten))
}
