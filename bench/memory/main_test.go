package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"memoir"
)

// mostTraps is the bar for the share of traps that raw memories of the benchmark's own sessions hold.
const mostTraps = 0.091

// program is the memoir under test.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "memoir-bench-test-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "memoir")
	if out, err := exec.Command("go", "build", "-o", program, "memoir/cmd/memoir").CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// measure runs the benchmark and returns what it printed.
func measure(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"-memoir", program}, args...), &out, &out)
	return out.String(), err
}

func measured(t *testing.T, args ...string) Report {
	t.Helper()
	out, err := measure(t, append(args, "-json")...)
	if err != nil {
		t.Fatal(err, out)
	}
	var report Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

// TestTheReadmeGivesTheFiguresThatAreMeasured also holds these figures, since the README names them.
func TestTheReadmeGivesTheFiguresThatAreMeasured(t *testing.T) {
	t.Parallel()
	total := measured(t, "-data", ".").Total.Tallies
	raw, kept, traps := total[inRaw], total[carried], total[trapsFiles]
	says := fmt.Sprintf("| of %d facts %.0f %% can be found, %.0f %% stand in `MEMORY.md`, and so do %d of %d traps [6] | `go run ./bench/memory` |",
		raw.Of, 100*raw.Share(), 100*kept.Share(), traps.Found, traps.Of)
	readme, err := os.ReadFile("../../README.md")
	if err != nil || !strings.Contains(string(readme), says) {
		t.Errorf("the README does not say %q (%v)", says, err)
	}
	if got := total[trapsRaw].Share(); got > mostTraps {
		t.Errorf("share of traps in raw memories is %.3f, was %.3f", got, mostTraps)
	}
	if leaked := total[planted]; leaked.Found > 0 || leaked.Of == 0 {
		t.Errorf("%d of %d secrets were stored", leaked.Found, leaked.Of)
	}
}

func TestMemoirIsMeasured(t *testing.T) {
	t.Parallel()
	report := measured(t, "-data", "testdata", "-misses")
	c, total := report.Total.Tallies, report.Total
	if len(report.Projects) != 2 || total.Sessions != 3 || c[inRaw].Of != 7 || c[inFiles].Of != 1 || c[trapsRaw].Of != 2 {
		t.Errorf("counted are %+v", total)
	}
	if c[inRaw].Found == 0 || c[carried].Found == 0 || total.Tokens == 0 || total.MemoryBytes == 0 {
		t.Errorf("nothing of the memory was found: %+v", total)
	}
	if c[planted] != (Tally{Of: 2, Weight: 2}) {
		t.Errorf("secrets: %+v", c[planted])
	}
	missed := c[inRaw].Of - c[inRaw].Found + c[inFiles].Of - c[inFiles].Found + c[trapsRaw].Found + c[trapsFiles].Found
	if missed != len(report.Misses) {
		t.Errorf("%d misses are listed, %d counted", len(report.Misses), missed)
	}
}

func TestBadDataAndBadUsageAreTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, content := range map[string]string{"sessions/p/project.yml": "projects: p\n",
		"corpus/x.yml": "session: ../x\n"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"-data", dir}, {"-data", dir, "-real"}, {"-no-such-flag"},
		{"argument"}} {
		if _, err := measure(t, args...); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestWithoutDataThereIsNothingToMeasure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{}, {"-real", "-corpus", filepath.Join(dir, "none")}} {
		out, err := measure(t, append([]string{"-data", dir}, args...)...)
		if err != nil || !strings.Contains(out, " no ") && !strings.HasPrefix(out, "no ") {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
}

func TestSecretsAreFoundInWhateverFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{"s-plain", "s\"quoted", "s-packed", "s-absent"}
	for name, data := range map[string][]byte{
		"a.db": []byte("\x00s-plain\x00"), "b.json": []byte(`{"a":"s\"quoted"}`), "c.tar.zst": packer.EncodeAll([]byte("s-packed"), nil),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := countLeaked(dir, secrets); n != 3 || err != nil {
		t.Errorf("found are %d, %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d.zst"), []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := countLeaked(dir, secrets); err == nil {
		t.Error("an archive that cannot be read was passed over")
	}
}

func TestRawMemoriesAreSplitBySession(t *testing.T) {
	t.Parallel()
	text := "# Raw memories\n\nWhat.\n\n# 01 First\n\nsession: a-1\nagent: codex\nended: x\ncwd: /d\n\n## Task\n- one\n\n# 02\n\nsession: b-2\nagent: pi\nended: x\n\n# own heading\n- two\n"
	got := rawSections(text)
	if len(got) != 2 || got["a-1"] != "## Task\n- one" || got["b-2"] != "# own heading\n- two" {
		t.Errorf("%q", got)
	}
}
