package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

// The test binary is also the other processes: with roleVariable set it plays that
// role on the database that its first argument names, and ends.
const roleVariable = "STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

var roles = map[string]func(ctx context.Context, path string, args []string) error{
	"open": openAndRegister, "work": workOff, "hold": claimAndHold,
}

// process is another process that plays a role.
type process struct {
	*exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser
}

// prepare returns a process that is yet to be started.
func prepare(t testing.TB, binary, role, path string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(binary, append([]string{path}, args...)...)}
	p.Env = append(os.Environ(), roleVariable+"="+role)
	p.Stderr = os.Stderr
	stdout, err := p.StdoutPipe()
	must(t, err)
	p.out = bufio.NewReader(stdout)
	p.in, err = p.StdinPipe()
	must(t, err)
	t.Cleanup(func() {
		if p.Process != nil {
			p.Process.Kill()
			p.Wait()
		}
	})
	return p
}

func play(t testing.TB, role, path string, args ...string) *process {
	t.Helper()
	p := prepare(t, os.Args[0], role, path, args...)
	must(t, p.Start())
	return p
}

// line reads one line that the process says.
func (p *process) line(t testing.TB) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v after %q", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

// rest reads what it says until it ends, which it must do well.
func (p *process) rest(t testing.TB) []string {
	t.Helper()
	p.in.Close()
	b, err := io.ReadAll(p.out)
	must(t, err)
	if err := p.Wait(); err != nil {
		t.Fatalf("process failed: %v: %s", err, b)
	}
	return strings.Fields(string(b))
}

func waitForStdin() { io.Copy(io.Discard, os.Stdin) }

func openAndRegister(ctx context.Context, path string, args []string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.UpsertProject(ctx, memoir.Project{ID: args[0], Name: args[0], Identity: args[0]})
}

func TestProcessesThatOpenANewHomeAtOnceAllSucceed(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(newHome(t), "home", "memoir.db")
		var all []*process
		for i := range 6 {
			all = append(all, play(t, "open", path, fmt.Sprintf("p-%d", i)))
		}
		for _, p := range all {
			p.rest(t)
		}
		rows, err := openAt(t, path, Options{}).Projects(t.Context())
		if must(t, err); len(rows) != 6 {
			t.Fatalf("%d projects registered, want 6", len(rows))
		}
		if left, _ := filepath.Glob(path + "*.bak*"); len(left) > 0 {
			t.Fatalf("a new database was copied: %v", left)
		}
	}
}

// workOff claims batches until there is nothing left, finishes them, and says which.
func workOff(ctx context.Context, path string, args []string) error {
	limit, _ := strconv.Atoi(args[0])
	runningCap, _ := strconv.Atoi(args[1])
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	o := ClaimOptions{Holder: lease.Self(), Lease: time.Hour, Limit: limit, RunningCap: runningCap}
	for {
		claims, err := s.ClaimSessions(ctx, o)
		if err != nil {
			return err
		}
		for _, c := range claims {
			fmt.Fprintln(out, c.Session.ID)
			if runningCap > 0 {
				n := 0
				err := s.read(ctx, func(t tx) error { return t.get(`SELECT count(*) FROM job WHERE status = 'running'`, nil, &n) })
				if err != nil {
					return err
				}
				if n > runningCap {
					return fmt.Errorf("%d jobs run, which is more than %d", n, runningCap)
				}
			}
			if err := s.MarkUnchanged(ctx, c, "h", nil); err != nil {
				return err
			}
		}
		if len(claims) == 0 {
			left := 0
			err := s.read(ctx, func(t tx) error {
				return t.get(`SELECT count(*) FROM session WHERE reason <> 'up_to_date'`, nil, &left)
			})
			if err != nil || left == 0 {
				return err
			}
			time.Sleep(time.Millisecond) // the cap is reached; the rest runs elsewhere
		}
	}
}

// contend lets processes work off a queue together and returns how long it took
// from the moment at which all were ready.
func contend(t testing.TB, path string, processes int, args ...string) (done []string, took time.Duration) {
	t.Helper()
	var all []*process
	for range processes {
		all = append(all, play(t, "work", path, args...))
	}
	for _, p := range all {
		if line := p.line(t); line != "ready" {
			t.Fatal(line)
		}
	}
	began := time.Now()
	for _, p := range all {
		io.WriteString(p.in, "go\n")
	}
	for _, p := range all {
		done = append(done, p.rest(t)...)
	}
	return done, time.Since(began)
}

func wantEachOnce(t testing.TB, done []string, n int) {
	t.Helper()
	slices.Sort(done)
	if once := slices.Compact(slices.Clone(done)); len(done) != n || len(once) != n {
		t.Fatalf("%d jobs ran, %d of them different; want each of %d once", len(done), len(once), n)
	}
}

func TestEightProcessesRunEverySessionOnceAndKeepToTheCap(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 500)
	done, _ := contend(t, s.Path(), 8, "4", "10")
	wantEachOnce(t, done, 500)
}

func BenchmarkClaims(b *testing.B) {
	const jobs, processes = 10_000, 8
	for _, batch := range []string{"1", "8"} {
		b.Run("batch "+batch, func(b *testing.B) {
			var took time.Duration
			for range b.N {
				s, _ := newQueue(b, jobs)
				done, d := contend(b, s.Path(), processes, batch, "0")
				wantEachOnce(b, done, jobs)
				took += d
			}
			b.ReportMetric(float64(jobs*b.N)/took.Seconds(), "claims/s")
		})
	}
}

// claimAndHold claims, says what, and waits.
func claimAndHold(ctx context.Context, path string, args []string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	claims, err := s.ClaimSessions(ctx, ClaimOptions{Holder: lease.Self(), Lease: time.Hour, Limit: 3})
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(ids(claims), " "))
	waitForStdin()
	return nil
}

func TestWhatAKilledProcessHeldIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 5)
	s.now = time.Now
	holder := play(t, "hold", s.Path())
	if line := holder.line(t); line != "s00 s01 s02" {
		t.Fatal(line)
	}
	wantIDs(t, claim(t, s, claimOptions(1)), "s03")
	wantIDs(t, claimSuspects(t, s)) // it lives
	must(t, holder.Process.Kill())
	holder.Wait()
	wantIDs(t, claim(t, s, claimOptions(9)), "s04") // what nobody died over first
	for _, want := range []string{"s00", "s01", "s02"} {
		got := claimSuspects(t, s)
		if wantIDs(t, got, want); !strings.Contains(got[0].Session.Error, fmt.Sprintf("process %d on ", holder.Process.Pid)) {
			t.Errorf("last error %q does not name the process", got[0].Session.Error)
		}
	}
}
