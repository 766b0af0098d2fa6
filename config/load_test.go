package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
)

// loadYAML loads a config.yml with the given content. Errors name it as CONFIG.
func loadYAML(t *testing.T, content string, environ ...string) (Settings, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, FileName), content)
	return Load(Options{ConfigDir: dir, Environ: environ})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDefaultsAreThoseDocumented(t *testing.T) {
	t.Parallel()
	s, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Memories{
		Enabled: false, MaxRolloutAgeDays: 30, MinRolloutIdleHours: 12, ActiveRolloutMinutes: 10,
		MaxRolloutsPerStartup: 64, SummaryInjectionTokenLimit: 5000, Concurrency: 8,
		MaxRawMemoriesForGlobal: 200, Phase1LeaseSeconds: 120, Phase1RetryDelaySeconds: 120,
		Phase2LeaseSeconds: 180, Phase2RetryDelaySeconds: 180, HeartbeatSeconds: 30, MaxAttempts: 3,
		RolloutPayloadPercent: 0.7, Phase1InputTokenLimit: 16000, MaxMemorySize: 32 << 10,
		GenerationsKept: 20, GenerationsMaxAgeDays: 0, BusyTimeoutSeconds: 120, MaxResidentMegabytes: 128, SessionEndSeconds: 30, MemoryWindow: 50,
	}
	if s.Memories != want {
		t.Errorf("memories\n got %+v\nwant %+v", s.Memories, want)
	}
	if s.ModelRoles != (ModelRoles{Default: "builtin"}) || s.Limits != (Limits{}) || s.Exclude != nil {
		t.Errorf("got %+v", s)
	}
}

func TestEverySettingSurvivesItsOwnText(t *testing.T) {
	t.Parallel()
	var s Settings
	var p Provider
	for _, d := range append(slices.Clone(definitions), providerFields...) {
		var of any = &s
		if !strings.Contains(d.name, ".") && d.name != "exclude" {
			of = &p
		}
		if d.doc == "" || strings.HasSuffix(d.doc, ".") {
			t.Errorf("%s: doc %q", d.name, d.doc)
		}
		if d.list == nil && d.usual != "" {
			if err := d.set(of, []string{d.usual}, ""); err != nil || d.text(of) != d.usual {
				t.Errorf("%s: default %q came back as %q, %v", d.name, d.usual, d.text(of), err)
			}
		}
		if d.max > 0 {
			for v, want := range map[float64]bool{d.min: true, d.max: true, d.min - 1: false, d.max + 1: false} {
				if err := d.set(of, []string{plain(v)}, ""); (err == nil) != want {
					t.Errorf("%s: %v: %v", d.name, v, err)
				}
			}
		}
	}
}

func TestLaterLayersWin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, FileName)
	write(t, file, "memories:\n  enabled: true\n  concurrency: 2\n  maxRolloutAgeDays: 7\n  maxAttempts: 5\n")
	s, err := Load(Options{
		ConfigDir: dir,
		Environ: []string{"PATH=/bin", "MEMOIR_HOME=/x", "MEMOIR_CHILD=1", "MEMOIR_CORPUS=/y",
			"MEMOIR_TOKEN=t", "MEMOIR_WRITER_TOKEN=t", "MEMOIR_HUB_DATABASE_URL=u",
			"MEMOIR_MEMORIES_CONCURRENCY=3", "MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS=8", "MEMOIR_MODEL_ROLES_SMOL=",
			"MEMOIR_MEMORIES_MAXATTEMPTS=6"},
		Flags: map[string]string{"max-age": "36h", "memories.generationsKept": "4"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{
		"memories.enabled":             {"true", file + ":2"},
		"memories.concurrency":         {"3", "$MEMOIR_MEMORIES_CONCURRENCY"},
		"memories.maxRolloutAgeDays":   {"1.5", "--max-age"},
		"memories.maxAttempts":         {"6", "$MEMOIR_MEMORIES_MAXATTEMPTS"},
		"memories.generationsKept":     {"4", "--memories.generationsKept"},
		"memories.minRolloutIdleHours": {"12", "default"},
		"modelRoles.smol":              {"", "default"},
	}
	values := s.Values()
	if len(values) != len(definitions) {
		t.Errorf("%d values of %d settings", len(values), len(definitions))
	}
	for _, v := range values {
		if w, ok := want[v.Name]; ok && w != [2]string{v.Value, v.Origin} {
			t.Errorf("%s: got %q from %s, want %q from %s", v.Name, v.Value, v.Origin, w[0], w[1])
		}
	}
}

func TestFlagsAreDurationsWhereDocumented(t *testing.T) {
	t.Parallel()
	s, err := Load(Options{Flags: map[string]string{"min-idle": "0", "max-age": "2w"}})
	if err != nil || s.Memories.MinRolloutIdleHours != 0 || s.Memories.MaxRolloutAgeDays != 14 {
		t.Errorf("got %+v, %v", s.Memories, err)
	}
	for flag, value := range map[string]string{"min-idle": "12", "max-age": "-1d", "memories.concurrency": "0"} {
		if _, err := Load(Options{Flags: map[string]string{flag: value}}); memoir.CodeOf(err) != memoir.CodeConfig ||
			!strings.Contains(err.Error(), "--"+flag) {
			t.Errorf("--%s %s: %v", flag, value, err)
		}
	}
}

func TestVariableNames(t *testing.T) {
	t.Parallel()
	if got := variableOf("memories.maxRolloutAgeDays"); got != "MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS" {
		t.Error(got)
	}
	seen := make(map[string]bool)
	for _, name := range variables() {
		if seen[strings.ReplaceAll(name, "_", "")] {
			t.Errorf("%s means two settings", name)
		}
		seen[strings.ReplaceAll(name, "_", "")] = true
	}
	for _, test := range []struct {
		name    string
		environ []string
		want    string // of error and hint; empty: no error
	}{
		{"an unknown variable is named with the nearest one", []string{"MEMOIR_MEMORIES_ENABELD=true"},
			"unknown environment variable MEMOIR_MEMORIES_ENABELD; did you mean MEMOIR_MEMORIES_ENABLED?"},
		{"a nonsense variable has no near one", []string{"MEMOIR_XYZZY="},
			"unknown environment variable MEMOIR_XYZZY; unset MEMOIR_XYZZY"},
		{"lower case is another variable", []string{"MEMOIR_memories_enabled=true"}, "unknown environment variable MEMOIR_memories_enabled; did you mean MEMOIR_MEMORIES_ENABLED?"},
		{"a bad value names variable and setting", []string{"MEMOIR_MEMORIES_ENABLED=maybe"},
			`$MEMOIR_MEMORIES_ENABLED: memories.enabled must be true or false`},
		{"a value out of range", []string{"MEMOIR_MEMORIES_CONCURRENCY=65"},
			"$MEMOIR_MEMORIES_CONCURRENCY: memories.concurrency must be a whole number from 1 to 64"},
		{"shell-like booleans are fine", []string{"MEMOIR_MEMORIES_ENABLED=1"}, ""},
		{"other programs' variables are not ours", []string{"MEMOIRS_X=1", "memoir_x=2", "=C:=C:\\"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(Options{Environ: test.environ})
			checkError(t, err, test.want)
		})
	}
}

// checkError compares "message; hint", of which want is a part.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got error %v; %s", err, memoir.HintOf(err))
		}
		return
	}
	if err == nil {
		t.Errorf("got no error, want %s", want)
		return
	}
	if memoir.CodeOf(err) != memoir.CodeConfig {
		t.Errorf("got code %s", memoir.CodeOf(err))
	}
	if got := err.Error() + "; " + memoir.HintOf(err); !strings.Contains(got, want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestALeaseOutlastsTwoHeartbeats(t *testing.T) {
	t.Parallel()
	_, err := Load(Options{Environ: []string{"MEMOIR_MEMORIES_PHASE1_LEASE_SECONDS=40"}})
	checkError(t, err, "memories.heartbeatSeconds (30, from default) must be at most half of "+
		"memories.phase1LeaseSeconds (40, from $MEMOIR_MEMORIES_PHASE1_LEASE_SECONDS)")
	_, err = Load(Options{Environ: []string{"MEMOIR_MEMORIES_PHASE1_LEASE_SECONDS=2",
		"MEMOIR_MEMORIES_PHASE2_LEASE_SECONDS=2", "MEMOIR_MEMORIES_HEARTBEAT_SECONDS=1"}})
	checkError(t, err, "")
}
