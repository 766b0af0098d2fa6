// Package isolate does one piece of work in a process of its own, so that what the
// work does to its process is seen by one that lives on. The program starts itself.
// It knows neither what the work is nor who is to blame for a death.
//
// Read run.go first (the process that watches), then serve.go (the one that works)
// and death.go (how it died).
//
//	watcher                                     worker
//	Command.Run ── the task, on stdin ────────► Serve: prepare
//	            ◄─ "begun", on stdout ───────── from here on a death is the work's
//	            ◄─ the answer, on stdout ────── work
//	stdin is closed ──────────────────────────► stop: the watcher is gone, or asks for it
//
// The pipe at stdin stays open for as long as the watcher lives and wants the work
// done. A worker whose watcher is gone, whatever became of it, sees its end, gives up
// what it does, with the programs that it started, and has ended exitWithin later. To
// have the kernel kill it at once would leave those programs at work.
package isolate
