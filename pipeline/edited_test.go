package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"memoir/lease"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
	"memoir/testdata"
)

// paid is an app whose memory a language model makes, which does something during each
// of its calls.
func paid(t *testing.T, during func(call int, a app)) (a app, o pipeline.Options, calls *int) {
	t.Helper()
	home, dir := prompted(t, 3)
	a, calls = app{t: t, dir: dir, home: home}, new(int)
	server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step {
		question, consolidates := asked(t, c)
		if a.id != "" {
			*calls++
			during(*calls, a)
		}
		return modeltest.Step{Text: answers(t, question, consolidates, "")}
	})
	o = ofServer(t, home, dir, "phase2", server.URL)
	a.id = run(t, o).Phase2[0].Project
	claudeSession(t, dir, "t00", "/srv/open/app", "always write the header of fixture 777")
	return a, o, calls
}

func (a app) path(file string) string { return filepath.Join(a.root().Link(), file) }

func (a app) write(file, text string) {
	a.t.Helper()
	must(a.t, errors.Join(os.MkdirAll(filepath.Dir(a.path(file)), 0o700), os.WriteFile(a.path(file), []byte(text), 0o600)))
}

// saveAs writes as editors do: beside the file, and over it by a rename.
func (a app) saveAs(file, text string) {
	a.t.Helper()
	a.write(file+".swp.txt", text)
	must(a.t, os.Rename(a.path(file+".swp.txt"), a.path(file)))
}

func TestAnEditAloneIsPublishedWithoutACall(t *testing.T) {
	t.Parallel()
	a, o, calls := paid(t, func(int, app) {})
	run(t, o)
	before := *calls
	text := a.text("MEMORY.md")
	if !strings.Contains(text, "the part s01") {
		t.Fatalf("the memory is\n%s", text)
	}
	a.saveAs("MEMORY.md", strings.Replace(text, "the part s01", "the part of Ada", 1))
	report := run(t, o)
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || *calls != before {
		t.Errorf("%d calls: %+v", *calls-before, report.Phase2)
	}
	if now := a.text("MEMORY.md") + a.text("memory_summary.md"); strings.Contains(now, "the part s01") || !strings.Contains(now, "the part of Ada") {
		t.Errorf("the memory is\n%s", now)
	}
}

// What a person saves while a language model answers is in the next generation, and the
// call is not made again for it.
func TestAnEditWhileAModelAnswersIsCarriedOverAndCostsNothing(t *testing.T) {
	t.Parallel()
	const skill = "---\nname: ours\ndescription: ours\n---\n\n- as Ada does it\n"
	for name, test := range map[string]struct {
		edit          func(a app)
		file          string
		present, gone string
	}{
		"a line taken out":    {func(a app) { a.saveAs("MEMORY.md", strings.Replace(a.text("MEMORY.md"), "the part s01", "", 1)) }, "MEMORY.md", "", "the part s01"},
		"the summary":         {func(a app) { a.edit("memory_summary.md", "- ask Ada first") }, "memory_summary.md", "- ask Ada first", ""},
		"a new skill":         {func(a app) { a.write("skills/ours/SKILL.md", skill) }, "skills/ours/SKILL.md", "as Ada does it", ""},
		"a page of one's own": {func(a app) { a.write("page.md", "mine\n") }, "page.md", "mine", ""},
		"a companion deleted": {func(a app) { a.remove("raw_memories.md") }, "MEMORY.md", "the part t00", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, o, calls := paid(t, func(n int, a app) {
				if n == 1 {
					test.edit(a)
				}
			})
			report := run(t, o)
			if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || *calls != 1 {
				t.Fatalf("%d calls, %+v, %+v", *calls, report.Phase2, report.Warnings)
			}
			text := a.text(test.file)
			if !strings.Contains(text, test.present) || test.gone != "" && strings.Contains(text, test.gone) || !strings.Contains(a.text("MEMORY.md"), "the part t00") {
				t.Errorf("published:\n%s", text)
			}
			if again := run(t, o); len(again.Phase2) != 0 || *calls != 1 {
				t.Errorf("the next run: %d calls, %+v", *calls, again.Phase2)
			}
			all, outcomes, _ := ledger(t, a.home)
			if outcomes["consolidate published"] != all.Calls {
				t.Errorf("the ledger says %v", outcomes)
			}
		})
	}
}

// A secret that a person types into the memory is gone before a model reads it, and in no archive.
func TestASecretThatAPersonTypedReachesNoModel(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 3)
	server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step { return answeredWell(t, c) })
	o := ofServer(t, home, dir, "phase2", server.URL)
	a := app{t: t, dir: dir, home: home, id: run(t, o).Phase2[0].Project}
	secret, _, _ := testdata.Fake("github-pat")
	a.edit("MEMORY.md", "- the key is "+secret)
	claudeSession(t, dir, "t00", "/srv/open/app", "always write the header of fixture 777")
	before := len(server.Calls())
	run(t, o)
	calls := server.Calls()
	if len(calls) == before {
		t.Fatal("the model was not asked")
	}
	for _, c := range calls {
		if strings.Contains(string(c.Body), secret) {
			t.Errorf("a request holds it: %s", c.Body)
		}
	}
	byHand, err := a.root().ReadArchive(2)
	for _, text := range []string{a.text("MEMORY.md"), string(byHand["MEMORY.md"])} {
		if strings.Contains(text, secret) || !strings.Contains(text, "the key is [REDACTED:github-pat]") {
			t.Errorf("published, %v:\n%s", err, text)
		}
	}
}

func (a app) remove(file string) {
	a.t.Helper()
	must(a.t, os.Remove(a.path(file)))
}

// Somebody who saves without end puts their project off, and that is all: its model is
// asked once in a run, no attempt counts, and the run after they stopped publishes.
func TestAnEditorWithoutEndPutsItsProjectOff(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	endless, saves, text := true, 0, "" // text is saved again and again; empty: nothing is
	a, o, calls := paid(t, func(_ int, a app) {
		mu.Lock()
		defer mu.Unlock()
		if endless {
			text = a.text("MEMORY.md")
		}
	})
	// The store asks for the time before it publishes, so that a save always comes between the last look at the
	// files and the publication.
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		if text != "" {
			saves++
			a.saveAs("MEMORY.md", fmt.Sprintf("%s- line %d of it\n", text, saves))
		}
		return lease.Now()
	}
	const runs = 4
	for n := range runs {
		st, err := store.Open(t.Context(), filepath.Join(a.home, "memoir.db"), store.Options{Now: clock})
		must(t, err)
		report, err := pipeline.Run(t.Context(), st, o)
		must(t, errors.Join(err, st.Close()))
		mu.Lock()
		text = ""
		mu.Unlock()
		if len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomeEdited || !report.Partly() || len(report.Warnings) != 1 {
			t.Fatalf("run %d: %+v, %+v", n, report.Phase2, report.Warnings)
		}
	}
	if *calls != runs {
		t.Errorf("%d calls were made in %d runs", *calls, runs)
	}
	if live := a.live(); live.Generation != 1 {
		t.Errorf("generation %d is live", live.Generation)
	}
	_, _, status := ledger(t, a.home)
	if len(status.Failed)+len(status.Dead) != 0 {
		t.Errorf("%+v", status)
	}
	endless = false
	if report := run(t, o); len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		t.Fatalf("%+v, %+v", report.Phase2, report.Warnings)
	}
	for _, line := range []string{"of it\n", "the part t00"} {
		if !strings.Contains(a.text("MEMORY.md"), line) {
			t.Errorf("%q is not there", line)
		}
	}
}

// Names that people choose freely are carried on. Where two files would be one on some systems,
// nothing is published until a person gives one another name, and nothing is lost.
func TestNamesThatPeopleChoose(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.write("my notes.md", "mine\n")
	a.write("café.md", "also mine\n")
	a.write("memory.md", "a page of mine\n")
	a.session("cccccccc-3", "Always write the header of a fixture.")
	report := a.run()
	if len(report.Phase2) != 1 || report.Phase2[0].Outcome == pipeline.OutcomePublished || !strings.Contains(report.Phase2[0].Detail, "memory.md") {
		t.Fatalf("%+v", report.Phase2)
	}
	must(t, os.Rename(a.path("memory.md"), a.path("page.md")))
	retryAll(t, a.home)
	a.run()
	files := a.live().Files
	for file, text := range map[string]string{
		"my notes.md": "mine", "café.md": "also mine", "page.md": "a page of mine", "MEMORY.md": "header of a fixture",
	} {
		if !strings.Contains(string(files[file]), text) {
			t.Errorf("%s does not say %q: %s", file, text, files.Paths())
		}
	}
}

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
	if strings.Contains(memoryOf(t, report, "app", "MEMORY.md"), "Friday") {
		t.Error("it was merged")
	}
}
