package pipeline_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// byHand changes a home's database as a person with another program does, which looks
// after no references.
func byHand(t *testing.T, home string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home, "memoir.db")+"?_foreign_keys=off")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func projectsIn(t *testing.T, st *store.Store) []store.ProjectRow {
	t.Helper()
	projects, err := st.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return projects
}

// enqueueAll asks for a consolidation of every project.
func enqueueAll(t *testing.T, home string) {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	for _, p := range projectsIn(t, st) {
		if err := st.Enqueue(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
	}
}

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
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(filepath.Dir(filepath.Dir(file)))] = string(b)
	}
	return out
}

func extractionsOf(t *testing.T, home string) (n int) {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	for _, p := range projectsIn(t, st) {
		n += p.Extractions
	}
	return n
}

// Rows that a person deleted, or lost, say nothing about what is to be in memory.
func TestExtractionsThatAreGoneFromTheDatabaseAreNotTakenForWithdrawn(t *testing.T) {
	t.Parallel()
	const all = 4
	prompts := map[string]string{"aaaaaaaa-1": "Never use npm, always use pnpm.", "bbbbbbbb-2": "Always write the header of a fixture.", "cccccccc-3": "Never edit generated files.",
		"dddddddd-4": "Always name a migration for what it does."}
	for _, rows := range []struct {
		name, where string
		sessions    []string
	}{
		{"of all", `1`, []string{"aaaaaaaa-1", "bbbbbbbb-2", "cccccccc-3", "dddddddd-4"}},
		{"of a project", `project_id LIKE 'app-%'`, []string{"aaaaaaaa-1", "bbbbbbbb-2", "cccccccc-3"}},
		{"of a session", `session_key = 'codex:aaaaaaaa-1'`, []string{"aaaaaaaa-1"}},
	} {
		for _, also := range []struct{ name, statement string }{
			{"", ``},
			{", jobs too", `DELETE FROM job WHERE kind = 'extract' AND key NOT IN (SELECT session_key FROM extraction)`},
			{", sessions too", `DELETE FROM session WHERE key NOT IN (SELECT session_key FROM extraction)`},
			{", known by no version before", `UPDATE job SET gave = 0`},
			{", generations too", `DELETE FROM generation`},
		} {
			for _, files := range []string{"there", "gone"} {
				for _, written := range []bool{true, false} {
					if also.name != "" && (written || len(rows.sessions) > 1) {
						continue
					}
					t.Run(fmt.Sprintf("rows %s%s, files %s, written down %v", rows.name, also.name, files, written), func(t *testing.T) {
						t.Parallel()
						dir, home := t.TempDir(), t.TempDir()
						for id, prompt := range prompts {
							cwd := "/srv/app"
							if id == "dddddddd-4" {
								cwd = "/srv/other"
							}
							codexSession(t, dir, id, cwd, "main", prompt)
						}
						run(t, options(home, dir))
						before := stated(t, home)
						byHand(t, home, `DELETE FROM extraction WHERE `+rows.where, also.statement)
						if files == "gone" {
							for _, id := range rows.sessions {
								if err := os.Remove(filepath.Join(dir, id+".jsonl")); err != nil {
									t.Fatal(err)
								}
							}
						}
						if !written {
							raw, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "raw_memories.md"))
							if err != nil || len(raw) != 2 {
								t.Fatal(raw, err)
							}
							for _, path := range raw {
								if err := os.Remove(path); err != nil {
									t.Fatal(err)
								}
							}
						}
						enqueueAll(t, home)
						report := run(t, options(home, dir))
						for id, text := range stated(t, home) {
							for line := range strings.Lines(before[id]) {
								if !strings.Contains(text, line) && !strings.HasPrefix(line, "From ") { // how many sessions there are
									t.Errorf("%s lost %q:\n%s", id, line, text)
								}
							}
							if n := strings.Count(text, "\n") - strings.Count(before[id], "\n"); n != 0 {
								t.Errorf("%s has %d more lines:\n%s", id, n, text)
							}
						}
						said := fmt.Sprint(report.Warnings)
						if !strings.Contains(said, "is gone from the database, though nobody took that out") {
							t.Errorf("nobody is told: %s", said)
						}
						if also.name == ", sessions too" { // found by the next scan
							run(t, options(home, dir))
						}
						want := all
						if !written && files == "gone" {
							want -= len(rows.sessions)
						}
						if n := extractionsOf(t, home); n != want {
							t.Errorf("%d extractions, want %d: %s", n, want, said)
						}
						again := run(t, options(home, dir))
						if len(again.Warnings) > 0 || again.Phase1.Claimed > 0 || len(again.Phase2) > 0 {
							t.Errorf("and again: %+v %+v %v", again.Phase1, again.Phase2, again.Warnings)
						}
						enqueueAll(t, home)
						run(t, options(home, dir))
						for id, text := range stated(t, home) {
							if strings.Count(text, "\n") != strings.Count(before[id], "\n") {
								t.Errorf("made again, %s is\n%s", id, text)
							}
						}
					})
				}
			}
		}
	}
}

func TestWhatBecomesOfASessionWhoseExtractionIsLostIsSaid(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
	codexSession(t, dir, "cccccccc-3", "/srv/app", "main", "Never edit generated files.")
	first := run(t, options(home, dir))
	root := first.Phase2[0].Root
	raw := filepath.Join(root, "raw_memories.md")
	text, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	// Of the first and the second nothing is written down any more.
	for _, id := range []string{"aaaaaaaa-1", "bbbbbbbb-2"} {
		text = []byte(strings.Replace(string(text), "session: "+id+"\n", "session: none\n", 1))
	}
	if err := os.WriteFile(raw, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "aaaaaaaa-1.jsonl")); err != nil {
		t.Fatal(err)
	}
	byHand(t, home, `DELETE FROM extraction`)
	report := run(t, options(home, dir))
	const want = "what was extracted from 3 sessions is gone from the database, though nobody took that out: of 1 session taken over again from the memory; 1 session to be read again; of 1 session, which can't be read again, what the memory has stays"
	if len(report.Warnings) == 0 || report.Warnings[0].Message != want {
		t.Errorf("%+v", report.Warnings)
	}
	if report.Phase1 != (pipeline.Phase1Report{Claimed: 1, Stored: 1}) {
		t.Errorf("%+v", report.Phase1)
	}
	sessions := sessionsOf(t, home)
	if s := sessions["codex:aaaaaaaa-1"]; s.Reason != memoir.ReasonUnreadable || !strings.Contains(s.Error, "what was extracted from it is lost") {
		t.Errorf("%+v", s)
	}
	for _, key := range []string{"codex:bbbbbbbb-2", "codex:cccccccc-3"} {
		if s := sessions[key]; s.Reason != memoir.ReasonUpToDate {
			t.Errorf("%+v", s)
		}
	}
	// A file that is back is read as any other.
	codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	if report := run(t, options(home, dir)); report.Phase1 != (pipeline.Phase1Report{Claimed: 1, Stored: 1}) || extractionsOf(t, home) != 3 {
		t.Errorf("%+v", report)
	}
}

func TestWhatIsForgottenGoesThoughTheRestIsLost(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{true, false} {
		t.Run(fmt.Sprintf("written down %v", written), func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
			codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
			first := run(t, options(home, dir))
			if !written {
				if err := os.Remove(filepath.Join(first.Phase2[0].Root, "raw_memories.md")); err != nil {
					t.Fatal(err)
				}
			}
			byHand(t, home, `DELETE FROM extraction`)
			st := open(t, home)
			_, err := pipeline.Forget(t.Context(), st, options(home, dir), pipeline.Forgetting{Keys: []string{"codex:aaaaaaaa-1"}})
			if err != nil {
				t.Error(err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				for _, text := range stated(t, home) {
					if strings.Contains(text, "pnpm") || !strings.Contains(text, "header of a fixture") {
						t.Errorf("memory:\n%s", text)
					}
				}
				enqueueAll(t, home)
				run(t, options(home, dir))
			}
		})
	}
}

func TestWhatWasUndoneStaysOutThoughItsExtractionIsMissing(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	path := codexSession(t, dir, "aaaaaaaa-1", "/srv/app", "main", "Never use npm, always use pnpm.")
	codexSession(t, dir, "bbbbbbbb-2", "/srv/app", "main", "Always write the header of a fixture.")
	run(t, options(home, dir))
	byHand(t, home, `DELETE FROM extraction WHERE session_key = 'codex:aaaaaaaa-1'`)
	appendLine(t, path, `{"timestamp":"2026-05-01T10:00:03Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`)
	for range 2 {
		run(t, options(home, dir))
		for _, text := range stated(t, home) {
			if strings.Contains(text, "pnpm") {
				t.Errorf("what was undone is there:\n%s", text)
			}
		}
		enqueueAll(t, home)
	}
	st := open(t, home)
	defer st.Close()
	if withdrawn, lost, err := st.Absent(t.Context(), sessionsOf(t, home)["codex:aaaaaaaa-1"].ProjectID, []string{"codex:aaaaaaaa-1", "codex:bbbbbbbb-2", "codex:nobody"}); err != nil ||
		fmt.Sprint(withdrawn, lost) != "[codex:aaaaaaaa-1] [codex:nobody]" {
		t.Errorf("%v %v %v", withdrawn, lost, err)
	}
}
