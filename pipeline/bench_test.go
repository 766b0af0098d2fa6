package pipeline_test

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

// BenchmarkRunWithNothingNew compares a run over 10,000 registered sessions, none
// of them changed, with find over the same tree: the bar is 3 times.
func BenchmarkRunWithNothingNew(b *testing.B) {
	if _, err := exec.LookPath("find"); err != nil {
		b.Skip("no find here to compare with")
	}
	dir, home := b.TempDir(), b.TempDir()
	for i := range 10000 {
		claudeSession(b, filepath.Join(dir, fmt.Sprintf("%03d", i/100)), fmt.Sprintf("s%05d", i), fmt.Sprintf("/srv/app%d", i%50), "hello")
	}
	timedRun(b, options(home, dir))
	var ours, theirs time.Duration
	for b.Loop() {
		ours += timedRun(b, options(home, dir))
		theirs += timed(b, exec.Command("find", dir, "-type", "f", "-printf", "%s %T@\n"))
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-find")
}

// timedRun is how long a run takes.
func timedRun(b *testing.B, o pipeline.Options) time.Duration {
	b.Helper()
	st := open(b, o.Home)
	defer st.Close()
	began := time.Now()
	_, err := pipeline.Run(b.Context(), st, o)
	must(b, err)
	return time.Since(began)
}

// BenchmarkConcurrency extracts from N sessions with c workers against a server that
// takes L for an answer, and compares the time from the beginning of a run, over
// sessions that are registered, to the end of its Phase 1 with ceil(N/c) × L: the bar is 1.05 times.
func BenchmarkConcurrency(b *testing.B) {
	const sessions, workers, latency = 36, 8, time.Second
	dir := b.TempDir()
	prompts(b, dir, sessions)
	server := modeltest.Serve(b, modeltest.Script(modeltest.Step{Text: "ok", Latency: latency}))
	var took time.Duration
	for b.Loop() {
		home := b.TempDir()
		st := open(b, home)
		o := options(home, dir)
		ask := asks(b, server, model.Options{}, 0)
		o.Phases = func(meter pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
			one, _, err := ask(meter)
			return one, consolidate.NewBuiltin(), err
		}
		o.Settings.Memories.Concurrency = workers
		err := pipeline.Scan(b.Context(), st, o)
		must(b, err)
		var extracted time.Time
		began := time.Now()
		o.Progress = func(p pipeline.Progress) {
			if p.Stage == pipeline.StageExtract {
				extracted = time.Now()
			}
		}
		report, err := pipeline.Run(b.Context(), st, o)
		if err != nil || report.Phase1.Stored != sessions {
			b.Fatalf("%+v, %v", report.Phase1, err)
		}
		took += extracted.Sub(began)
		st.Close()
	}
	least := (sessions + workers - 1) / workers * latency
	b.ReportMetric(float64(took)/float64(b.N)/float64(least), "x-latency")
}

func corpusDir(b *testing.B) string {
	b.Helper()
	corpus, err := filepath.Abs(cmp.Or(os.Getenv("MEMOIR_CORPUS"), "../../shared/corpus"))
	must(b, err)
	if _, err := os.Stat(corpus); err != nil {
		b.Skipf("no corpus of real sessions: %v", err)
	}
	return corpus
}

// BenchmarkFullRun compares both phases over the corpus, from an empty home, with
// jq reading one field of the same bytes: the bar is 2 times.
func BenchmarkFullRun(b *testing.B) {
	corpus := corpusDir(b)
	var files []string
	var bytes int64
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && strings.HasSuffix(path, ".jsonl") {
			files, bytes = append(files, path), bytes+info.Size()
		}
		return nil
	})
	must(b, err)
	if _, err := exec.LookPath("jq"); err != nil {
		b.Skip("no jq here to compare with")
	}
	b.SetBytes(bytes)
	var ours, theirs time.Duration
	for b.Loop() {
		ours += timedRun(b, options(b.TempDir(), corpus))
		theirs += timed(b, exec.Command("jq", append([]string{"-c", ".type"}, files...)...))
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-jq")
}

// timed runs a program whose words do not matter; damaged sessions make jq fail
// after it has read what it can.
func timed(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	began := time.Now()
	_ = cmd.Run()
	return time.Since(began)
}
