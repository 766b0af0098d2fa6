package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"memoir/testdata"
)

// emulated is a terminal: what a program wrote to it is kept as the rows that a person
// would see.
type emulated struct {
	t       *testing.T
	master  *os.File
	slave   *os.File
	cmd     *exec.Cmd
	rows    [][]rune
	x, y    int
	w, h    int
	written chan []byte
	escape  []rune // the sequence that has begun; nil: none
}

// onTerminal starts memoir with a terminal of its own.
func onTerminal(t *testing.T, w, h int, env []string, args ...string) *emulated {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("needs a pseudoterminal: %v", err)
	}
	e := &emulated{t: t, master: master, written: make(chan []byte)}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		e.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("needs a pseudoterminal: %v", err)
	}
	t.Cleanup(func() { e.slave.Close(); e.master.Close() })
	e.resize(w, h)
	e.cmd = exec.Command("memoir", args...)
	e.cmd.Env = append([]string{"TERM=xterm"}, env...)
	e.cmd.Stdin, e.cmd.Stdout, e.cmd.Stderr = e.slave, e.slave, e.slave
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.cmd.Process.Kill() })
	go func() {
		for {
			b := make([]byte, 4096)
			n, err := master.Read(b)
			if err != nil {
				close(e.written)
				return
			}
			e.written <- b[:n]
		}
	}()
	return e
}

func (e *emulated) resize(w, h int) {
	e.t.Helper()
	if err := unix.IoctlSetWinsize(int(e.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(h), Col: uint16(w)}); err != nil {
		e.t.Fatal(err)
	}
	e.w, e.h, e.x, e.y, e.rows = w, h, 0, 0, make([][]rune, h)
}

// put does with a rune what a terminal does.
func (e *emulated) put(r rune) {
	switch {
	case e.escape != nil:
		if e.escape = append(e.escape, r); len(e.escape) > 2 && (r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			e.obey(string(e.escape[1:]))
			e.escape = nil
		}
	case r == '\x1b':
		e.escape = []rune{r}
	case r == '\r':
		e.x = 0
	case r == '\n':
		if e.y++; e.y == e.h {
			e.rows, e.y = append(e.rows[1:], nil), e.h-1
		}
	case e.x < e.w:
		for len(e.rows[e.y]) <= e.x {
			e.rows[e.y] = append(e.rows[e.y], ' ')
		}
		e.rows[e.y][e.x] = r
		e.x++
	}
}

func (e *emulated) obey(sequence string) {
	// Behind a full row the cursor stands on its last character.
	rest := func() { e.rows[e.y] = e.rows[e.y][:min(e.x, e.w-1, len(e.rows[e.y]))] }
	switch {
	case sequence == "[2J":
		e.rows = make([][]rune, e.h)
	case sequence == "[H":
		e.x, e.y = 0, 0
	case sequence == "[K":
		rest()
	case sequence == "[J":
		rest()
		for y := e.y + 1; y < e.h; y++ {
			e.rows[y] = nil
		}
	case strings.HasPrefix(sequence, "[?"), strings.HasSuffix(sequence, "m"):
	default:
		e.t.Errorf("the terminal does not know %q", sequence)
	}
}

// text is what a person sees.
func (e *emulated) text() string {
	var lines []string
	for _, row := range e.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.Join(lines, "\n")
}

// until waits for a screen with all of some texts, and without another.
func (e *emulated) until(without string, with ...string) {
	e.t.Helper()
	giveUp := time.After(time.Minute)
	for {
		seen := e.text()
		good := without == "" || !strings.Contains(seen, without)
		for _, w := range with {
			good = good && strings.Contains(seen, w)
		}
		if good {
			return
		}
		select {
		case b, ok := <-e.written:
			if !ok {
				e.t.Fatalf("it ended with\n%s", seen)
			}
			for _, r := range string(b) {
				e.put(r)
			}
		case <-giveUp:
			e.t.Fatalf("%q (without %q) does not come:\n%s", with, without, seen)
		}
	}
}

// ends types a key and waits for the exit code.
func (e *emulated) ends(key string, want int) {
	e.t.Helper()
	if _, err := e.master.WriteString(key); err != nil {
		e.t.Fatal(err)
	}
	go func() {
		for range e.written {
		}
	}()
	if code := codeOf(e.t, e.cmd.Wait()); code != want {
		e.t.Errorf("%q: exit code %d, want %d", key, code, want)
	}
	if mode, err := unix.IoctlGetTermios(int(e.slave.Fd()), unix.TCGETS); err != nil || mode.Lflag&unix.ECHO == 0 {
		e.t.Errorf("%q: the terminal does not show what is typed any more: %v", key, err)
	}
}

func TestAWatchFollowsADatabaseThatIsMadeAndRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, sessions := filepath.Join(dir, "home"), filepath.Join(dir, "sessions")
	if _, err := testdata.Write(sessions); err != nil {
		t.Fatal(err)
	}
	env := environment("HOME=" + dir)
	e := onTerminal(t, 80, 40, env, "status", "--watch", "0.2", "--home", home)
	e.until("", "nothing is registered", "`memoir run` looks for sessions")
	run := exec.Command("memoir", "run", "-q", "--home", home, "--sessions", sessions, "--now", testdata.Now.Format(time.RFC3339))
	run.Env = env
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e.until("nothing is registered", "projects   2, 0 due", "last run", "done", "lanternd-")
	for line := range strings.Lines(e.text()) {
		if len([]rune(line)) > 81 {
			t.Errorf("too long: %q", line)
		}
	}
	e.resize(60, 8)
	e.until("", "more: make the terminal higher", "sessions")
	e.resize(80, 40)
	e.until("make the terminal higher", "lanternd-", "q ends")
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	e.until("lanternd-", "nothing is registered")
	e.ends("q", exitDone)
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("watching made the home: %v", err)
	}

	e = onTerminal(t, 80, 24, env, "status", "--watch", "--home", home)
	e.until("", "q ends")
	e.ends("\x03", exitInterrupted)
}

// scribble is what others leave on a terminal that they had the use of, in its usual mode.
func (e *emulated) scribble(usual *unix.Termios) {
	e.t.Helper()
	if err := unix.IoctlSetTermios(int(e.slave.Fd()), unix.TCSETS, usual); err != nil {
		e.t.Fatal(err)
	}
	for i := range e.rows {
		e.rows[i] = []rune("$ something else")
	}
}

func TestAWatchThatWasStoppedTakesTheTerminalAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Looks are so rare that no other draws what is asked for here.
	e := onTerminal(t, 80, 24, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, "status", "--watch", "1h", "--home", filepath.Join(dir, "home"))
	usual, err := unix.IoctlGetTermios(int(e.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	usual.Lflag |= unix.ECHO | unix.ICANON | unix.ISIG // whether or not it has begun by now
	usual.Iflag |= unix.ICRNL
	usual.Oflag |= unix.OPOST
	for name, stop := range map[string]func() error{
		"by its key": func() error { // where no shell is there to stop it for, it goes on at once
			_, err := e.master.WriteString("\x1a")
			return err
		},
		"by a signal": func() error {
			return errors.Join(e.cmd.Process.Signal(syscall.SIGSTOP), e.cmd.Process.Signal(syscall.SIGCONT))
		},
	} {
		e.until("", "q ends", "nothing is registered")
		if name == "by a signal" {
			e.scribble(usual)
		} else {
			for i := range e.rows {
				e.rows[i] = []rune("$ something else")
			}
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		e.until("something else", "q ends", "nothing is registered")
		if mode, err := unix.IoctlGetTermios(int(e.slave.Fd()), unix.TCGETS); err != nil || mode.Lflag&(unix.ECHO|unix.ICANON) != 0 {
			t.Errorf("%s: keys do not come at once: %v", name, err)
		}
	}
	e.ends("q", exitDone)
}

func TestAWatchOfNoTerminalIsOneObjectALine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("memoir", "status", "--watch", "0.1", "--json", "--home", filepath.Join(dir, "home"))
	cmd.Env = []string{"HOME=" + dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := range 3 {
		if !lines.Scan() {
			t.Fatalf("line %d: %v", i, lines.Err())
		}
		var s statusJSON
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil || !strings.Contains(s.Error, "nothing is registered") || s.At.IsZero() {
			t.Errorf("line %d: %v, %+v", i, err, s)
		}
	}
	if err := out.Close(); err != nil { // the reader goes away
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestWatchIntervals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"2": 2 * time.Second, "0.5": 500 * time.Millisecond, "1m": time.Minute, "0": 0, "soon": 0, "-1": 0, "": 0, "0.01": 0} {
		got, err := watchInterval(text)
		if (err != nil) != (want == 0) || err == nil && got != want {
			t.Errorf("%s: %v, %v", strconv.Quote(text), got, err)
		}
	}
}
