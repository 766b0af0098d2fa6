//go:build failpoint && unix

package failpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Variable sets the action; see the package comment.
const Variable = "FAILPOINT"

var (
	mu     sync.Mutex
	passed int
	plan   = read(os.Getenv(Variable))
)

// Enabled reports whether FAILPOINT sets an action.
var Enabled = plan.do != ""

type order struct {
	do    string
	file  *os.File
	at, n int
	whom  string
	name  string // of the failpoint; empty: at has its number
}

func read(text string) (o order) {
	words := strings.Fields(text)
	if len(words) < 2 {
		return o
	}
	o.do, o.n = words[0], 1
	var err error
	if o.do == "stop" && strings.Trim(words[1], "0123456789") != "" {
		o.name = strings.Join(words[1:], " ") + " "
		return o
	}
	if o.do == "log" {
		o.file, err = os.OpenFile(words[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	} else {
		o.at, err = strconv.Atoi(words[1])
	}
	if err == nil && len(words) > 2 && (o.do == "kill" || o.do == "interrupt" || o.do == "terminate") {
		o.whom = words[2]
	} else if err == nil && len(words) > 2 {
		o.n, err = strconv.Atoi(words[2])
	}
	if err != nil {
		panic(fmt.Sprintf("%s: %v", Variable, err))
	}
	return o
}

// Before is called before a write. Its error replaces the write.
func Before(name string) error { return pass(name, true) }

// After is called after a write.
func After(name string) { _ = pass(name, false) }

// ClockVariable names a file with the duration by which the wall clock is shifted. The file is
// read at each use of the clock.
const ClockVariable = "FAILPOINT_CLOCK"

// Now returns the time of the wall clock.
func Now() time.Time {
	path := os.Getenv(ClockVariable)
	if path == "" {
		return time.Now()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", ClockVariable, err))
	}
	wrong, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", ClockVariable, err))
	}
	return time.Now().Round(0).Add(wrong)
}

func pass(name string, canFail bool) error {
	mu.Lock()
	defer mu.Unlock()
	passed++
	switch plan.do {
	case "log":
		fmt.Fprintf(plan.file, "%d %s %s\n", os.Getpid(), name, caller())
	case "kill":
		if passed == plan.at {
			syscall.Kill(plan.target(), syscall.SIGKILL)
			select {}
		}
	case "interrupt", "terminate":
		if passed == plan.at {
			sent := map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM}[plan.do]
			heard := make(chan os.Signal, 1)
			signal.Notify(heard, sent)
			syscall.Kill(plan.target(), sent)
			<-heard
		}
	case "stop":
		named := plan.name != "" && strings.HasPrefix(name+" "+caller()+" ", plan.name)
		if named || passed == plan.at {
			plan.name = ""
			// Another thread may receive the signal; this one must wait for that.
			goesOn := make(chan os.Signal, 1)
			signal.Notify(goesOn, syscall.SIGCONT)
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-goesOn
		}
	case "fail":
		if canFail && passed >= plan.at && (plan.n == 0 || passed < plan.at+plan.n) {
			return syscall.ENOSPC
		}
	}
	return nil
}

// target returns the process or the group that receives a signal.
func (o order) target() int {
	if o.whom == "group" {
		return 0
	}
	return os.Getpid()
}

// Remove is os.Remove, without a failpoint if nothing exists.
func Remove(path string) error {
	if _, err := os.Lstat(path); err == nil {
		if err := Before("remove"); err != nil {
			return &fs.PathError{Op: "remove", Path: path, Err: err}
		}
	}
	return os.Remove(path)
}

// RemoveAll is os.RemoveAll, with a failpoint before each file and directory.
func RemoveAll(path string) error {
	var entries []fs.DirEntry
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		if entries, err = os.ReadDir(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // as os.RemoveAll does
			return err
		}
	}
	for _, e := range entries {
		if err := RemoveAll(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	if err := Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func writeFile(path string, content []byte, mode fs.FileMode) error {
	half := len(content) / 2
	if err := os.WriteFile(path, content[:half], mode); err != nil {
		return err
	}
	if err := Before("write the rest"); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return os.WriteFile(path, content, mode)
}

// caller returns the name of the exported function that caused a write.
func caller() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for {
		frame, more := frames.Next()
		name := path.Base(frame.Function)
		if i := strings.LastIndexByte(name, '.'); !strings.HasPrefix(name, "failpoint.") && i >= 0 && i+1 < len(name) &&
			name[i+1] >= 'A' &&
			name[i+1] <= 'Z' ||
			!more {
			return name
		}
	}
}
