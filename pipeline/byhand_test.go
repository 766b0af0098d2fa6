package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/memory"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

// app is a project with one session, and what is asked of it.
type app struct {
	t         *testing.T
	dir, home string
	id        string
}

func newApp(t *testing.T) app {
	t.Helper()
	a := app{t: t, dir: t.TempDir(), home: t.TempDir()}
	a.session("aaaaaaaa-0001", "Never use npm, always use pnpm.")
	a.id = a.run().Phase2[0].Project
	return a
}

// session writes a session; its id must be of the form that citations have.
func (a app) session(id, prompt string) string {
	a.t.Helper()
	return codexSession(a.t, a.dir, id, "/srv/app", "main", prompt)
}

func (a app) run() pipeline.Report { a.t.Helper(); return run(a.t, options(a.home, a.dir)) }

func (a app) root() memory.Root { return memory.At(a.home, a.id) }

func (a app) live() memory.Snapshot {
	a.t.Helper()
	snap, err := a.root().Current()
	must(a.t, err)
	return snap
}

func (a app) text(file string) string { a.t.Helper(); return string(a.live().Files[file]) }

func (a app) edit(file, line string) {
	a.t.Helper()
	must(a.t, os.MkdirAll(filepath.Dir(a.path(file)), 0o700))
	appendLine(a.t, a.path(file), line)
}

func (a app) tryRestore(n int, wait time.Duration) (out pipeline.Restored, err error) {
	a.t.Helper()
	o := options(a.home, a.dir)
	o.Wait = wait
	st := open(a.t, a.home)
	defer st.Close()
	return pipeline.Restore(a.t.Context(), st, o, find(a.t, a.home, a.id), n)
}

func (a app) restore(n int) pipeline.Restored {
	a.t.Helper()
	out, err := a.tryRestore(n, 0)
	must(a.t, err)
	return out
}

// kinds lists the generations: what each was made of.
func (a app) kinds() []string {
	a.t.Helper()
	generations, err := a.root().Generations()
	must(a.t, err)
	var out []string
	for _, g := range generations {
		kind := "published"
		switch {
		case g.Manifest.EditedFrom > 0:
			kind = "by hand of " + string(rune('0'+g.Manifest.EditedFrom))
		case g.Manifest.RestoredFrom > 0:
			kind = "restored from " + string(rune('0'+g.Manifest.RestoredFrom))
		}
		out = append(out, kind)
	}
	return out
}

func (a app) wantKinds(want ...string) {
	a.t.Helper()
	if diff := cmp.Diff(want, a.kinds()); diff != "" {
		a.t.Errorf("generations:\n%s", diff)
	}
}

func TestAnEditIsAGenerationOfItsOwnBeforeTheNext(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.edit("MEMORY.md", "\n## Ours\n\n- ask Ada before a release")
	a.edit("notes/plan.md", "the plan")
	a.edit("notes/raw.bin", "\xff\xfe\x00")
	edited := a.live().Files
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	report := a.run()
	a.wantKinds("published", "by hand of 1", "published")
	if p := report.Phase2[0]; p.Generation != 3 || !cmp.Equal(p.ByHand, []int{2}) {
		t.Errorf("reported %+v", p)
	}
	kept, err := a.root().ReadArchive(2)
	if err != nil || !kept.Equal(edited) {
		t.Errorf("%v: %s", err, cmp.Diff(edited, kept))
	}
	for _, want := range []string{"- ask Ada before a release", "pnpm", "git tag -s"} {
		if !strings.Contains(a.text("MEMORY.md"), want) {
			t.Errorf("%q is not in the next one", want)
		}
	}

	// A second edit is one more; no edit is none.
	a.edit("MEMORY.md", "- and Bob")
	a.session("aaaaaaaa-0003", "Never push on a Friday, always wait for Monday.")
	a.run()
	a.session("aaaaaaaa-0004", "Always write the header of a fixture.")
	a.run()
	a.wantKinds("published", "by hand of 1", "published", "by hand of 3", "published", "published")
	if text := a.text("MEMORY.md"); strings.Count(text, "- and Bob\n") != 1 || strings.Count(text, "- ask Ada before a release\n") != 1 {
		t.Errorf("hand-written lines are not there once:\n%s", text)
	}
}

// Equal lines, such as the ends of code blocks, are as many lines as a person wrote.
func TestEqualLinesOfAnEditStayAsMany(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	text := "\n## Ours\n\n```sh\none\n```\n\n```sh\ntwo\n```"
	a.edit("MEMORY.md", text)
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	a.run()
	a.edit("MEMORY.md", "\n```sh\nthree\n```")
	a.session("aaaaaaaa-0003", "Never push on a Friday, always wait for Monday.")
	a.run()
	if got := a.text("MEMORY.md"); !strings.Contains(got, text+"\n\n```sh\nthree\n```") || !strings.Contains(got, "Friday") {
		t.Errorf("MEMORY.md:\n%s", got)
	}
}

func TestAnEditMakesItsProjectDueOnce(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(a app){
		"a line deleted from MEMORY.md": func(a app) {
			lines := slices.DeleteFunc(strings.SplitAfter(a.text("MEMORY.md"), "\n"), func(l string) bool { return strings.Contains(l, "pnpm") })
			writeIn(t, a.path("MEMORY.md"), strings.Join(lines, ""))
		},
		"the summary deleted": func(a app) { must(t, os.Remove(a.path("memory_summary.md"))) },
	} {
		a := newApp(t)
		a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
		a.run()
		edit(a)
		if report := a.run(); len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
			t.Errorf("%s: got %+v", name, report.Phase2)
		}
		gone := strings.Contains(name, "line")
		if text := a.text("memory_summary.md"); strings.Contains(text, "pnpm") == gone || !strings.Contains(text, "git tag -s") {
			t.Errorf("%s: the summary is\n%s", name, text)
		}
		if report := a.run(); len(report.Phase2) != 0 {
			t.Errorf("%s: due again: %+v", name, report.Phase2)
		}
	}
}

func TestWhoDeletesTheMemoryStartsFromTheSessionsWithoutTheLinesDeletedBefore(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	a.run()
	lines := strings.Split(a.text("MEMORY.md"), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "pnpm") })
	must(t, os.WriteFile(a.path("MEMORY.md"), []byte(strings.Join(lines, "\n")), 0o600))
	a.session("aaaaaaaa-0003", "Never push on a Friday, always wait for Monday.")
	a.run()
	must(t, os.Remove(a.path("MEMORY.md")))
	a.session("aaaaaaaa-0004", "Always write the header of a fixture.")
	a.run()
	text := a.text("MEMORY.md")
	if strings.Contains(text, "pnpm") || !strings.Contains(text, "git tag -s") || !strings.Contains(text, "Friday") {
		t.Errorf("MEMORY.md:\n%s", text)
	}
}

// A live memory that cannot be told apart from an attack or a loss is not replaced.
func TestAnInvalidEditIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		damage  func(root memory.Root) error
		outcome pipeline.Outcome
	}{
		{"the manifest deleted, which its archive has too", func(r memory.Root) error { return os.Remove(filepath.Join(r.Live(1), "manifest.json")) }, pipeline.OutcomePublished},
		{"the summary deleted", func(r memory.Root) error { return os.Remove(filepath.Join(r.Live(1), memoir.SummaryFile)) }, pipeline.OutcomePublished},
		{"a file replaced by a symbolic link", func(r memory.Root) error {
			path := filepath.Join(r.Live(1), memoir.MemoryFile)
			return errors.Join(os.Remove(path), os.Symlink("/etc/hostname", path))
		}, pipeline.OutcomeFailed},
		{"more than a mebibyte", func(r memory.Root) error {
			return os.WriteFile(filepath.Join(r.Live(1), memoir.MemoryFile), bytes.Repeat([]byte("- a line\n"), 120_000), 0o600)
		}, pipeline.OutcomeFailed},
		{"garbage in a file's place", func(r memory.Root) error {
			return os.WriteFile(filepath.Join(r.Live(1), memoir.MemoryFile), []byte("\x00\xff\xfe garbage \x01\n"), 0o600)
		}, pipeline.OutcomePublished},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			must(t, test.damage(a.root()))
			a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
			report := a.run()
			if len(report.Phase2) != 1 || report.Phase2[0].Outcome != test.outcome {
				t.Fatalf("got %+v", report.Phase2)
			}
			if test.outcome == pipeline.OutcomeFailed {
				if target, err := os.Readlink(a.root().Link()); err != nil || target != filepath.Join("live", "1") {
					t.Errorf("the link leads to %s, %v", target, err)
				}
				return
			}
			if text := a.text("MEMORY.md"); !strings.Contains(text, "git tag -s") {
				t.Errorf("the next one:\n%s", text)
			}
		})
	}
}

// A person saves while the run consolidates: what was made gets the edit.
func TestAnEditDuringAConsolidationIsNotOverwritten(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	o, edits := options(a.home, a.dir), 0
	o.Phases = editingPhases(func() {
		edits++
		a.edit("MEMORY.md", "- saved in the middle")
	})
	report := run(t, o)
	if edits != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		t.Fatalf("consolidated %d times: %+v", edits, report.Phase2)
	}
	a.wantKinds("published", "by hand of 1", "published")
	if text := a.text("MEMORY.md"); !strings.Contains(text, "- saved in the middle") || !strings.Contains(text, "git tag -s") {
		t.Errorf("the next one:\n%s", text)
	}
	if kept, err := a.root().ReadArchive(2); err != nil || !strings.Contains(string(kept["MEMORY.md"]), "- saved in the middle\n") {
		t.Errorf("%v: the archive has\n%s", err, kept["MEMORY.md"])
	}
}

// editing does something before each consolidation of the built-in model.
type editing struct {
	consolidate.Consolidator
	before func()
}

func (e editing) Consolidate(ctx context.Context, in consolidate.Input) (memoir.Consolidation, error) {
	e.before()
	return e.Consolidator.Consolidate(ctx, in)
}

func editingPhases(before func()) func(pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
	return func(pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
		return extract.NewBuiltin(), editing{consolidate.NewBuiltin(), before}, nil
	}
}

// What a model is shown is what its patch changes, also where a person edits the memory while it answers.
func TestAReflectionChangesTheMemoryThatTheModelSaw(t *testing.T) {
	t.Parallel()
	home, dir, work := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "repo")
	checkout(t, work)
	claudeSession(t, dir, "one", work, "always write the header of a fixture")
	project := func() store.ProjectRow { return projectsIn(t, home)[0] }
	sessions := func() []memoir.Session {
		return ask(t, home, func(st *store.Store) ([]memoir.Session, error) { return st.Sessions(t.Context(), store.Filter{}) })
	}
	edited := func() string { return filepath.Join(memory.At(home, project().ID).Link(), memoir.MemoryFile) }
	const patch = `{"ops": [{"op": "insert", "line": 1, "content": "- said by a model, password=Xk29fjWq81Lz"}]}`
	for _, tt := range []struct {
		name   string
		before func()
		step   modeltest.Step
		code   memoir.Code // of the error; empty: none
		calls  int
	}{
		{"no memory yet", func() { _ = pipeline.Scan(t.Context(), open(t, home), options(home, dir)) }, modeltest.Step{Text: patch}, memoir.CodeNotFound, 0},
		{"cut", func() { run(t, options(home, dir)) }, modeltest.Step{Text: patch, Stop: "length"}, memoir.CodeInvalid, 1},
		{"a person's line", nil, modeltest.Step{Text: `{"ops": [{"op": "remove", "line": 7}]}`}, memoir.CodeInvalid, 1},
		{"the server breaks", nil, modeltest.Step{Status: http.StatusInternalServerError, Message: "boom"}, memoir.CodeModel, 4},
		{"nothing to change", nil, modeltest.Step{Text: `{"ops": []}`}, "", 1},
		{"edited meanwhile", nil, modeltest.Step{Text: patch}, "", 2},
		{"switched off", func() { writeIn(t, filepath.Join(work, config.ProjectFileName), "memories: {enabled: false}\n") }, modeltest.Step{Text: patch}, memoir.CodeConfig, 0},
	} {
		if tt.before != nil {
			tt.before()
		}
		server := modeltest.Serve(t, func(n int, _ modeltest.Call) modeltest.Step {
			if tt.name == "edited meanwhile" && n == 0 {
				b, err := os.ReadFile(edited())
				must(t, errors.Join(err, os.WriteFile(edited(), append(b, "\n## Mine\n\n- by hand\n"...), 0o600)))
			}
			return tt.step
		})
		before, _ := os.ReadFile(edited())
		out, err := pipeline.Reflect(t.Context(), open(t, home), ofServer(t, home, dir, "phase2", server.URL), project().Project, sessions()[0])
		if memoir.CodeOf(err) != tt.code || len(server.Calls()) != tt.calls {
			t.Errorf("%s: %d calls, %v", tt.name, len(server.Calls()), err)
		}
		now, _ := os.ReadFile(edited())
		if tt.name != "edited meanwhile" {
			if string(now) != string(before) || out.Generation > 0 {
				t.Errorf("%s: it changed the memory:\n%s", tt.name, now)
			}
		} else if text := string(now); !strings.HasPrefix(text, "- said by a model, password=[REDACTED:") || !strings.Contains(text, "- by hand\n") || !strings.Contains(string(server.Calls()[1].Body), "- by hand") || out.Content != text {
			t.Errorf("the memory is\n%s", text)
		}
	}
}
