package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// growing are the formats whose files are appended to, each with how a session
// begins and how a turn, with what a person says in it, is written.
var growing = []struct {
	source memoir.Source
	file   string
	begin  string
	turn   func(n int, said string) string
}{
	{memoir.SourceCodex, "rollout-2026-05-01T10-00-00-01a10000-0000-7000-8000-000000000001.jsonl",
		`{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":"01a10000-0000-7000-8000-000000000001","timestamp":"2026-05-01T10:00:00Z","cwd":"/srv/app","originator":"codex_cli_rs","source":"cli"}}` + "\n",
		func(n int, said string) string {
			return fmt.Sprintf(`{"timestamp":"2026-05-01T10:%02[1]d:01Z","type":"turn_context","payload":{"turn_id":"t%[1]d","cwd":"/srv/app"}}
{"timestamp":"2026-05-01T10:%02[1]d:02Z","type":"event_msg","payload":{"type":"user_message","message":%[2]q}}
{"timestamp":"2026-05-01T10:%02[1]d:30Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Understood, turn %[1]d."}]}}
`, n, said)
		}},
	{memoir.SourceClaude, "0b1c7a52-0000-4000-8000-000000000001.jsonl", "",
		func(n int, said string) string {
			return fmt.Sprintf(`{"type":"user","uuid":"u%[1]d","parentUuid":%[3]s,"sessionId":"0b1c7a52-0000-4000-8000-000000000001","cwd":"/srv/app","timestamp":"2026-05-01T10:%02[1]d:02Z","message":{"role":"user","content":%[2]q}}
{"type":"assistant","uuid":"a%[1]d","parentUuid":"u%[1]d","sessionId":"0b1c7a52-0000-4000-8000-000000000001","cwd":"/srv/app","timestamp":"2026-05-01T10:%02[1]d:30Z","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"text","text":"Understood, turn %[1]d."}]}}
`, n, said, parent("a", n))
		}},
}

// parent is the JSON of the entry before a turn.
func parent(prefix string, n int) string {
	if n == 1 {
		return "null"
	}
	return fmt.Sprintf("%q", fmt.Sprint(prefix, n-1))
}

// put writes a session's file, with a time of its own for each turn.
func put(t *testing.T, path, content string, turns int) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	writeIn(t, path, content)
	at := time.Date(2026, 5, 1, 11, turns, 0, 0, time.UTC)
	must(t, os.Chtimes(path, at, at))
}

func TestASessionThatGrewIsExtractedExactlyOnceMore(t *testing.T) {
	t.Parallel()
	for _, format := range growing {
		t.Run(string(format.source), func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			path := filepath.Join(dir, "sessions", filepath.FromSlash(format.file))
			o := options(home, filepath.Join(dir, "sessions"))
			expect := func(what string, want pipeline.Phase1Report) {
				t.Helper()
				report := run(t, o)
				if report.Phase1 != want {
					t.Errorf("%s: %+v, want %+v", what, report.Phase1, want)
				}
				if again := run(t, o); again.Phase1 != (pipeline.Phase1Report{}) {
					t.Errorf("%s: once more: %+v", what, again.Phase1)
				}
			}
			text := format.begin + format.turn(1, "Never deploy on a Friday.")
			put(t, path, text, 1)
			expect("new", pipeline.Phase1Report{Claimed: 1, Stored: 1})

			text += format.turn(2, "Always run make lint before a commit.")
			put(t, path, text, 2)
			expect("grown", pipeline.Phase1Report{Claimed: 1, Stored: 1})
			sessions := listed(t, home, format.source)
			if len(sessions) != 1 || sessions[0].UpdatedAt.Format("15:04:05") != "10:02:30" || sessions[0].Title == "" {
				t.Errorf("registered as %+v", sessions)
			}

			put(t, path, text, 3)
			expect("touched", pipeline.Phase1Report{Unchanged: 1})

			cut := format.turn(3, "Use tabs in the Makefile.")
			put(t, path, text+cut[:len(cut)/3], 4)
			run(t, o)
			put(t, path, text+cut, 5)
			expect("grown across a cut line", pipeline.Phase1Report{Claimed: 1, Stored: 1})

			put(t, path+".new", format.begin+format.turn(1, "Never deploy on a Monday."), 6)
			must(t, os.Rename(path+".new", path))
			expect("replaced", pipeline.Phase1Report{Claimed: 1, Stored: 1})
		})
	}
}

func listed(t *testing.T, home string, source memoir.Source) []memoir.Session {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	sessions, err := st.Sessions(t.Context(), store.Filter{Source: source})
	must(t, err)
	return sessions
}

func TestATouchedSessionTakesNoPlaceInTheCap(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	codex, claude := growing[0], growing[1]
	touched := filepath.Join(dir, codex.file)
	put(t, touched, codex.begin+codex.turn(9, "Never deploy on a Friday."), 1) // newer: claimed before the other
	o := options(home, dir)
	run(t, o)
	put(t, touched, codex.begin+codex.turn(9, "Never deploy on a Friday."), 2)
	put(t, filepath.Join(dir, claude.file), claude.turn(1, "Always run make lint before a commit."), 1)
	o.Limit = 1
	if report := run(t, o); report.Phase1 != (pipeline.Phase1Report{Claimed: 1, Stored: 1, Unchanged: 1}) {
		t.Errorf("%+v", report.Phase1)
	}
}
