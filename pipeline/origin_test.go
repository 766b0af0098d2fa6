package pipeline_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

// shows checks that each line of a project's memory has its statements in the manifest, each with a signal, a day and
// items that the session has, or is a person's. It returns the lines of both kinds.
func shows(t *testing.T, home, project string) (lines int, byHand []string) {
	t.Helper()
	live, err := memory.At(home, project).Current()
	must(t, err)
	extractions, err := memory.DecodeStatements(live.Files[memory.StatementsFile])
	must(t, err)
	scanner, err := secrets.New(secrets.Options{})
	must(t, err)
	statements := map[string]memoir.Statement{}
	for _, e := range extractions {
		numbers := []int{1} // of an entry
		if !memoir.IsEntry(e.SessionKey) {
			loaded, err := pipeline.LoadSession(t.Context(), home, sessionsOf(t, home)[e.SessionKey],
				func() (*secrets.Scanner, error) { return scanner, nil })
			must(t, err)
			numbers = nil
			for _, it := range loaded.Items {
				numbers = append(numbers, it.N)
			}
		}
		for _, st := range e.Statements {
			statements[st.ID] = st
			_, err := time.Parse(time.DateOnly, st.At)
			missing := func(n int) bool { return !slices.Contains(numbers, n) }
			if st.Signal == "" || st.By == "" || err != nil || len(st.Items) == 0 || slices.ContainsFunc(st.Items, missing) {
				t.Errorf("%s: %+v", e.SessionKey, st)
			}
		}
	}
	for _, name := range []string{memoir.MemoryFile, memoir.SummaryFile} {
		text, _, _ := strings.Cut(string(live.Files[name]), "\n## Where to look\n")
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "- ") {
				continue
			}
			lines++
			origin := live.Manifest.Lines[memoir.LineKey(line)]
			if origin.Hand {
				byHand = append(byHand, strings.TrimSpace(line))
			}
			unknown := func(id string) bool { return statements[id].ID == "" }
			if origin.Hand == (len(origin.Statements) > 0) || slices.ContainsFunc(origin.Statements, unknown) {
				t.Errorf("%s of %s: %q has the origin %+v", name, project, line, origin)
			}
		}
	}
	return lines, byHand
}

func TestEachLineOfAMemoryHasItsStatements(t *testing.T) {
	t.Parallel()
	home, o := noted(t)
	file := filepath.Join(home, "projects", lanternd(t, home), "memory", "MEMORY.md")
	content, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append(content, "\n- ask Ada first\n"...), 0o600))
	run(t, o)
	all := 0
	for _, p := range projectsIn(t, home) {
		lines, byHand := shows(t, home, p.ID)
		all += lines
		if want := p.ID == lanternd(t, home); want != slices.Contains(byHand, "- ask Ada first") {
			t.Errorf("%s: by hand are %q", p.ID, byHand)
		}
	}
	if all < 20 {
		t.Errorf("only %d lines were looked at", all)
	}
}

func TestTheLaterWordOfAnotherAgentsSessionWinsUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	const earlier, later = "Always use yarn to add dependencies.", "From now on use pnpm, not yarn."
	claudeSession(t, dir, "one", "/srv/app", earlier)
	codexSession(t, dir, "two", "/srv/app", "main", later)
	first := run(t, options(home, dir))
	for _, name := range []string{memoir.MemoryFile, memoir.SummaryFile} {
		if text := memoryOf(t, first, "app", name); strings.Contains(text, earlier) || !strings.Contains(text, later) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if text := memoryOf(t, first, "app", memoir.RawMemoriesFile); !strings.Contains(text, "## Refuted\n- “"+earlier+"” (refuted 2026-05-01)") {
		t.Errorf("%s", text)
	}
	live, err := memory.At(home, first.Phase2[0].Project).Current()
	must(t, err)
	statements, err := memory.DecodeStatements(live.Files[memory.StatementsFile])
	must(t, err)
	ids := map[string]string{}
	for _, e := range statements {
		ids[e.Statements[0].Quote] = cmp.Or(e.Statements[0].Replaces, e.Statements[0].ID)
	}
	if ids[later] == "" || ids[later] != ids[earlier] {
		t.Errorf("what it replaces is not named: %q", ids)
	}
	forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:two"}})
	if text := liveText(t, home, first.Phase2[0].Project); strings.Contains(text, "refuted") || !strings.Contains(text, "- “"+earlier+"” (said once") {
		t.Errorf("it did not come back:\n%s", text)
	}
}

func TestADamagedFileOfStatementsLosesNoNote(t *testing.T) {
	t.Parallel()
	home, o := noted(t)
	run(t, o)
	root := filepath.Join(home, "projects", lanternd(t, home), "memory")
	before, err := os.ReadFile(filepath.Join(root, memoir.MemoryFile))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, memory.StatementsFile), []byte("{\n"), 0o600))
	databases, err := filepath.Glob(filepath.Join(home, "memoir.db*"))
	must(t, err)
	for _, path := range databases {
		must(t, os.RemoveAll(path))
	}
	run(t, o)
	after, err := os.ReadFile(filepath.Join(root, memoir.MemoryFile))
	if must(t, err); string(after) != string(before) || !strings.Contains(string(after), "the lab has no network") {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	in(t, home, func(st *store.Store) error {
		e, err := st.AddEntry(t.Context(), memoir.Entry{ProjectID: lanternd(t, home), Kind: memoir.EntryNote,
			Category: "fact", Author: memoir.AuthorUser, Text: "another"}, nil)
		if e.ID < 2 {
			t.Errorf("the number %d is given twice", e.ID)
		}
		return err
	})
}

// noted is a home with the memories of the fixtures, and a note that no run has seen.
func noted(t *testing.T) (home string, o pipeline.Options) {
	t.Helper()
	home = t.TempDir()
	dir, _ := fixtures(t)
	o = options(home, dir)
	run(t, o)
	in(t, home, func(st *store.Store) error {
		_, err := st.AddEntry(t.Context(), memoir.Entry{ProjectID: lanternd(t, home), Kind: memoir.EntryNote,
			Category: "fact", Author: memoir.AuthorUser, Text: "the lab has no network"},
			[]memoir.Statement{{Kind: memoir.StatementFinding, Text: "the lab has no network", Signal: memoir.SignalNote,
				By: memoir.ByPerson, Items: []int{1}, At: "2026-07-01"}})
		return err
	})
	return home, o
}

// lanternd is the id of the project of that name.
func lanternd(t *testing.T, home string) string {
	t.Helper()
	for _, p := range projectsIn(t, home) {
		if p.Name == "lanternd" {
			return p.ID
		}
	}
	t.Fatal("no project lanternd")
	return ""
}

func TestEachLineOfAModelHasItsStatements(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step {
		return modeltest.Step{Text: scribe.Asked(c).Answer()}
	})
	run(t, ofServer(t, home, dir, "default", server.URL))
	for _, p := range projectsIn(t, home) {
		if lines, _ := shows(t, home, p.ID); lines < 3 {
			t.Errorf("%s: only %d lines", p.ID, lines)
		}
	}
}

func TestEachLineOfTheCorpusHasItsStatements(t *testing.T) {
	t.Parallel()
	corpus, err := filepath.Abs(cmp.Or(os.Getenv("MEMOIR_CORPUS"), "../../shared/corpus"))
	must(t, err)
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("no corpus of sessions: %v (set MEMOIR_CORPUS)", err)
	}
	home := t.TempDir()
	o := options(home, corpus)
	o.Settings.Memories.MaxRolloutAgeDays, o.Settings.Memories.MinRolloutIdleHours = 0, 0
	run(t, o)
	all := 0
	for _, p := range projectsIn(t, home) {
		lines, _ := shows(t, home, p.ID)
		all += lines
	}
	if all == 0 {
		t.Error("the corpus made no line")
	}
}
