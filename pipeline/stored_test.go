package pipeline_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
)

func TestASecretThatARuleFindsLateIsFoundEverywhere(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	places := map[string]int{}
	for _, p := range l.scan(t).Places {
		if p.Rule != "late-token" || p.Hint == "" || p.Kept != "" && p.Table == "" {
			t.Errorf("%+v", p)
		}
		for _, text := range []string{p.Path, p.Hint, p.Key, p.File, p.Project} {
			if strings.Contains(text, l.token) {
				t.Errorf("the secret is shown: %+v", p)
			}
		}
		rel, _ := filepath.Rel(l.home, p.Path)
		switch {
		case p.Table != "":
			rel, _, _ = strings.Cut(rel, "[")
		case p.Generation > 0:
			rel = "generation"
		case p.Project != "":
			rel = "live"
		}
		if p.Line == 0 {
			rel = "name, " + rel
		}
		places[rel]++
	}
	for _, want := range []string{"memoir.db#extraction.raw_memory", "memoir.db#extraction.branch", "memoir.db#session.title", "memoir.db#session.branch",
		"memoir.db#file.head", "memoir.db.v5.bak#extraction.raw_memory", "generation", "live", "name, live", "log/run.log", "mine.txt",
		"log/answers/x-extract-" + answerName(l.project) + "-abcdef.txt"} {
		if places[want] == 0 {
			t.Errorf("nothing was found in %s; it was in %v", want, places)
		}
	}
}

func TestASecretFoundLateIsTakenOutOfAllAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	before, err := l.root().Current()
	if err != nil {
		t.Fatal(err)
	}
	out := l.redact(t)
	if out.Left.Redactable() != 0 || len(out.Left.Places) != 0 || len(out.Removed) != 1 || len(out.Generations) != 1 || out.Archives < 3 || out.Files != 3 || out.Rows < 3 {
		t.Errorf("%+v", out)
	}
	l.wantGone(t)

	live, err := l.root().Current()
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Files{}
	for path, content := range before.Files {
		want[l.nameWithout(path)] = []byte(l.without(string(content)))
	}
	if !live.Files.Equal(want) {
		t.Errorf("more than the secret is another: %s", memory.Diff(want, live.Files))
	}
	if live.Manifest.RedactedFrom != before.Generation || live.Manifest.Redactions["late-token"] == 0 || !cmp.Equal(live.Manifest.Inputs, before.Manifest.Inputs) {
		t.Errorf("%+v", live.Manifest)
	}
	if text, err := os.ReadFile(filepath.Join(l.home, "log", "run.log")); err != nil || string(text) != "memoir: session: [REDACTED:late-token]\nmemoir: done\n" {
		t.Errorf("%q, %v", text, err)
	}

	files := tree(t, l.home)
	if again := l.redact(t); again.Rows != 0 || len(again.Generations) != 0 || again.Found.Redactable() != 0 {
		t.Errorf("there was more to do the second time: %+v", again)
	}
	report := run(t, l.options())
	if report.Phase1.Claimed != 0 || report.Phase1.Unchanged != 0 || len(report.Phase2) != 0 || report.Usage.Calls != 0 || report.Scan.Changed != 0 {
		t.Errorf("the next run found work: %+v", report)
	}
	if diff := cmp.Diff(files, tree(t, l.home)); diff != "" {
		t.Errorf("the next run changed something:\n%s", diff)
	}
}

func TestAGenerationThatWasRedactedCanBeRestored(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	then, err := l.root().ReadArchive(2)
	if err != nil {
		t.Fatal(err)
	}
	l.redact(t)
	st := open(t, l.home)
	defer st.Close()
	out, err := pipeline.Restore(t.Context(), st, l.options(), memoir.Project{ID: l.project, Name: "app"}, 2)
	if err != nil || out.Unchanged {
		t.Fatalf("%+v, %v", out, err)
	}
	live, err := l.root().Current()
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range then {
		path = l.nameWithout(path)
		if want := l.without(string(content)); string(live.Files[path]) != want {
			t.Errorf("%s is\n%s\ninstead of\n%s", path, live.Files[path], want)
		}
	}
	l.wantGone(t)
}

// A rule that needs what stands before the value finds it in some texts alone; in the
// others it is known by its value.
func TestAValueThatOneTextTellsGoesFromTheOthers(t *testing.T) {
	t.Parallel()
	l := foundLate(t, contextRule)
	bare := 0
	for _, p := range l.scan(t).Places {
		if strings.Contains(p.Hint, "another place") {
			bare++
		}
	}
	if bare == 0 {
		t.Error("no place is known by the value alone")
	}
	l.redact(t)
	l.wantGone(t)
	if left := l.scan(t).Places; len(left) > 0 {
		t.Errorf("%+v", left)
	}
}

func TestASessionThatGrowsAfterwardsIsReadFromWhereItStopped(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	l.redact(t)
	appendLine(t, filepath.Join(l.dir, secretID+".jsonl"), `{"timestamp":"2026-05-01T12:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"Always close the valve, not with `+l.token+`."}}`)
	report := run(t, l.options())
	if report.Phase1.Stored != 1 || len(report.Phase2) != 1 || report.Phase2[0].Project != l.project {
		t.Fatalf("%+v", report)
	}
	if text := liveText(t, l.home, l.project); !strings.Contains(text, "close the valve") || !strings.Contains(text, "ask Ada for [REDACTED:late-token]") {
		t.Errorf("the memory is\n%s", text)
	}
	l.wantGone(t)
}

func TestRedactingOneProjectLeavesTheOthers(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	codexSession(t, l.dir, "cccccccc-1", "/srv/lib", "main", "Never print the ledger, nor "+l.token+".")
	if err := os.Remove(filepath.Join(l.config, ".gitleaks.toml")); err != nil {
		t.Fatal(err)
	}
	run(t, l.options())
	other := find(t, l.home, "lib")
	writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), lateRule)

	st := open(t, l.home)
	defer st.Close()
	opts := l.options()
	opts.ProjectIDs = []string{other.ID}
	out, err := pipeline.RedactStored(t.Context(), st, opts, false)
	if err != nil || len(out.Generations) != 1 || out.Generations[0].Project != other.ID || out.Files != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if found := holding(t, memory.At(l.home, other.ID).Dir(), l.token); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}
	if found := holding(t, l.root().Dir(), l.token); len(found) == 0 {
		t.Error("the other project was rewritten, too")
	}
	if changed, err := pipeline.RulesChanged(t.Context(), st, l.config); err != nil || !changed {
		t.Errorf("%v, %v: a part of the home says nothing about all of it", changed, err)
	}
}

func TestWhatWasMergedIsRedactedToo(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	codexSession(t, l.dir, "cccccccc-1", "/srv/lib", "main", "Never print the ledger.")
	rules := filepath.Join(l.config, ".gitleaks.toml")
	if err := os.Remove(rules); err != nil {
		t.Fatal(err)
	}
	run(t, l.options())
	into := find(t, l.home, "lib")
	if err := mergeNow(t, l.home, l.dir, find(t, l.home, l.project), into); err != nil {
		t.Fatal(err)
	}
	run(t, l.options())
	writeIn(t, rules, lateRule)
	l.project = into.ID
	merged, err := l.root().Merged()
	if err != nil || len(merged) != 1 {
		t.Fatalf("%v, %v", merged, err)
	}
	kept, err := merged[0].Generations()
	if err != nil {
		t.Fatal(err)
	}
	l.redact(t)
	l.wantGone(t)
	now, err := merged[0].Generations()
	if err != nil || len(now) != len(kept)+1 {
		t.Errorf("%d generations became %d, %v", len(kept), len(now), err)
	}
	if live, err := merged[0].Current(); err != nil || len(live.Edited) > 0 || live.Generation == 0 {
		t.Errorf("%+v, %v", live, err)
	}
}

func TestADirectoryWithASecretKeepsItsMemory(t *testing.T) {
	t.Parallel()
	l := late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir(), token: lateToken()}
	cwd := "/srv/" + l.token + "/app"
	codexSession(t, l.dir, secretID, cwd, "main", "Never print the ledger, always use pnpm.")
	l.project = run(t, l.options()).Phase2[0].Project
	writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), lateRule)
	l.redact(t)
	l.wantGone(t)
	appendLine(t, filepath.Join(l.dir, secretID+".jsonl"), `{"timestamp":"2026-05-01T12:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"Always close the valve."}}`)
	report := run(t, l.options())
	if report.Phase1.Stored != 1 || len(report.Phase2) != 1 || report.Phase2[0].Project != l.project {
		t.Errorf("the session went elsewhere: %+v", report)
	}
	l.wantGone(t)
}

func TestWhatNamesAProjectStaysAndIsNamed(t *testing.T) {
	t.Parallel()
	l := late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir(), token: lateToken()}
	codexSession(t, l.dir, secretID, "/srv/"+l.token, "main", "Never print the ledger, always use pnpm.")
	l.project = run(t, l.options()).Phase2[0].Project
	writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), lateRule)
	out := l.redact(t)
	why := map[string]bool{}
	for _, p := range out.Left.Places {
		why[p.Kept] = true
	}
	if len(why) != 2 || why[""] {
		t.Errorf("what stays is %v", slicesOf(why))
	}
	for _, path := range holding(t, l.home, l.token) {
		if !strings.Contains(path, l.project) && path != "memoir.db" {
			t.Errorf("it is left in %s", path)
		}
	}
}

func slicesOf(set map[string]bool) (all []string) {
	for name := range maps.Keys(set) {
		all = append(all, name)
	}
	return all
}

func TestRedactingWaitsForWhoeverHoldsWork(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	release := held(t, l.home, l.project)
	before := tree(t, l.home)
	st := open(t, l.home)
	_, err := pipeline.RedactStored(t.Context(), st, l.options(), false)
	st.Close()
	wantBusy(t, err)
	if diff := cmp.Diff(before, tree(t, l.home)); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
	release()
	l.redact(t)
	l.wantGone(t)
}
