//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"memoir/deliver"
	"memoir/store"
)

// agentHome are agents' files in a home, with comments, CRLF, and hooks and servers of other programs.
var agentHome = map[string]string{
	".claude/settings.json":     "{\r\n  // mine\r\n  \"hooks\": {\"SessionStart\": [\r\n    {\"hooks\": [{\"type\": \"command\", \"command\": \"echo\"}]}, // theirs\r\n  ]},\r\n}\r\n",
	".claude.json":              `{"mcpServers":{"other":{"command":"x"}},"n":12345678901234567890}`,
	".codex/config.toml":        "# mine\r\nmodel = \"m\" # why\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\" # theirs\r\n",
	".codex/hooks.json":         `{"hooks": {}}`,
	".pi/agent/mcp.json":        "{}",
	".omp/agent/config.yml":     "a: 1\n",
	".config/opencode/x":        "",
	".gemini/settings.json":     "\xef\xbb\xbf{\n\t\"mcpServers\": {\n\t\t\"other\": {} /* theirs */\n\t}\n}\n",
	".qwen/settings.json":       "",
	".copilot/mcp-config.json":  "{\"mcpServers\": {}}\n",
	".cursor/hooks.json":        "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"x\"}]}}",
	".config/crush/crush.json":  "{\n  \"options\": {}\n}\n",
	".config/goose/config.yaml": "extensions: # mine\n  other:\n    enabled: true\nGOOSE_MODE: auto",
	".config/memoir/config.yml": "# settings\nmemories:\n  enabled: false # not yet\n",
}

func layOut(t *testing.T, home string) {
	t.Helper()
	for name, content := range agentHome {
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(content), 0o640))
	}
	// A configuration may be a symbolic link, as with dotfiles.
	real := filepath.Join(home, "dotfiles", "crush.json")
	must(t, os.MkdirAll(filepath.Dir(real), 0o700))
	must(t, os.Rename(filepath.Join(home, ".config/crush/crush.json"), real))
	must(t, os.Symlink(real, filepath.Join(home, ".config/crush/crush.json")))
}

// agentTree returns the modes of all files below a home, with the contents of regular ones, except memoir's data.
func agentTree(t *testing.T, home string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	must(t, filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		must(t, err)
		name, _ := filepath.Rel(home, path)
		switch name {
		case ".":
			return nil
		case ".local":
			return fs.SkipDir
		}
		info, err := entry.Info()
		must(t, err)
		tree[name] = info.Mode().String()
		if entry.Type().IsRegular() {
			content, err := os.ReadFile(path)
			must(t, err)
			tree[name] += " " + string(content)
		}
		return nil
	}))
	return tree
}

func sameTree(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	for name := range maps.All(want) {
		if got[name] != want[name] {
			t.Errorf("%s: %s is\n%q\nwant\n%q", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s should not be there", what, name)
		}
	}
}

// callAt runs the program with a home and returns its output.
func callAt(t *testing.T, program, home string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + filepath.Dir(program)}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustCall(t *testing.T, program, home string, args ...string) string {
	t.Helper()
	out, err := callAt(t, program, home, nil, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

func TestWhatInstallChangesInEachAgentIsTakenBackByteForByte(t *testing.T) {
	t.Parallel()
	program, home := released(t), t.TempDir()
	layOut(t, home)
	before := agentTree(t, home)
	all := append([]string{"install", "--yes"}, agentNames()...)
	mustCall(t, program, home, all...)
	once := agentTree(t, home)
	for _, name := range agentNames() {
		if len(once) < len(before)+5 || !strings.Contains(fmt.Sprint(once), "--agent "+name) &&
			!strings.Contains(fmt.Sprint(once), `"`+name+`"`) && !strings.Contains(fmt.Sprint(once), "- "+name) {
			t.Errorf("nothing was installed for %s", name)
		}
	}
	if out := mustCall(t, program, home, all...); !strings.Contains(out, "nothing to change") {
		t.Errorf("installed again: %s", out)
	}
	sameTree(t, "installed again", once, agentTree(t, home))
	mustCall(t, program, home, "uninstall", "--yes")
	sameTree(t, "uninstalled", before, agentTree(t, home))

	// An agent changes its own files, and memoir is installed from another path.
	mustCall(t, program, home, all...)
	moved := filepath.Join(t.TempDir(), "memoir")
	content, err := os.ReadFile(program)
	must(t, err)
	must(t, os.WriteFile(moved, content, 0o700))
	if out, _ := callAt(t, moved, home, nil, "doctor"); strings.Contains(out, "was changed: ") {
		t.Errorf("of another copy of memoir's: %s", out)
	}
	config := filepath.Join(home, ".codex/config.toml")
	text, err := os.ReadFile(config)
	must(t, err)
	must(t, os.WriteFile(config, append(text, "\r\n[projects.\"/x\"]\r\ntrust_level = \"trusted\"\r\n"...), 0o640))
	mustCall(t, moved, home, all...)
	for name, content := range agentTree(t, home) {
		if strings.Contains(content, filepath.Dir(program)+"/") {
			t.Errorf("%s still names the program that moved", name)
		}
	}
	// doctor checks the program that each agent calls, not only the last installed one.
	mustCall(t, program, home, "install", "claude", "--yes")
	gone := filepath.Dir(moved) + "-gone"
	must(t, os.Rename(filepath.Dir(moved), gone))
	out, _ := callAt(t, program, home, nil, "doctor")
	if missing := "pi: the installed program is missing"; !strings.Contains(out, missing) || strings.Contains(out, "claude: the installed") {
		t.Errorf("doctor: %s", out)
	}
	must(t, os.Rename(gone, filepath.Dir(moved)))
	mustCall(t, moved, home, "uninstall", "--yes")
	before[".codex/config.toml"] += "\r\n[projects.\"/x\"]\r\ntrust_level = \"trusted\"\r\n"
	sameTree(t, "uninstalled after others wrote", before, agentTree(t, home))

	unlock, err := store.LockFolder(home)
	must(t, err)
	if out, err := callAt(t, moved, home, nil, all...); err == nil || !strings.Contains(out, "another memoir process") {
		t.Errorf("two at once: %v, %s", err, out)
	}
	must(t, unlock())
}

func TestASecondProcessThatChangesTheSameFileWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	program := built(t)
	if program == "" {
		t.Skip("no go to build the program with failpoints")
	}
	const settings, trust = ".config/memoir/config.yml", ".local/share/memoir/trust.yml"
	set := []string{"config", "set", "limits.tokensPerRun", "7"}
	for _, test := range []struct {
		file          string
		first, second []string
		want          []string // in the file
		gone, says    string
	}{
		{trust, []string{"trust", "p"}, []string{"trust", "q"}, []string{"p/.memoir.yml", "q/.memoir.yml"}, "", ""},
		{trust, []string{"trust", "--undo", "r"}, []string{"trust", "q"}, []string{"q/.memoir.yml"}, "r/.memoir.yml", ""},
		{settings, []string{"config", "set", "limits.tokensPerDay", "5"}, set, []string{" tokensPerDay: 5", " tokensPerRun: 7"}, "", ""},
		{settings, set, []string{"install", "pi", "--yes"}, []string{" tokensPerRun: 7"}, "", "another program changed"},
	} {
		home := t.TempDir()
		for _, dir := range []string{"p", "q", "r"} {
			must(t, os.Mkdir(filepath.Join(home, dir), 0o700))
			must(t, os.WriteFile(filepath.Join(home, dir, ".memoir.yml"), nil, 0o600))
		}
		if test.gone != "" {
			mustCall(t, program, home, "trust", filepath.Join(home, "r"))
		}
		command := func(args []string, env ...string) *exec.Cmd {
			cmd := exec.Command(program, args...)
			cmd.Dir, cmd.Env = home, environment(append(env, "HOME="+home)...)
			return cmd
		}
		first := command(test.first, "FAILPOINT=stop write disk.Replace")
		must(t, first.Start())
		var status syscall.WaitStatus
		_, err := syscall.Wait4(first.Process.Pid, &status, syscall.WUNTRACED, nil)
		must(t, err)
		var said []byte
		ended := make(chan struct{})
		go func() {
			said, _ = command(test.second).CombinedOutput()
			close(ended)
		}()
		select {
		case <-ended:
			t.Errorf("%v did not wait for %v: %s", test.second, test.first, said)
		case <-time.After(500 * time.Millisecond): // longer than the second takes alone
		}
		must(t, first.Process.Signal(syscall.SIGCONT))
		if err := first.Wait(); err != nil || !status.Stopped() {
			t.Errorf("%v: %v", test.first, err)
		}
		<-ended
		text, err := os.ReadFile(filepath.Join(home, test.file))
		must(t, err)
		for _, want := range test.want {
			if !strings.Contains(string(text), want) || strings.Contains(string(text), test.gone) && test.gone != "" {
				t.Errorf("%v and %v leave\n%s", test.first, test.second, text)
			}
		}
		if !strings.Contains(string(said), test.says) {
			t.Errorf("%v says %s", test.second, said)
		}
	}
}

func TestInstallThatIsKilledAtAnyMomentIsFinishedOrTakenBack(t *testing.T) {
	t.Parallel()
	program := built(t)
	if program == "" {
		t.Skip("no go to build the program with failpoints")
	}
	install := []string{"install", "--yes", "codex", "copilot"}
	whole := t.TempDir()
	layOut(t, whole)
	before := agentTree(t, whole)
	mustCall(t, program, whole, install...)
	for _, work := range [][]string{install, {"uninstall", "--yes"}} {
		killed := 0
		for n := 1 + rand.IntN(3); ; n += 3 { // tests each third moment; other runs of the test cover the others
			home := filepath.Join(t.TempDir(), "home")
			layOut(t, home)
			if work[0] == "uninstall" {
				mustCall(t, program, home, install...)
			}
			_, err := callAt(t, program, home, []string{fmt.Sprintf("FAILPOINT=kill %d", n)}, work...)
			if err == nil {
				break
			}
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() >= 0 {
				t.Fatalf("kill %d: %v", n, err)
			}
			killed++
			if killed%4 == 0 {
				mustCall(t, program, home, install...)
				sameTree(t, fmt.Sprintf("%s, killed at %d, installed", work[0], n), moveTree(agentTree(t, whole), whole, home),
					agentTree(t, home))
			}
			mustCall(t, program, home, "uninstall", "--yes")
			sameTree(t, fmt.Sprintf("%s, killed at %d, uninstalled", work[0], n), before, agentTree(t, home))
		}
		if killed < 7 {
			t.Errorf("%s was killed only %d times", work[0], killed)
		}
	}
}

// moveTree returns a tree with the paths of another home.
func moveTree(tree map[string]string, from, to string) map[string]string {
	for name, content := range tree {
		tree[name] = strings.ReplaceAll(content, from, to)
	}
	return tree
}

func TestASessionGetsTheContextOnceAtEachStart(t *testing.T) {
	t.Parallel()
	home, now := t.TempDir(), time.Now()
	for _, test := range []struct {
		name, agent, session, source string
		after                        time.Duration
		want                         bool
	}{
		{"a start", "claude", "s1", "startup", 0, true},
		{"a second hook of the same start", "cursor", "s1", "", 0, false},
		{"it is resumed, and holds it", "claude", "s1", "resume", time.Hour, false},
		{"it was compacted", "claude", "s1", "compact", 2 * time.Hour, true},
		{"a second hook of that", "claude", "s1", "compact", 2*time.Hour + time.Second, false},
		{"compacted again", "claude", "s1", "compact", 3 * time.Hour, true},
		{"a fork", "claude", "s2", "fork", 3 * time.Hour, true},
		{"one whose agent forgets", "gemini", "s3", "startup", 0, true},
		{"resumed at once", "gemini", "s3", "resume", time.Second, true},
		{"and twice", "gemini", "s3", "resume", 2 * time.Second, false},
		{"resumed later", "gemini", "s3", "resume", time.Hour, true},
		{"no session", "claude", "", "startup", 0, true},
		{"no session again", "claude", "", "startup", 0, true},
	} {
		at := now.Add(test.after)
		if got := first(home, test.agent, hookInput{SessionID: test.session, Source: test.source}, at); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		entries, _ := os.ReadDir(filepath.Join(home, deliver.Injected))
		for _, entry := range entries { // sets the files' times to the test's time
			path := filepath.Join(home, deliver.Injected, entry.Name())
			if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) < time.Minute && test.want {
				must(t, os.Chtimes(path, at.Add(-time.Millisecond), at.Add(-time.Millisecond)))
			}
		}
	}
}
