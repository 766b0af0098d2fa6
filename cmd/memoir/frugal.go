package main

import (
	"os"
	"runtime/debug"
)

// frugal lets the heap of a command that reads whole sessions grow freely while it is
// small, and holds it close from 40 MiB on: what a session of a gigabyte leaves behind
// while it is read must not fill a small machine, and the many small ones need not pay
// for it. The pages of the program itself, which a system may count, are as much again. Who sets GOGC has decided for themselves.
func frugal() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(40 << 20)
	}
}
