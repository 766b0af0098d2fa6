package model

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// dieWithUs has the kernel kill a program when we are killed, so that it does not go on
// asking, and being paid for, with nobody left to hear it. It ends with the thread that
// started it, which run therefore keeps.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// killRounds bounds the search for processes that start others meanwhile.
const killRounds = 10

// killMarked ends the processes that left their group and are known by the mark in the
// environment that they began with.
func killMarked(mark string) {
	for range killRounds {
		found := false
		names, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range names {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				continue
			}
			process, err := os.FindProcess(pid) // holds on to the process, not to its number
			if err != nil {
				continue
			}
			// An ended process has an empty environment, another user's cannot be read.
			if environ, err := os.ReadFile(name); err == nil && bytes.Contains(environ, []byte(mark)) {
				found = process.Kill() == nil || found
			}
			_ = process.Release()
		}
		if !found {
			return
		}
	}
}
