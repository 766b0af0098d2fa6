package config

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "0h": 0, "0d": 0, "12h": 12 * time.Hour, "30d": 30 * day, "90m": 90 * time.Minute, "2w": 14 * day, "45s": 45 * time.Second,
		"1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute, " 3d ": 3 * day, "0.5d": 12 * time.Hour,
		"500ms": 500 * time.Millisecond, "1m1ms": time.Minute + time.Millisecond, "1.5s250us": 1500*time.Millisecond + 250*time.Microsecond,
		"20µs": 20 * time.Microsecond, "20μs": 20 * time.Microsecond, "7ns": 7,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "12", "h", "-1d", "+1d", "+1h", "1x", "1.2.3h", ".h", "1e3h", "1 h", "99999999999w", "١h", "12hh", "0d5", "5mss", "5u"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	f.Add("12h")
	f.Add("1w2d")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); err == nil && (d < 0 || d > maxDelay) {
			t.Errorf("%q is %v", text, d)
		}
	})
}
