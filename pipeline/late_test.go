package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// twoGenerations makes a home whose memory was published twice, and returns the live
// directory of the first generation, which the second left.
func twoGenerations(t *testing.T, dir, home string) string {
	t.Helper()
	codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	run(t, options(home, dir))
	codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
	run(t, options(home, dir))
	earlier, err := filepath.Glob(filepath.Join(home, "projects", "*", "live", "1"))
	if err != nil || len(earlier) != 1 {
		t.Fatal(earlier, err)
	}
	return earlier[0]
}

func TestAnEditThatWasSavedTooLateIsKeptBesideTheMemory(t *testing.T) {
	t.Parallel()
	t.Run("when its directory is pruned", func(t *testing.T) { savedTooLate(t, false) })
	t.Run("when recovery removes its directory", func(t *testing.T) { savedTooLate(t, true) })
}

func savedTooLate(t *testing.T, recovered bool) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	earlier := twoGenerations(t, dir, home)
	if recovered { // a process died after the next publication, before it pruned
		aside := filepath.Join(t.TempDir(), "1")
		must(t, os.CopyFS(aside, os.DirFS(earlier)))
		codexSession(t, dir, "dddddddd-4", "/srv/app", "main", "Always name the ticket.")
		run(t, options(home, dir))
		must(t, os.CopyFS(earlier, os.DirFS(aside)))
	}
	appendLine(t, filepath.Join(earlier, "MEMORY.md"), "\n## House rules\n\n- never on a Friday")
	soon := time.Now().Add(time.Minute)
	must(t, os.Chtimes(filepath.Join(earlier, "MEMORY.md"), soon, soon))
	codexSession(t, dir, "cccccccc-3", "/srv/app", "main", "Always sort the imports.")
	report := run(t, options(home, dir))
	warned := ""
	for _, w := range report.Warnings {
		warned += w.Message + "\n"
	}
	kept, err := filepath.Glob(filepath.Join(home, "projects", "*", "unmerged", "1", "MEMORY.md"))
	if err != nil || len(kept) != 1 || !strings.Contains(warned, kept[0]) {
		t.Fatalf("kept %v, %v; warned %q", kept, err, warned)
	}
	if content, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(content), "never on a Friday") {
		t.Errorf("%s, %v", content, err)
	}
	if strings.Contains(stated(t, home)["MEMORY.md"], "Friday") {
		t.Error("it was merged")
	}
}
