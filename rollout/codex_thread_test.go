package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
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
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"told by turn ids", []string{meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, ""),
			turn(0, oldTurn), say(0, "parent's"), turn(0, newTurn), say(0, "own")}, []string{"typed: own"}},
		{"interrupted before its first turn", []string{meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, ""),
			turn(0, oldTurn), say(0, "parent's")}, nil},
		{"told by turn_context alone", []string{meta(fork, `,"forked_from_id":"`+parent+`"`), meta(parent, ""),
			line(0, "turn_context", `{"turn_id":"`+oldTurn+`"}`), say(0, "parent's"),
			line(0, "response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"parent's answer"}]}`),
			say(9, "own"), line(9, "turn_context", `{"turn_id":"`+newTurn+`"}`)}, []string{"typed: own"}},
		{"told by the burst of writing", []string{meta("fork-1", `,"forked_from_id":"main-1"`), meta("main-1", ""),
			turn(0, "t1"), say(0, "parent's"), turn(30, "t2"), say(31, "own")}, []string{"typed: own"}},
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

func TestCodexSpawnedThreadBeginsAtItsStartOrdinal(t *testing.T) {
	t.Parallel()
	path := write(t, "x.jsonl",
		`{"timestamp":"2026-03-01T10:00:00Z","ordinal":0,"type":"session_meta","payload":{"id":"c","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}},"subagent_history_start_ordinal":2}}`,
		`{"timestamp":"2026-03-01T10:00:00Z","ordinal":1,"type":"event_msg","payload":{"type":"user_message","message":"parent's"}}`,
		`{"timestamp":"2026-03-01T10:00:00Z","ordinal":2,"type":"event_msg","payload":{"type":"user_message","message":"check it"}}`)
	items, _ := read(t, path)
	expect(t, items, "subagent_task: check it")
}

// segment writes one file of a paginated thread; the records are user messages.
func segment(t *testing.T, dir, name string, second int, base string, end, ordinal int, words ...string) string {
	t.Helper()
	history := ""
	if base != "" {
		history = fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":%d}`, base, end)
	}
	lines := []string{fmt.Sprintf(`{"timestamp":"2026-03-01T10:00:%02dZ","ordinal":%d,"type":"session_meta","payload":{"id":%q,"cwd":"/w","source":"cli","history_mode":"paginated"%s}}`, second, ordinal, thread, history)}
	for i, w := range words {
		lines = append(lines, fmt.Sprintf(`{"timestamp":"2026-03-01T10:00:%02dZ","ordinal":%d,"type":"event_msg","payload":{"type":"item_completed","turn_id":%q,"item":{"type":"UserMessage","content":[{"type":"text","text":%q}]}}}`, second, ordinal+1+i, "t"+w, w))
	}
	path := filepath.Join(dir, name)
	writeAt(t, path, strings.Join(lines, "\n")+"\n")
	return path
}

const (
	seg2 = "01990000-0000-7000-8000-0000000000b2"
	seg3 = "01990000-0000-7000-8000-0000000000b3"
)

func TestCodexThreadOfSeveralFiles(t *testing.T) {
	t.Parallel()
	names := map[bool][3]string{
		true: {"rollout-2026-03-01T10-00-01-" + thread + ".jsonl", "rollout-2026-03-01T10-00-05-" + thread + "_" + seg2 + ".jsonl",
			"rollout-2026-03-01T10-00-09-" + thread + "_" + seg3 + ".jsonl"},
		false: {"c.jsonl", "a.jsonl", "b.jsonl"}, // copies whose names say nothing
	}
	for named, n := range names {
		t.Run(fmt.Sprintf("told by names %v", named), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			one := segment(t, dir, n[0], 1, "", 0, 0, "first", "reverted")
			two := segment(t, dir, n[1], 5, thread, 2, 2, "second", "also reverted")
			three := segment(t, dir, n[2], 9, seg2, 4, 4, "third")
			items, stats := read(t, three, one, two)
			expect(t, items, "typed: first", "typed: second", "typed: third")
			if stats.CutTail || stats.Records != 8 {
				t.Errorf("stats %+v", stats)
			}
		})
	}
}

func TestCodexRevertLeavesADeadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prefix := "rollout-2026-03-01T10-00-01-" + thread
	one := segment(t, dir, prefix+".jsonl", 1, "", 0, 0, "first", "second")
	dead := segment(t, dir, prefix+"_"+seg2+".jsonl", 5, thread, 3, 3, "dead")
	live := segment(t, dir, prefix+"_"+seg3+".jsonl", 9, thread, 2, 2, "live")
	parts := []Part{{dead, probe(t, dead)}, {live, probe(t, live)}, {one, probe(t, one)}}
	ordered, dropped := Assemble(parts)
	if len(ordered) != 2 || ordered[0].Path != one || ordered[1].Path != live || len(dropped) != 1 || dropped[0].Path != dead {
		t.Fatalf("ordered %d, dropped %d", len(ordered), len(dropped))
	}
	items, _ := readParts(t, ordered)
	expect(t, items, "typed: first", "typed: live")
}

func TestAssembleKeepsTheBestOfCopies(t *testing.T) {
	t.Parallel()
	head := func(size int64) Head { return Head{ID: "t", FileID: "f", BaseEnd: -1, FirstOrdinal: -1, Size: size} }
	tests := []struct {
		name string
		a, b Part // a is better
	}{
		{"plain beats compressed", Part{"/h/sessions/a.jsonl", head(1)}, Part{"/h/sessions/a.jsonl.zst", head(9)}},
		{"sessions beat the archive", Part{"/h/sessions/2026/a.jsonl", head(1)}, Part{"/h/archived_sessions/a.jsonl", head(9)}},
		{"larger beats smaller", Part{"/x/b.jsonl", head(9)}, Part{"/x/a.jsonl", head(1)}},
		{"and else the name decides", Part{"/x/a.jsonl", head(1)}, Part{"/x/b.jsonl", head(1)}},
	}
	for _, tt := range tests {
		for _, parts := range [][]Part{{tt.a, tt.b}, {tt.b, tt.a}} {
			ordered, dropped := Assemble(parts)
			if len(ordered) != 1 || ordered[0].Path != tt.a.Path || len(dropped) != 1 {
				t.Errorf("%s: kept %v", tt.name, ordered)
			}
		}
	}
	if ordered, dropped := Assemble(nil); len(ordered) != 0 || len(dropped) != 0 {
		t.Error("no parts give no parts")
	}
}

func TestCodexThreadWhoseFileWasReplaced(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	name := "rollout-2026-03-01T10-00-01-" + thread + ".jsonl"
	one := segment(t, home, "rotated_rollout_segments/"+thread+"/initial/"+name, 1, "", 0, 0, "first")
	two := segment(t, home, "sessions/2026/03/01/"+name, 5, "", 0, 2, "second")
	items, _ := read(t, two, one)
	expect(t, items, "typed: first", "typed: second")
}

func TestAssembleBridgesAMissingFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prefix := "rollout-2026-03-01T10-00-01-" + thread
	one := segment(t, dir, prefix+".jsonl", 1, "", 0, 0, "first")
	three := segment(t, dir, prefix+"_"+seg3+".jsonl", 9, seg2, 4, 4, "third")
	items, _ := read(t, one, three)
	expect(t, items, "typed: first", "typed: third")
}

// compress writes a zstd copy of a file in two frames.
func compress(t testing.TB, path string) string {
	t.Helper()
	plain, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	half := len(plain) / 2
	out := enc.EncodeAll(plain[half:], enc.EncodeAll(plain[:half], nil))
	writeAt(t, path+".zst", string(out))
	return path + ".zst"
}

func TestCompressedFilesReadLikePlainOnes(t *testing.T) {
	t.Parallel()
	plain := write(t, "a.jsonl", cx(cxMeta(""), cxUser("do it"), cxAgent("done"))...)
	packed := compress(t, plain)
	items, _ := read(t, packed)
	expect(t, items, "typed: do it", "agent: done")
	a, b := probe(t, plain), probe(t, packed)
	a.Size, b.Size, a.Mark, b.Mark = 0, 0, Mark{}, Mark{}
	if a != b {
		t.Errorf("heads differ:\n%+v\n%+v", a, b)
	}
	whole, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.zst")
	writeAt(t, cut, string(whole[:len(whole)-5]))
	_, stats := readParts(t, []Part{{cut, a}})
	if !stats.CutTail {
		t.Error("a compressed file that was cut is cut")
	}
}
