package memory_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"memoir/memory"
)

const project = "demo-0123456789ab"

// generation returns the files of a small memory that all say the same number.
func generation(n int) memory.Files {
	mark := fmt.Sprintf("generation %d\n", n)
	return memory.Files{
		"MEMORY.md":                   []byte("# Memory\n\n## Commands\n- `make test` passes [019f1fd6 2026-07-01]\n" + mark),
		"memory_summary.md":           []byte("# Summary\n" + mark),
		"raw_memories.md":             []byte(mark),
		"rollout_summaries/a-b.md":    []byte(mark),
		"skills/deploy/SKILL.md":      []byte("---\nname: deploy\n---\n" + mark),
		"skills/deploy/scripts/go.sh": []byte("#!/bin/sh\n# " + mark),
	}
}

func manifest(n int) memory.Manifest {
	inputs := []memory.Input{{Session: "codex:b", Hash: "2"}, {Session: "codex:a", Hash: "1"}}
	return memory.Manifest{Inputs: inputs, Redactions: map[string]int{"jwt": 1}}.Describing(n, generation(n))
}

func stageAndSwap(ctx context.Context, r memory.Root, n int, files memory.Files) error {
	if err := r.Stage(ctx, n, files, manifest(n)); err != nil {
		return err
	}
	return r.Swap(n)
}

// publish is stageAndSwap that may not fail.
func publish(t testing.TB, r memory.Root, n int, files memory.Files) {
	t.Helper()
	if err := stageAndSwap(t.Context(), r, n, files); err != nil {
		t.Fatalf("publish %d: %v", n, err)
	}
}

func current(t testing.TB, r memory.Root) memory.Snapshot {
	t.Helper()
	snap, err := r.Current()
	if err != nil {
		t.Fatalf("read the live memory: %v", err)
	}
	return snap
}

// write puts a file into the live directory, as an editor would.
func write(t testing.TB, r memory.Root, path, content string) {
	t.Helper()
	name := filepath.Join(r.Link(), filepath.FromSlash(path))
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, []byte(content), 0o600))
}

// names lists everything below a project's folder, relative to it.
func names(t testing.TB, r memory.Root) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(r.Dir(), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.Dir(), path)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	must(t, err)
	return out
}

// twoGenerations is a home with generations 1 and 2.
func twoGenerations(t *testing.T) (string, memory.Root) {
	t.Helper()
	home := quickDir(t)
	r := memory.At(home, project)
	publish(t, r, 1, generation(1))
	publish(t, r, 2, generation(2))
	return home, r
}

// quickDir returns a temporary directory in memory if the system has one, for tests that publish hundreds of times
// and do not test flushing.
func quickDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "memory-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
