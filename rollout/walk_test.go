package rollout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"memoir"
)

func collect(t *testing.T, walk func(fn func(Entry) error) error) []Entry {
	t.Helper()
	var out []Entry
	if err := walk(func(e Entry) error {
		out = append(out, e)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// namesBelow are the files that a walk finds below a directory.
func namesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, e := range collect(t, func(fn func(Entry) error) error { return WalkDir(t.Context(), dir, fn) }) {
		if e.Err != nil {
			t.Errorf("%s: %v", e.Path, e.Err)
		}
		rel, _ := filepath.Rel(dir, e.Path)
		names = append(names, filepath.ToSlash(rel))
	}
	return names
}

// link makes a symbolic link, and the directory for it.
func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func TestWalkFindsEachAgentsSessions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	want := map[string]memoir.Source{
		".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-x.jsonl":     memoir.SourceCodex,
		".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-01-x.jsonl.zst": memoir.SourceCodex,
		".codex/archived_sessions/rollout-2026-02-01T10-00-00-x.jsonl":       memoir.SourceCodex,
		".claude/projects/-w/a.jsonl":                                        memoir.SourceClaude,
		".claude/projects/-w/a/subagents/agent-1.jsonl":                      memoir.SourceClaude,
		".pi/agent/sessions/--w--/a.jsonl":                                   memoir.SourcePi,
		".omp/agent/sessions/home-w-1/a.jsonl":                               memoir.SourceOMP,
		".omp/agent/sessions/home-w-1/a/scout.jsonl":                         memoir.SourceOMP,
		".gemini/tmp/abc/chats/session-1.json":                               memoir.SourceGemini,
		".gemini/tmp/abc/chats/s/helper.jsonl":                               memoir.SourceGemini,
		".qwen/projects/-w/chats/a.jsonl":                                    memoir.SourceQwen,
		".copilot/session-state/a/events.jsonl":                              memoir.SourceCopilot,
		".local/share/omp/sessions/-w/a.jsonl":                               memoir.SourceOMP,
		".omp/profiles/work/agent/sessions/-w/a.jsonl":                       memoir.SourceOMP,
	}
	others := []string{".codex/sessions/notes.txt", ".codex/history.jsonl", ".codex/auth.json", ".claude/projects/-w/sessions-index.json",
		".claude/projects/-w/a/subagents/workflows/w/journal.jsonl", ".claude/history.jsonl", ".gemini/tmp/abc/logs.json", ".pi/agent/x.jsonl",
		".qwen/projects/-w/usage.jsonl", ".copilot/session-state/a/workspace.yaml"}
	for path := range want {
		writeAt(t, filepath.Join(home, path), "{}")
	}
	for _, path := range others {
		writeAt(t, filepath.Join(home, path), "{}")
	}
	entries := collect(t, func(fn func(Entry) error) error { return Walk(t.Context(), Env{Home: home}, fn) })
	for _, e := range entries {
		rel, _ := filepath.Rel(home, e.Path)
		if want[filepath.ToSlash(rel)] != e.Source || e.Err != nil || e.Size != 2 || e.ModTime.IsZero() {
			t.Errorf("found %+v", e)
		}
	}
	if len(entries) != len(want) {
		t.Errorf("found %d files, want %d", len(entries), len(want))
	}
}

func TestRootsAreWhereVariablesAndSettingsSay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for path, content := range map[string]string{".pi/agent/settings.json": `{"sessionDir":"~/pi-sessions","theme":"x"}`, "other/settings.json": `{"sessionDir":".pi/sessions"}`,
		".qwen/settings.json": `{"advanced":{"runtimeOutputDir":"~/run"}}`, "above/.gemini/tmp/a": "", "itself/tmp/a": "", "both/.gemini/tmp/a": "", "both/tmp/a": ""} {
		writeAt(t, filepath.Join(home, path), content)
	}
	tests := []struct {
		agent Format
		env   string // NAME=value, whose @ is the home directory
		want  string
	}{
		{Codex{}, "CODEX_HOME=@/cx", "cx/sessions cx/archived_sessions cx/rotated_rollout_segments"},
		{Claude{}, "CLAUDE_CONFIG_DIR=@/cc1,@/cc2", "cc1/projects cc2/projects"},
		{Pi{}, "", ".pi/agent/sessions pi-sessions"},
		{Pi{}, "PI_CODING_AGENT_SESSION_DIR=@/elsewhere", ".pi/agent/sessions elsewhere"},
		{Pi{}, "PI_CODING_AGENT_DIR=~/other", "other/sessions"}, // its settings are relative to nobody knows what
		{OMP{}, "XDG_DATA_HOME=@/data", ".omp/agent/sessions .omp/profiles data/omp/sessions data/omp/agent/sessions data/omp/profiles"},
		{Qwen{}, "", ".qwen/projects run/projects"},
		{Qwen{}, "QWEN_HOME=~/q", "q/projects"},
		{Qwen{}, "QWEN_RUNTIME_DIR=@/r", ".qwen/projects r/projects"},
		{Copilot{}, "COPILOT_HOME=~/c", "c/session-state"},
		{Gemini{}, "GEMINI_CLI_HOME=@/above", "above/.gemini/tmp"},
		{Gemini{}, "GEMINI_CLI_HOME=@/itself", "itself/tmp"},
		{Gemini{}, "GEMINI_CLI_HOME=@/both", "both/.gemini/tmp"},
		{Gemini{}, "GEMINI_CLI_HOME=@/nowhere", "nowhere/.gemini/tmp"},
	}
	for _, tt := range tests {
		variable, value, _ := strings.Cut(strings.ReplaceAll(tt.env, "@", home), "=")
		var got []string
		for _, root := range tt.agent.Roots(Env{Home: home, Getenv: func(name string) string { return map[string]string{variable: value}[name] }}) {
			rel, _ := filepath.Rel(home, root.Dir)
			got = append(got, filepath.ToSlash(rel))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.env, got, tt.want)
		}
	}
	session := (Copilot{}).Roots(Env{Home: home})[0].Session
	for path, want := range map[string]bool{"x/events.jsonl": true, "x.jsonl": true, "x/workspace.yaml": false, "x/files/data.jsonl": false, "x/files/events.jsonl": false} {
		if session(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
	for path, want := range map[string]bool{"-w/chats/a.jsonl": true, "-w/chats/archive/a.jsonl": true, "-w/subagents/s/agent-a.jsonl": true,
		"-w/chats/a.ledger.jsonl": false, "-w/subagents/s/agent-a.meta.json": false, "-w/file.jsonl": false} {
		if isQwenSession(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}

func TestWalkDirGivesEveryFileInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"b/x", "a.txt", "c.jsonl.zst", ".hidden/y", ".git/config"} {
		writeAt(t, filepath.Join(dir, path), "x")
	}
	got := namesBelow(t, dir)
	if want := []string{".hidden/y", "a.txt", "b/x", "c.jsonl.zst"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if err := WalkDir(t.Context(), filepath.Join(dir, "none"), func(Entry) error { return nil }); memoir.CodeOf(err) != memoir.CodeNotFound {
		t.Errorf("a directory that is not there: %v", err)
	}
}

func TestWalkEntersEachDirectoryOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "a", "x.jsonl"), "x")
	outside := t.TempDir()
	writeAt(t, filepath.Join(outside, "y.jsonl"), "y")
	for name, target := range map[string]string{"a/loop": dir, "twice": filepath.Join(dir, "a"), "out": outside, "gone": filepath.Join(dir, "nothing"), "file.jsonl": filepath.Join(outside, "y.jsonl")} {
		link(t, target, filepath.Join(dir, name))
	}
	var got, refused []string
	for _, e := range collect(t, func(fn func(Entry) error) error { return WalkDir(t.Context(), dir, fn) }) {
		name, _ := filepath.Rel(dir, e.Path)
		if errors.Is(e.Err, errLeadsOut) {
			refused = append(refused, name)
		} else {
			got = append(got, filepath.ToSlash(name))
		}
	}
	if want := []string{"a/x.jsonl"}; !slices.Equal(got, want) || !slices.Equal(refused, []string{"file.jsonl", "out"}) {
		t.Errorf("found %q, refused %q", got, refused)
	}
}

func TestALinkIntoAnotherAgentsDirectoryHidesNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeAt(t, filepath.Join(home, ".claude", "projects", "-src-app", "a.jsonl"), "x")
	writeAt(t, filepath.Join(home, ".pi", "agent", "sessions", "--src-app--", "b.jsonl"), "x")
	for from, target := range map[string]string{".codex/sessions": ".claude", ".omp/agent/sessions": ".pi/agent/sessions"} {
		link(t, filepath.Join(home, target), filepath.Join(home, from))
	}
	var got []string
	for _, e := range collect(t, func(fn func(Entry) error) error { return Walk(t.Context(), Env{Home: home}, fn) }) {
		if e.Err != nil {
			t.Errorf("%s: %v", e.Path, e.Err)
		}
		got = append(got, filepath.Base(e.Path))
	}
	if slices.Sort(got); !slices.Equal(got, []string{"a.jsonl", "b.jsonl"}) {
		t.Errorf("found %q, want each session once", got)
	}
}

func TestWalkReportsALinkThatLeadsToItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "open.jsonl"), "x")
	for name, target := range map[string]string{"self.jsonl": "self.jsonl", "there.jsonl": "back.jsonl", "back.jsonl": "there.jsonl"} {
		link(t, target, filepath.Join(dir, name))
	}
	failed := 0
	for _, e := range collect(t, func(fn func(Entry) error) error { return WalkDir(t.Context(), dir, fn) }) {
		if memoir.CodeOf(e.Err) == memoir.CodeUnreadable {
			failed++
		} else if e.Err != nil || filepath.Base(e.Path) != "open.jsonl" {
			t.Errorf("found %+v", e)
		}
	}
	if failed != 3 {
		t.Errorf("%d were reported", failed)
	}
}

func TestWalkReportsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("needs another user than root, and permissions of files, which windows has not")
	}
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "closed", "x.jsonl"), "x")
	writeAt(t, filepath.Join(dir, "open.jsonl"), "x")
	if err := os.Chmod(filepath.Join(dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "closed"), 0o700) })
	entries := collect(t, func(fn func(Entry) error) error { return WalkDir(t.Context(), dir, fn) })
	if len(entries) != 2 || entries[0].Err == nil || entries[1].Err != nil {
		t.Errorf("entries %+v", entries)
	}
}

// A root that is there and cannot be entered is told, whatever it is.
func TestWalkReportsARootThatCannotBeEntered(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	root := filepath.Join(home, ".claude", "projects")
	link(t, root, root)
	writeAt(t, filepath.Join(home, ".pi"), "of another program")
	entries := collect(t, func(fn func(Entry) error) error { return Walk(t.Context(), Env{Home: home}, fn) })
	if len(entries) != 1 || entries[0].Path != root || memoir.CodeOf(entries[0].Err) != memoir.CodeUnreadable || memoir.HintOf(entries[0].Err) == "" {
		t.Errorf("entries %+v", entries)
	}
}

func TestWalkStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "a", "x"), "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WalkDir(ctx, dir, func(Entry) error { return nil }); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}

func TestProbeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"an empty file", "", "contains no complete JSON record"},
		{"a binary file", "\x7fELF\x00\x00\x01", "contains no complete JSON record"},
		{"prose", "# Readme\nhello\n", "contains no complete JSON record"},
		{"a cut first record", `{"timestamp":"2026`, "contains no complete JSON record"},
		{"another program's records", `{"level":"info","msg":"hello"}`, "is not a session of any known agent"},
		{"another program's document", "{\n  \"name\": \"x\",\n  \"items\": []\n}", "is not a session of any known agent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.jsonl")
			writeAt(t, path, tt.content)
			_, err := Probe(Entry{File: memoir.File{Path: path}})
			if memoir.CodeOf(err) != memoir.CodeUnreadable || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Probe(Entry{File: memoir.File{Path: filepath.Join(t.TempDir(), "none")}}); memoir.CodeOf(err) != memoir.CodeUnreadable {
		t.Errorf("a missing file: %v", err)
	}
}

func TestProbeReadsHeadAndTailOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	filler := strings.Repeat(cx(cxAgent(strings.Repeat("x", 1000)))[0]+"\n", 2000)
	writeAt(t, path, strings.Join(cx(cxMeta(""), cxUser("a")), "\n")+"\n"+filler)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// A hole that takes no room on the disk, but much longer to read than any test may take.
	tail := "\nnot JSON\n" + `{"timestamp":"2026-03-05T00:00:00Z","type":"event_msg","payload":{"type":"token_count"}}` + "\n" + `{"timestamp":"2026-03-06T00:0`
	if _, err := f.WriteAt([]byte(tail), 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	head := probe(t, path)
	if got := head.UpdatedAt.Format("2006-01-02"); got != "2026-03-05" || head.Title != "a" {
		t.Errorf("updated %s, title %q", got, head.Title)
	}
}
