package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

func TestStatusSaysWhatBecomesOfStaleWork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stale bool
		state string
		hint  bool
	}{{true, "stale      extract codex:1 by process 7", true}, {false, "running    extract codex:1 by process 7", false}} {
		u, words := captured(t)
		var results bytes.Buffer
		u.out = bufio.NewWriter(&results)
		(&program{ui: u}).printStatus(statusJSON{Running: []runningJSON{
			{Kind: "extract", Key: "codex:1", Holder: "process 7", Stale: test.stale},
		}})
		if err := u.close(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(results.String(), test.state) || strings.Contains(words.String(), "hint: stale") != test.hint {
			t.Errorf("stale %v: got\n%s%s", test.stale, results.String(), words.String())
		}
	}
}
