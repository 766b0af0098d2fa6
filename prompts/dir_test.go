package prompts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

func TestADirectoryReplacesThePromptsThatItHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{fileStageOneSystem: "Only mine.", "README.md": "about these", "notes.txt": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	system, input, err := s.StageOne(StageOneVars{ThreadID: "t-1"})
	if err != nil || system != "Only mine." || !strings.Contains(input, "t-1") {
		t.Errorf("got %q, %v", system, err)
	}
	own, err := LoadDir("")
	if err != nil {
		t.Fatal(err)
	}
	if system, _, _ := own.StageOne(StageOneVars{}); system == "Only mine." || system == "" {
		t.Errorf("without a directory: %q", system)
	}
}

func TestADirectoryOfPromptsThatIsNoUse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, text, want string }{
		"not there":             {"", "", "cannot read the prompts"},
		"no prompt's name":      {"stage_two.md", "x", "stage_two.md is none of the prompts"},
		"a variable is missing": {fileStageOneInput, "nothing", "prompt stage_one_input.md: variable {{thread_id}} is missing"},
		"a variable too many":   {fileStageOneSystem, "{{key}}", "prompt stage_one_system.md: unknown variable {{key}}"},
	} {
		dir := filepath.Join(t.TempDir(), "mine")
		if test.file != "" {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := LoadDir(dir)
		if err != nil && !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v does not name the directory", name, err)
		}
		if memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error(), test.want) || memoir.HintOf(err) == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
