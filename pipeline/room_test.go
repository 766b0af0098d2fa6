package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"memoir"
	"memoir/config"
	"memoir/rollout"
	"memoir/secrets"
)

type share struct {
	shrink func(int64)
	leave  func()
}

// fits reports whether a session may begin now.
func fits(r room, session memoir.Session) (got share, ok bool) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { got.shrink, got.leave, _ = r.enter(ctx, session) }()
	synctest.Wait()
	ok = got.leave != nil
	cancel()
	synctest.Wait()
	return got, ok
}

func ofSize(path string, bytes int64) memoir.Session {
	return memoir.Session{Files: []memoir.File{{Path: path, Size: bytes}}}
}

func TestLargeSessionsWaitForRoom(t *testing.T) { synctest.Test(t, largeWait) }

func largeWait(t *testing.T) {
	for megabytes, most := range map[int]int{96: 1, 128: 2, 1024: 20} {
		r := newRoom(config.Memories{MaxResidentMegabytes: megabytes}, 64)
		var inside []share
		for _, path := range []string{"a.jsonl", "b.jsonl.zst", "opencode.db#c"} {
			for range 16 {
				if s, ok := fits(r, ofSize(path, 1<<30)); ok {
					inside = append(inside, s)
				}
			}
		}
		if len(inside) != most {
			t.Fatalf("%d MB: %d large sessions are read at once, want %d", megabytes, len(inside), most)
		}
		inside[0].shrink(1 << 20) // it was read, and holds little
		if s, ok := fits(r, ofSize("d.jsonl", 4<<20)); !ok {
			t.Errorf("%d MB: what a session gave back is not there for the next", megabytes)
		} else {
			s.leave()
		}
		for _, s := range inside {
			s.leave()
		}
		if s, ok := fits(r, ofSize("e.jsonl", 1<<40)); !ok {
			t.Errorf("%d MB: there is no room once all have left", megabytes)
		} else {
			s.leave()
		}
	}
	r := newRoom(config.Memories{MaxResidentMegabytes: 128}, 1)
	if _, ok := fits(r, ofSize("a.jsonl", 1)); !ok {
		t.Error("the first session does not begin")
	}
	if _, ok := fits(r, ofSize("b.jsonl", 1)); ok {
		t.Error("one worker has two sessions")
	}
}

func TestASessionWithMoreSecretsThanAreRememberedIsGivenUp(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]memoir.Code{1000: "", maxSecrets + 1: memoir.CodeUnreadable} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		var lines strings.Builder
		lines.WriteString(`{"type":"session","id":"0198a0b1-0000-7000-8000-000000000001","cwd":"/src","timestamp":"2026-07-01T10:00:00Z"}` + "\n")
		for i := 0; i < n; i += 500 {
			fmt.Fprintf(&lines, `{"type":"message","id":"m%d"`, i)
			lines.WriteString(`,"message":{"role":"user","content":[{"type":"text","text":"`)
			for k := range min(500, n-i) {
				fmt.Fprintf(&lines, `password=%08xQz!7\n`, (i+k+1)*2654435761%(1<<32))
			}
			lines.WriteString(`"}]}}` + "\n")
		}
		if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		head, err := rollout.Probe(rollout.Entry{File: memoir.File{Path: path}})
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(context.Background(), scanner, []rollout.Part{{Path: path, Head: head}}, "", nil)
		if memoir.CodeOf(err) != want || want == "" && loaded.Redactions.Total() != n {
			t.Errorf("%d secrets: %d redactions, error %v", n, loaded.Redactions.Total(), err)
		}
	}
}
