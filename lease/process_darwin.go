package lease

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const stateZombie = 5 // SZOMB in <sys/proc.h>

func lookup(pid int) (start string, p presence) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return "", gone
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", unsure
	}
	if info.Proc.P_stat == stateZombie {
		return "", gone
	}
	t := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", t.Sec, t.Usec), running
}

func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

func pidSpace() string { return "" }

// monotonic reads the clock of time.Since and returns its name. It stops while the machine sleeps.
func monotonic() (ticks time.Duration, name string, ok bool) {
	const uptimeRaw = 8 // CLOCK_UPTIME_RAW in <time.h>
	var t unix.Timespec
	if err := unix.ClockGettime(uptimeRaw, &t); err != nil {
		return 0, "", false
	}
	return time.Duration(t.Nano()), "uptime", true
}
