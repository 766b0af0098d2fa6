package lease

import (
	"strings"
	"testing"
)

// stat is a line of /proc/<pid>/stat with the given name, state and start.
func stat(name, state, start string) string {
	return "42 (" + name + ") " + state + " 1" + strings.Repeat(" 0", 17) + " " + start + " 4096 100"
}

func TestTheStartOfAProcessIsField22(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stat, start string
		want              presence
	}{
		{"a plain name", stat("memoir", "S", "777"), "777", running},
		{"a name with a parenthesis and a space", stat("me) R 1 (moir", "R", "777"), "777", running},
		{"one that was stopped", stat("memoir", "T", "777"), "777", running},
		{"one that has ended", stat("memoir", "Z", "777"), "", gone},
		{"one that is being removed", stat("memoir", "X", "777"), "", gone},
		{"a line cut short", "42 (memoir) S 1 2 3", "", unsure},
		{"something else", "no process", "", unsure},
		{"nothing", "", "", unsure},
	}
	for _, tt := range tests {
		if start, p := parseStat(tt.stat); start != tt.start || p != tt.want {
			t.Errorf("%s: %q, %v; want %q, %v", tt.name, start, p, tt.start, tt.want)
		}
	}
}
