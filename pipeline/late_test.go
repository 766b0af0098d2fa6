package pipeline_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestWhoClearsUpAnEarlierDirectoryTakesNothingOutOfTheMemory(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"MEMORY.md", "*.md", "raw_memories.md"} {
		dir, home := t.TempDir(), t.TempDir()
		earlier := twoGenerations(t, dir, home)
		before := stated(t, home)
		paths, err := filepath.Glob(filepath.Join(earlier, path))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		enqueueAll(t, home)
		run(t, options(home, dir))
		if diff := cmp.Diff(before, stated(t, home)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestAnEditThatWasSavedTooLateIsForetoldAndKept(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	earlier := twoGenerations(t, dir, home)
	dry := options(home, dir)
	dry.DryRun = true
	if would := run(t, dry).Would; len(would) != 0 {
		t.Fatalf("before: %+v", would)
	}
	appendLine(t, filepath.Join(earlier, "MEMORY.md"), "\n## House rules\n\n- never on a Friday")
	if would := run(t, dry).Would; len(would) != 1 || would[0].Action != "consolidate" {
		t.Errorf("foretold: %+v", would)
	}
	run(t, options(home, dir))
	live, err := os.ReadFile(filepath.Join(earlier, "..", "..", "memory", "MEMORY.md"))
	if err != nil || !strings.Contains(string(live), "never on a Friday") {
		t.Errorf("%v: %s", err, live)
	}
	if would := run(t, dry).Would; len(would) != 0 {
		t.Errorf("afterwards: %+v", would)
	}
}

// Where there is nothing to make another memory of, what was saved too late is carried over
// all the same, once, and nothing else changes.
func TestAnEditThatWasSavedTooLateSettlesWhereNoExtractionIsLeft(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leave   string // what becomes of the extractions
		present string // what the memory says of sessions all the same
	}{
		"lost":     {`DELETE FROM extraction; DELETE FROM job; DELETE FROM file; DELETE FROM session`, "pnpm"},
		"disabled": {`INSERT INTO mark (session_key, disabled, at) SELECT key, 1, 1 FROM session; UPDATE session SET reason = 'disabled'`, ""},
		"undone":   {`DELETE FROM extraction; UPDATE job SET gave = 2 WHERE kind = 'extract'`, "pnpm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			earlier := twoGenerations(t, dir, home)
			removeSessions(t, dir)
			leave(t, home, test.leave)
			run(t, options(home, dir))
			for _, line := range []string{"never on a Friday", "nor on a Monday"} {
				appendLine(t, filepath.Join(earlier, "MEMORY.md"), "\n## House rules\n\n- "+line)
				if report := run(t, options(home, dir)); len(report.Phase2) != 1 || report.Phase2[0].Outcome != "published" {
					t.Fatalf("%s: %+v, %+v", line, report.Phase2, report.Warnings)
				}
				if again := run(t, options(home, dir)); len(again.Phase2) != 0 {
					t.Errorf("%s, and again: %+v", line, again.Phase2)
				}
				live := filepath.Join(earlier, "..", "..", "memory")
				text, err := os.ReadFile(filepath.Join(live, "MEMORY.md"))
				if err != nil || !strings.Contains(string(text), line) || !strings.Contains(string(text), test.present) {
					t.Errorf("%s: %v: %s", line, err, text)
				}
				if summaries, _ := filepath.Glob(filepath.Join(live, "rollout_summaries", "*")); test.present != "" && len(summaries) != 2 {
					t.Errorf("%s: the sessions' summaries: %s", line, summaries)
				}
				linked, err := os.Readlink(live)
				if err != nil {
					t.Fatal(err)
				}
				lives, err := filepath.Glob(filepath.Join(filepath.Dir(live), "live", "*"))
				if err != nil || len(lives) != 2 {
					t.Fatal(lives, err)
				}
				if earlier = lives[0]; filepath.Base(earlier) == filepath.Base(linked) {
					earlier = lives[1]
				}
			}
		})
	}
}

// leave changes the database behind the program's back.
func leave(t *testing.T, home, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(home, "memoir.db"))
	if err == nil {
		_, err = db.Exec(statements)
		err = errorsOf(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// removeSessions deletes the files of all sessions.
func removeSessions(t *testing.T, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
