package lease

import (
	"crypto/rand"
	"time"
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
