package pipeline_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/lease"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
	"memoir/testdata"
)

// twoProjects returns a home with the memories of the fixture projects, of which
// papertrail's was edited by hand, and the sessions they are from.
func twoProjects(t *testing.T) (home, sessions string, from, into memoir.Project) {
	t.Helper()
	sessions, _ = fixtures(t)
	home = t.TempDir()
	report := run(t, options(home, sessions))
	for _, p := range report.Phase2 {
		if p.Name == testdata.Papertrail {
			appendLine(t, filepath.Join(p.Root, "MEMORY.md"), "\n## Ours\n\n- ask Ada before a release")
			if err := os.WriteFile(filepath.Join(p.Root, "page.md"), []byte("a page of mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return home, sessions, find(t, home, testdata.Papertrail), find(t, home, testdata.Lanternd)
}

func find(t *testing.T, home, ref string) memoir.Project {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	row, err := st.FindProject(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return row.Project
}

func mergeNow(t *testing.T, home, sessions string, from, into memoir.Project) error {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	return pipeline.Merge(t.Context(), st, options(home, sessions), from, into)
}

func TestAMergedProjectHasWhatBothHad(t *testing.T) {
	t.Parallel()
	home, sessions, from, into := twoProjects(t)
	if err := mergeNow(t, home, sessions, from, into); err != nil {
		t.Fatal(err)
	}
	report := run(t, options(home, sessions))
	if len(report.Phase2) != 1 || report.Phase2[0].Project != into.ID || report.Phase2[0].Generation != 2 || report.Phase1.Claimed != 0 {
		t.Fatalf("%+v", report)
	}
	text := memoryOf(t, report, testdata.Lanternd, "MEMORY.md")
	for _, fact := range []string{"## Ours", "- ask Ada before a release", "Never edit generated files", "time.Duration"} {
		if !strings.Contains(text, fact) {
			t.Errorf("%q is missing:\n%s", fact, text)
		}
	}
	if got := memoryOf(t, report, testdata.Lanternd, "page.md"); got != "a page of mine\n" {
		t.Errorf("the page is %q", got)
	}
	// What was merged is kept, and can be read.
	merged, err := memory.At(home, into.ID).Merged()
	if err != nil || len(merged) != 1 {
		t.Fatalf("%v, %v", merged, err)
	}
	live, err := merged[0].Current()
	if err != nil || !strings.Contains(string(live.Files[memory.MemoryFile]), "ask Ada") {
		t.Errorf("%v", err)
	}
	if files, err := merged[0].ReadArchive(1); err != nil || len(files) == 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
	// A person who deletes the page has the last word.
	if err := os.Remove(filepath.Join(memory.At(home, into.ID).Link(), "page.md")); err != nil {
		t.Fatal(err)
	}
	st := open(t, home)
	defer st.Close()
	if err := st.Enqueue(t.Context(), into.ID); err != nil {
		t.Fatal(err)
	}
	report = run(t, options(home, sessions))
	if _, err := os.Stat(filepath.Join(report.Phase2[0].Root, "page.md")); !os.IsNotExist(err) {
		t.Errorf("the page came back: %v", err)
	}
}

// Whatever people put into a memory is in the one that it becomes a part of, under its
// name, or where that is none that a file may have, under one like it.
func TestAMergeCarriesFilesThatPeoplePutAnywhere(t *testing.T) {
	t.Parallel()
	home, sessions, from, into := twoProjects(t)
	live := memory.At(home, from.ID).Link()
	want := map[string]string{
		"notes/deep/er.md":                    "notes/deep/er.md",
		"Straße & Co.txt":                     "",
		"skills/loose.md":                     "skills/loose.md",
		"skills/bare/words.txt":               "skills/bare/words.txt",
		"skills/whole/SKILL.md":               "skills/whole/SKILL.md",
		"skills/whole/references/api.md":      "skills/whole/references/api.md",
		"skills/whole/scripts/run.sh":         "skills/whole/scripts/run.sh",
		"skills/My Skill!/SKILL.md":           "skills/my-skill/SKILL.md",
		"skills/My Skill!/assets/logo.svg":    "skills/my-skill/assets/logo.svg",
		"skills/con/SKILL.md":                 "",
		"skills/release/examples/of-mine.txt": "",
	}
	for path := range want {
		writeIn(t, filepath.Join(live, filepath.FromSlash(path)), "---\nname: x\ndescription: mine\n---\nmine: "+path+"\n")
	}
	if err := mergeNow(t, home, sessions, from, into); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		run(t, options(home, sessions))
		now, err := memory.At(home, into.ID).Current()
		if err != nil {
			t.Fatal(err)
		}
		for path, at := range want {
			found := ""
			for name, content := range now.Files {
				if strings.Contains(string(content), "mine: "+path+"\n") {
					found = name
				}
			}
			if found == "" || at != "" && found != at {
				t.Errorf("run %d: %s is in %q, not in %q", round, path, found, at)
			}
		}
		appendLine(t, filepath.Join(memory.At(home, into.ID).Link(), "MEMORY.md"), "- one more")
	}
}

func TestADirectoryBelowAMergedOneStaysAProjectOfItsOwn(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.repo("src/lib", "https://example.com/team/lib.git")
	g.dir("src/notes/deep")
	g.claude("lib", "src/lib", "Never use npm, always use pnpm.")
	g.claude("notes", "src/notes", "Always write the header of a fixture.")
	g.claude("deep", "src/notes/deep", "Never print the ledger.")
	g.run()
	if err := mergeNow(t, g.home, g.sessions, find(t, g.home, "notes"), find(t, g.home, "lib")); err != nil {
		t.Fatal(err)
	}
	g.run()
	later := time.Now().Add(time.Hour)
	for _, id := range []string{"notes", "deep"} {
		if err := os.Chtimes(filepath.Join(g.sessions, id+".jsonl"), later, later); err != nil {
			t.Fatal(err)
		}
	}
	g.run()
	if got := [2]string{g.projectOf("notes"), g.projectOf("deep")}; got != [2]string{"example.com/team/lib", "src/notes/deep"} {
		t.Errorf("the sessions count for %q", got)
	}
	g.wantMemory("deep", "print the ledger")
	g.wantMemory("lib", "pnpm", "header of a fixture")
}

func TestAMergeWaitsForNobodyUnlessTold(t *testing.T) {
	t.Parallel()
	home, sessions, from, into := twoProjects(t)
	for _, held := range []string{from.ID, into.ID} {
		st := open(t, home)
		claim, ok, err := st.ClaimProject(t.Context(), held, store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Hour, Always: true})
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		before := tree(t, home)
		if err := mergeNow(t, home, sessions, from, into); memoir.CodeOf(err) != memoir.CodeBusy {
			t.Errorf("%s is held, and the merge says %v", held, err)
		}
		if diff := cmp.Diff(before, tree(t, home)); diff != "" {
			t.Errorf("it changed something:\n%s", diff)
		}
		if err := st.GiveBackProject(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		st.Close()
	}
	if err := mergeNow(t, home, sessions, from, into); err != nil {
		t.Error(err)
	}
}

func TestAMergeMayWaitLongerThanALeaseLasts(t *testing.T) {
	t.Parallel()
	home, sessions, from, into := twoProjects(t)
	holders := open(t, home)
	defer holders.Close()
	busy := max(from.ID, into.ID) // the one that is claimed last
	claim, ok, err := holders.ClaimProject(t.Context(), busy, store.ProjectClaimOptions{Holder: lease.Self(), Lease: 1000 * time.Hour, Always: true})
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	// Every look at the clock takes an hour, until the project is free.
	var looks atomic.Int64
	waited := make(chan struct{})
	began := time.Now()
	merging, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{Now: func() time.Time {
		n := looks.Add(1)
		if n == 10 {
			close(waited)
		}
		return began.Add(time.Duration(min(n, 10)) * time.Hour)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer merging.Close()
	o := options(home, sessions)
	o.Wait = time.Hour
	done := make(chan error)
	go func() { done <- pipeline.Merge(t.Context(), merging, o, from, into) }()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-waited:
	}
	if err := holders.GiveBackProject(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTheNextRunMovesTheFolderOfAMergeThatDiedBeforeIt(t *testing.T) {
	t.Parallel()
	calm, sessions, from, into := twoProjects(t)
	if err := mergeNow(t, calm, sessions, from, into); err != nil {
		t.Fatal(err)
	}
	run(t, options(calm, sessions))

	home, again, from, into := twoProjects(t)
	st := open(t, home)
	var claims []store.ProjectClaim
	for _, id := range []string{from.ID, into.ID} {
		claim, _, err := st.ClaimProject(t.Context(), id, store.ProjectClaimOptions{Holder: lease.Self(), Lease: time.Hour, Always: true})
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, claim)
	}
	snap, err := memory.At(home, from.ID).Current()
	if err != nil {
		t.Fatal(err)
	}
	if err := st.RecordNotes(t.Context(), from.ID, 1, memory.Notes(from.ID, snap.Edited, testdata.Now)); err != nil {
		t.Fatal(err)
	}
	if err := st.MergeProjects(t.Context(), claims[0], claims[1]); err != nil {
		t.Fatal(err)
	}
	if err := st.GiveBackProject(t.Context(), claims[1]); err != nil {
		t.Fatal(err)
	}
	st.Close() // and here it died
	run(t, options(home, again))
	if diff := cmp.Diff(paths(tree(t, calm)), paths(tree(t, home))); diff != "" {
		t.Errorf("files (-undisturbed +after death):\n%s", diff)
	}
}

func paths(files map[string]string) map[string]bool {
	out := map[string]bool{}
	for path := range files {
		out[path] = true
	}
	return out
}

func TestRunsGoOnWhileProjectsAreMerged(t *testing.T) {
	t.Parallel()
	home, sessions, from, into := twoProjects(t)
	enlarge(t, sessions, 4) // so that the runs have something to do
	calm := filepath.Join(t.TempDir(), "home")
	if out, err := exec.Command("cp", "-a", home, calm).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := mergeNow(t, calm, sessions, from, into); err != nil {
		t.Fatal(err)
	}
	want := memoryOf(t, run(t, options(calm, sessions)), testdata.Lanternd, "MEMORY.md")

	var outputs [2]bytes.Buffer
	var runs []*exec.Cmd
	for i := range outputs {
		cmd := process(t, home, sessions)
		cmd.Stderr = &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, cmd)
	}
	for merged := false; !merged; {
		cmd := processOf(t, processOptions{Home: home, Sessions: sessions, Merge: [2]memoir.Project{from, into}})
		out, err := cmd.CombinedOutput()
		switch code := exitCode(err); code {
		case 0:
			merged = true
		case 4: // one of the runs consolidates
		default:
			t.Fatalf("exit code %d: %s", code, out)
		}
	}
	for i, cmd := range runs {
		if code := exitCode(cmd.Wait()); code != 0 && code != 4 {
			t.Errorf("exit code %d: %s", code, outputs[i].String())
		}
	}
	run(t, options(home, sessions))
	content, err := os.ReadFile(filepath.Join(memory.At(home, into.ID).Link(), "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(content)); diff != "" {
		t.Errorf("it ended otherwise than one after the other:\n%s", diff)
	}
	if again := run(t, options(home, sessions)); again.Phase1.Claimed != 0 || len(again.Phase2) != 0 {
		t.Errorf("something was left over: %+v", again)
	}
	st := open(t, home)
	defer st.Close()
	rows, err := st.Projects(t.Context())
	if err != nil || len(rows) != 1 {
		t.Errorf("%+v, %v", rows, err)
	}
	if found, err := st.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestAForgottenProjectWhoseFolderWasLeftLeavesNothing(t *testing.T) {
	t.Parallel()
	home, sessions, from, _ := twoProjects(t)
	st := open(t, home)
	if _, err := st.ForgetProject(t.Context(), from.ID); err != nil {
		t.Fatal(err)
	}
	st.Close() // and here it died
	if _, err := os.Stat(memory.At(home, from.ID).Link()); err != nil {
		t.Fatal(err)
	}
	report := run(t, options(home, sessions))
	if report.Phase1.Claimed != 0 || len(report.Phase2) != 0 {
		t.Errorf("%+v", report)
	}
	for path := range tree(t, home) {
		if strings.Contains(path, from.ID) || strings.Contains(path, ".gone-") {
			t.Errorf("%s is left", path)
		}
	}
	// A new session begins anew, with the first generation.
	codexSession(t, sessions, "new-1", "/home/mira/src/papertrail", "main", "Never use npm, always use pnpm.")
	report = run(t, options(home, sessions))
	text := memoryOf(t, report, testdata.Papertrail, "MEMORY.md")
	if report.Phase2[0].Generation != 1 || report.Phase2[0].Inputs != 1 || !strings.Contains(text, "pnpm") || strings.Contains(text, "ask Ada") {
		t.Errorf("%+v\n%s", report.Phase2, text)
	}
}

func TestAForgottenProjectDoesNotComeBackWithItsSessions(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.dir("src/app")
	path := g.codex("app", "src/app", "", "Never use npm, always use pnpm.")
	moved := g.codex("moved", ".", "", "Never print the ledger.", "src/app", "src/app")
	g.run()
	st := open(t, g.home)
	defer st.Close()
	if n, err := st.ForgetProject(t.Context(), find(t, g.home, "app").ID); err != nil || n != 2 {
		t.Fatalf("forgot %d sessions: %v", n, err)
	}
	later := time.Now().Add(time.Hour)
	for _, path := range []string{path, moved} {
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
	}
	report := g.run()
	if rows := g.projects(); len(rows) != 0 || report.Scan.Reasons[memoir.ReasonForgotten] != 2 {
		t.Errorf("projects %+v, reasons %v", rows, report.Scan.Reasons)
	}
	g.codex("new", "src/app", "", "Always write the header of a fixture.")
	g.run()
	if rows := g.projects(); len(rows) != 1 || rows[0].Sessions != 1 {
		t.Errorf("a new session does not begin it anew alone: %+v", rows)
	}
}
