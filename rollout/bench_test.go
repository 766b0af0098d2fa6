package rollout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

// corpusDir is the directory of real sessions, or the test is skipped.
func corpusDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("MEMOIR_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	if !isDir(dir) {
		tb.Skipf("no corpus of sessions at %s (set MEMOIR_CORPUS)", dir)
	}
	return dir
}

// BenchmarkRead reads all sessions of one format; compare MB/s with
// "jq -c .type" over the same files.
func BenchmarkRead(b *testing.B) {
	for _, dir := range []string{"codex", "claude", "pi", "gemini", "synthetic/codex-home/archived_sessions"} {
		b.Run(filepath.Base(dir), func(b *testing.B) {
			var threads [][]Part
			var bytes int64
			err := WalkDir(b.Context(), filepath.Join(corpusDir(b), dir), func(e Entry) error {
				head, err := Probe(e)
				if err == nil {
					threads = append(threads, []Part{{e.Path, head}})
					bytes += e.Size
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(bytes)
			b.ReportAllocs()
			for b.Loop() {
				for _, parts := range threads {
					if _, err := Read(context.Background(), parts, func(memoir.Item) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkProbe is what the scan of a changed file costs.
func BenchmarkProbe(b *testing.B) {
	var entries []Entry
	err := WalkDir(b.Context(), filepath.Join(corpusDir(b), "claude"), func(e Entry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := Probe(entries[i%len(entries)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLineage finds what the sessions of a project share, in a directory of 300
// that ran at the same time; compare MB/s with BenchmarkRead.
func BenchmarkLineage(b *testing.B) {
	dir := b.TempDir()
	var paths []string
	var size int64
	for n := range 300 {
		var lines []string
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)
		for i := range 60 {
			lines = append(lines, strings.ReplaceAll(says(id, i, fmt.Sprintf(`,"toolUseResult":%q`, strings.Repeat("output ", 200))), `"u`, fmt.Sprintf(`"s%d-u`, n)))
		}
		paths = append(paths, filepath.Join(dir, id+".jsonl"))
		content := strings.Join(lines, "\n") + "\n"
		size += int64(len(content))
		writeAt(b, paths[n], content)
	}
	b.SetBytes(size)
	for b.Loop() {
		l := lineage{mark: claudeMark}
		for _, path := range paths {
			theirs, err := l.ownedElsewhere(b.Context(), path)
			if err != nil || theirs != nil {
				b.Fatal(theirs, err)
			}
		}
	}
}
