package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	"open": openAndRegister, "work": workOff, "hold": holdOpen,
}

// process is another process that plays a role.
type process struct {
	*exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser
}

func play(t testing.TB, role, path string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], append([]string{path}, args...)...)}
	p.Env = append(os.Environ(), roleVariable+"="+role)
	p.Stderr = os.Stderr
	stdout, err := p.StdoutPipe()
	must(t, err)
	p.out = bufio.NewReader(stdout)
	p.in, err = p.StdinPipe()
	must(t, err)
	must(t, p.Start())
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
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

// holdOpen has the database open until its input ends.
func holdOpen(ctx context.Context, path string, _ []string) error {
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	return s.Close()
}

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
		path := filepath.Join(t.TempDir(), "home", "memoir.db")
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
			n := 0
			err := s.read(ctx, func(t tx) { t.get(`SELECT count(*) FROM job WHERE status = 'running'`, nil, &n) })
			if err != nil {
				return err
			}
			if n > runningCap {
				return fmt.Errorf("%d jobs run, which is more than %d", n, runningCap)
			}
			if err := s.MarkUnchanged(ctx, c, "h", Result{}); err != nil {
				return err
			}
		}
		if len(claims) == 0 {
			left := 0
			err := s.read(ctx, func(t tx) {
				t.get(`SELECT count(*) FROM session WHERE reason <> 'up_to_date'`, nil, &left)
			})
			if err != nil || left == 0 {
				return err
			}
			time.Sleep(time.Millisecond) // the cap is reached; the rest runs elsewhere
		}
	}
}

func TestEightProcessesRunEverySessionOnceAndKeepToTheCap(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 500)
	var all []*process
	for range 8 {
		all = append(all, play(t, "work", s.Path(), "4", "10"))
	}
	for _, p := range all {
		if line := p.line(t); line != "ready" {
			t.Fatal(line)
		}
	}
	for _, p := range all {
		io.WriteString(p.in, "go\n")
	}
	var done []string
	for _, p := range all {
		done = append(done, p.rest(t)...)
	}
	slices.Sort(done)
	if once := slices.Compact(slices.Clone(done)); len(done) != 500 || len(once) != 500 {
		t.Fatalf("%d jobs ran, %d of them different; want each of 500 once", len(done), len(once))
	}
}

func TestTheTestsThatTheQueuesPageNamesExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "queue.md"))
	must(t, err)
	names := regexp.MustCompile("`([a-z/]+)/(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1)
	sources := map[string]string{}
	for _, name := range names {
		if room := name[1]; sources[room] == "" {
			files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(room), "*_test.go"))
			must(t, err)
			for _, file := range files {
				source, err := os.ReadFile(file)
				must(t, err)
				sources[room] += string(source)
			}
		}
		if !strings.Contains(sources[name[1]], "func "+name[2]+"(") {
			t.Errorf("%s has no %s", name[1], name[2])
		}
	}
	if len(names) == 0 {
		t.Error("the page names no test")
	}
}
