package rollout

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

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
