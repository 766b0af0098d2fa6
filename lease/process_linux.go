package lease

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lookup reads /proc/<pid>/stat: field 22 is the start of the process in clock ticks since boot, which does
// not depend on the wall clock (proc_pid_stat(5)).
func lookup(pid int) (start string, p presence) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		// With hidepid=2 other users' processes have no directory in /proc.
		if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return "", gone
		}
		return "", unsure
	}
	return parseStat(string(stat))
}

func parseStat(stat string) (start string, p presence) {
	// Field 2 is the command's name in parentheses and may contain any character.
	i := strings.LastIndexByte(stat, ')')
	if i < 0 {
		return "", unsure
	}
	fields := strings.Fields(stat[i+1:]) // from field 3 on
	const state, startTime = 0, 22 - 3
	if len(fields) <= startTime {
		return "", unsure
	}
	switch fields[state] {
	case "Z", "X", "x": // ended; its parent has not waited for it
		return "", gone
	}
	return fields[startTime], running
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func pidSpace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return link
}

// monotonic reads the clock of time.Since and returns its name: each time namespace has its own clock. It
// stops while the machine sleeps.
func monotonic() (ticks time.Duration, name string, ok bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0, "", false
	}
	name, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		name = "monotonic" // a kernel without time namespaces
	}
	return time.Duration(t.Nano()), name, true
}
