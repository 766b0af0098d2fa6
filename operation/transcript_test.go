package operation_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/config"
	"memoir/operation"
	"memoir/project"
	"memoir/secrets"
	"memoir/team/wire"
)

// codex writes a Codex session in which a command prints much.
func codex(t *testing.T, dir, id, cwd, remote string, printed int) {
	t.Helper()
	var text strings.Builder
	line := func(kind string, payload any) {
		one, err := json.Marshal(map[string]any{"timestamp": "2026-05-01T10:00:01Z", "type": kind, "payload": payload})
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(string(one) + "\n")
	}
	meta := map[string]any{"id": id, "timestamp": "2026-05-01T10:00:00Z", "cwd": cwd, "originator": "codex-tui",
		"cli_version": "0.150.0", "source": "cli"}
	if remote != "" {
		meta["git"] = map[string]string{"repository_url": remote, "branch": "canary-branch"}
	}
	line("session_meta", meta)
	line("event_msg", map[string]any{"type": "user_message", "message": "Build " + id + " in " + cwd + "/sub, please."})
	for n := range printed/4096 + 1 {
		line("response_item", map[string]any{"type": "function_call", "name": "exec_command", "call_id": fmt.Sprint(n),
			"arguments": fmt.Sprintf(`{"cmd":"make part-%d"}`, n)})
		line("response_item", map[string]any{"type": "function_call_output", "call_id": fmt.Sprint(n),
			"output": "Process exited with code 0\nOutput:\n" + strings.Repeat("<&>\n", 1024)})
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheSessionsOfAProjectAreSentWithinTheBound(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	const remote = "https://host.example/acme/app.git"
	codex(t, dir, "ours", "/srv/app", remote, 100)
	codex(t, dir, "large", "/srv/app", remote, 5<<20)
	codex(t, dir, "other", "/srv/other", "https://host.example/acme/other.git", 100)
	codex(t, dir, "unknown", "/srv/gone", "", 100)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("no session"), 0o600); err != nil {
		t.Fatal(err)
	}
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := operation.Transcripts{Dir: dir, Home: home, UserHome: home, Settings: config.Default(), Scanner: scanner,
		Project: project.Named("host.example/acme/app"), Key: "host.example/acme/app"}
	for _, named := range []bool{false, true} {
		reasons := map[string]string{}
		o.Named = named
		others, err := o.Send(t.Context(), nil, func(s operation.Sending) {
			reasons[strings.TrimPrefix(s.Session, "codex:")] = s.Outcome
			if s.Transcript == nil {
				return
			}
			var items []memoir.Item
			body, err := json.Marshal(s.Transcript)
			if err == nil {
				err = json.Unmarshal(s.Transcript.Items, &items)
			}
			if err != nil || len(body) > wire.MaxBytes || s.Transcript.Check() != nil {
				t.Errorf("%s: %d bytes, %v, %v", s.Session, len(body), err, s.Transcript.Check())
			}
			last := items[len(items)-1]
			if text := string(body); strings.Contains(text, "/srv/") || strings.Contains(text, "canary-branch") ||
				!strings.Contains(items[0].Text, "in sub, please") || last.CWD != "." || last.Output == "" {
				t.Errorf("%s: %.300s", s.Session, text)
			}
		})
		want := map[string]string{"ours": "unsent", "large": "unsent", "other": "other_project", "unknown": "other_project"}
		if named {
			want["unknown"] = "unsent"
		}
		if fmt.Sprint(reasons) != fmt.Sprint(want) || others != 1 || err != nil {
			t.Errorf("named %v: %v, %d others, %v; want %v", named, reasons, others, err, want)
		}
	}
}
