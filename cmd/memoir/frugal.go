package main

import (
	"os"
	"runtime/debug"
)

// frugal makes a command that reads whole sessions hold at most half again as much
// as it needs, rather than twice: what a session of a gigabyte leaves behind while
// it is read must not fill a small machine. It costs up to an eighth of the processor
// time. Who sets GOGC has decided for themselves.
func frugal() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}
