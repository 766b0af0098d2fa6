package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/store"
)

// claudeSession writes a small session that worked in cwd.
func claudeSession(t testing.TB, dir, id, cwd, prompt string) {
	t.Helper()
	line := func(role, uuid, parent, content string) string {
		return `{"type":"` + role + `","uuid":"` + uuid + `","parentUuid":` + parent + `,"sessionId":"` + id + `","cwd":"` + cwd +
			`","timestamp":"2026-05-01T10:00:00Z","message":{"role":"` + role + `","content":` + content + `}}` + "\n"
	}
	text := line("user", id+"-1", "null", `"`+prompt+`"`) +
		line("assistant", id+"-2", `"`+id+`-1"`, `[{"type":"text","text":"Done: the parser failed because the fixture had no header, so it now writes one."}]`)
	writeIn(t, filepath.Join(dir, id+".jsonl"), text)
}

func TestExcludedDirectoriesAreKeptOutAndComeBack(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	claudeSession(t, dir, "one", "/srv/open/app", "always write the header of a fixture")
	claudeSession(t, dir, "two", "/srv/private/app", "never print the ledger")

	o := options(home, dir)
	o.DryRun = true
	run(t, o)
	o.DryRun, o.Settings = false, load(t, "exclude:\n  - /srv/private/**\n")
	catchUp(t, o)
	if kept, got := found(t, home, "fixture"), found(t, home, "ledger"); len(kept) == 0 || len(got) != 0 {
		t.Errorf("a search reads %q, and of what is excluded %q", kept, got)
	}
	report := run(t, o)
	if report.Scan.Reasons[memoir.ReasonDisabled] != 1 || report.Phase1.Claimed != 1 {
		t.Errorf("with the exclusion: %v, claimed %d", report.Scan.Reasons, report.Phase1.Claimed)
	}
	report = run(t, options(home, dir))
	if report.Scan.Reasons[memoir.ReasonDisabled] != 0 || report.Phase1.Claimed != 1 {
		t.Errorf("without it: %v, claimed %d", report.Scan.Reasons, report.Phase1.Claimed)
	}
	if got := found(t, home, "ledger"); len(got) == 0 {
		t.Error("without it, a search does not find the session")
	}
	run(t, o)
	st := open(t, home)
	defer st.Close()
	must(t, st.Texts(t.Context(), "", func(text store.Text) error {
		if text.Table == "message" && strings.Contains(text.Value, "ledger") {
			t.Errorf("excluded again, stored: %q", text.Value)
		}
		return nil
	}))
}

func TestAProjectsOwnFileSwitchesMemoryOffForAllThatIsBelowIt(t *testing.T) {
	t.Parallel()
	dir, home, work := t.TempDir(), t.TempDir(), t.TempDir()
	cwd := filepath.Join(work, "repo", "deep", "down")
	checkout(t, filepath.Join(work, "repo"))
	must(t, os.MkdirAll(cwd, 0o700))
	file := filepath.Join(work, "repo", config.ProjectFileName)
	writeIn(t, file, "memories:\n  enabled: false\n")
	claudeSession(t, dir, "one", cwd, "always write the header of a fixture")
	if report := run(t, options(home, dir)); report.Scan.Reasons[memoir.ReasonDisabled] != 1 || report.Phase1.Claimed != 0 {
		t.Errorf("switched off: %v", report.Scan.Reasons)
	}
	writeIn(t, file, "memories: [\n")
	report := run(t, options(home, dir))
	if report.Phase1.Claimed != 0 || len(report.Warnings) == 0 || !strings.Contains(report.Warnings[0].Message, config.ProjectFileName) {
		t.Errorf("a file that cannot be understood: %v, warnings %v", report.Scan.Reasons, report.Warnings)
	}
	must(t, os.Remove(file))
	if report := run(t, options(home, dir)); report.Phase1.Claimed != 1 {
		t.Errorf("without the file: %v", report.Scan.Reasons)
	}

	// What is there stays, whether the file is understood or not.
	project := projectsIn(t, home)[0].ID
	before := liveText(t, home, project)
	for text, outcome := range map[string]pipeline.Outcome{
		"memories:\n  enabled: false\n": pipeline.OutcomeOff, "memories: [\n": pipeline.OutcomeFailed,
	} {
		writeIn(t, file, text)
		enqueueAll(t, home)
		report := run(t, options(home, dir))
		if len(report.Phase2) != 1 || report.Phase2[0].Outcome != outcome || liveText(t, home, project) != before {
			t.Errorf("%s: %+v\n%s", text, report.Phase2, liveText(t, home, project))
		}
	}
}

func TestASessionThatAProjectFileCoversIsDisabledAsWell(t *testing.T) {
	t.Parallel()
	dir, home, work := t.TempDir(), t.TempDir(), t.TempDir()
	repo := filepath.Join(work, "repo")
	checkout(t, repo)
	claudeSession(t, dir, "one", repo, "always write the header of a fixture")
	claudeSession(t, dir, "two", repo, "never print the ledger")
	run(t, options(home, dir))
	file := filepath.Join(repo, config.ProjectFileName)
	writeIn(t, file, "memories:\n  enabled: false\n")
	run(t, options(home, dir))

	st := open(t, home)
	must(t, st.SetDisabled(t.Context(), "claude:one", true))
	must(t, pipeline.Withdraw(t.Context(), st, options(home, dir), sessionsOf(t, home)["claude:one"].ProjectID))
	must(t, os.Remove(file))
	report := run(t, options(home, dir))
	if text := memoryOf(t, report, "repo", "MEMORY.md"); strings.Contains(text, "fixture") || !strings.Contains(text, "ledger") {
		t.Errorf("after the file is gone:\n%s", text)
	}
}

func TestASessionThatOnlyCopiesAnotherIsCountedAsACopy(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	claudeSession(t, dir, "one", "/srv/app", "always write the header of a fixture")
	text, err := os.ReadFile(filepath.Join(dir, "one.jsonl"))
	must(t, err)
	writeIn(t, filepath.Join(dir, "two.jsonl"), strings.ReplaceAll(string(text), `"sessionId":"one"`, `"sessionId":"two"`))
	report := run(t, options(home, dir))
	if got := report.Phase1; got.Stored != 1 || got.Copied != 1 || got.Empty != 0 {
		t.Errorf("%+v", got)
	}
}

func load(t *testing.T, yaml string) config.Settings {
	t.Helper()
	dir := t.TempDir()
	writeIn(t, filepath.Join(dir, config.FileName), yaml)
	settings, err := config.Load(config.Options{ConfigDir: dir, Environ: []string{"HOME=" + dir}})
	must(t, err)
	return settings
}

func TestAProjectFileThatWasMendedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	home, dir, work := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "repo")
	checkout(t, work)
	claudeSession(t, dir, "one", work, "always write the header of a fixture")
	o := options(home, dir)
	run(t, o)
	enqueueAll(t, home)
	file := filepath.Join(work, config.ProjectFileName)
	writeIn(t, file, "memories: {maxMemorySize: -5}\n")
	for range 2 {
		report := run(t, o)
		if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomeFailed || !strings.Contains(report.Phase2[0].Detail, "maxMemorySize must be a whole number") {
			t.Fatalf("%+v", report.Phase2)
		}
	}
	if _, _, status := ledger(t, home); len(status.Failed)+len(status.Dead) > 0 {
		t.Errorf("%+v", status)
	}
	writeIn(t, file, "memories: {maxMemorySize: 5000}\n")
	if report := run(t, o); len(report.Phase2) != 1 || report.Phase2[0].Outcome == pipeline.OutcomeBackoff || report.Partly() {
		t.Errorf("%+v", report.Phase2)
	}
}

// checkout makes a directory the top of a repository.
func checkout(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"objects", "refs"} {
		must(t, os.MkdirAll(filepath.Join(dir, ".git", name), 0o700))
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = false\n"} {
		writeIn(t, filepath.Join(dir, ".git", name), text)
	}
}
