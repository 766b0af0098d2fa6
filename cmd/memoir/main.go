// Command memoir gives coding agents a memory: it reads their transcripts, extracts lasting knowledge by project,
// and injects a summary into the next session.
//
// This package parses flags, prints text or JSON, and sets exit codes. The packages it calls do
// the work. Read app.go first (the commands and wrong words), then ui.go (output).
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
	"memoir/store"
)

// Version, Commit and Date are set by the build: go build -ldflags "-X main.Version=v1.2.3". Date is
// that of the commit, in RFC 3339.
var Version, Commit, Date string

// leastHandles is the number of files that any command must be able to open.
const leastHandles = 24

func main() {
	os.Exit(start(os.Args[1:], os.Environ()))
}

func start(args, environ []string) (code int) {
	p := newProgram(environ)
	ctx, stop := untilSignal(context.Background(), os.Exit)
	defer stop()
	err := disk.Handles(leastHandles)
	if err != nil {
		// No file can be opened, not even a log.
		if isStartup(args) || slices.Contains(args, "inject") {
			return exitDone
		}
		p.ui.fail(err)
		return exitCode(err)
	}
	func() {
		defer func() {
			if v := recover(); v != nil {
				err = memoir.Errorf(memoir.CodeInternal, "this is a defect of memoir "+version()+
					": please report it with the command line; -v shows where it happened", "unexpected: %v", v)
				if p.ui.verbose {
					_, _ = p.ui.errw.Write(debug.Stack())
				}
			}
		}()
		err = p.execute(ctx, args)
	}()
	// An error of a hook must not disturb the starting session.
	if isStartup(args) {
		if err != nil {
			p.logStartup(err)
		}
		return exitDone
	}
	if err != nil && p.answersHook() {
		p.logStartup(err)
		p.ui.write(hookOutput(*p.hook, "", "", p.noMemory(err)))
		_ = p.ui.close()
		return exitDone
	}
	if closed := p.ui.close(); closed != nil && exitCode(err) == exitDone { // help ends with a status
		err = closed
	}
	if _, silent := err.(status); err != nil && !silent {
		p.ui.fail(err)
	}
	return exitCode(err)
}

// isStartup reports whether args are `run --startup`, which prints nothing even if the command line
// is otherwise wrong.
func isStartup(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "run") &&
		slices.ContainsFunc(args, func(a string) bool { return strings.TrimLeft(a, "-") == "startup" && a[0] == '-' })
}

func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development"
	}
	return info.Main.Version
}

func versionCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "version", Category: groupUpkeep,
		Usage: "print the versions of memoir and its components",
		Description: help("Prints the version, the commit with its date, and the versions of Go, SQLite and the gitleaks\n"+
			"rules. `memoir --version` prints only the first.", "memoir version", "memoir version --json"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			out := struct {
				Version  string `json:"version"`
				Commit   string `json:"commit"` // empty if the build did not set it, like the date
				Date     string `json:"date"`
				Go       string `json:"go"`
				SQLite   string `json:"sqlite"`
				Gitleaks string `json:"gitleaks"`
				Platform string `json:"platform"`
			}{version(), Commit, Date, runtime.Version(), store.SQLiteVersion(), "", runtime.GOOS + "/" + runtime.GOARCH}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, m := range info.Deps {
					if strings.HasSuffix(m.Path, "/gitleaks/v8") {
						out.Gitleaks = m.Version
					}
				}
			}
			return p.result(c, nil, out, func() {
				p.ui.printf("memoir %s\ncommit: %s\ndate: %s\ngo: %s\nsqlite: %s\ngitleaks: %s\nplatform: %s\n", out.Version,
					orDash(out.Commit), orDash(out.Date), out.Go, out.SQLite, orDash(out.Gitleaks), out.Platform)
			})
		},
	}
}

// signalEcho is the time after a signal within which another one counts as the same: a terminal
// signals every process of a group, and a wrapper (npm, make, a shell's trap) forwards its own.
const signalEcho = 300 * time.Millisecond

// untilSignal returns a context that SIGINT, SIGTERM or a hangup cancels with
// memoir.CodeInterrupted as its cause. A second signal, later than signalEcho, calls
// exit at once.
//
// A closed pipe at stdout or stderr must not kill a run that holds jobs. So SIGPIPE is caught and dropped, and
// writes fail with EPIPE. It is not ignored, because children would inherit that.
func untilSignal(parent context.Context, exit func(code int)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go handleSignals(signals, done, cancel, exit)
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// handleSignals calls cancel at the first signal, and exit at one later than signalEcho.
func handleSignals(
	signals <-chan os.Signal, done <-chan struct{}, cancel context.CancelCauseFunc, exit func(code int),
) {
	var first time.Time
	for {
		select {
		case <-done:
			return
		case s := <-signals:
			if first.IsZero() {
				first = time.Now()
			} else if time.Since(first) > signalEcho {
				exit(exitInterrupted)
			}
			text := strings.TrimSuffix("interrupted by signal: "+s.String(), " by signal: interrupt")
			cancel(memoir.Errorf(memoir.CodeInterrupted, "", "%s", text))
		}
	}
}

// The exit codes; they are part of the interface, and `memoir help` lists them.
const (
	exitDone        = 0   // also when there was nothing to do
	exitFailed      = 1   // also when `scan` found something
	exitUsage       = 2   // bad usage or configuration
	exitPartly      = 3   // a claimed job failed, or a spending limit stopped the run
	exitBusy        = 4   // another process holds the lease
	exitInterrupted = 130 // by a signal
)

// status is the error of a command that ends with an exit code and has printed all messages.
type status int

// Error is never shown.
func (s status) Error() string { return "exit" }

func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	if errors.Is(err, errTimeout) {
		return exitFailed
	}
	switch memoir.CodeOf(err) {
	case memoir.CodeUsage, memoir.CodeConfig:
		return exitUsage
	case memoir.CodeBusy:
		return exitBusy
	case memoir.CodeInterrupted:
		return exitInterrupted
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return exitInterrupted
	}
	return exitFailed
}

// limitHeap trades memory for speed below the heap's share of memories.maxResidentMegabytes, and collects
// often above it, so that a session of a gigabyte fits a small machine. GOGC in the environment
// overrides it.
func limitHeap(memories config.Memories) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
		debug.SetMemoryLimit(memories.Heap())
	}
}
