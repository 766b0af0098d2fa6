// Package lease is exclusive work among processes on one machine: who holds it,
// how long, how they keep it, and when others may take it. It does not know what
// the work is, nor where a lease is stored; package store does that.
// Read this comment, then this file, keep.go, holder.go.
//
// # States
//
//	         claim: new owner token, next fence, until = now + duration
//	free ------------------------------------------------------------> held
//	 ^                                                                 | ^ |
//	 |  finished or given back by its owner                            | | | heartbeat:
//	 +-----------------------------------------------------------------+ | | until moves on
//	 |  the holder is known to be dead                                 | +-+
//	 +-----------------------------------------------------------------+
//	 |  until has passed                                               |
//	 +-----------------------------------------------------------------+
//
// # Who is authoritative
//
// The stored row is. A lease belongs to whoever's owner token stands in it: an
// owner whose time has passed but whom nobody replaced may go on, and one that
// was replaced has lost it whatever its own clock says. So every write of a
// result compares the token in the same transaction. Where the result lies
// outside the database (a link, a file), the fence is compared too: it grows
// with every claim, so a late owner's number is smaller than the one stored.
//
// # Trust window
//
// Between heartbeats an owner may believe that it still holds the lease, but no
// longer than the lease lasts counted from the *start* of the last attempt that
// succeeded, on the monotonic clock: the attempt may have waited in a queue, and
// the wall clock may have been set. Keep cancels the work when that window closes
// without a heartbeat having succeeded. The window only saves work that would be
// thrown away; the token and the fence keep the result right even for a process
// that was stopped for an hour and goes on as if nothing had happened.
//
// # Clocks
//
// Until is told by the holder's Now: the wall clock as it stood when the process began,
// and from there on the monotonic clock. A holder says where its Now stands by the
// monotonic clock of the machine, so that processes of one boot agree on how long a
// lease lasts, whoever sets the wall clock and whenever they began. A day forward ends
// no lease of theirs, a day back makes none last longer. A laptop's sleep takes no time:
// the holder slept as well. Only SIGSTOP, and what else stops one process and not the
// others, lets a lease run out. To processes a sleep is that all of them are stopped, with the
// wall clock ahead afterwards: that is tested, with a holder that is stopped while the
// clock is set. That the monotonic clock stands still meanwhile is the kernel's word:
// CLOCK_MONOTONIC of Linux, CLOCK_UPTIME_RAW of macOS.
//
// Of a holder on another machine, or in another time namespace, only the wall clock is
// known. One set forward makes its leases look expired: others take them over, and the
// former owner loses by its token.
package lease

import (
	"crypto/rand"
	"sync"
	"time"

	"memoir/internal/failpoint"
)

// Lease is a claim on one piece of work, as it is stored.
type Lease struct {
	Owner  string    // token of the claim; empty when nobody holds it
	Fence  int64     // number of the claim, growing; 0 where the work needs none
	Holder Holder    // the process that holds it
	Until  time.Time // it may be taken by others from this moment on
}

// Free reports whether the work may be claimed at now, as Now tells it: nobody holds it, its time
// has passed, or its holder is known to be dead.
func (l Lease) Free(now time.Time) bool {
	if l.Over(now) {
		return true
	}
	alive, known := l.Holder.Alive()
	return known && !alive
}

// Over reports whether nobody holds the work at now, as Now tells it, or its time has
// passed: all of Free but whether the holder lives.
func (l Lease) Over(now time.Time) bool {
	return l.Owner == "" || !l.Holder.clock(now).Before(l.Until)
}

// NewToken returns an owner token that no other claim has or will have.
func NewToken() string { return rand.Text() }

var began = sync.OnceValue(func() struct{ wall, ticks time.Time } {
	return struct{ wall, ticks time.Time }{failpoint.Now().Round(0), time.Now()}
})

// Now is the clock of leases: the wall clock as it stood when the process first asked,
// and from there on the monotonic clock. So whoever sets the wall clock neither ends
// a lease that this process holds nor makes it last longer.
func Now() time.Time {
	b := began()
	return b.wall.Add(time.Since(b.ticks))
}

// clock is a moment of this process's Now by that of the holder. Processes of one boot
// count on one monotonic clock, wherever their wall clocks stood when they began; of
// others only the wall clock is known.
func (h Holder) clock(now time.Time) time.Time {
	me := Self()
	if h.Zero == 0 || me.Zero == 0 || h.Boot != me.Boot || h.Clock != me.Clock {
		return now
	}
	return now.Add(time.Duration(h.Zero-me.Zero) * time.Millisecond)
}
