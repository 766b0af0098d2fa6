package lease

import (
	"sync"
	"time"

	"memoir/internal/failpoint"
)

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
