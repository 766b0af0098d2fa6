package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

// project makes a project with a .memoir.yml, and a home.
func project(t *testing.T, content string) (home, dir, file string) {
	t.Helper()
	home, dir = t.TempDir(), t.TempDir()
	file = filepath.Join(dir, ProjectFileName)
	write(t, file, content)
	return home, dir, file
}

func TestAStrangersFileMayOnlyTighten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, yaml string
		want       string // the value that holds afterwards, as name=value
		ignored    string // why, if it is ignored
	}{
		{"switch memory off", "memories: {enabled: false}", "memories.enabled=false", ""},
		{"on, which it is", "memories: {enabled: true}", "memories.enabled=true", ""},
		{"a lower cap", "memories: {maxRolloutsPerStartup: 3}", "memories.maxRolloutsPerStartup=3", ""},
		{"a higher cap", "memories: {maxRolloutsPerStartup: 65}", "memories.maxRolloutsPerStartup=64", "so it stays 64"},
		{"a longer idle time", "memories: {minRolloutIdleHours: 24}", "memories.minRolloutIdleHours=24", ""},
		{"a shorter idle time", "memories: {minRolloutIdleHours: 0}", "memories.minRolloutIdleHours=12", "so it stays 12"},
		{"no age limit", "memories: {maxRolloutAgeDays: 0}", "memories.maxRolloutAgeDays=30", "so it stays 30"},
		{"a limit where none is", "memories: {maxMemorySize: 2000}", "memories.maxMemorySize=2000", ""},
		{"a model", "modelRoles: {default: evil/model}", "modelRoles.default=builtin", "so it stays builtin"},
		{"a model of one phase", "modelRoles: {phase2: evil/model}", "modelRoles.phase2=", "so it stays unset"},
		{"the archive of generations", "memories: {generationsKept: 1}", "memories.generationsKept=20", "so it stays 20"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, dir, file := project(t, test.yaml)
			base := Default()
			base.Memories.Enabled = true
			s, ignored, err := base.ForProject(dir, TrustStore{})
			if err != nil {
				t.Fatal(err)
			}
			name, want, _ := strings.Cut(test.want, "=")
			if d, _ := find(strings.Split(name, ".")); d.text(&s) != want {
				t.Errorf("%s is %s, want %s", name, d.text(&s), want)
			}
			if s.Off != (test.name == "switch memory off") {
				t.Errorf("off is %v", s.Off)
			}
			switch {
			case test.ignored == "" && len(ignored) > 0, test.ignored != "" && len(ignored) != 1:
				t.Errorf("ignored %v", ignored)
			case test.ignored != "" && (!strings.HasPrefix(ignored[0], file+":1: ") || !strings.HasSuffix(ignored[0], " is ignored: this file is not trusted, "+test.ignored)):
				t.Errorf("ignored %q", ignored[0])
			}
		})
	}
}

func TestWhatReachesAllProjectsIsNoProjectsToSay(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		"providers: {x: {api: exec, command: [evil]}}", "projects: {/: other}", "limits: {tokensPerRun: 9}", "exclude: [secret]",
	} {
		home, dir, file := project(t, content)
		s, ignored, err := Default().ForProject(dir, TrustStore{})
		checkError(t, err, file+":1: ")
		checkError(t, err, " belongs in your own config.yml")
		if hint := memoir.HintOf(err); hint != "this setting is never read from a project's file" {
			t.Error(hint)
		}
		if !s.Off || len(ignored) > 0 || len(s.Projects)+len(s.Providers)+len(s.Exclude) > 0 || s.Limits != (Limits{}) {
			t.Errorf("%s: a stranger set %+v", content, s)
		}
		checkError(t, Trust(home, file), " belongs in your own config.yml")
		if _, err := os.Stat(filepath.Join(home, trustFile)); err == nil {
			t.Errorf("%s was trusted", content)
		}
	}
}

func TestAFileThatIsNotUnderstoodSwitchesMemoryOff(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"not YAML": "memories: {", "unknown": "memory: off", "out of range": "memories: {concurrency: 0}",
	} {
		_, dir, file := project(t, content)
		base := Default()
		base.Memories.Enabled = true
		s, _, err := base.ForProject(dir, TrustStore{})
		checkError(t, err, file+":")
		if !s.Off || s.Memories.Enabled {
			t.Errorf("%s: memory is on", name)
		}
		if base.Off || !base.Memories.Enabled || base.Origin("memories.enabled") != originDefault {
			t.Errorf("%s: the user's own settings changed", name)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(dir, ProjectFileName)); err == nil {
		_, _, err := Default().ForProject(dir, TrustStore{})
		checkError(t, err, "not a regular file")
	}
}

func TestNoProjectFile(t *testing.T) {
	t.Parallel()
	s, ignored, err := Default().ForProject(filepath.Join(t.TempDir(), "gone"), TrustStore{})
	if err != nil || ignored != nil || s.Off {
		t.Error(s.Off, ignored, err)
	}
}

func TestTrustHoldsForOneVersionOfAFile(t *testing.T) {
	t.Parallel()
	const content = "memories: {enabled: true, minRolloutIdleHours: 0}\nmodelRoles: {smol: a/b}\n"
	home, dir, file := project(t, content)
	home = filepath.Join(home, "not", "yet")
	apply := func() (Settings, []string) {
		t.Helper()
		trusted, err := LoadTrust(home)
		if err != nil {
			t.Fatal(err)
		}
		s, ignored, err := Default().ForProject(dir, trusted)
		if err != nil {
			t.Fatal(err)
		}
		return s, ignored
	}
	if _, ignored := apply(); len(ignored) != 3 {
		t.Errorf("before trust, ignored %v", ignored)
	}
	if err := Trust(home, file); err != nil {
		t.Fatal(err)
	}
	s, ignored := apply()
	if len(ignored) != 0 || !s.Memories.Enabled || s.Memories.MinRolloutIdleHours != 0 ||
		s.ModelRoles.Smol != "a/b" || s.Origin("memories.enabled") != file+":1" {
		t.Errorf("with trust: ignored %v, settings %+v", ignored, s)
	}
	info, err := os.Stat(filepath.Join(home, trustFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("trust file: %v, %v", info.Mode(), err)
	}

	write(t, file, content+"# changed\n")
	if _, ignored := apply(); len(ignored) != 3 {
		t.Errorf("a changed file is trusted: %v", ignored)
	}
	write(t, file, content)
	if _, ignored := apply(); len(ignored) != 0 {
		t.Errorf("the trusted version came back and is not trusted: %v", ignored)
	}
	if err := Distrust(home, file); err != nil {
		t.Fatal(err)
	}
	if _, ignored := apply(); len(ignored) != 3 {
		t.Errorf("after distrust, ignored %v", ignored)
	}
}

func TestTheSameContentElsewhereIsNotTrusted(t *testing.T) {
	t.Parallel()
	home, _, file := project(t, "modelRoles: {smol: a/b}\n")
	if err := Trust(home, file); err != nil {
		t.Fatal(err)
	}
	_, other, _ := project(t, "modelRoles: {smol: a/b}\n")
	trusted, err := LoadTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	if s, ignored, err := Default().ForProject(other, trusted); err != nil || len(ignored) != 1 || s.ModelRoles.Smol != "" {
		t.Errorf("%v %v %v", s.ModelRoles, ignored, err)
	}
	if files := trusted.Files(); len(files) != 1 || filepath.Base(files[0]) != ProjectFileName {
		t.Errorf("trusted files %v", files)
	}
}

func TestTrustRefusesWhatCouldNotBeApplied(t *testing.T) {
	t.Parallel()
	home, dir, file := project(t, "nonsense: 1\n")
	checkError(t, Trust(home, file), "unknown setting")
	if err := Trust(home, filepath.Join(dir, "none")); memoir.CodeOf(err) != memoir.CodeNotFound {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, trustFile)); err == nil {
		t.Error("something was trusted")
	}
	write(t, filepath.Join(home, trustFile), "[not a map]")
	_, err := LoadTrust(home)
	checkError(t, err, "is damaged")
	write(t, filepath.Join(home, trustFile), "null\n")
	write(t, file, "memories: {enabled: true}\n")
	if err := Trust(home, file); err != nil {
		t.Error(err)
	}
}
