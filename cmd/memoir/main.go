// Command memoir gives coding agents a memory: it reads their transcripts,
// keeps what is worth keeping per project, and hands a summary to the next
// session.
//
// This package is the command line and nothing else: flags, words for a person,
// JSON for a program, exit codes. What it does not know is how anything is done;
// that is in the packages it calls. Read app.go first (the commands), then ui.go
// (how it speaks), args.go (flags in any place) and exit.go; every command has a
// file of its name.
package main

import (
	"context"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/disk"
)

// Version is what a build says it is: go build -ldflags "-X main.Version=v1.2.3".
var Version string

// leastHandles is how many files any command must be able to open.
const leastHandles = 24

func main() {
	os.Exit(start(os.Args[1:], os.Environ()))
}

// start runs one command line and returns its exit code.
func start(args, environ []string) (code int) {
	p := newProgram(environ)
	ctx, stop := untilSignal(context.Background(), os.Exit)
	defer stop()
	err := disk.Handles(leastHandles)
	if err != nil {
		// Nothing can be opened, a log neither.
		if isStartup(args) || slices.Contains(args, "inject") {
			return exitDone
		}
		p.ui.fail(err)
		return exitCode(err)
	}
	func() {
		defer func() {
			if v := recover(); v != nil {
				err = crashed(v)
				if p.ui.verbose {
					_, _ = p.ui.errw.Write(debug.Stack())
				}
			}
		}()
		err = p.execute(ctx, args)
	}()
	// A hook must not disturb the session that it starts with, whatever happened.
	if isStartup(args) {
		if err != nil {
			p.logStartup(args, err)
		}
		return exitDone
	}
	if err != nil && p.answersHook() {
		p.logStartup(args, err)
		p.ui.write(p.hook.silence)
		_ = p.ui.close()
		return exitDone
	}
	if closed := p.ui.close(); err == nil {
		err = closed
	}
	if _, silent := err.(status); err != nil && !silent {
		p.ui.fail(err)
	}
	return exitCode(err)
}

// crashed turns a panic into an error that a person can act on.
func crashed(v any) error {
	return memoir.Errorf(memoir.CodeInternal,
		"this is a defect of memoir "+version()+": please report it with the command line; -v shows where it happened",
		"unexpected: %v", v)
}

// isStartup reports whether args are `run --startup`, which even a command line
// that is otherwise wrong must not turn into noise.
func isStartup(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "run") &&
		slices.ContainsFunc(args, func(a string) bool { return strings.TrimLeft(a, "-") == "startup" && a[0] == '-' })
}

// version returns what --version prints.
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
