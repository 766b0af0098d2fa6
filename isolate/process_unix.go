//go:build unix

package isolate

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func state(p *os.ProcessState) string {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return "killed by " + unix.SignalName(status.Signal())
	}
	return p.String()
}

func wasKilled(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// interrupted reports whether a process was asked to end, before or after it could
// answer such a request itself.
func interrupted(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		switch status.Signal() {
		case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
			return true
		}
	}
	return p.ExitCode() == exitCode
}
