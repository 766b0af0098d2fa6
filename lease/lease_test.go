package lease

import (
	"testing"
	"time"
)

func TestALeaseIsFree(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	dead := Self()
	dead.Start = "0"
	unknown := Holder{Host: "elsewhere", PID: 1, Start: "1", Boot: "another"}
	tests := []struct {
		name  string
		lease Lease
		want  bool
	}{
		{"when nobody holds it", Lease{Until: now.Add(time.Hour)}, true},
		{"not while its holder lives", Lease{Owner: "a", Holder: Self(), Until: now.Add(time.Second)}, false},
		{"from the moment that it ends at", Lease{Owner: "a", Holder: Self(), Until: now}, true},
		{"when it has ended, even if its holder lives", Lease{Owner: "a", Holder: Self(), Until: now.Add(-time.Second)}, true},
		{"at once when its holder is dead", Lease{Owner: "a", Holder: dead, Until: now.Add(time.Hour)}, true},
		{"not while nothing is known of its holder", Lease{Owner: "a", Holder: unknown, Until: now.Add(time.Hour)}, false},
		{"when it has ended and nothing is known of its holder", Lease{Owner: "a", Holder: unknown, Until: now}, true},
		{"not because it says nothing of its holder", Lease{Owner: "a", Until: now.Add(time.Hour)}, false},
	}
	for _, tt := range tests {
		if got := tt.lease.Free(now); got != tt.want {
			t.Errorf("%s: free %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTokensDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		token := NewToken()
		if seen[token] || len(token) < 20 {
			t.Fatalf("token %q is short or came twice", token)
		}
		seen[token] = true
	}
}
