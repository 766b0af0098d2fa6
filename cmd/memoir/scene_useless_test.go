package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
)

// abroad writes the letters of a text in another script, but for what is in brackets and
// for headings: what a model answers that translates.
func abroad(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		depth := 0
		for _, c := range l {
			switch {
			case strings.HasPrefix(l, "#"):
			case c == '[':
				depth++
			case c == ']':
				depth--
			case depth == 0 && c < unicode.MaxASCII && unicode.IsLetter(c):
				c = 'а' + unicode.ToLower(c) - 'a'
			}
			b.WriteRune(c)
		}
	}
	return b.String()
}

// usefulTo is how many projects a scene of many has.
const usefulTo = 7

// A state in which each of many projects has a memory, and one session more to fold in.
var manyProjects = once(func(t *testing.T) published {
	p := unpublished(t)
	write := func(day int) {
		for n := range usefulTo {
			var said []string
			for _, part := range []string{"queue", "parser", "printer"} {
				said = append(said, fmt.Sprintf("Always keep the %s of layer %d free of global state.", part, day))
			}
			writeSessionIn(t, p.sessions, fmt.Sprintf("/srv/open/app%d", n), 10*n+day, day, said, []string{"make check", fmt.Sprintf("make layer%d", day)})
		}
	}
	for day := 1; day <= 3; day++ {
		write(day)
	}
	s := scene{t: t, home: p.home(), sessions: p.sessions, user: t.TempDir()}
	server := wires[1].start(t, well)
	s.asks(wires[1].provider(server.URL, ""))
	s.run(exitDone)
	p.files, p.spent = s.memory(), counted(server)
	write(4)
	return p
})

// A model that is of no use to anybody spoils no memory, is asked a bounded number of
// times, and what it cost is known.
func TestAModelThatIsOfNoUseToAnyProjectSpoilsNoMemory(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		phase scribe.Phase
		step  behaviour
	}{
		{"short", scribe.Consolidate, stepping(modeltest.Step{Text: `{"memory_md": "ok", "memory_summary": "ok", "skills": []}`})},
		{"empty", scribe.Consolidate, stepping(modeltest.Step{Text: `{"memory_md": "", "memory_summary": "", "skills": []}`})},
		{"in another language", scribe.Consolidate, folding(func(m *scribe.Memory) {
			m.MemoryMD, m.MemorySummary = abroad(m.MemoryMD), abroad(m.MemorySummary)
		})},
		{"short of sessions", scribe.Extract, stepping(modeltest.Step{Text: `{"raw_memory": "ok", "rollout_summary": "ok", "rollout_slug": "ok"}`})},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := manyProjects(t)
			var asked atomic.Int64
			var healed atomic.Bool
			server := wires[1].start(t, func(_ int, q scribe.Question, good modeltest.Step) modeltest.Step {
				if q.Phase != test.phase || healed.Load() {
					return good
				}
				return test.step(wires[1], int(asked.Add(1))-1, q, good)
			})
			s := newScene(t, p.sessions, wires[1].provider(server.URL, ""))
			copyTree(t, p.home(), s.home)
			again := func() (code int, said string) {
				code, _, said = s.memoir("run", "--sessions", s.sessions, "--max-age", "0", "--min-idle", "0", "--limit", "1000")
				return code, said
			}
			for round := range 2 {
				before := asked.Load()
				if code, said := again(); code != exitPartly && code != exitFailed {
					t.Errorf("run %d: exit code %d\n%s", round, code, said)
				}
				if n := asked.Load() - before; n == 0 || n > 2*usefulTo {
					t.Errorf("run %d asked %d times", round, n)
				}
				if diff := cmp.Diff(p.files, s.memory()); diff != "" {
					t.Fatalf("run %d: the memory has changed:\n%s", round, diff)
				}
				now := s.status()
				s.addsUp(now, p.spent.Add(counted(server)))
				if len(now.Failed) == 0 {
					t.Errorf("run %d: nothing failed: %+v", round, now)
				}
				for _, job := range now.Failed {
					if !strings.Contains(job.Error, "the answer is kept in") || job.Attempts != 1 {
						t.Errorf("run %d: status does not tell why: %+v", round, job)
					}
				}
				// What failed waits; what was given back when the run stopped is asked about anew.
				before = asked.Load()
				again()
				if n, open := int(asked.Load()-before), usefulTo-len(now.Failed); n > 2*open {
					t.Errorf("run %d: the next one asked %d times about %d", round, n, open)
				}
				if code, _, said := s.memoir("retry", "--all"); code != exitDone {
					t.Errorf("retry: %d\n%s", code, said)
				}
			}
			healed.Store(true)
			if code, said := again(); code != exitDone {
				t.Errorf("once it is of use: exit code %d\n%s", code, said)
			}
			if now := s.status(); len(now.Jobs) != 1 || now.Jobs["done"] != 5*usefulTo {
				t.Errorf("once it is of use: %+v", now.Jobs)
			}
			for name, text := range s.memory() {
				if strings.HasSuffix(name, "/MEMORY.md") && !strings.Contains(text, "layer 4") {
					t.Errorf("once it is of use, %s knows nothing of the last session:\n%s", name, text)
				}
			}
		})
	}
}
