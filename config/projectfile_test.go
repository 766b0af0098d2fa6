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
		{"a higher cap", "memories: {maxRolloutsPerStartup: 65}", "memories.maxRolloutsPerStartup=64", "it would loosen 64, which needs trust"},
		{"a longer idle time", "memories: {minRolloutIdleHours: 24}", "memories.minRolloutIdleHours=24", ""},
		{"a shorter idle time", "memories: {minRolloutIdleHours: 0}", "memories.minRolloutIdleHours=12", "it would loosen 12, which needs trust"},
		{"no age limit", "memories: {maxRolloutAgeDays: 0}", "memories.maxRolloutAgeDays=30", "it would loosen 30, which needs trust"},
		{"a limit where none is", "memories: {maxMemorySize: 2000}", "memories.maxMemorySize=2000", ""},
		{"a spending limit", "limits: {tokensPerRun: 9}", "limits.tokensPerRun=0", "it belongs into the user's config.yml"},
		{"a model", "modelRoles: {default: evil/model}", "modelRoles.default=builtin", "it needs trust"},
		{"a model of one phase", "modelRoles: {phase2: evil/model}", "modelRoles.phase2=", "it needs trust"},
		{"a server", "providers: {x: {baseURL: 'http://evil'}}", "modelRoles.default=builtin", "it belongs into the user's config.yml"},
		{"a command", "providers: {x: {api: exec, command: [evil]}}", "modelRoles.default=builtin", "it belongs into the user's config.yml"},
		{"how a model is called", "models: {x/y: {effort: high}}", "modelRoles.default=builtin", "it belongs into the user's config.yml"},
		{"another project", "project: other", "modelRoles.default=builtin", "it needs trust"},
		{"other projects", "projects: {/: other}", "modelRoles.default=builtin", "it needs trust"},
		{"the archive of generations", "memories: {generationsKept: 1}", "memories.generationsKept=20", "it needs trust"},
		{"not even in form", "project: [1]", "modelRoles.default=builtin", "it needs trust"},
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
			if d, _ := definition(name); d.text(s) != want {
				t.Errorf("%s is %s, want %s", name, d.text(s), want)
			}
			if s.Project != "" || len(s.Projects) > 0 || len(s.Providers) > 0 || len(s.Models) > 0 {
				t.Errorf("a stranger set %+v", s)
			}
			if s.Off != (test.name == "switch memory off") {
				t.Errorf("off is %v", s.Off)
			}
			switch {
			case test.ignored == "" && len(ignored) > 0, test.ignored != "" && len(ignored) != 1:
				t.Errorf("ignored %v", ignored)
			case test.ignored != "" && (ignored[0].Why != test.ignored || ignored[0].Origin != file+":1"):
				t.Errorf("ignored %+v", ignored[0])
			}
		})
	}
}

func TestAStrangersExcludesStayInTheProject(t *testing.T) {
	t.Parallel()
	_, dir, _ := project(t, "exclude: [secret, '**/vault']\n")
	base := Default()
	base.Exclude = []string{"/mine"}
	s, ignored, err := base.ForProject(dir, TrustStore{})
	if err != nil || len(ignored) > 0 {
		t.Fatal(ignored, err)
	}
	for _, in := range []string{"/mine/x", filepath.Join(dir, "secret/x"), filepath.Join(dir, "a/vault")} {
		if !s.Excluded(in) {
			t.Errorf("%s is let in", in)
		}
	}
	for _, out := range []string{dir, "/other/secret", "/vault"} {
		if s.Excluded(out) {
			t.Errorf("%s is kept out", out)
		}
	}
	if len(base.Exclude) != 1 {
		t.Errorf("the user's own list changed: %v", base.Exclude)
	}
	for _, glob := range []string{"/etc", "../x", "a/../../x", "~/x", `C:\x`} {
		_, dir, _ := project(t, "exclude: ['"+glob+"']\n")
		_, _, err := Default().ForProject(dir, TrustStore{})
		checkError(t, err, "which leaves the project")
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
		checkError(t, err, file+":1")
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
		checkError(t, err, "is not a file")
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
	const content = "project: shared\nmemories: {enabled: true, minRolloutIdleHours: 0}\nmodelRoles: {smol: a/b}\n"
	home, dir, file := project(t, content)
	home = filepath.Join(home, "not", "yet")
	apply := func() (Settings, []Ignored) {
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
	if _, ignored := apply(); len(ignored) != 4 {
		t.Errorf("before trust, ignored %v", ignored)
	}
	if err := Trust(home, file); err != nil {
		t.Fatal(err)
	}
	s, ignored := apply()
	if len(ignored) != 0 || s.Project != "shared" || !s.Memories.Enabled || s.Memories.MinRolloutIdleHours != 0 ||
		s.ModelRoles.Smol != "a/b" || s.Origin("project") != file+":1" {
		t.Errorf("with trust: ignored %v, settings %+v", ignored, s)
	}
	info, err := os.Stat(filepath.Join(home, trustFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("trust file: %v, %v", info.Mode(), err)
	}

	write(t, file, content+"# changed\n")
	if s, ignored := apply(); len(ignored) != 4 || s.Project != "" {
		t.Errorf("a changed file is trusted: %v", ignored)
	}
	write(t, file, content)
	if _, ignored := apply(); len(ignored) != 0 {
		t.Errorf("the trusted version came back and is not trusted: %v", ignored)
	}
	if err := Distrust(home, file); err != nil {
		t.Fatal(err)
	}
	if _, ignored := apply(); len(ignored) != 4 {
		t.Errorf("after distrust, ignored %v", ignored)
	}
}

func TestTheSameContentElsewhereIsNotTrusted(t *testing.T) {
	t.Parallel()
	home, _, file := project(t, "project: shared\n")
	if err := Trust(home, file); err != nil {
		t.Fatal(err)
	}
	_, other, _ := project(t, "project: shared\n")
	trusted, err := LoadTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	if s, ignored, err := Default().ForProject(other, trusted); err != nil || len(ignored) != 1 || s.Project != "" {
		t.Errorf("%v %v %v", s.Project, ignored, err)
	}
	if files := trusted.Files(); len(files) != 1 || filepath.Base(files[0]) != ProjectFileName {
		t.Errorf("trusted files %v", files)
	}
}

func TestTrustRefusesWhatCouldNotBeApplied(t *testing.T) {
	t.Parallel()
	home, dir, file := project(t, "projects: {/: x}\n")
	checkError(t, Trust(home, file), ":1: projects belongs into the user's config.yml")
	for _, content := range []string{"providers: {x: {keyCommand: [evil]}}\n", "models: {x/y: {effort: high}}\n"} {
		write(t, file, content)
		checkError(t, Trust(home, file), " belongs into the user's config.yml")
	}
	write(t, file, "nonsense: 1\n")
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
}
