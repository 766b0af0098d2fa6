package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// grown is an app with two generations, of which the second learned from a session
// more and was edited.
func grown(t *testing.T) app {
	t.Helper()
	a := newApp(t)
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	a.run()
	a.edit("MEMORY.md", "- ask Ada")
	return a
}

func (a app) wantText(present, absent []string) {
	a.t.Helper()
	text := a.text("MEMORY.md")
	for _, line := range present {
		if !strings.Contains(text, line) {
			a.t.Errorf("%q is not there:\n%s", line, text)
		}
	}
	for _, line := range absent {
		if strings.Contains(text, line) {
			a.t.Errorf("%q is there:\n%s", line, text)
		}
	}
}

func TestALostArchiveOfEditedFilesLosesNothingThatAPersonWrote(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(r memory.Root) error{
		"gone":    func(r memory.Root) error { return os.Remove(r.Archive(1)) },
		"damaged": func(r memory.Root) error { return os.WriteFile(r.Archive(1), []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			a.edit("MEMORY.md", "- ask Ada before a release")
			must(t, damage(a.root()))
			edited := a.live().Files
			a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
			if report := a.run(); !slices.ContainsFunc(report.Warnings, func(w pipeline.Warning) bool {
				return strings.Contains(w.Message, "count as written by hand from the first line: ")
			}) {
				t.Errorf("it was not told: %+v", report.Warnings)
			}
			if kept, err := a.root().ReadArchive(2); err != nil || !kept.Equal(edited) {
				t.Errorf("%v: %s", err, cmp.Diff(edited, kept))
			}
			for _, want := range []string{"- ask Ada before a release", "pnpm", "git tag -s"} {
				if text := a.text("MEMORY.md"); strings.Count(text, want) != 1 {
					t.Errorf("%q is not there once:\n%s", want, text)
				}
			}
		})
	}
}

func TestRestoringIsAGenerationWithTheContentOfAnother(t *testing.T) {
	t.Parallel()
	a := grown(t)
	first, err := a.root().ReadArchive(1)
	must(t, err)
	out := a.restore(1)
	if out.Generation != 4 || out.Over != 3 || !cmp.Equal(out.ByHand, []int{3}) || !cmp.Equal(out.Deferred, []string{"codex:aaaaaaaa-0002"}) || out.Unchanged {
		t.Errorf("got %+v", out)
	}
	a.wantKinds("published", "published", "by hand of 2", "restored from 1")
	if live := a.live(); live.Generation != 4 || !live.Files.Equal(first) || len(live.Edited) != 0 {
		t.Errorf("generation %d is live: %s", live.Generation, cmp.Diff(first, live.Files))
	}
	if again := a.restore(1); !again.Unchanged || again.Generation != 4 {
		t.Errorf("again: %+v", again)
	}
	if report := a.run(); len(report.Phase2) != 0 {
		t.Errorf("restoring makes a project due: %+v", report.Phase2)
	}
}

func TestWhatARestoringTookAwayDoesNotComeBack(t *testing.T) {
	t.Parallel()
	a := grown(t)
	a.restore(1)
	a.session("aaaaaaaa-0003", "Never push on a Friday, always wait for Monday.")
	a.run()
	a.wantText([]string{"pnpm", "Friday"}, []string{"git tag -s", "ask Ada"})
	a.edit("MEMORY.md", "- ask Bob")
	path := a.session("aaaaaaaa-0004", "Always write the header of a fixture.")
	a.run()
	a.wantText([]string{"pnpm", "Friday", "header of a fixture", "ask Bob"}, []string{"git tag -s", "ask Ada"})

	// A session that was set aside and goes on counts again; what was taken away stays so.
	appendLine(t, filepath.Join(filepath.Dir(path), "aaaaaaaa-0002.jsonl"),
		`{"timestamp":"2026-05-01T11:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"Never rebase a published branch."}}`)
	a.run()
	a.wantText([]string{"pnpm", "Friday", "rebase a published branch"}, []string{"git tag -s", "ask Ada"})
}

func TestARestoringCanBeTakenBack(t *testing.T) {
	t.Parallel()
	a := grown(t)
	out := a.restore(1)
	back := a.restore(out.Over)
	if len(back.Deferred) != 0 || len(back.ByHand) != 0 || back.Generation != 5 {
		t.Errorf("got %+v", back)
	}
	a.wantText([]string{"pnpm", "git tag -s", "ask Ada"}, nil)
	a.session("aaaaaaaa-0003", "Never push on a Friday, always wait for Monday.")
	a.run()
	a.wantText([]string{"pnpm", "git tag -s", "ask Ada", "Friday"}, nil)
	summary := string(a.live().Files["memory_summary.md"])
	for line := range strings.Lines(summary) {
		if strings.HasPrefix(line, "- ") && strings.Count(summary, line) > 1 {
			t.Errorf("%q is in the summary twice", line)
		}
	}
}

func TestRestoringTheLiveGenerationUndoesAnEditAndKeepsIt(t *testing.T) {
	t.Parallel()
	a := grown(t)
	out := a.restore(2)
	if out.Generation != 4 || len(out.Deferred) != 0 {
		t.Errorf("got %+v", out)
	}
	a.wantText([]string{"git tag -s"}, []string{"ask Ada"})
	kept, err := a.root().ReadArchive(3)
	if err != nil || !strings.Contains(string(kept["MEMORY.md"]), "ask Ada") {
		t.Errorf("the edit is lost: %v", err)
	}
	a.session("aaaaaaaa-0003", "Never push on a Friday, always wait for Monday.")
	a.run()
	a.wantText([]string{"git tag -s", "Friday"}, []string{"ask Ada"})
}

func TestAProjectStaysDueThroughARestoring(t *testing.T) {
	t.Parallel()
	a := grown(t)
	in(t, a.home, func(st *store.Store) error { return st.Enqueue(t.Context(), a.id) })
	a.restore(1)
	if report := a.run(); len(report.Phase2) != 1 {
		t.Errorf("got %+v", report.Phase2)
	}
	a.wantText([]string{"pnpm"}, []string{"git tag -s", "ask Ada"})
}

// A generation that rests on a session that was taken out, or a line of which cites it, brings it back.
func TestWhatWasForgottenDoesNotComeBackByARestoring(t *testing.T) {
	t.Parallel()
	const key = "codex:aaaaaaaa-0002"
	for name, test := range map[string]struct {
		take, undo func(*store.Store, pipeline.Options) error
	}{
		"forgotten": {func(st *store.Store, o pipeline.Options) error {
			_, err := pipeline.Forget(t.Context(), st, o, store.Forgetting{Keys: []string{key}})
			return err
		}, func(st *store.Store, o pipeline.Options) error {
			return pipeline.Unforget(t.Context(), st, o.Home, key)
		}},
		"disabled": {func(st *store.Store, _ pipeline.Options) error { return st.SetDisabled(t.Context(), key, true) },
			func(st *store.Store, _ pipeline.Options) error { return st.SetDisabled(t.Context(), key, false) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := grown(t)
			o := options(a.home, a.dir)
			o.Settings.Memories.MaxRawMemoriesForGlobal = 1 // then the fifth rests on the third session alone
			a.edit("MEMORY.md", "- as [aaaaaaaa 2026-05-01] says, see aaaaaaaa-0002")
			replaceIn(t, a.session("aaaaaaaa-0003", "Never push on a Friday, always wait for Monday."), "2026-05-01", "2026-05-02")
			run(t, o)
			kept, err := a.root().ReadArchive(2)
			must(t, err)
			in(t, a.home, func(st *store.Store) error { return test.take(st, o) })
			a.run()
			before := a.live()
			for _, n := range []int{2, 3, 4} { // published, by hand, published
				if out, err := a.tryRestore(n, 0); memoir.CodeOf(err) != memoir.CodeInvalid || memoir.HintOf(err) == "" || !strings.Contains(err.Error(), "aaaaaaaa-0002") {
					t.Errorf("generation %d: %+v, %v", n, out, err)
				}
			}
			if after := a.live(); after.Generation != before.Generation || !after.Files.Equal(before.Files) {
				t.Errorf("it changed: %s", cmp.Diff(before.Files, after.Files))
			}
			in(t, a.home, func(st *store.Store) error { return test.undo(st, o) })
			if a.restore(2); !a.live().Files.Equal(kept) {
				t.Errorf("let in again it is not restored whole: %s", cmp.Diff(kept, a.live().Files))
			}
		})
	}
}

func TestRestoringWaitsForTheLease(t *testing.T) {
	t.Parallel()
	a := grown(t)
	release := held(t, a.home, a.id)
	for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
		if _, err := a.tryRestore(1, wait); memoir.CodeOf(err) != memoir.CodeBusy {
			t.Errorf("waited %s: %v", wait, err)
		}
	}
	a.wantKinds("published", "published")
	var freed sync.WaitGroup
	freed.Go(release)
	if out, err := a.tryRestore(1, time.Minute); err != nil || out.Generation != 4 {
		t.Errorf("%+v, %v", out, err)
	}
	freed.Wait()
}
