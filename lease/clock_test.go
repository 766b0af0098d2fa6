package lease

import (
	"testing"
	"time"
)

func TestTheClockOfLeasesFollowsTheMonotonicOne(t *testing.T) {
	t.Parallel()
	before := Now()
	if after := Now(); after.Before(before) || after.Sub(before) > time.Hour {
		t.Fatalf("from %s to %s", before, after)
	}
	if off := time.Until(Now()); off > time.Hour || off < -time.Hour {
		t.Fatalf("it is off by %s, though nobody set the clock", off)
	}
}

// Two processes of one machine, between whose beginnings somebody set the wall clock.
func TestALeaseLastsAsLongHoweverTheWallClockIsSet(t *testing.T) {
	t.Parallel()
	me := Self()
	if me.Zero == 0 {
		t.Skip("the monotonic clock can't be read here")
	}
	const day = 24 * time.Hour
	now := Now()
	holder := func(set time.Duration, change func(*Holder)) Holder {
		h := me
		h.Zero -= set.Milliseconds() // its wall clock stood so much earlier for the same tick
		if change != nil {
			change(&h)
		}
		return h
	}
	elsewhere := func(h *Holder) { h.Boot, h.Host = "another", "elsewhere" }
	tests := []struct {
		name  string
		h     Holder
		until time.Time // by the holder's clock
		want  bool
	}{
		{"a day forward, extended a moment ago", holder(day, nil), now.Add(-day + time.Minute), false},
		{"a day forward, over since a minute", holder(day, nil), now.Add(-day - time.Minute), true},
		{"a day back, extended a moment ago", holder(-day, nil), now.Add(day + time.Minute), false},
		{"a day back, over since a minute", holder(-day, nil), now.Add(day - time.Minute), true},
		{"another machine's, by the wall clock", holder(day, elsewhere), now.Add(-day + time.Minute), true},
		{"another machine's, not over", holder(-day, elsewhere), now.Add(time.Minute), false},
		{"another time namespace's, by the wall clock", holder(day, func(h *Holder) { h.Clock = "other" }), now.Add(-day + time.Minute), true},
		{"of before there were clocks in it", holder(day, func(h *Holder) { h.Zero = 0 }), now.Add(-day + time.Minute), true},
	}
	for _, tt := range tests {
		if got := (Lease{Owner: "a", Holder: tt.h, Until: tt.until}).Free(now); got != tt.want {
			t.Errorf("%s: free %v, want %v", tt.name, got, tt.want)
		}
	}
}
