package main

import (
	"os"
	"runtime/debug"
)

// heapLimit is the soft limit of the heap of a command that reads whole sessions, in bytes.
// The text of the program and what SQLite holds come on top.
const heapLimit = 64 << 20

// limitHeap lets the heap grow freely while it is small and bounds it from heapLimit on, so
// that a session of a gigabyte does not fill a small machine. GOGC in the environment
// overrides it.
func limitHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(heapLimit)
	}
}
