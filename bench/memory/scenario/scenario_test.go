package scenario_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/bench/memory/scenario"
	"memoir/testdata"
)

const goodProject = "project: p\nremote: https://git.example.test/a/p.git\ndir: /home/ana/p\nabout: A program.\n"

const goodSession = "session: 01-a\nagent: codex\nat: 2026-03-02T09:12:00Z\nbranch: main\nsaid:\n"

// write makes a project of the files and returns the directory above it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, "p", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEntriesFollowEachOther(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"project.yml": goodProject, "01-a.yml": goodSession +
		"- person: hi\n- agent: hello\n- at: 2026-03-02T10:00:00Z\n  run: ls\n- refused:\n    run: rm x\n  reason: keep it\n"})
	all, err := scenario.ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := all[0].Sessions[0]
	var at []string
	for _, e := range s.Said {
		at = append(at, e.At.Format(time.TimeOnly))
	}
	if want := []string{"09:12:00", "09:12:20", "10:00:00", "10:00:20"}; !slices.Equal(at, want) {
		t.Errorf("times are %v, want %v", at, want)
	}
	if refused := s.Said[3]; refused.Kind != scenario.Refused || refused.Call.Text != "rm x" ||
		refused.Text != "keep it" || refused.N != 4 {
		t.Errorf("read is %+v", refused)
	}
}

func TestWhatIsNotOfTheFormIsRefusedWithItsFile(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, content, want string }{
		{"an unknown key of an entry", "01-a.yml", goodSession + "- person: hi\n- runs: ls\n",
			"01-a.yml: entry 2 has one key of"},
		{"an unknown key of a session", "01-a.yml", goodSession + "- person: hi\ntitle: x\n",
			"line 7: field title not found"},
		{"an unknown key of a project", "project.yml", goodProject + "owner: x\n", "line 5: field owner not found"},
		{"two things in one entry", "01-a.yml", goodSession + "- person: hi\n- run: ls\n  agent: x\n",
			"01-a.yml: entry 2 has one key of"},
		{"nothing in an entry", "01-a.yml", goodSession + "- output: x\n", "01-a.yml: entry 1 has one key of"},
		{"words that are refused", "01-a.yml", goodSession + "- refused:\n    in: x\n", "01-a.yml: entry 1 has one key of"},
		{"empty words", "01-a.yml", goodSession + "- person: \" \"\n", "01-a.yml: entry 1: person is empty"},
		{"an edit that changes nothing", "01-a.yml", goodSession + "- edit: x\n", "01-a.yml: entry 1: an edit that changes nothing"},
		{"time goes back", "01-a.yml", goodSession + "- person: x\n- at: 2026-03-01T00:00:00Z\n  agent: y\n",
			"01-a.yml: entry 2: at goes back"},
		{"an unknown agent", "01-a.yml", strings.Replace(goodSession, "codex", "eliza", 1) + "- person: x\n",
			`01-a.yml: no agent is called "eliza"`},
		{"another name", "02-b.yml", goodSession + "- person: x\n", `02-b.yml: the session is called "01-a"`},
		{"evidence that there is not", "01-a.yml",
			goodSession + "- person: x\nfacts:\n- {id: a, kind: task, weight: 1, text: t, evidence: [2], needs: [[x]]}\n", "01-a.yml: a: there is no evidence 2"},
		{"a secret without a fake", "01-a.yml",
			goodSession + "- person: x\n- tool: t\n  input: {a: [{b: '@@SECRET:no-rule@@'}]}\n", `01-a.yml: there is no fake for the rule "no-rule"`},
		{"another project's name", "project.yml", strings.Replace(goodProject, "project: p", "project: q", 1),
			`project.yml: the project is called "q"`},
		{"a relative directory", "project.yml", strings.Replace(goodProject, "/home/ana/p", "p", 1),
			`project.yml: dir "p" is not absolute`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"project.yml": goodProject, "01-a.yml": goodSession + "- person: hi\n"}
			files[tt.file] = tt.content
			_, err := scenario.ReadAll(write(t, files))
			if memoir.CodeOf(err) != memoir.CodeInvalid || !strings.Contains(err.Error(), "/p/"+tt.file) ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want …%s…", err, tt.want)
			}
		})
	}
}

func TestSecretsAreFilledInWhereverTheyStand(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"project.yml": goodProject, "01-a.yml": goodSession +
		"- person: a @@SECRET:github-pat@@ b\n- tool: t\n  input:\n    key:\n    - |-\n      @@SECRET:private-key@@\n- refused:\n    run: x @@SECRET:github-pat@@\n"})
	all, err := scenario.ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := all[0].Sessions[0]
	pat, parts, _ := testdata.Fake("github-pat")
	key, keyParts, _ := testdata.Fake("private-key")
	if got := s.Said[0].Text; got != "a "+pat+" b" {
		t.Errorf("the prompt is %q", got)
	}
	if got := s.Said[1].Input["key"].([]any)[0]; got != key {
		t.Errorf("the argument is %q", got)
	}
	if got := s.Said[2].Call.Text; got != "x "+pat {
		t.Errorf("the refused call is %q", got)
	}
	if want := slices.Concat(parts, keyParts, parts); !slices.Equal(s.Planted, want) {
		t.Errorf("planted are %d secrets, want %d", len(s.Planted), len(want))
	}
}

func TestTheClosingAnswerOfATurn(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"project.yml": goodProject, "01-a.yml": goodSession +
		"- person: a\n- agent: no\n- run: ls\n- agent: no\n- agent: yes\n- injected: x\n- person: b\n- agent: no\n- interrupted: true\n- queued: c\n- agent: yes\n- queued: d\n- agent: yes\n"})
	all, err := scenario.ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := all[0].Sessions[0]
	for i, e := range s.Said {
		if e.Kind == scenario.Agent && s.Closing(i) != (e.Text == "yes") {
			t.Errorf("entry %d: closing is %v", i+1, s.Closing(i))
		}
	}
}
