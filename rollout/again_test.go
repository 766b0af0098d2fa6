package rollout

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"memoir"
)

func TestAWalkAgainReadsOnlyPlacesThatChanged(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(path string) {
		t.Helper()
		path = filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".claude/projects/-a/1.jsonl")
	write(".claude/projects/-b/2.jsonl")
	write("exported/3.jsonl")
	old := time.Now().Add(-time.Hour)
	age := func(dirs ...string) {
		for _, dir := range dirs {
			if err := os.Chtimes(filepath.Join(home, dir), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	dirs := []string{".claude/projects", ".claude/projects/-a", ".claude/projects/-b", "exported"}
	age(dirs...)
	places, err := PlacesIn(t.Context(), filepath.Join(home, "exported"), func(Entry) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	again := func() (names []string) {
		t.Helper()
		var err error
		places, err = Again(t.Context(), Env{Home: home}, places, func(e Entry) error {
			names = append(names, filepath.Base(e.Path)+" "+string(e.Source))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		return names
	}
	for _, step := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"the roots of agents are new", func() {}, []string{"1.jsonl claude", "2.jsonl claude"}},
		{"nothing", func() {}, nil},
		{"a file beside another", func() { write(".claude/projects/-a/4.jsonl") }, []string{"1.jsonl claude", "4.jsonl claude"}},
		{"a new directory, and one of no agent", func() {
			age(".claude/projects/-a")
			write(".claude/projects/-c/5/subagents/agent-1.jsonl")
			write("exported/sub/6.jsonl")
		}, []string{"3.jsonl ", "6.jsonl ", "agent-1.jsonl claude", "1.jsonl claude", "4.jsonl claude"}},
		{"a directory that is gone, and an agent that was installed", func() {
			age(dirs...)
			age(".claude/projects/-c", ".claude/projects/-c/5", ".claude/projects/-c/5/subagents", "exported/sub")
			again()
			if err := os.RemoveAll(filepath.Join(home, ".claude/projects/-b")); err != nil {
				t.Fatal(err)
			}
			age(".claude/projects")
			write(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-x.jsonl")
		}, []string{"rollout-2026-03-01T10-00-00-x.jsonl codex"}},
	} {
		step.change()
		slices.Sort(step.want)
		if got := again(); !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	if slices.ContainsFunc(places, func(p Place) bool { return filepath.Base(p.Path) == "-b" }) ||
		!slices.ContainsFunc(places, func(p Place) bool { return p.Source == memoir.SourceCodex }) {
		t.Errorf("places %+v", places)
	}
}
