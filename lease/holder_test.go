package lease

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// TestMain lets the test binary be a process that waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("LEASE_TEST_WAIT") != "" {
		os.Stdout.WriteString(Self().String() + "\n")
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func examinable(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("processes can't be examined on " + runtime.GOOS)
	}
}

func TestThisProcessIsAlive(t *testing.T) {
	t.Parallel()
	examinable(t)
	if alive, known := Self().Alive(); !alive || !known {
		t.Fatalf("alive %v, known %v for %v", alive, known, Self())
	}
}

func TestAKilledProcessIsDeadBeforeAndAfterItsParentAsks(t *testing.T) {
	t.Parallel()
	examinable(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEASE_TEST_WAIT=1")
	stdin, err := cmd.StdinPipe() // held open: the child waits
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := ParseHolder(line)
	if err != nil {
		t.Fatal(err)
	}
	if alive, known := child.Alive(); !alive || !known {
		t.Fatalf("running: alive %v, known %v", alive, known)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	out.ReadString('\n') // until the pipe is closed, which is when the process ends
	for alive, known := child.Alive(); alive; alive, known = child.Alive() {
		if !known {
			t.Fatal("unknown while the process ends")
		}
		runtime.Gosched()
	}
	if alive, known := child.Alive(); alive || !known {
		t.Fatalf("killed, but not waited for: alive %v, known %v", alive, known)
	}
	cmd.Wait()
	if alive, known := child.Alive(); alive || !known {
		t.Fatalf("waited for: alive %v, known %v", alive, known)
	}
}

func TestWhetherAHolderIsAlive(t *testing.T) {
	t.Parallel()
	me := Holder{Host: "here", PID: 10, Start: "100", Boot: "b1", Space: "s1"}
	change := func(f func(*Holder)) Holder { h := me; f(&h); return h }
	lookup := func(start string, p presence) func(int) (string, presence) {
		return func(int) (string, presence) { return start, p }
	}
	tests := []struct {
		name   string
		holder Holder
		lookup func(int) (string, presence)
		alive  bool
		known  bool
	}{
		{"the same process", me, lookup("100", running), true, true},
		{"an id that is used again", me, lookup("101", running), false, true},
		{"no such process", me, lookup("", gone), false, true},
		{"one that can't be looked at", me, lookup("", unsure), false, false},
		{"one whose start can't be read", me, lookup("", running), false, false},
		{"one that did not know its start", change(func(h *Holder) { h.Start = "" }), lookup("100", running), false, false},
		{"one of before a restart", change(func(h *Holder) { h.Boot = "b0" }), lookup("100", running), false, true},
		{"one of another machine", change(func(h *Holder) { h.Boot, h.Host = "b0", "there" }), lookup("", gone), false, false},
		{"one here under an earlier host name", change(func(h *Holder) { h.Host = "there" }), lookup("100", running), true, true},
		{"one of another container on this machine", change(func(h *Holder) { h.Space = "s2" }), lookup("", gone), false, false},
		{"one that did not know its boot", change(func(h *Holder) { h.Boot = "" }), lookup("", gone), false, false},
		{"nobody", Holder{}, lookup("", gone), false, false},
	}
	for _, tt := range tests {
		if alive, known := tt.holder.aliveFrom(me, tt.lookup); alive != tt.alive || known != tt.known {
			t.Errorf("%s: alive %v, known %v; want %v, %v", tt.name, alive, known, tt.alive, tt.known)
		}
	}
}

func TestAHolderReadsBackAsItWasStored(t *testing.T) {
	t.Parallel()
	for _, h := range []Holder{{}, Self(), {Host: `a "quoted" host`, PID: 3}} {
		got, err := ParseHolder(h.String())
		if err != nil || got != h {
			t.Errorf("%#v came back as %#v, %v", h, got, err)
		}
	}
	if _, err := ParseHolder("worker-17"); err == nil {
		t.Error("what String did not write was read")
	}
}

func TestAHolderIsDescribedForAPerson(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]Holder{
		"an unknown process":     {Host: "here"},
		"process 4711":           {PID: 4711},
		"process 4711 on laptop": {PID: 4711, Host: "laptop"},
	} {
		if got := h.Describe(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzParseHolder(f *testing.F) {
	f.Add("")
	f.Add(Self().String())
	f.Add(`{"pid":-1}`)
	f.Add(`{"host":"a"} trailing`)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHolder(text)
		if err != nil {
			return
		}
		h.Alive() // must not panic, nor signal anyone
		if again, err := ParseHolder(h.String()); err != nil || again != h {
			t.Fatalf("%#v came back as %#v, %v", h, again, err)
		}
	})
}
