package consolidate_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

func TestARowOfStepsInTheSameWordsBecomesAScript(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps []string // of one session after the other
		want  string
	}{
		{"the same each time", []string{"make gen > make test > make dist", "make gen > make test > make dist"}, "make gen|make test|make dist"},
		{"the release itself is left to the agent", []string{"make gen > make test > git tag v1 > git push", "make gen > make test > git tag v2 > git push"}, "make gen|make test"},
		{"a step in other words ends the row", []string{"make gen > make test > make dist V=1", "make gen > make test > make dist V=2"}, "make gen|make test"},
		{"other words in a third session count", []string{"make gen > make test > make dist", "make gen > make test > make dist", "make gen > make test -j4 > make dist"}, ""},
		{"something else between", []string{"make gen > make test > make dist", "make gen > make test > make dist", "make gen > make lint > make test > make dist"}, "make gen|make test|make dist"},
		{"a directory of one machine", []string{"make gen DIR=/home/x/y > make test > git push", "make gen DIR=/home/x/y > make test > git push"}, ""},
		{"formatting alone is none", []string{"cargo fmt > npm install > git commit > make test", "cargo fmt > npm install > git commit > make test"}, ""},
		{"what destroys is left to the agent", []string{"make gen > make test > make db-reset", "make gen > make test > make db-reset"}, "make gen|make test"},
	} {
		c := build(t, input(recur([]string{"ship it", "ship it", "ship it"}[:len(test.steps)], test.steps...)...))
		got := ""
		if len(c.Skills) == 1 && len(c.Skills[0].Scripts) == 1 {
			got = ran(c.Skills[0].Scripts[0])
			if !strings.Contains(c.Skills[0].Content, "`sh scripts/"+c.Skills[0].Scripts[0].Path+"`") {
				t.Errorf("%s: SKILL.md does not name the script:\n%s", test.name, c.Skills[0].Content)
			}
		}
		if got != test.want || len(c.Skills) != 1 && test.want != "" {
			t.Errorf("%s: got %q, want %q of %d skills", test.name, got, test.want, len(c.Skills))
		}
	}
}

// ran are the lines of a script that run something.
func ran(f memoir.SkillFile) string {
	var out []string
	for line := range strings.Lines(f.Content) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line != "set -eu" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "|")
}

func TestAScriptStopsAtTheStepThatFails(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	c := build(t, input(recur([]string{"ship it", "ship it"}, "./a one > ./b two > ./c three", "./a one > ./b two > ./c three")...))
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "#!/bin/sh\necho a $1 >> log\n")
	write("b", "#!/bin/sh\necho b $1 >> log\nexit 3\n")
	write("c", "#!/bin/sh\necho c $1 >> log\n")
	write("run.sh", c.Skills[0].Scripts[0].Content)
	cmd := exec.CommandContext(context.Background(), "sh", "run.sh")
	cmd.Dir = dir
	err := cmd.Run()
	log, _ := os.ReadFile(filepath.Join(dir, "log"))
	if err == nil || string(log) != "a one\nb two\n" {
		t.Errorf("error %v, log %q", err, log)
	}
}
