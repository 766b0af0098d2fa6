package main

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAWatchOfNoTerminalIsOneObjectALine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(released(t), "status", "--watch", "0.1", "--json", "--home", filepath.Join(dir, "home"))
	cmd.Env = []string{"HOME=" + dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for i := range 3 {
		if !lines.Scan() {
			t.Fatalf("line %d: %v", i, lines.Err())
		}
		var s statusJSON
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil || !strings.Contains(s.Error, "nothing is registered") || s.At.IsZero() {
			t.Errorf("line %d: %v, %+v", i, err, s)
		}
	}
	if err := out.Close(); err != nil { // the reader goes away
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestWatchIntervals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"2": 2 * time.Second, "0.5": 500 * time.Millisecond, "1m": time.Minute, "0": 0, "soon": 0, "-1": 0, "": 0, "0.01": 0} {
		got, err := watchInterval(text)
		if (err != nil) != (want == 0) || err == nil && got != want {
			t.Errorf("%s: %v, %v", strconv.Quote(text), got, err)
		}
	}
}
