package pipeline_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/pipeline"
	"memoir/store"
)

// earlier is the built-in model of an earlier program, which had other rules.
type earlier struct{ extract.Extractor }

func (e earlier) Extract(ctx context.Context, in extract.Input) (memoir.Extraction, error) {
	out, err := e.Extractor.Extract(ctx, in)
	out.Statements = slices.DeleteFunc(out.Statements, func(s memoir.Statement) bool { return s.Signal == "posted" })
	for _, signal := range []string{"required", "passed"} { // a rule that is gone, and one that has changed
		out.Statements = append(out.Statements, memoir.Statement{Kind: memoir.StatementFailure, By: memoir.ByTool,
			Text: "the " + signal + " rule was wrong", Signal: signal, Items: []int{in.Items[0].N}, At: "2026-05-01"})
	}
	out.RolloutSummary, out.RolloutSlug = "by an earlier program", "earlier"
	return out, err
}

// runEarlier makes one run as a program with that model.
func runEarlier(t *testing.T, o pipeline.Options) {
	t.Helper()
	o.Phases = func(pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
		return earlier{extract.NewBuiltin()}, consolidate.NewBuiltin(), nil
	}
	run(t, o)
	change(t, o.Home, `UPDATE job SET done_hash = substr(done_hash, 1, 64) || '@builtin' WHERE instr(done_hash, '@');
		UPDATE extraction SET content_hash = substr(content_hash, 1, 64) || '@builtin' WHERE instr(content_hash, '@');
		UPDATE generation_input SET hash = substr(hash, 1, 64) || '@builtin' WHERE instr(hash, '@')`)
}

// change writes into the database of a home as another program would.
func change(t *testing.T, home, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(home, "memoir.db"))
	must(t, err)
	defer db.Close()
	_, err = db.Exec(statement)
	must(t, err)
}

// memories are the files that agents read, by path, and the histories.
func memories(t *testing.T, home string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, p := range projectsIn(t, home) {
		dir := filepath.Join(home, "projects", p.ID)
		for _, file := range []string{"memory/MEMORY.md", "memory/memory_summary.md", "memory/raw_memories.md"} {
			content, err := os.ReadFile(filepath.Join(dir, file))
			must(t, err)
			files[p.Name+"/"+file] = string(content)
		}
		content, err := os.ReadFile(filepath.Join(dir, "HISTORY.md"))
		must(t, err)
		files[p.Name+"/HISTORY.md"] = string(content)
	}
	return files
}

func TestAHomeOfAnEarlierVersionBecomesAsAFreshOne(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	old, fresh := options(t.TempDir(), dir), options(t.TempDir(), dir)
	runEarlier(t, old)
	before := memories(t, old.Home)
	old.MaxAge = time.Nanosecond // what is in the memory is read whatever its age
	one := run(t, old)
	run(t, fresh)
	after, want := memories(t, old.Home), memories(t, fresh.Home)
	for path := range want {
		if strings.HasSuffix(path, "HISTORY.md") {
			want[path] = before[path] // it says what was known when it was written
		}
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("fresh, and read again:\n%s", diff)
	}
	n := one.Scan.Reasons[memoir.ReasonOutdated]
	if n == 0 || one.Phase1.Claimed != n || one.Usage.Calls > 0 {
		t.Errorf("%+v, %+v", one.Scan.Reasons, one.Phase1)
	}
	if two := run(t, old); two.Phase1.Claimed > 0 || len(two.Phase2) > 0 {
		t.Errorf("a second run: %+v", two)
	}
}

func TestNewSessionsAreReadBeforeOutdatedOnesWithinTheCap(t *testing.T) {
	t.Parallel()
	a := app{t: t, dir: t.TempDir(), home: t.TempDir()}
	for _, id := range []string{"aaaaaaaa-0001", "aaaaaaaa-0002"} {
		a.session(id, "Always write the header of a fixture.")
	}
	runEarlier(t, options(a.home, a.dir))
	a.session("aaaaaaaa-0003", "Always write the header of a fixture.")
	o := options(a.home, a.dir)
	o.Limit = 2
	report := run(t, o)
	reasons := map[memoir.Reason]int{memoir.ReasonEligible: 1, memoir.ReasonOutdated: 1, memoir.ReasonOverCap: 1}
	if diff := cmp.Diff(reasons, report.Scan.Reasons); diff != "" || report.Phase1.Claimed != 2 || report.Left != 1 {
		t.Errorf("%+v, %d left:\n%s", report.Phase1, report.Left, diff)
	}
	if s := sessionsOf(t, a.home)["codex:aaaaaaaa-0003"]; s.Reason != memoir.ReasonUpToDate {
		t.Errorf("the new one is %s", s.Reason)
	}
	if report = run(t, o); report.Phase1.Claimed != 1 || report.Left != 0 {
		t.Errorf("then %+v", report)
	}
}

func TestWhatPeopleDecidedSurvivesReadingAgain(t *testing.T) {
	t.Parallel()
	a := app{t: t, dir: t.TempDir(), home: t.TempDir()}
	a.session("aaaaaaaa-0001", "Never use npm, always use pnpm.")
	a.session("aaaaaaaa-0002", "Always write the header of a fixture.")
	a.session("aaaaaaaa-0003", "Never deploy to the zanzibar cluster on Fridays.")
	a.session("aaaaaaaa-0004", "Always name the owner of a tanganyika bucket.")
	gone := a.session("aaaaaaaa-0005", "Always run the kilimanjaro checks first.")
	o := options(a.home, a.dir)
	runEarlier(t, o)
	a.id = projectsIn(t, a.home)[0].ID
	disable(t, a.home, "codex:aaaaaaaa-0004")
	forgotten(t, o, store.Forgetting{Keys: []string{"codex:aaaaaaaa-0003"}})
	in(t, a.home, func(st *store.Store) error {
		_, err := st.AddEntry(t.Context(), memoir.Entry{ProjectID: a.id, Kind: memoir.EntryNote, Category: "fact",
			Author: memoir.AuthorUser, Text: "the lab has no network"}, []memoir.Statement{{Kind: memoir.StatementFinding,
			Text: "the lab has no network", Signal: memoir.SignalNote, By: memoir.ByPerson, Items: []int{1}, At: "2026-07-01"}})
		return err
	})
	a.edit(memoir.MemoryFile, "- the tests need Docker")
	replaceIn(t, a.path(memoir.MemoryFile), a.lineWith("pnpm"), "")
	must(t, os.Remove(gone))
	report := a.run()
	reason := sessionsOf(t, a.home)["codex:aaaaaaaa-0005"].Reason
	if report.Phase1.Claimed != 2 || report.Phase1.Unread > 0 || reason != memoir.ReasonUpToDate {
		t.Errorf("%+v, and the one whose file is gone is %s", report.Phase1, reason)
	}
	a.wantText([]string{"the lab has no network", "the tests need Docker", "header of a fixture", "kilimanjaro"},
		[]string{"pnpm", "zanzibar", "tanganyika", "required rule"})
	if n := strings.Count(a.text(memoir.MemoryFile), "passed rule"); n != 1 { // of the session whose file is gone
		t.Errorf("%d lines of a changed rule:\n%s", n, a.text(memoir.MemoryFile))
	}
}

// lineWith returns the line of MEMORY.md with a text.
func (a app) lineWith(text string) string {
	a.t.Helper()
	for line := range strings.SplitSeq(a.text(memoir.MemoryFile), "\n") {
		if strings.Contains(line, text) {
			return line + "\n"
		}
	}
	a.t.Fatalf("no line has %q", text)
	return ""
}

func TestTheBuiltinModelReadsNothingAgainThatALanguageModelRead(t *testing.T) {
	t.Parallel()
	a := app{t: t, dir: t.TempDir(), home: t.TempDir()}
	a.session("aaaaaaaa-0001", "Always write the header of a fixture.")
	a.session("aaaaaaaa-0002", "hello") // nothing was found
	a.run()
	change(t, a.home, `UPDATE extraction SET model = 'x/y'; DELETE FROM extraction WHERE session_key = 'codex:aaaaaaaa-0002';
		UPDATE job SET done_hash = substr(done_hash, 1, 64) || '@x/y' WHERE instr(done_hash, '@')`)
	if report := a.run(); report.Phase1.Claimed > 0 {
		t.Errorf("%+v", report)
	}
}
