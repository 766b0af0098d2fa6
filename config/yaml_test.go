package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

func TestConfigFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, yaml string
		want       string // of "message; hint"; empty: no error
	}{
		{"an empty file sets nothing", "", ""},
		{"comments only", "# nothing\n---\n", ""},
		{"an empty section", "memories:\nlimits: ~\nproviders:\n", ""},
		{"nested", "memories: {enabled: true}\nmodelRoles:\n  default: builtin\n", ""},
		{"joined by dots, as memoir config prints them", "memories.enabled: true\n", ""},
		{"byte order mark and CRLF", "\ufeffmemories:\r\n  enabled: true\r\n", ""},
		{"an alias", "memories: {maxAttempts: &n 5, concurrency: *n}\n", "memories.concurrency must be a single value"},
		{"an unset text", "modelRoles: {smol: }\n", ""},

		{"unknown setting", "memories:\n  enabld: true\n", "config.yml:2: memories.enabld is an unknown setting; did you mean memories.enabled?"},
		{"unknown section", "memory:\n  enabled: true\n", `config.yml:1: memory is an unknown setting`},
		{"without its section", "# x\nmaxRolloutAgeDays: 3\n", `config.yml:2: maxRolloutAgeDays is an unknown setting; did you mean memories.maxRolloutAgeDays?`},
		{"snake case", "memories: {max_rollout_age_days: 3}\n", "did you mean memories.maxRolloutAgeDays?"},
		{"nothing near", "# x\nzzzzzz: 3\n", "config.yml:2: zzzzzz is an unknown setting; remove line 2"},
		{"a key that is a list", "? [a, b]\n: 1\n", "has a name that is not a string"},
		{"a merge key", "memories:\n  <<: {enabled: true}\n", `memories.<< is an unknown setting`},
		{"set twice", "memories:\n  enabled: true\n  enabled: false\n", "config.yml:3: memories.enabled is set twice, first in line 2"},
		{"nested and joined", "memories: {enabled: true}\nmemories.enabled: false\n", "config.yml:2: memories.enabled is set twice, first in line 1"},

		{"below the range", "memories:\n  concurrency: 0\n", "config.yml:2: memories.concurrency must be a whole number from 1 to 64; sessions extracted from at the same time"},
		{"not a number", "memories:\n  maxRolloutAgeDays: .nan\n", `config.yml:2: memories.maxRolloutAgeDays must be`},
		{"a fraction", "memories:\n  concurrency: 1.5\n", "memories.concurrency must be a whole number from 1 to 64"},
		{"no value", "memories:\n  enabled:\n", "config.yml:2: memories.enabled must be true or false"},
		{"an empty model", "modelRoles: {default: ''}\n", "modelRoles.default must not be empty"},
		{"two lines of text", "modelRoles: {default: \"a\\nb\"}\n", "modelRoles.default must be one line of text"},
		{"a list for a number", "memories: {concurrency: [1]}\n", "memories.concurrency must be a single value"},
		{"a value for a section", "memories: true\n", `config.yml:1: memories must be a section`},
		{"a text for a section", "limits: {}\nmemories:\n  enabled true\n", `config.yml:3: memories must be a section`},
		{"a list for the file", "- a\n", "config.yml:1: the file must be a section"},
		{"not YAML", "memories:\n\t- x: [\n", "config.yml:2: not valid YAML: found character that cannot start any token"},
		{"a tab below a space", "memories:\n  enabled: true\n\tconcurrency: 3\n", "config.yml:3: not valid YAML: found a tab"},
		{"too few spaces", "# x\nproviders:\n  x:\n    keyEnv: A\n   baseURL: b\n  y:\n    keyEnv: A\n", "config.yml:5: not valid YAML"},
		{"too many spaces", "memories:\n  enabled: true\n    concurrency: 3\nlimits: {}\n", "config.yml:3: not valid YAML"},
		{"a list among settings", "memories:\n  enabled: true\n  - concurrency\nlimits:\n", "config.yml:3: not valid YAML"},
		{"a setting among a list", "exclude:\n  - /a\n  b: c\n", "config.yml:3: not valid YAML"},
		{"no colon", "limits: {}\nmemories:\n  enabled true\n  concurrency: 3\n", "config.yml:3: not valid YAML"},
		{"no colon after a section", "memories\n  enabled: true\n", "config.yml:1: not valid YAML"},
		{"no colon at the end", "memories:\n  enabled: true\n  concurrency 3\nlimits: {}\n", "config.yml:3: not valid YAML"},
		{"two colons in an element", "exclude:\n  - /a\n  - /b: c: d\n", "config.yml:3: not valid YAML"},
		{"an unclosed quote in the first line", "exclude: '/a\nmemories:\n  enabled: true\n", "config.yml:1: not valid YAML"},
		{"an unclosed quote", "exclude:\n  - /a\n  - \"/b\n  - /c\n", "config.yml:3: not valid YAML"},
		{"a quote in quotes", "exclude:\n  - 'it's'\n  - /b\n", "config.yml:2: not valid YAML"},
		{"an unclosed bracket", "limits: {}\nexclude: [/a\nmemories: {}\n", "config.yml:2: not valid YAML"},
		{"a bracket too many", "memories:\n  enabled: true\nlimits: {}}\n", "config.yml:3: not valid YAML"},
		{"a glob without quotes", "exclude:\n  - /a\n  - **/b\n", "config.yml:3: not valid YAML"},
		{"an unknown alias", "exclude:\n  - /a\n  - *b\n", "config.yml:3: not valid YAML: unknown anchor 'b' referenced"},
		{"a mark of a merge", "memories:\n  enabled: true\n<<<<<<< HEAD\nlimits: {}\n", "config.yml:3: not valid YAML"},
		{"a control character", "memories:\n  enabled: \x01\n", "config.yml:2: not valid YAML: control characters are not allowed"},
		{"unclosed", "memories: {enabled: true\n", "config.yml:1: not valid YAML"},
		{"binary", "\x00\x01\x02", "config.yml:1: not valid YAML"},
		{"too long to find the line", strings.Repeat("# x\n", 5000) + "memories: [\n", "config.yml: not valid YAML: did not find"},
		{"two documents", "memories: {enabled: true}\n---\nmemories: {enabled: false}\n", "config.yml:2: not valid YAML: it has more than one document"},
		{"a section within itself", "memories: &a\n  memories: *a\n", `memories.memories is an unknown setting`},

		{"project belongs elsewhere", "project: x\n", "config.yml:1: project is an unknown setting; did you mean projects?"},
		{"projects", "projects:\n  /a/b: one\n  ~/c: two\n", ""},
		{"a relative project directory", "projects:\n  a/b: one\n", `config.yml:2: projects.a/b must be an absolute path`},
		{"a project directory twice", "projects:\n  /a/b: one\n  /a/b/: two\n", "config.yml:3: projects./a/b/ is listed twice"},
		{"a project without a name", "projects: {/a: }\n", "projects./a must be a project's name"},
		{"projects as a list", "projects: [/a]\n", "projects must be a section"},

		{"providers", "providers:\n  ollama: {baseURL: 'http://localhost:11434/v1'}\n  x: {keyEnv: X_KEY}\n", ""},
		{"an unknown field of a provider", "providers:\n  x:\n    baseUrl: http://x\n", "config.yml:3: providers.x.baseUrl is an unknown setting; did you mean baseURL?"},
		{"no URL", "providers: {x: {baseURL: 'localhost:80'}}\n", "providers.x.baseURL must be an http or https URL"},
		{"a provider's odd name", "providers: {X/Y: {keyEnv: A}}\n", `providers.X/Y is not a valid name for a provider`},

		{"exclude", "exclude: [/a, '**/secret', ~/private]\n", ""},
		{"one glob", "exclude: /a\n", ""},
		{"a relative glob", "exclude:\n  - a/b\n", `exclude has the glob "a/b", which is relative`},
		{"a broken glob", "exclude: ['/a/{b']\n", `exclude has the glob "/a/{b", whose brackets or braces do not match`},
		{"a relative glob among others", "exclude:\n  - /a\n  - b\n  - /c\n", `config.yml:3: exclude has the glob "b"`},
		{"a glob that is a number", "exclude:\n  - /a\n  - 5\n", `config.yml:3: exclude must be a list of strings`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := loadYAML(t, test.yaml, "HOME=/home/ann")
			checkError(t, err, test.want)
		})
	}
}

func TestMapsAreListedWithTheirLines(t *testing.T) {
	t.Parallel()
	s, err := loadYAML(t, "providers:\n  x:\n    keyEnv: X_KEY\nprojects:\n  ~/b: two\n  /a: one\n", "HOME=/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range s.Values()[len(definitions):] {
		origin := v.Origin
		if i := strings.LastIndex(origin, FileName); i >= 0 {
			origin = origin[i:]
		}
		got = append(got, v.Name+"="+v.Value+" "+origin)
	}
	want := "projects./a=one config.yml:6|projects./home/ann/b=two config.yml:5|providers.x.keyEnv=X_KEY config.yml:3"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
}

func TestConfigFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	t.Run("none is fine", func(t *testing.T) {
		t.Parallel()
		_, err := Load(Options{ConfigDir: filepath.Join(t.TempDir(), "none")})
		checkError(t, err, "")
	})
	t.Run("a directory in its place", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, FileName, "x"), "")
		_, err := Load(Options{ConfigDir: dir})
		checkError(t, err, "not a regular file")
	})
	t.Run("the other ending", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "config.yaml"), "memories: {enabled: true}")
		_, err := Load(Options{ConfigDir: dir})
		checkError(t, err, "config.yaml is not read; rename it to config.yml")
	})
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		_, err := loadYAML(t, strings.Repeat("# filler\n", MaxFileSize/9+1))
		checkError(t, err, "too large")
	})
	t.Run("not permitted", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() == 0 {
			t.Skip("needs another user than root, who may read everything")
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, FileName), "")
		if err := os.Chmod(filepath.Join(dir, FileName), 0); err != nil {
			t.Fatal(err)
		}
		_, err := Load(Options{ConfigDir: dir})
		checkError(t, err, "permission denied; make it a readable file")
	})
}

// FuzzConfig holds for any bytes: an error is a configuration error that names
// the file, and settings that are accepted are within their bounds.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "memories:\n  enabled: true\n", "memories: &a {enabled: *a}\n", "a: &x [*x, *x]\n", "---\n---\n", "\xff\xfe", "? {a: b}\n: c",
		"exclude: [/a, '**/b{c,d}']\nprojects: {~/x: y}\nproviders: {a: {baseURL: http://b, keyEnv: C}}\n",
		"limits: {costPerDay: 1e400}\n", "memories: {concurrency: !!int '3'}\n", "memories: {concurrency: 0x10}\n", "!!binary x", "%YAML 1.1\n---\nx",
		"memories: !!str\n", "memories: {enabled: !!bool}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseYAML("FILE", data)
		s := Default()
		for _, e := range entries {
			if err == nil {
				err = s.applyEntry(e, "/home/ann")
			}
		}
		if err != nil {
			if memoir.CodeOf(err) != memoir.CodeConfig || !strings.HasPrefix(err.Error(), "FILE:") {
				t.Fatalf("error %q, code %s", err, memoir.CodeOf(err))
			}
			return
		}
		for _, d := range definitions {
			if d.list == nil {
				if err := s.applyText(d, d.text(&s), "", ""); err != nil {
					t.Fatalf("%s was accepted, and %v", d.name, err)
				}
			}
		}
		s.Excluded("/a/b")
		s.Values()
	})
}
