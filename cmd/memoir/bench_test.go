package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"memoir/testdata"
)

// peakVariable makes the test binary a memoir that prints its peak memory in KiB as the last line of standard error.
// The maximum in the process's resource usage is useless, since it includes the memory of the parent at the start.
const peakVariable = "PEAK_OF_MEMOIR"

func startAndSayPeak() int {
	code := start(os.Args[1:], os.Environ())
	content, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return exitFailed
	}
	_, after, _ := strings.Cut(string(content), "VmHWM:")
	fmt.Fprintln(os.Stderr, strings.Fields(after)[0])
	return code
}

// sample returns a real session of an agent, or a fixture if there is no corpus.
func sample(b *testing.B, agent, file string) []byte {
	b.Helper()
	corpus := os.Getenv("MEMOIR_CORPUS")
	if corpus == "" {
		corpus = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if content, err := os.ReadFile(filepath.Join(corpus, file)); err == nil {
		return content
	}
	for _, s := range testdata.Expected() {
		if string(s.Source) != agent || len(s.Files) != 1 || len(s.Facts) < 2 {
			continue
		}
		content, err := fs.ReadFile(testdata.Sessions(), s.Files[0])
		must(b, err)
		return content
	}
	b.Fatalf("no session of %s", agent)
	return nil
}

// idForm matches the ids of records, turns and calls in a session.
var idForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:toolu|msg|call|req|fc)_[0-9A-Za-z]{12,}`)

// enlarge writes one session of at least size bytes that repeats the records of a real one. Each repetition has new
// record ids, since readers skip known ones. The session's id stays.
func enlarge(b *testing.B, path string, content []byte, session string, size int64) {
	b.Helper()
	f, err := os.Create(path)
	must(b, err)
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	written, err := w.Write(content)
	must(b, err)
	var ids []int
	for _, at := range idForm.FindAllIndex(content, -1) {
		if string(content[at[0]:at[1]]) != session {
			ids = append(ids, at[1]-6)
		}
	}
	again := bytes.Clone(content)
	for round, total := 1, int64(written); total < size; round++ {
		for _, at := range ids {
			copy(again[at:], fmt.Sprintf("%06x", round))
		}
		n, err := w.Write(again)
		must(b, err)
		total += int64(n)
	}
	must(b, w.Flush())
}

// BenchmarkPeakMemory reports the peak memory for sessions of 1 GB, at most 100 MiB in docs/benchmarks.md, and for
// extremes.
func BenchmarkPeakMemory(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("needs /proc/self/status, which tells what a process held at most")
	}
	const size = 1 << 30
	for _, s := range []struct{ agent, file, session, name string }{
		{"codex", "codex/mise/019f68cf-115d-7f42-972d-e020ec912746.jsonl", "019f68cf-115d-7f42-972d-e020ec912746",
			"rollout-2026-07-15T10-00-00-019f68cf-115d-7f42-972d-e020ec912746.jsonl"},
		{"claude", "claude/entire/f744aef5-5139-4c21-91e5-3f44ce902105.jsonl", "f744aef5-5139-4c21-91e5-3f44ce902105",
			"f744aef5-5139-4c21-91e5-3f44ce902105.jsonl"},
	} {
		content := sample(b, s.agent, s.file)
		dir, home := b.TempDir(), b.TempDir()
		path := filepath.Join(dir, s.name)
		enlarge(b, path, content, s.session, size)
		for _, args := range [][]string{
			{"show", path},
			{"run", "--sessions", dir, "--home", home, "--min-idle", "0", "--max-age", "0", "--all", "-q"},
		} {
			b.Run(s.agent+"/"+args[0], func(b *testing.B) {
				b.SetBytes(size)
				var peak int
				for b.Loop() {
					must(b, os.RemoveAll(home))
					peak = max(peak, peakOf(b, args))
				}
				b.ReportMetric(float64(peak)/1024, "MiB-peak")
			})
		}
		must(b, os.Remove(path))
	}
	for name, write := range extremes {
		dir, home := b.TempDir(), b.TempDir()
		write(b, dir)
		b.Run(name+"/run", func(b *testing.B) {
			var peak int
			for b.Loop() {
				must(b, os.RemoveAll(home))
				peak = max(peak, peakOf(b, []string{"run", "--sessions", dir, "--home", home, "--min-idle", "0", "--max-age", "0", "-q"}))
			}
			b.ReportMetric(float64(peak)/1024, "MiB-peak")
		})
	}
}

// extremes write sessions that must stay within memories.maxResidentMegabytes.
var extremes = map[string]func(b *testing.B, dir string){
	"8 sessions of 120 MB": func(b *testing.B, dir string) {
		const id = "019f68cf-115d-7f42-972d-e020ec912746"
		content := sample(b, "codex", "codex/mise/"+id+".jsonl")
		for k := range 8 {
			other := fmt.Sprintf("%s%x", id[:35], k)
			path := filepath.Join(dir, "rollout-2026-07-15T10-00-00-"+other+".jsonl")
			enlarge(b, path, bytes.ReplaceAll(content, []byte(id), []byte(other)), other, 120e6)
		}
	},
	"800,000 secrets": func(b *testing.B, dir string) {
		piSession(b, dir, 4000, func(w *bufio.Writer) {
			for range 200 {
				fmt.Fprintf(w, `token = gh`+`p_%018x%018x\n`, rand.Uint64(), rand.Uint64())
			}
		})
	},
	"200,000 files that are no sessions": func(b *testing.B, dir string) {
		for i := range 200_000 {
			path := filepath.Join(dir, fmt.Sprint(i/1000), fmt.Sprintf("a-file-that-is-no-session-%d.jsonl", i))
			must(b, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}\n"), 0o600)))
		}
	},
	"6 records of 12 million members": func(b *testing.B, dir string) {
		piSession(b, dir, 6, func(w *bufio.Writer) {
			w.WriteString(`"},{"type":"toolCall","id":"c","name":"bash","arguments":{`)
			w.WriteString(strings.Repeat(`"":0,`, 12_000_000) + `"":0}},{"type":"text","text":"`)
		})
	},
}

// piSession writes a session of pi. text writes the text of each record.
func piSession(b *testing.B, dir string, records int, text func(*bufio.Writer)) {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "session.jsonl"))
	must(b, err)
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, `{"type":"session","version":3,"id":"0198a0b1-0000-7000-8000-000000000001","timestamp":"2026-07-01T10:00:00Z","cwd":"/src/app"}`)
	for i := range records {
		fmt.Fprintf(w, `{"type":"message","id":"%08x","timestamp":"2026-07-01T10:00:00Z","message":{"role":"user","content":[{"type":"text","text":"`, i)
		text(w)
		fmt.Fprintln(w, `"}]}}`)
	}
	must(b, w.Flush())
}

// peakOf runs memoir and returns its peak memory in KiB.
func peakOf(b *testing.B, args []string) int {
	b.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{"HOME=" + b.TempDir(), "PATH=" + os.Getenv("PATH"), peakVariable + "=1"}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != exitPartly { // a session may fail
		b.Fatalf("memoir %s: %v\n%s", args[0], err, said.String())
	}
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	peak, err := strconv.Atoi(lines[len(lines)-1])
	if err != nil {
		b.Fatalf("memoir %s: %s", args[0], said.String())
	}
	return peak
}
