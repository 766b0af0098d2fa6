package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/testdata"
)

// namespaceVariable marks a test process with its own mount namespace.
const namespaceVariable = "MEMOIR_TEST_NAMESPACE"

// mounting runs the test again in a process with its own mount namespace. It reports whether this is that process.
func mounting(t *testing.T) bool {
	t.Helper()
	if os.Getenv(namespaceVariable) != "" {
		must(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount file systems")
	}
	t.Parallel() // the child does not share its mounts
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), namespaceVariable+"=1", programVariable+"="+released(t))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(fmt.Sprint(err), "operation not permitted"):
		t.Skipf("no mount namespace here: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	default:
		t.Logf("%s", out)
	}
	return false
}

// An afflicted is a home with a memory, newer sessions, and the result of an undisturbed run over them.
type afflicted struct {
	*torture
}

func newAfflicted(t *testing.T) afflicted {
	t.Helper()
	sessions, before := grown(t)
	p := afflicted{newTorture(t, sessions, before)}
	p.undisturbed(t)
	return p
}

// tell runs a shell command line with $memoir as the program and $RUN as a run. as sets attributes of the process, such
// as its user.
func (p afflicted) tell(t *testing.T, home, line string, as *syscall.SysProcAttr, environ ...string) output {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(environment("HOME="+filepath.Dir(home), "MEMOIR_HOME="+home,
		"RUN="+strings.Join([]string{p.binary, "run", "--all", "--sessions", p.sessions, "--min-idle=0", "--max-age=0", "--now=" + testdata.Now.Format("2006-01-02T15:04:05Z")}, " "),
		"memoir="+p.binary), environ...)
	cmd.SysProcAttr = as
	return capture(t, cmd)
}

// earlier returns the files of the first generation, which no fault may change.
func earlier(t *testing.T, home string) map[string]string {
	t.Helper()
	out := files(t, filepath.Join(home, "projects"))
	maps.DeleteFunc(out, func(path, _ string) bool {
		return !strings.Contains(path, "/live/1/") && !strings.HasSuffix(path, "/generations/1.tar.zst")
	})
	if len(out) == 0 {
		t.Fatal("there is no first generation")
	}
	return out
}

// readable checks that commands can read the memory and the registry.
func (p afflicted) readable(t *testing.T, home, what string, as *syscall.SysProcAttr) {
	t.Helper()
	for _, line := range []string{"view --project lanternd", "cat --project lanternd MEMORY.md", "status", "sessions", "projects", "log --project lanternd",
		"inject --format plain --project lanternd", "recall --json"} {
		got := p.tell(t, home, "$memoir "+line, as, "MEMOIR_MEMORIES_ENABLED=true")
		if got.code != exitDone || got.stdout == "" {
			t.Errorf("%s: %s: exit code %d: %s", what, line, got.code, got.stderr)
		}
	}
}

// refuses checks that a command failed with one of the exit codes, one line per error, a hint and no stack trace.
func (got output) refuses(t *testing.T, what, hint string, codes ...int) {
	t.Helper()
	if !slices.Contains(codes, got.code) || !strings.Contains(got.stderr, "memoir: hint: ") || !strings.Contains(got.stderr, hint) {
		t.Errorf("%s: exit code %d, want one of %v and the hint %q:\n%s", what, got.code, codes, hint, got.stderr)
	}
	if strings.Contains(got.stderr, "goroutine ") || strings.Contains(got.stderr, "fatal error") || strings.Contains(got.stderr, "panic") {
		t.Errorf("%s: a stack trace:\n%s", what, got.stderr)
	}
	for line := range strings.Lines(got.stderr) {
		if !strings.HasPrefix(line, "memoir: ") {
			t.Errorf("%s: says %q", what, line)
		}
	}
}

// silent checks that a hook succeeds without standard output.
func (p afflicted) silent(t *testing.T, home, what string, as *syscall.SysProcAttr) {
	t.Helper()
	got := p.tell(t, home, "$memoir run --startup --sessions /nowhere --dry-run </dev/null", as, "MEMOIR_MEMORIES_ENABLED=true", "MEMOIR_CHILD=")
	if got.code != exitDone || got.stdout != "" {
		t.Errorf("%s: run --startup: exit code %d, %q", what, got.code, got.stdout)
	}
}

// recovers checks that no job failed, and that the next run without the fault has the result of an undisturbed run.
func (p afflicted) recovers(t *testing.T, home, what string) {
	t.Helper()
	blameless(t, home, what)
	if got := p.tell(t, home, "$RUN -q", nil); got.code != exitDone {
		t.Errorf("%s: the next run: exit code %d: %s", what, got.code, got.stderr)
		return
	}
	if diff := p.ends[0].differences(stateOf(t, home)); diff != "" {
		t.Errorf("%s: what the next run leaves differs:\n%s", what, diff)
	}
	blameless(t, home, what+", after the next run")
}

func TestADiskWithoutRoomLosesNothingAndBlamesNobody(t *testing.T) {
	by(t, 0, 0, 0) // skip before the preparation
	if !mounting(t) {
		return
	}
	p := newAfflicted(t)
	at := t.TempDir()
	step := by(t, 128, 48, 8)
	const enough = 9 << 10
	for free := 0; free <= enough; free += step {
		if free > 512 {
			free = enough
		}
		what := fmt.Sprintf("%d KiB free", free)
		must(t, syscall.Mount("tmpfs", at, "tmpfs", 0, "size=32m,mode=700"))
		home := filepath.Join(at, "home")
		copyHome(t, p.before, home)
		before := earlier(t, home)
		fill(t, at, free)
		for n := range 4 { // more than the 3 crashes that make a job dead
			got := p.tell(t, home, "$RUN -q", nil)
			if free == enough {
				if got.code != exitDone {
					t.Errorf("%s: run %d: exit code %d: %s", what, n, got.code, got.stderr)
				}
				break
			}
			got.refuses(t, what, "free some disk space", exitFailed)
			if diff := cmp.Diff(before, earlier(t, home)); diff != "" {
				t.Errorf("%s: the earlier memory changed:\n%s", what, diff)
			}
		}
		p.silent(t, home, what, nil)
		must(t, os.Remove(filepath.Join(at, "filler")))
		p.recovers(t, home, what)
		must(t, syscall.Unmount(at, syscall.MNT_DETACH))
	}
}

// fill fills a file system except for free KiB.
func fill(t *testing.T, at string, free int) {
	t.Helper()
	var stat syscall.Statfs_t
	must(t, syscall.Statfs(at, &stat))
	size := int(stat.Bavail)*int(stat.Bsize) - free<<10
	must(t, os.WriteFile(filepath.Join(at, "filler"), make([]byte, size), 0o600))
}

func TestAReadOnlyHomeIsRefused(t *testing.T) {
	if !mounting(t) {
		return
	}
	p := newAfflicted(t)
	home := p.trial(t).home
	before := files(t, home)
	must(t, syscall.Mount(home, home, "", syscall.MS_BIND, ""))
	must(t, syscall.Mount("", home, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	p.silent(t, home, "read-only", nil)
	for _, line := range []string{"$RUN", "$RUN --dry-run", "$memoir status", "$memoir view --project lanternd", "$memoir recall", "$memoir enqueue --project lanternd", "$memoir retry --all", "$memoir restore 1 --project lanternd",
		"$memoir clear --project lanternd --yes", "$memoir forget --match nothing-of-the-kind"} {
		p.tell(t, home, line, nil).refuses(t, line, "mounted read-only", exitFailed)
	}
	set := "$memoir config set --config $MEMOIR_HOME memories.enabled true"
	p.tell(t, home, set, nil).refuses(t, set, "choose another directory with --config", exitFailed)
	if got := p.tell(t, home, "$memoir doctor", nil); got.code != exitFailed || !strings.Contains(got.stdout, "fail  permissions: "+home+" is not writable") {
		t.Errorf("doctor: exit code %d: %s", got.code, got.stdout)
	}
	must(t, syscall.Unmount(home, 0))
	if diff := cmp.Diff(before, files(t, home)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
	p.recovers(t, home, "mounted for writing again")
}

func TestTooFewHandlesAreSeenBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before the preparation
	p := newAfflicted(t)
	home := p.trial(t).home
	step := by(t, 9, 3, 1)
	for n := 5; n <= 64; n += step {
		what := fmt.Sprintf("ulimit -n %d", n)
		p.tell(t, home, fmt.Sprintf("ulimit -n %d; $RUN -q", n), nil).refuses(t, what, "ulimit -n", exitFailed)
		got := p.tell(t, home, fmt.Sprintf("ulimit -n %d; $memoir run --startup", n), nil)
		if got.code != exitDone || got.stdout+got.stderr != "" {
			t.Errorf("%s: run --startup: exit code %d, %q, %s", what, got.code, got.stdout, got.stderr)
		}
	}
	if diff := cmp.Diff(files(t, p.before), files(t, home)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
	if got := p.tell(t, home, "ulimit -n 64; $memoir status", nil); got.code != exitDone {
		t.Errorf("status needs less: %s", got.stderr)
	}
	if got := p.tell(t, home, "ulimit -n 60; $RUN -q", nil, "MEMOIR_MEMORIES_CONCURRENCY=1"); got.code != exitDone {
		t.Errorf("one worker needs less: %s", got.stderr)
	}
	p.recovers(t, home, "few handles")
}
