//go:build !unix

package isolate

import "os"

func state(p *os.ProcessState) string { return p.String() }

func wasKilled(*os.ProcessState) bool { return false }

func interrupted(p *os.ProcessState) bool { return p.ExitCode() == exitCode }
