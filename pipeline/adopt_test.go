package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/store"
)

// stated is what the live MEMORY.md of each project says, by the project's folder.
func stated(t *testing.T, home string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "MEMORY.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	out := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		must(t, err)
		out[filepath.Base(filepath.Dir(filepath.Dir(file)))] = string(b)
	}
	return out
}

func extractionsOf(t *testing.T, home string) (n int) {
	t.Helper()
	for _, p := range projectsIn(t, home) {
		n += p.Extractions
	}
	return n
}

// lose removes a home's database, with its log.
func lose(t *testing.T, home string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(home, "memoir.db"+suffix)); err != nil && suffix == "" {
			t.Fatal(err)
		}
	}
}

func TestADatabaseThatIsLostCostsNoMemory(t *testing.T) {
	t.Parallel()
	for _, backup := range []bool{true, false} {
		for _, files := range []bool{true, false} {
			t.Run(fmt.Sprintf("backup %v, session files there %v", backup, files), func(t *testing.T) {
				t.Parallel()
				dir, home := t.TempDir(), t.TempDir()
				codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
				codexSession(t, dir, "bbbbbbbb-2", "/srv/other", "main", "Always write the header of a fixture.")
				root := run(t, options(home, dir)).Phase2[0].Root // makes the backup
				codexSession(t, dir, "cccccccc-3", "/srv/app", "main", "Never edit generated files.")
				run(t, options(home, dir))
				appendLine(t, filepath.Join(root, "MEMORY.md"), "- releases go out on Mondays")
				enqueueAll(t, home)
				run(t, options(home, dir))
				before := stated(t, home)

				lose(t, home)
				if !backup {
					must(t, os.Remove(filepath.Join(home, "memoir.db.backup")))
				}
				if !files {
					must(t, os.RemoveAll(dir))
					must(t, os.Mkdir(dir, 0o700))
				}
				report := run(t, options(home, dir))
				if said := fmt.Sprint(report.Warnings); !strings.Contains(said, "which is taken from its files") {
					t.Errorf("warnings: %s", said)
				}
				if report.Phase1.Stored > 0 || len(report.Phase2) > 0 {
					t.Errorf("work was done again: %+v %+v", report.Phase1, report.Phase2)
				}
				if n := extractionsOf(t, home); n != 3 {
					t.Errorf("%d extractions", n)
				}
				enqueueAll(t, home)
				again := run(t, options(home, dir))
				if diff := cmp.Diff(before, stated(t, home)); diff != "" {
					t.Errorf("made again, the memory differs:\n%s", diff)
				}
				if len(again.Warnings) > 0 {
					t.Errorf("and again: %v", again.Warnings)
				}
			})
		}
	}
}

func TestWhatWasForgottenStaysForgottenThoughTheDatabaseIsLost(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
	run(t, options(home, dir))
	forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:aaaaaaaa-1"}})
	lose(t, home)
	must(t, os.Remove(filepath.Join(home, "memoir.db.backup"))) // only the hash beside the memories knows of it
	must(t, os.Remove(filepath.Join(home, "seen")))             // names agents' files
	if told := holding(t, home, "aaaaaaaa-1"); len(told) != 1 || !strings.HasPrefix(told[0], "projects/app-") {
		t.Errorf("its id is in %v, not only in the archive", told)
	}
	run(t, options(home, dir))
	enqueueAll(t, home)
	if again := run(t, options(home, dir)); again.Scan.Reasons[memoir.ReasonForgotten] != 1 {
		t.Errorf("%+v", again.Scan.Reasons)
	}
	for _, text := range stated(t, home) {
		if strings.Contains(text, "pnpm") || !strings.Contains(text, "header of a fixture") {
			t.Errorf("memory:\n%s", text)
		}
	}
}
