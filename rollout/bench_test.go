package rollout

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

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

// threadsBelow returns the sessions below a directory, one file each, and their
// bytes, decompressed.
func threadsBelow(b *testing.B, dir string) (threads [][]Part, content []byte) {
	b.Helper()
	err := WalkDir(b.Context(), dir, func(e Entry) error {
		head, err := Probe(e)
		if err != nil {
			return nil // no session: a licence, a list
		}
		f, err := open(e.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		more, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		threads, content = append(threads, []Part{{Path: e.Path, Head: head}}), append(content, more...)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return threads, content
}

// BenchmarkRead reads all sessions of one format into items, on one processor, and
// compares the processor time with that of "jq -c .type" over the same bytes,
// decompressed: the bar is that of jq. Formats that the corpus has no sessions of are
// read from the fixtures, a few kilobytes each.
func BenchmarkRead(b *testing.B) {
	corpus, fixtures := corpusDir(b), filepath.Join("..", "testdata", "sessions")
	for _, dir := range []string{filepath.Join(corpus, "codex"), filepath.Join(corpus, "claude"), filepath.Join(corpus, "pi"), filepath.Join(corpus, "gemini"),
		filepath.Join(corpus, "synthetic/codex-home/archived_sessions"), filepath.Join(fixtures, "omp"), filepath.Join(fixtures, "opencode"),
		filepath.Join(fixtures, "qwen"), filepath.Join(fixtures, "copilot")} {
		b.Run(filepath.Base(dir), func(b *testing.B) {
			threads, content := threadsBelow(b, dir)
			// Of little, jq would be measured as it starts.
			rounds := 1 + 4<<20/len(content)
			content = bytes.Repeat(content, rounds)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			var ours, theirs time.Duration
			for b.Loop() {
				began := cpuTime()
				for range rounds {
					for _, parts := range threads {
						if _, err := Read(context.Background(), parts, func(memoir.Item) error { return nil }); err != nil {
							b.Fatal(err)
						}
					}
				}
				ours += cpuTime() - began
				b.StopTimer()
				theirs += jq(content)
				b.StartTimer()
			}
			if theirs > 0 {
				b.ReportMetric(float64(ours)/float64(theirs), "x-jq")
			} else {
				b.Log("no jq here to compare with")
			}
		})
	}
}

// jq is the processor time that jq takes to name every record's type, 0 without jq.
// Damage makes it fail after what it could read.
func jq(content []byte) time.Duration {
	cmd := exec.Command("jq", "-c", ".type")
	cmd.Stdin = bytes.NewReader(content)
	_ = cmd.Run()
	if cmd.ProcessState == nil {
		return 0
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// BenchmarkProbe is what the scan of a new file costs.
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
