package config

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

func TestASettingIsChangedInTheFileAndAllElseStays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, name string
		values       []string // nil: it is unset
		after        string   // or what the error says
	}{
		{"memories: # mine\n  enabled: no # yet\n", "memories.enabled", []string{"yes"}, "memories: # mine\n  enabled: true # yet\n"},
		{"modelRoles: {default: openai/a}\n", "modelRoles.default", []string{"exec/claude"}, "modelRoles: {default: exec/claude}\n"},
		{"# c\nlimits:\n", "limits.costPerRun", []string{"0.50"}, "# c\nlimits:\n  costPerRun: 0.5\n"},
		{"a", "memories.enabled", []string{"true"}, "must be a section"},
		{"limits:\n", "exclude", []string{"~/private/**", "**/a, b"}, "limits:\nexclude: [~/private/**, \"**/a, b\"]\n"},
		{"exclude:\n  - /a\n  - /b\nlimits:\n", "exclude", []string{"/c"}, "exclude: [/c]\nlimits:\n"},
		{"limits:\n", "exclude", []string{"a"}, "exclude has the glob \"a\", which is relative"},
		{"limits:\n", "providers.mine.baseURL", []string{"http://127.0.0.1:1/v1"}, "limits:\nproviders:\n  mine:\n    baseURL: http://127.0.0.1:1/v1\n"},
		{"limits:\n", "providers.mine.command", []string{"a", "b c"}, "limits:\nproviders:\n  mine:\n    command: [a, b c]\n"},
		{"limits:\n", "providers.exec.command", []string{"a -b"}, "limits:\nproviders:\n  exec:\n    command: [a, -b]\n"},
		{"limits:\n", "providers.openai.keyEnv", []string{"sk-abc"}, "must be the name of a variable, not the key itself"},
		{"limits:\n", "projects./a/b.c", []string{"x"}, "limits:\nprojects:\n  /a/b.c: x\n"},
		{"limits:\n", "projects.a", []string{"x"}, "projects.a must be an absolute path"},
		{"limits:\n", "memories.enabld", []string{"x"}, "\"memories.enabld\" is an unknown setting; did you mean memories.enabled?"},
		{"limits:\n", "memories.concurrency", []string{"65"}, "memories.concurrency must be a whole number from 1 to 64; sessions extracted"},
		{"limits:\n", "memories.concurrency", []string{"1", "2"}, `memories.concurrency takes one value; unexpected "2"`},
		{"limits:\n", "memories.heartbeatSeconds", []string{"100"}, "memories.heartbeatSeconds (100, from config.yml with this change:3) must be at most half"},
		{"memories:\n  nosuch: 1\n  concurrency: 2\n", "memories.enabled", []string{"true"}, "FILE:2: memories.nosuch is an unknown setting; remove line 2"},
		{"limits:\nproviders:\n  mine: {api: exec, command: [a]}\n", "providers.mine", nil, "limits:\n"},
		{"providers:\n  a:\n    api: anthropic\n  mine: # x\n    # y\n    api: exec\n    command: [a]\n", "providers.mine", nil, "providers:\n  a:\n    api: anthropic\n"},
		{"limits:\n", "providers.mine", nil, "limits:\n"},
		{"memories:\n  enabled: true\n  concurrency: 2\n", "memories.enabled", nil, "memories:\n  concurrency: 2\n"},
		{"memories: {enabled: true, concurrency: 2}\n", "memories.concurrency", nil, "memories: {enabled: true}\n"},
		{"mcp: {allProjects: true}\nprojects:\n  ~/a: x\n", "projects./home/ann/a", nil, "mcp: {allProjects: true}\n"},
		{"projects:\n  ~/a: x\n", "projects./home/ann/a", []string{"z"}, "projects:\n  ~/a: z\n"},
		{"limits:\n", "projects", []string{"x"}, "\"projects\" is a section: name one of its settings"},
		{"memories:\n  enabld: 1\n  enabled: x\n  concurrency: 2\n", "memories.enabld", nil, "memories:\n  enabled: x\n  concurrency: 2\n"},
		{"memories:\n  enabled: x\n  concurrency: 2\n", "memories.enabled", nil, "memories:\n  concurrency: 2\n"},
		{"foo:\n  bar: [1]\nlimits:\n", "foo", nil, "limits:\n"},
		{"memories:\n  enabled: x\n", "memories.enabled", []string{"true"}, "memories:\n  enabled: true\n"},
		{"memories:\n  enabld: x\n", "memories.enabled", []string{"true"}, "FILE:2: memories.enabld is an unknown setting"},
		{"memories:\n  phase1LeaseSeconds: 300\n  heartbeatSeconds: 90\n", "memories.phase1LeaseSeconds", nil, "must be at most half"},
		{"limits: [\n", "memories.enabled", nil, "not valid YAML"},
		{"mcp:\n  allProjects: true\n  allProjects: false\nlimits:\n", "mcp.allProjects", nil, "limits:\n"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, FileName)
		write(t, path, test.before)
		f, err := ReadFile(Options{ConfigDir: dir, Environ: []string{"HOME=/home/ann"}})
		if err == nil && test.values != nil {
			err = f.Set(test.name, test.values...)
		} else if err == nil {
			_, err = f.Unset(test.name)
		}
		if err != nil {
			if !strings.Contains(strings.ReplaceAll(said(err), path, "FILE"), test.after) {
				t.Errorf("%q, %s %q: got error %q; want %q", test.before, test.name, test.values, said(err), test.after)
			}
			continue
		}
		if string(f.text) != test.after {
			t.Errorf("%q, %s %q: got %q; want %q", test.before, test.name, test.values, f.text, test.after)
		}
	}
}

func TestANewFileSetsNothingAndNamesEverySetting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{ConfigDir: filepath.Join(dir, "new")}
	f, err := ReadFile(o)
	if err == nil {
		err = f.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(o)
	if err != nil || s.Memories != Default().Memories || s.ModelRoles != Default().ModelRoles {
		t.Errorf("got %+v, %v", s, err)
	}
	for _, d := range definitions {
		value := d.usual
		if d.list != nil || value == "" {
			value = "/x/y"
		}
		if err := f.Set(d.name, value); err != nil {
			t.Error(err)
		}
	}
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	if s, err = Load(o); err != nil || s.Memories != Default().Memories {
		t.Errorf("got %+v, %v", s, err)
	}
	lines := strings.Split(string(f.text), "\n")
	for i, line := range lines { // each stands below its comment
		if name, _, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && name[0] != '#' && !strings.Contains(lines[i-1], "# "+name+":") {
			t.Errorf("%q follows %q", line, lines[i-1])
		}
	}
}

func TestAFileThatIsALinkStaysOneAndKeepsItsMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles", "memoir.yml")
	write(t, real, "limits:\n")
	if err := os.Chmod(real, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(Options{ConfigDir: dir})
	if err == nil {
		err = f.Set("memories.enabled", "true")
	}
	if err == nil {
		err = f.Save()
	}
	info, statErr := os.Stat(real)
	if s, loadErr := Load(Options{ConfigDir: dir}); err != nil || statErr != nil || info.Mode().Perm() != 0o644 || loadErr != nil || !s.Memories.Enabled {
		t.Errorf("%v, %v, %v, %v", err, statErr, info.Mode(), loadErr)
	}
	write(t, real, "limits: {}\n") // by another process
	if err := f.Set("memories.enabled", "false"); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(); memoir.CodeOf(err) != memoir.CodeChanged {
		t.Errorf("a change of another process is lost: %v", err)
	}
}

func said(err error) string { return err.Error() + "; " + memoir.HintOf(err) }

// Hooks read the file at each call of a tool. Of this one, looking for names that are alike costs 7,600 allocations.
func TestReadingAFileOfKnownNamesLooksForNoOthers(t *testing.T) {
	o := Options{ConfigDir: t.TempDir()}
	f, err := ReadFile(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range definitions {
		if err := f.Set(d.name, cmp.Or(d.usual, "/x/y")); err != nil {
			t.Error(err)
		}
	}
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1, func() { _, err = Load(o) }); n > 4000 || err != nil {
		t.Errorf("%v allocations, %v", n, err)
	}
}
