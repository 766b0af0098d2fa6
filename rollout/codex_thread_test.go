package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

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
	type file struct {
		name         string
		second       int
		base         string
		end, ordinal int
		words        string
	}
	const (
		one, two, three = "rollout-2026-03-01T10-00-01-" + thread + ".jsonl", "rollout-2026-03-01T10-00-05-" + thread + "_" + seg2 + ".jsonl",
			"rollout-2026-03-01T10-00-09-" + thread + "_" + seg3 + ".jsonl"
		other = "01990000-0000-7000-8000-00000000ffff"
	)
	tests := []struct {
		name    string
		files   []file
		want    []string
		dropped int
	}{
		{"told by names", []file{{three, 9, seg2, 4, 4, "third"}, {one, 1, "", 0, 0, "first reverted"}, {two, 5, thread, 2, 2, "second undone"}},
			[]string{"typed: first", "typed: second", "typed: third"}, 0},
		{"copies whose names say nothing", []file{{"b.jsonl", 9, seg2, 4, 4, "third"}, {"c.jsonl", 1, "", 0, 0, "first reverted"}, {"a.jsonl", 5, thread, 2, 2, "second undone"}},
			[]string{"typed: first", "typed: second", "typed: third"}, 0},
		{"a revert that leaves a dead file", []file{{two, 5, thread, 3, 3, "dead"}, {three, 9, thread, 2, 2, "live"}, {one, 1, "", 0, 0, "first second"}},
			[]string{"typed: first", "typed: live"}, 1},
		{"a file that was replaced", []file{{"sessions/2026/03/01/" + one, 5, "", 0, 2, "second"}, {"rotated_rollout_segments/" + thread + "/initial/" + one, 1, "", 0, 0, "first"}},
			[]string{"typed: first", "typed: second"}, 0},
		{"a fork that rests on another thread's file", []file{{two, 5, thread, 9, 9, "second"}, {one, 1, other, 7, 7, "first reverted"}}, []string{"typed: first", "typed: second"}, 0},
		{"a revert to before the fork", []file{{two, 5, thread, 9, 9, "second"}, {one, 1, other, 7, 7, "first reverted"}, {three, 9, other, 5, 5, "anew"}}, []string{"typed: anew"}, 2},
		{"a file that is missing", []file{{one, 1, "", 0, 0, "first"}, {three, 9, seg2, 4, 4, "third"}}, []string{"typed: first", "typed: third"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var parts []Part
			for _, f := range tt.files {
				path := segment(t, dir, f.name, f.second, f.base, f.end, f.ordinal, strings.Fields(f.words)...)
				parts = append(parts, Part{Path: path, Head: probe(t, path)})
			}
			ordered := Assemble(parts)
			items, stats := readParts(t, ordered)
			expect(t, items, tt.want...)
			if dropped := len(parts) - len(ordered); stats.CutTail || dropped != tt.dropped {
				t.Errorf("%d dropped, stats %+v", dropped, stats)
			}
		})
	}
}

func TestAssembleKeepsTheBestOfCopies(t *testing.T) {
	t.Parallel()
	head := func(size int64) Head { return Head{ID: "t", FileID: "f", BaseEnd: -1, FirstOrdinal: -1, Size: size} }
	tests := []struct {
		name string
		a, b Part // a is better
	}{
		{"plain beats compressed", Part{Path: "/h/sessions/a.jsonl", Head: head(1)}, Part{Path: "/h/sessions/a.jsonl.zst", Head: head(9)}},
		{"sessions beat the archive", Part{Path: "/h/sessions/2026/a.jsonl", Head: head(1)}, Part{Path: "/h/archived_sessions/a.jsonl", Head: head(9)}},
		{"larger beats smaller", Part{Path: "/x/b.jsonl", Head: head(9)}, Part{Path: "/x/a.jsonl", Head: head(1)}},
		{"and else the name decides", Part{Path: "/x/a.jsonl", Head: head(1)}, Part{Path: "/x/b.jsonl", Head: head(1)}},
	}
	for _, tt := range tests {
		for _, parts := range [][]Part{{tt.a, tt.b}, {tt.b, tt.a}} {
			ordered := Assemble(parts)
			if len(ordered) != 1 || ordered[0].Path != tt.a.Path {
				t.Errorf("%s: kept %v", tt.name, ordered)
			}
		}
	}
	if ordered := Assemble(nil); len(ordered) != 0 {
		t.Error("no parts give no parts")
	}
}

func TestCodexThreadIsFoundFromAnyOfItsFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	prefix := "rollout-2026-03-01T10-00-01-" + thread
	one := segment(t, home, "sessions/2026/03/01/"+prefix+".jsonl", 1, "", 0, 0, "first", "reverted")
	two := segment(t, home, "sessions/2026/03/02/"+prefix+"_"+seg2+".jsonl", 5, thread, 3, 3, "second")
	three := segment(t, home, "archived_sessions/"+prefix+"_"+seg3+".jsonl", 9, seg2, 4, 4, "third")
	segment(t, home, "sessions/2026/03/01/rollout-2026-03-01T10-00-01-"+seg3+".jsonl", 1, "", 0, 0, "of this thread by its contents alone")
	want := []string{one, two, three}
	for _, path := range want {
		var got []string
		for _, part := range Thread(Part{Path: path, Head: probe(t, path)}) {
			got = append(got, part.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %s: %q", path, got)
		}
	}
	other := write(t, "session.jsonl", `{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hello"}}`)
	if parts := Thread(Part{Path: other, Head: probe(t, other)}); len(parts) != 1 || parts[0].Path != other {
		t.Errorf("another agent's: %+v", parts)
	}
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
	a, b := probe(t, plain), probe(t, packed)
	a.Size, b.Size = 0, 0
	if a != b {
		t.Errorf("heads differ:\n%+v\n%+v", a, b)
	}
	whole, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.zst")
	writeAt(t, cut, string(whole[:len(whole)-5]))
	_, stats := readParts(t, []Part{{Path: cut, Head: a}})
	if !stats.CutTail {
		t.Error("a compressed file that was cut is cut")
	}
}
