package pipeline_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver

	"memoir"
	"memoir/lease"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// forget withdraws sessions in a home.
func forget(t *testing.T, o pipeline.Options, f store.Forgetting) (pipeline.ForgetReport, error) {
	t.Helper()
	st := open(t, o.Home)
	defer st.Close()
	return pipeline.Forget(t.Context(), st, o, f)
}

func forgotten(t *testing.T, o pipeline.Options, f store.Forgetting) pipeline.ForgetReport {
	t.Helper()
	report, err := forget(t, o, f)
	must(t, err)
	return report
}

// liveText is all that the live files of a project say, with their names.
func liveText(t *testing.T, home, project string) string {
	t.Helper()
	live, err := memory.At(home, project).Current()
	must(t, err)
	var b strings.Builder
	for _, path := range live.Files.Paths() {
		b.WriteString("== " + path + "\n" + string(live.Files[path]))
	}
	return b.String()
}

const (
	secretID = "aaaaaaaa-1111-4222-8333-444444444444"
	besideID = "bbbbbbbb-1111-4222-8333-444444444444"
)

// twoSessions is a home with the memory of two sessions of one project, of which the
// first says something of its own.
func twoSessions(t *testing.T) (home, dir, project string) {
	t.Helper()
	home, dir = t.TempDir(), t.TempDir()
	codexSession(t, dir, secretID, "/srv/app", "wip/zanzibar", "Never deploy to the zanzibar cluster on Fridays, always use pnpm.")
	codexSession(t, dir, besideID, "/srv/app", "main", "Always write the header of a fixture, and always use pnpm.")
	report := run(t, options(home, dir))
	project = report.Phase2[0].Project
	if text := liveText(t, home, project); !strings.Contains(text, "zanzibar") || !strings.Contains(text, secretID[:8]) {
		t.Fatalf("the session is not in memory to begin with:\n%s", text)
	}
	return home, dir, project
}

func TestAForgottenSessionIsInNoLiveFile(t *testing.T) {
	t.Parallel()
	home, dir, project := twoSessions(t)
	report := forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:" + secretID}})
	if len(report.Projects) != 1 || report.Projects[0].Outcome != pipeline.OutcomePublished || report.Projects[0].Generation != 2 ||
		len(report.Projects[0].Archives) != 0 {
		t.Errorf("%+v", report)
	}
	text := liveText(t, home, project)
	for _, word := range []string{"zanzibar", secretID[:8]} {
		if strings.Contains(text, word) {
			t.Errorf("%q is left:\n%s", word, text)
		}
	}
	if !strings.Contains(text, "header of a fixture") || !strings.Contains(text, "pnpm") {
		t.Errorf("what another session said is gone:\n%s", text)
	}
	if lives, err := os.ReadDir(filepath.Dir(memory.At(home, project).Live(2))); err != nil || len(lives) != 1 {
		t.Errorf("live directories: %v, %v; the earlier one holds what was forgotten", lives, err)
	}
	if again := run(t, options(home, dir)); len(again.Phase2) != 1 || again.Phase2[0].Outcome != pipeline.OutcomeUnchanged || again.Phase1.Claimed != 0 {
		t.Errorf("the next run: %+v", again)
	}
}

func TestALineThatOthersSupportHasTheirWordsAfterForgetting(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	for id, what := range map[string]string{secretID: "zanzibar", besideID: "integration"} {
		path := codexSession(t, dir, id, "/srv/app", "main", "Always run every "+what+" test before you commit a change of the parser.")
		if id == secretID { // the newest one, whose words the line has
			appendLine(t, path, `{"timestamp":"2026-05-01T11:00:00Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}`)
		}
	}
	project := run(t, options(home, dir)).Phase2[0].Project
	if text := liveText(t, home, project); !strings.Contains(text, "every zanzibar test before you commit a change of the parser.” [aaaaaaaa 2026-05-01, +1]") {
		t.Fatalf("no line that both support:\n%s", text)
	}
	forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:" + secretID}})
	if text := liveText(t, home, project); strings.Contains(text, "zanzibar") || !strings.Contains(text, "every integration test before you commit a change of the parser.”") {
		t.Errorf("after forgetting:\n%s", text)
	}
}

func TestForgettingBeatsHandEditsThatCiteWhatIsForgotten(t *testing.T) {
	t.Parallel()
	home, dir, project := twoSessions(t)
	root := memory.At(home, project).Link()
	appendLine(t, filepath.Join(root, "MEMORY.md"), "\n## Ours\n\n- the zanzibar cluster is Ada's [aaaaaaaa 2026-05-01]\n- ask Ada before a release\n- fixtures and zebras [aaaaaaaa 2026-05-01, bbbbbbbb 2026-05-01]")
	writeIn(t, filepath.Join(root, "page.md"), "mine\nas session "+secretID+" says of zanzibar\nalso mine\n")
	must(t, os.MkdirAll(filepath.Join(root, "skills/deploy/scripts"), 0o700))
	for name, text := range map[string]string{
		"SKILL.md":       "---\nname: deploy\ndescription: how we deploy\n---\n\n- not to zanzibar [aaaaaaaa 2026-05-01]\n- to the other one\n",
		"scripts/run.sh": "#!/bin/sh\n# zanzibar [aaaaaaaa 2026-05-01]\necho deploy\n",
	} {
		writeIn(t, filepath.Join(root, "skills/deploy", name), text)
	}
	forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:" + secretID}})
	text := liveText(t, home, project)
	for _, word := range []string{"zanzibar", secretID[:8]} {
		if strings.Contains(text, word) {
			t.Errorf("%q is left:\n%s", word, text)
		}
	}
	for _, line := range []string{"- ask Ada before a release", "- fixtures and zebras [bbbbbbbb 2026-05-01]", "mine\nalso mine\n", "- to the other one", "echo deploy"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is gone:\n%s", line, text)
		}
	}
	// A later generation does not bring back what notes once said.
	codexSession(t, dir, "cccccccc-1", "/srv/app", "main", "Never print the ledger.")
	run(t, options(home, dir))
	text = liveText(t, home, project)
	if strings.Contains(text, "zanzibar") || !strings.Contains(text, "print the ledger") || !strings.Contains(text, "ask Ada") {
		t.Errorf("the next generation:\n%s", text)
	}
}

func TestAForgottenSessionDoesNotComeBack(t *testing.T) {
	t.Parallel()
	home, dir, project := twoSessions(t)
	key := "codex:" + secretID
	forgotten(t, options(home, dir), store.Forgetting{Keys: []string{key}})
	path := filepath.Join(dir, secretID+".jsonl")
	check := func(what string) {
		t.Helper()
		report := run(t, options(home, dir))
		if report.Phase1.Claimed > 0 && what != "cleared" {
			t.Errorf("%s: %+v", what, report.Phase1)
		}
		if text := liveText(t, home, project); strings.Contains(text, "zanzibar") {
			t.Errorf("%s: it came back:\n%s", what, text)
		}
		if text := databaseText(t, home); strings.Contains(text, "zanzibar") {
			t.Errorf("%s: the database knows of it", what)
		}
	}
	appendLine(t, path, `{"timestamp":"2026-05-02T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"And always ask in zanzibar first."}}`)
	check("grown")
	must(t, os.Rename(path, filepath.Join(dir, "moved-"+filepath.Base(path))))
	check("moved")
	in(t, home, func(st *store.Store) error { return st.Clear(t.Context(), project) })
	must(t, memory.At(home, project).Remove())
	check("cleared")

	in(t, home, func(st *store.Store) error { return pipeline.Unforget(t.Context(), st, home, key) })
	run(t, options(home, dir))
	if text := liveText(t, home, project); !strings.Contains(text, "zanzibar") {
		t.Errorf("it was taken back, and is not there:\n%s", text)
	}
}

// databaseText is every text that the tables of a home's database hold now.
func databaseText(t *testing.T, home string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.db")
	st := open(t, home)
	defer st.Close()
	must(t, copyDatabase(t, filepath.Join(home, "memoir.db"), path))
	content, err := os.ReadFile(path)
	must(t, err)
	return string(content)
}

// copyDatabase writes what a database holds now, and none of its free pages, to a file.
func copyDatabase(t *testing.T, from, to string) error {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(from)+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "VACUUM INTO ?", to)
	return err
}

// held has another holder take a project, until release is called.
func held(t *testing.T, home, project string) (release func()) {
	t.Helper()
	st := open(t, home)
	claim, ok, err := st.ClaimProject(t.Context(), project, store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Hour, Always: true})
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	return func() {
		if err := st.Release(t.Context(), claim); err != nil {
			t.Error(err)
		}
		st.Close()
	}
}

func wantBusy(t *testing.T, err error) {
	t.Helper()
	if memoir.CodeOf(err) != memoir.CodeBusy {
		t.Fatalf("the error is %v", err)
	}
}
