package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

func TestCodexForkDropsItsParentsPrefix(t *testing.T) {
	t.Parallel()
	// Version 7 UUIDs: the parent's turn is older than the fork, the fork's younger.
	const (
		parent  = "01980000-0000-7000-8000-000000000001"
		oldTurn = "01980000-0001-7000-8000-000000000002"
		fork    = "01990000-0000-7000-8000-000000000003"
		newTurn = "01990000-0001-7000-8000-000000000004"
	)
	meta := func(id, extra string) string {
		return `{"timestamp":"2026-03-01T10:00:00.1Z","type":"session_meta","payload":{"id":"` + id + `","timestamp":"2026-03-01T10:00:00Z","cwd":"/w","source":"cli"` + extra + `}}`
	}
	// Replayed lines bear the fork's own time.
	line := func(second int, kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-01T10:00:%02d.2Z","type":%q,"payload":%s}`, second, kind, payload)
	}
	turn := func(second int, id string) string {
		return line(second, "event_msg", `{"type":"task_started","turn_id":"`+id+`"}`)
	}
	say := func(second int, words string) string {
		return line(second, "response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+words+`"}]}`) + "\n" +
			line(second, "event_msg", `{"type":"user_message","message":"`+words+`"}`)
	}
	const lead = "compaction_summary: Forked from another session, whose last request was:\n\nparent's"
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"told by turn ids", []string{meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, ""),
			turn(0, oldTurn), say(0, "first"), say(0, "parent's"), turn(0, newTurn), say(0, "own")}, []string{lead, "typed: own"}},
		{"interrupted before its first turn", []string{meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, ""),
			turn(0, oldTurn), say(0, "parent's")}, nil},
		{"told by turn_context alone", []string{meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, ""),
			line(0, "turn_context", `{"turn_id":"`+oldTurn+`"}`), say(0, "parent's"),
			line(0, "response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"parent's answer"}]}`),
			say(9, "own"), line(9, "turn_context", `{"turn_id":"`+newTurn+`"}`)}, []string{lead, "typed: own"}},
		{"told by the burst of writing", []string{meta("fork-1", `,"forked_from_id":"main-1"`), meta("main-1", ""),
			turn(0, "t1"), say(0, "parent's"), turn(30, "t2"), say(31, "own")}, []string{lead, "typed: own"}},
		{"a child that repeats nothing", []string{meta("child-1", `,"parent_thread_id":"main-1"`), turn(0, "t1"), say(0, "own")}, []string{"typed: own"}},
		{"a fork that rests on another file", []string{meta(fork, `,"forked_from_id":"`+parent+`","history_base":{"thread_id":"`+parent+`","end_ordinal_exclusive":4}`),
			say(0, "own")}, []string{"typed: own"}},
		{"a later meta of another thread", []string{meta(fork, ""), turn(0, newTurn), say(0, "own"), say(1, "more"), meta(parent, ""), say(2, "end")},
			[]string{"typed: own", "typed: more", "typed: end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			items, stats := read(t, write(t, "x.jsonl", tt.lines...))
			expect(t, items, tt.want...)
			if strings.Contains(strings.Join(tt.lines, ""), "parent's") && stats.Replayed == 0 {
				t.Error("nothing counted as replayed")
			}
		})
	}
}

// Turns of these threads have ids that tell no time, so that only the parent's own
// file tells what is repeated.
func TestAForkIsToldByItsParentsFile(t *testing.T) {
	t.Parallel()
	const (
		parent = "01980000-0000-7000-8000-0000000000aa" // of 2025-07-11
		fork   = "01990000-0000-7000-8000-0000000000bb"
	)
	meta := func(id, extra string) string {
		return `session_meta {"id":"` + id + `","timestamp":"2026-03-01T10:00:00Z","cwd":"/w","source":"cli"` + extra + `}`
	}
	past := []string{cxTurn("t1"), cxInput("build it"), cxUser("build it"), cxCall("c1", "shell", `{"command":["make"]}`), cxOutput("c1", q("built")), cxAgent("done"),
		cxTurn("t2"), cxInput("again"), cxUser("again"), cxAgent("done again")}
	own := []string{cxTurn("t3"), cxInput("again"), cxUser("again"), cxAgent("mine")}
	lines := append(append([]string{meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, "")}, past...), own...)
	repeated := strings.Join(cx(lines...), "\n") + "\n"
	bare := strings.NewReplacer(`,"turn_id":"t1"`, "", `,"turn_id":"t2"`, "", `,"turn_id":"t3"`, "", `"c1"`, `""`)
	want := []string{"compaction_summary: Forked from another session, whose last request was:\n\nagain", "typed: again", "agent: mine"}
	parents := []string{"sessions/2025/07/11/", "sessions/2025/07/12/", "sessions/", "archived_sessions/", "sessions/2026/03/01/"}
	for _, dir := range parents {
		for _, ids := range []bool{true, false} {
			t.Run(fmt.Sprint(dir, ids), func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				mine, theirs := repeated, strings.Join(cx(append([]string{meta(parent, "")}, past...)...), "\n")
				if !ids {
					mine, theirs = bare.Replace(mine), bare.Replace(theirs)
				}
				writeAt(t, filepath.Join(home, dir, "rollout-2025-07-11T12-00-00-"+parent+".jsonl"), theirs+"\n")
				path := filepath.Join(home, "sessions/2026/03/01/rollout-2026-03-01T11-00-00-"+fork+".jsonl")
				writeAt(t, path, mine)
				items, stats := read(t, path)
				expect(t, items, want...)
				if stats.Replayed == 0 {
					t.Error("nothing counted as replayed")
				}
			})
		}
	}
	t.Run("compressed", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		old := filepath.Join(home, "archived_sessions/rollout-2025-07-11T12-00-00-"+parent+".jsonl")
		writeAt(t, old, strings.Join(cx(append([]string{meta(parent, "")}, past...)...), "\n")+"\n")
		compress(t, old)
		if err := os.Remove(old); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, "sessions/2026/03/01/rollout-2026-03-01T11-00-00-"+fork+".jsonl")
		writeAt(t, path, repeated)
		items, _ := read(t, path)
		expect(t, items, want...)
	})
	t.Run("an id that tells no day", func(t *testing.T) {
		t.Parallel()
		const old = "5b1b2c3d-0000-4000-8000-0000000000aa"
		home := t.TempDir()
		writeAt(t, filepath.Join(home, "sessions/2025/05/02/rollout-2025-05-02T12-00-00-"+old+".jsonl"), strings.Join(cx(append([]string{meta(old, "")}, past...)...), "\n")+"\n")
		path := filepath.Join(home, "sessions/2026/03/01/rollout-2026-03-01T11-00-00-"+fork+".jsonl")
		writeAt(t, path, strings.ReplaceAll(repeated, parent, old))
		items, _ := read(t, path)
		expect(t, items, want...)
	})
	t.Run("a parent of which nothing is repeated", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		writeAt(t, filepath.Join(home, "sessions/2025/07/11/rollout-2025-07-11T12-00-00-"+parent+".jsonl"), strings.Join(cx(append([]string{meta(parent, "")}, past...)...), "\n"))
		path := filepath.Join(home, "sessions/2026/03/01/rollout-2026-03-01T11-00-00-"+fork+".jsonl")
		writeAt(t, path, strings.Join(cx(meta(fork, `,"forked_from_id":"`+parent+`"`), cxTurn("x"), cxUser("other")), "\n"))
		items, _ := read(t, path)
		expect(t, items, "typed: other")
	})
	t.Run("a parent that cannot be read", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		writeAt(t, filepath.Join(home, "sessions/2025/07/11/rollout-2025-07-11T12-00-00-"+parent+".jsonl.zst"), "\x28\xB5\x2F\xFDxxxx")
		path := filepath.Join(home, "sessions/2026/03/01/rollout-2026-03-01T11-00-00-"+fork+".jsonl")
		writeAt(t, path, strings.Join(cx(meta(fork, `,"forked_from_id":"`+parent+`"`), cxTurn("x"), cxUser("other")), "\n"))
		items, _ := read(t, path)
		expect(t, items, "typed: other")
	})
}

func TestASubAgentsInheritedWordsAreNotItsTask(t *testing.T) {
	t.Parallel()
	path := write(t, "x.jsonl",
		`{"timestamp":"2026-03-01T10:00:00Z","ordinal":0,"type":"session_meta","payload":{"id":"c","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}}}`,
		`{"timestamp":"2026-03-01T10:00:00Z","ordinal":1,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"parent's"}]},"metadata":{"inherited_user_message":true}}`,
		`{"timestamp":"2026-03-01T10:00:00Z","ordinal":2,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"check it"}]},"metadata":{"client_authored":false}}`)
	items, stats := read(t, path)
	expect(t, items, "subagent_task: check it")
	if stats.Replayed != 1 || items[0].Origin != memoir.OriginSubagentTask {
		t.Errorf("stats %+v", stats)
	}
}
