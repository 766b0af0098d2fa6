// Package lease gives one process at a time the right to work on something: who has the right, for how long,
// how it is renewed, and when others may take it. It knows neither the work nor where leases are stored;
// package store does. docs/queue.md has the states of a lease, what is authoritative and the trust window.
// Read this comment, then this file.
//
// Until is a time of the holder's Now: the wall clock at the start of the process plus the time since then on
// the monotonic clock. A holder records how its Now relates to the monotonic clock of the machine. So
// processes of one boot agree on how long a lease lasts, however the wall clock is set. Sleep of the machine does
// not count, since the monotonic clock stops (CLOCK_MONOTONIC of Linux, CLOCK_UPTIME_RAW of macOS). Only a stop
// of one process, as by SIGSTOP, lets its lease expire.
//
// For a holder on another machine, or in another time namespace, only the wall clock is known. A wall clock that is set
// forward makes its leases look expired: others take them over, and the token of the former owner no longer matches.
package lease

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"memoir"
	"memoir/internal/failpoint"
)

// Lease is a claim on one piece of work, as it is stored.
type Lease struct {
	Owner  string    // token of the claim; empty if there is none
	Holder Holder    // the process that made the claim
	Until  time.Time // others may claim the work from then on
}

// Free reports whether the work may be claimed at now, a time of Now: it has no owner, the lease has expired, or
// the holder is known to be dead.
func (l Lease) Free(now time.Time) bool {
	if l.Over(now) {
		return true
	}
	alive, known := l.Holder.Alive()
	return known && !alive
}

// Over reports whether the work has no owner or the lease has expired at now, a time of Now. It does not check
// whether the holder lives.
func (l Lease) Over(now time.Time) bool {
	return l.Owner == "" || !l.Holder.clock(now).Before(l.Until)
}

// NewToken returns an owner token that no other claim has or will have.
func NewToken() string { return rand.Text() }

var began = sync.OnceValue(func() struct{ wall, ticks time.Time } {
	return struct{ wall, ticks time.Time }{failpoint.Now().Round(0), time.Now()}
})

// Now is the clock of leases: the wall clock at the first call in this process, plus the time since then on the
// monotonic clock. Setting the wall clock neither ends nor prolongs a lease of this process.
func Now() time.Time {
	b := began()
	return b.wall.Add(time.Since(b.ticks))
}

// clock converts a time of this process's Now into one of the holder's Now. Processes of one boot share a
// monotonic clock; for others only the wall clock is known.
func (h Holder) clock(now time.Time) time.Time {
	me := Self()
	if h.Zero == 0 || me.Zero == 0 || h.Boot != me.Boot || h.Clock != me.Clock {
		return now
	}
	return now.Add(time.Duration(h.Zero-me.Zero) * time.Millisecond)
}

// Options says how Keep keeps a lease. All fields are required.
type Options struct {
	// Lease is how long each extension lasts; above 0.
	Lease time.Duration
	// Interval is the time between heartbeats, above 0 and shorter than Lease.
	Interval time.Duration
	// Since is when the attempt that won the lease began, as time.Now gave it
	// (with its monotonic reading).
	Since time.Time
	// Extend sets the end of the stored lease to Lease from now. ok is false if another process has
	// the lease. After an error, for instance of a busy database, Extend is called again until the
	// trust window closes; then its context ends.
	Extend func(ctx context.Context) (ok bool, err error)
	// What names the work in the error, such as "session codex:0199".
	What string
}

// Keep sends heartbeats for a lease that the caller has just won. The returned context is cancelled, with a
// cause of code memoir.CodeLeaseLost, when the lease is lost or the trust window closes. The caller must
// call stop, which ends the heartbeats, waits for one that is under way, and cancels the context.
func Keep(ctx context.Context, o Options) (kept context.Context, stop func()) {
	kept, cancel := context.WithCancelCause(ctx)
	// A separate timer closes the window even while Extend hangs.
	window := time.AfterFunc(time.Until(o.Since.Add(o.Lease)), func() {
		cancel(memoir.Errorf(memoir.CodeLeaseLost, "another process may do the work now; run again",
			"lease on %s was not extended within %s", o.What, o.Lease))
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.beat(kept, cancel, window)
	}()
	return kept, sync.OnceFunc(func() {
		cancel(context.Canceled)
		<-done
		window.Stop()
	})
}

func (o Options) beat(ctx context.Context, cancel context.CancelCauseFunc, window *time.Timer) {
	// A failed heartbeat is repeated before the next regular one.
	again := max(o.Interval/8, time.Millisecond)
	wait := time.NewTimer(o.Interval)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		attempt := time.Now()
		ok, err := o.Extend(ctx)
		switch {
		case err != nil:
			wait.Reset(again)
		case !ok:
			cancel(memoir.Errorf(memoir.CodeLeaseLost, "another process does the work now",
				"lease on %s was lost to another process", o.What))
			return
		default:
			// A window that has closed stays closed: ctx has ended.
			window.Reset(time.Until(attempt.Add(o.Lease)))
			wait.Reset(max(time.Until(attempt.Add(o.Interval)), 0))
		}
	}
}

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

// Alive reports whether the process still runs, and whether that is known. It is known for processes of this machine
// and process namespace, and for those that a restart of this machine ended. For all others only the lease counts.
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
