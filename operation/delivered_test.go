package operation

import (
	"fmt"
	"testing"
	"time"

	"memoir"
)

func TestWhatHadPassedCountsAsRunWithinTenCalls(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	fixed := memoir.Statement{Command: "lint a.yml", Error: "lint: command not found", Fix: "npx lint a.yml"}
	for _, test := range []struct {
		first, calls, ran int // the minute of the first call, the number of calls, and which has the command
		want              string
	}{
		{1, 3, 2, "true"}, {1, 12, 9, "true"}, {1, 12, 10, "false"}, {1, 3, -1, "unknown"}, {1, 10, -1, "false"},
		{-5, 12, 2, "unknown"}, // before it was told
	} {
		var calls []memoir.Item
		for i := range test.calls {
			it := memoir.Item{Kind: memoir.ItemTool, Tool: "Bash", Input: "make", At: at.Add(time.Duration(test.first+i) * time.Minute)}
			if i == test.ran {
				it.Input = "cd x && npx lint b.yml"
			}
			calls = append(calls, it)
		}
		got := "unknown"
		if ran := ranAfter(calls, at, fixed); ran != nil {
			got = fmt.Sprint(*ran)
		}
		if got != test.want {
			t.Errorf("%v: %s", test, got)
		}
	}
}
