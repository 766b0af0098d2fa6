package lease

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// Holder identifies one process for good. A process id alone does not: it is reused, also after a restart of
// the machine, and differs between containers.
type Holder struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"` // start time of the process, in the kernel's units; empty if unknown
	Boot  string `json:"boot,omitempty"`  // id of this boot of the machine; empty if unknown
	Space string `json:"space,omitempty"` // namespace of PID; empty on systems without namespaces
	Clock string `json:"clock,omitempty"` // name of the monotonic clock of Zero; empty if unknown
	Zero  int64  `json:"zero,omitempty"`  // time of Now when that clock was zero, in unix milliseconds
}

var self = sync.OnceValue(func() Holder {
	host, _ := os.Hostname()
	pid := os.Getpid()
	start, _ := lookup(pid)
	h := Holder{Host: host, PID: pid, Start: start, Boot: bootID(), Space: pidSpace()}
	if ticks, name, ok := monotonic(); ok && h.Boot != "" {
		h.Clock, h.Zero = name, Now().Add(-ticks).UnixMilli()
	}
	return h
})

// Self is the running process.
func Self() Holder { return self() }

// presence is the kernel's answer about a process id.
type presence int

const (
	unsure  presence = iota // unknown
	gone                    // no process has that id, or it has ended
	running                 // a process has that id
)

// Alive reports whether the process still runs, and whether that is known. It is known for processes of this
// machine and process namespace, and for those that a restart of this machine ended. For all others only
// the lease counts.
func (h Holder) Alive() (alive, known bool) { return h.aliveFrom(Self(), lookup) }

func (h Holder) aliveFrom(me Holder, lookup func(pid int) (string, presence)) (alive, known bool) {
	if h.PID <= 0 || h.Boot == "" || me.Boot == "" {
		return false, false
	}
	if h.Boot != me.Boot {
		// The same host with another boot id was restarted.
		return false, h.Host == me.Host && h.Host != ""
	}
	if h.Space != me.Space {
		return false, false
	}
	start, p := lookup(h.PID)
	switch {
	case p == gone:
		return false, true
	case p == unsure || start == "" || h.Start == "":
		return false, false
	default:
		return start == h.Start, true
	}
}

// String is the form in which a holder is stored; ParseHolder reads it.
func (h Holder) String() string {
	if h == (Holder{}) {
		return ""
	}
	b, err := json.Marshal(h)
	if err != nil {
		panic(err) // strings and an int always marshal
	}
	return string(b)
}

// ParseHolder parses the result of String. The empty string is the zero Holder.
func ParseHolder(text string) (Holder, error) {
	var h Holder
	if text == "" {
		return h, nil
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return Holder{}, fmt.Errorf("reading lease holder %q: %w", text, err)
	}
	return h, nil
}

// Describe names the holder for a person: "process 4711 on host".
func (h Holder) Describe() string {
	if h.PID == 0 {
		return "an unknown process"
	}
	if h.Host == "" {
		return fmt.Sprintf("process %d", h.PID)
	}
	return fmt.Sprintf("process %d on %s", h.PID, h.Host)
}
