package rollout

import (
	"fmt"
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

func TestCodexTitles(t *testing.T) {
	t.Parallel()
	name := func(id, title string) string {
		return fmt.Sprintf(`{"id":%q,"thread_name":%q,"updated_at":"2026-03-01T10:00:00Z"}`, id, title)
	}
	renamed := `event_msg {"type":"thread_name_updated","thread_id":"` + thread + `","thread_name":"From an event"}`
	tests := []struct {
		name   string
		place  string // of the rollout below $CODEX_HOME
		index  []string
		events []string
		want   string
	}{
		{"the first prompt", "sessions/2026/03/01/", nil, nil, "a prompt"},
		{"the last name in the index", "sessions/2026/03/01/", []string{name(thread, "old"), name("other", "no"), name(thread, "Named")}, nil, "Named"},
		{"a name that was taken away", "sessions/2026/03/01/", []string{name(thread, "Named"), name(thread, " ")}, nil, "Named"},
		{"flat sessions of 2025", "sessions/", []string{name(thread, "Named")}, nil, "Named"},
		{"the archive", "archived_sessions/", []string{name(thread, "Named")}, nil, "Named"},
		{"a rotated segment", "rotated_rollout_segments/" + thread + "/initial/", []string{name(thread, "Named")}, nil, "Named"},
		{"a damaged index", "sessions/2026/03/01/", []string{"{oops", name(thread, "Named"), `{"id":`}, nil, "Named"},
		{"an event", "sessions/2026/03/01/", nil, []string{renamed}, "From an event"},
		{"the index before an event", "sessions/2026/03/01/", []string{name(thread, "Named")}, []string{renamed}, "Named"},
		{"an event of the fork's parent", "sessions/2026/03/01/", nil, []string{`event_msg {"type":"thread_name_updated","thread_id":"other","thread_name":"no"}`}, "a prompt"},
		{"nowhere near a home", "elsewhere/", []string{name(thread, "Named")}, nil, "a prompt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if tt.index != nil {
				writeAt(t, filepath.Join(home, "session_index.jsonl"), strings.Join(tt.index, "\n")+"\n")
			}
			path := filepath.Join(home, tt.place, "rollout-2026-03-01T11-00-00-"+thread+".jsonl")
			writeAt(t, path, strings.Join(cx(append([]string{cxMeta(""), cxUser("a prompt")}, tt.events...)...), "\n")+"\n")
			if title := probe(t, path).Title; title != tt.want {
				t.Errorf("title %q, want %q", title, tt.want)
			}
		})
	}
}

func TestTheIndexIsReadAgainOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	index := filepath.Join(home, "session_index.jsonl")
	path := filepath.Join(home, "sessions/2026/03/01/rollout-2026-03-01T11-00-00-"+thread+".jsonl")
	writeAt(t, index, `{"id":"`+thread+`","thread_name":"one"}`+"\n")
	if title := indexedTitle(path, thread); title != "one" {
		t.Fatalf("title %q", title)
	}
	codexIndexes.Lock()
	codexIndexes.byPath[index].names[thread] = "held"
	codexIndexes.Unlock()
	if title := indexedTitle(path, thread); title != "held" {
		t.Errorf("an index that did not change was read again: %q", title)
	}
	writeAt(t, index, `{"id":"`+thread+`","thread_name":"one"}`+"\n"+`{"id":"`+thread+`","thread_name":"two"}`+"\n")
	if title := indexedTitle(path, thread); title != "two" {
		t.Errorf("title %q after it changed", title)
	}
}
