package rollout

import (
	"fmt"
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
	named := func(id, title string) string {
		return fmt.Sprintf(`event_msg {"type":"thread_name_updated","thread_id":%q,"thread_name":%q}`, id, title)
	}
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"the first prompt", nil, "a prompt"},
		{"the last name", []string{named(thread, "Old"), named(thread, "Named")}, "Named"},
		{"a name that was taken away", []string{named(thread, "Named"), named(thread, " ")}, "Named"},
		{"a name of the fork's parent", []string{named("other", "no")}, "a prompt"},
	}
	for _, tt := range tests {
		path := write(t, "x.jsonl", cx(append([]string{cxMeta(""), cxUser("a prompt")}, tt.events...)...)...)
		if title := probe(t, path).Title; title != tt.want {
			t.Errorf("%s: title %q, want %q", tt.name, title, tt.want)
		}
	}
}
