//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"memoir/memory"
)

// whileRead does work while another goroutine reads the memories. Each read must see one whole known generation, and
// after the first publication never none.
func (try trial) whileRead(t *testing.T, what string, work func() output) output {
	t.Helper()
	if !try.watched {
		return work()
	}
	done, published := make(chan struct{}), map[string]bool{}
	var reader sync.WaitGroup
	defer reader.Wait()
	defer close(done)
	reader.Go(func() {
		for n := 0; ; n++ {
			links, err := filepath.Glob(filepath.Join(try.home, "projects", "*", "memory"))
			must(t, err)
			for _, link := range links {
				published[link] = true
			}
			for link := range published {
				try.readWhole(t, what, link, n%16) // way < 2 starts a process, which is slow
			}
			try.read.Add(int64(len(published)))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond): // leaves time to others
			}
		}
	})
	return work()
}

// readWhole reads a memory: single files through its link, the whole live directory, and for way 0 and 1 the output of
// view or inject. It does not read the directory during forget, which removes old directories at once.
func (try trial) readWhole(t *testing.T, what, link string, way int) {
	t.Helper()
	project := filepath.Base(filepath.Dir(link))
	dir, err := filepath.EvalSymlinks(link)
	must(t, err)
	all, told := map[string]string(nil), ""
	if !slices.Contains(try.args, "forget") {
		all = files(t, dir)
	}
	edited := memory.At(try.home, project).Edited() // what is told has the edits, and is in no generation
	if way < 2 {
		cmd := try.command("", append([][]string{{"view"}, {"inject", "--format", "plain"}}[way], "--project", project)...)
		cmd.Env = append(cmd.Env, "MEMOIR_MEMORIES_ENABLED=true")
		told = capture(t, cmd).stdout
	}
	known := func(is func(live map[string]string) bool) bool {
		return slices.ContainsFunc(try.lives, func(lives map[string]map[string]string) bool {
			return lives[project] != nil && is(lives[project])
		})
	}
	if all != nil && !known(func(live map[string]string) bool { return maps.Equal(live, all) }) {
		t.Errorf("%s: %s was read, which is none of the generations", what, dir)
	}
	if way < 2 && !edited && !known(func(live map[string]string) bool { return strings.Contains(told, live["memory_summary.md"]) }) {
		t.Errorf("%s: an agent is told what is in none of the generations: %q", what, told)
	}
	for _, path := range []string{"MEMORY.md", "memory_summary.md", filepath.FromSlash("skills/by-hand/SKILL.md")} {
		text, err := os.ReadFile(filepath.Join(link, path))
		if !known(func(live map[string]string) bool { return live[path] == string(text) }) {
			t.Errorf("%s: %s was read, which is in none of the generations: %v", what, path, err)
		}
	}
}

// killedAtAnyTime kills the command at random times. Each sixth time, it sends SIGTERM.
func (x *torture) killedAtAnyTime(t *testing.T, times int) {
	t.Helper()
	calm, began := x.trial(t), time.Now()
	calm.whileRead(t, "undisturbed", func() output { return calm.succeeds(t, "undisturbed", x.args...) })
	lasts := time.Since(began)
	calm.remove()
	var struck atomic.Int64
	x.trials(t, times, func(try trial, k int) {
		signal, at := syscall.SIGKILL, time.Duration(chance(t, fmt.Sprint(k)).Int64N(int64(lasts)))
		if k%6 == 5 {
			signal = syscall.SIGTERM
		}
		what := fmt.Sprintf("%s after %s", signal, at)
		cmd := try.command("", x.args...)
		out := try.whileRead(t, what, func() output {
			var errs strings.Builder
			cmd.Stderr = &errs
			must(t, cmd.Start())
			defer time.AfterFunc(at, func() { _ = cmd.Process.Signal(signal) }).Stop() // at any moment
			return output{code: codeOf(t, cmd.Wait()), stderr: errs.String()}
		})
		if out.code != exitDone && out.code != -1 && out.code != exitInterrupted || strings.Contains(out.stderr, "goroutine ") {
			t.Errorf("%s: %d: %s", what, out.code, out.stderr)
		}
		x.check(try, t, what)
		if out.code != exitDone {
			struck.Add(1)
		}
	})
	t.Logf("%d of %d met it at work, %d reads meanwhile; %s=%d", struck.Load(), times, x.read.Load(), seedVariable, seed)
}
