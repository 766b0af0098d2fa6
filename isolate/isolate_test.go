//go:build unix

package isolate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"memoir"
)

// These have the test's program be a worker, or watch one.
const (
	workVariable  = "ISOLATE_TEST_WORKER"
	watchVariable = "ISOLATE_TEST_WATCHER"
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(workVariable) != "":
		err = Serve(context.Background(), os.Stdin, os.Stdout, prepare)
	case os.Getenv(watchVariable) != "":
		_, err = itself().Run(context.Background(), []byte("hold"))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// prepare is for work of which the task says what it does.
func prepare(_ context.Context, task []byte) (Work, error) {
	switch string(task) {
	case "refuse":
		return nil, memoir.Errorf(memoir.CodeStorage, "make room", "no space left")
	case "die before it":
		kill(syscall.SIGKILL)
	}
	return func(ctx context.Context) ([]byte, error) {
		task, atWork, _ := strings.Cut(string(task), " ")
		if atWork != "" {
			_ = os.WriteFile(atWork, nil, 0o600)
		}
		switch task {
		case "SIGKILL":
			kill(syscall.SIGKILL)
		case "SIGTERM":
			kill(syscall.SIGTERM)
		case "SIGABRT":
			kill(syscall.SIGABRT)
		case "exit":
			fmt.Fprint(os.Stderr, "first\nlast words\n\n")
			os.Exit(7)
		case "panic":
			go func() { panic("no way") }()
			select {}
		case "wait":
			<-ctx.Done()
			return []byte("stopped: " + context.Cause(ctx).Error()), nil
		case "deaf":
			select {}
		case "hold":
			// Says so to whoever holds the other end of file 3, which its end closes.
			fmt.Fprint(os.NewFile(3, "alive"), ".")
			<-ctx.Done()
			return nil, context.Cause(ctx)
		default:
			return append([]byte("did "), task...), nil
		}
		return nil, nil
	}, nil
}

func kill(s syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), s)
	select {}
}

func itself() Command {
	self, err := Self()
	if err != nil {
		panic(err)
	}
	return Command{Path: self, Args: []string{"worker"}, Env: append(os.Environ(), workVariable+"=1")}
}

func TestATaskComesBackDoneWhateverItsBytes(t *testing.T) {
	t.Parallel()
	task := "\x00\xffany" + strings.Repeat("x", 1<<20)
	got, err := itself().Run(t.Context(), []byte(task))
	if err != nil || string(got) != "did "+task {
		t.Errorf("%.80q, %v", got, err)
	}
}

func TestADeathAtWorkSaysHowItDied(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"SIGKILL": "killed by SIGKILL",
		"SIGABRT": "exit status 2: SIGABRT: abort",
		"exit":    "exit status 7: last words",
		"panic":   "exit status 2: panic: no way",
	} {
		_, err := itself().Run(t.Context(), []byte(task))
		if death, ok := errors.AsType[*Death](err); !ok || death.Error() != want || death.OutOfMemory {
			t.Errorf("%s: %v, want %s", task, err, want)
		}
	}
}

func TestADeathForWantOfMemoryIsToldAsSuch(t *testing.T) {
	t.Parallel()
	stack := "\n\ngoroutine 1:\n" + strings.Repeat("frame\n", 4000)
	for words, want := range map[string]string{
		"runtime: out of memory: cannot allocate 4194304-byte block (83591168 in use)\nfatal error: out of memory":                       "fatal error: out of memory",
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f m=0 sigcode=18446744073709551610": "runtime/cgo: pthread_create failed: Resource temporarily unavailable",
	} {
		s := &said{}
		fmt.Fprint(s, words+stack)
		d := Death{State: "exit status 2", Said: s.telling(), OutOfMemory: s.outOfMemory()}
		if got, want := d.Error(), "out of memory, exit status 2: "+want; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestWhoeverEndsAWorkerByAskingItIsNotItsWork(t *testing.T) {
	t.Parallel()
	if _, err := itself().Run(t.Context(), []byte("SIGTERM")); !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}

func TestAWorkerThatDoesNotComeToItsWorkIsNotItsWorksFault(t *testing.T) {
	t.Parallel()
	var unstarted *Unstarted
	_, err := itself().Run(t.Context(), []byte("refuse"))
	if !errors.As(err, &unstarted) || memoir.CodeOf(err) != memoir.CodeStorage || memoir.HintOf(err) != "make room" || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("refused: %v", err)
	}
	if _, err := itself().Run(t.Context(), []byte("die before it")); !errors.As(err, &unstarted) || !strings.Contains(err.Error(), "killed by SIGKILL") {
		t.Errorf("died: %v", err)
	}
	for _, path := range []string{"/nowhere/memoir", t.TempDir()} {
		c := itself()
		c.Path = path
		if _, err := c.Run(t.Context(), nil); !errors.As(err, &unstarted) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAWorkerThatIsAskedToStopAnswersOrIsKilled(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	stopped := func(task string) ([]byte, error) {
		ctx, cancel := context.WithCancelCause(t.Context())
		atWork := t.TempDir() + "/at-work"
		if err := syscall.Mkfifo(atWork, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = os.ReadFile(atWork) // until the worker has opened and closed it
			cancel(cause)
		}()
		return itself().Run(ctx, []byte(task+" "+atWork))
	}
	if got, err := stopped("wait"); err != nil || !strings.HasPrefix(string(got), "stopped: ") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := stopped("deaf"); got != nil || !errors.Is(err, cause) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAWorkerEndsWhenItsWatcherIsKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	alive, theirs, err := os.Pipe() // theirs is open in the watcher, and in the worker
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	watcher := exec.Command(self)
	watcher.Env = append(os.Environ(), watchVariable+"=1")
	watcher.ExtraFiles = []*os.File{theirs}
	if err := watcher.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if _, err := io.ReadFull(alive, make([]byte, 1)); err != nil { // the worker is at work
		t.Fatal(err)
	}
	_ = watcher.Process.Kill()
	_ = watcher.Wait()
	if _, err := io.Copy(io.Discard, alive); err != nil {
		t.Fatal(err)
	}
}
