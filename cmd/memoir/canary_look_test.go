package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// shown are the commands that show what is there, without an argument of a person's.
var shown = []string{
	"status --usage --json", "status", "status --usage -v", "doctor", "doctor --json", "config", "config --json",
	"scan --stored", "scan --stored --json", "redact --stored --dry-run", "redact --stored --dry-run --json",
	"sessions", "sessions --sort title", "projects", "log --all", "log --all --json", "trust --list", "forget --list", "forget --list --json",
	"retry --all", "run --dry-run --json", "completion bash", "help",
}

// shownOf are those that show what is there of a project.
var shownOf = []string{
	"view", "log", "log --json", "diff", "diff --json", "diff --stat", "cat memory://root", "cat memory://root/MEMORY.md", "forget --dry-run", "forget --dry-run --json",
	"scan --stored --json", "sessions", "run --dry-run", "enqueue",
}

// shownAs are the forms in which agents are told a memory.
var shownAs = []string{"claude", "codex", "copilot", "cursor", "gemini", "omp", "opencode", "pi", "plain", "qwen"}

// shownIn are those that show what is in a session's file.
var shownIn = []string{"show", "show --json", "show --only typed", "scan", "scan --json", "redact"}

// look calls every command that shows something, and those that hooks call.
func (f *flock) look(e ears, dir string, dirs []string) {
	f.t.Helper()
	for _, line := range f.some(8, shown) {
		e.call(strings.Fields(line)...)
	}
	sessions := gjson.Get(e.call("sessions", "--json"), "sessions").Array()
	for i := range min(by(f.t, 2, 8, 8), len(sessions)) {
		id := sessions[(i*7)%len(sessions)].Get("id").Str
		e.call("show", "--json", id)
		e.call("show", id)
		e.call("forget", "--dry-run", id)
	}
	for _, p := range gjson.Get(e.call("projects", "--json"), "projects").Array()[:1] {
		of := []string{"--project", p.Get("id").Str}
		for _, line := range f.some(5, shownOf) {
			e.call(append(strings.Fields(line), of...)...)
		}
		for _, agent := range f.some(2, shownAs) {
			e.call(append([]string{"inject", "--format", agent}, of...)...)
		}
		for _, name := range f.some(3, namesBelow(f.t, p.Get("root").Str)) {
			e.call(append([]string{"cat", "memory://root/" + name}, of...)...)
		}
	}
	for _, dir := range dirs {
		e.call("view", "--project", dir)
		e.call("sessions", "--project", dir)
	}
	files := f.some(1, namesBelow(f.t, dir))
	for _, name := range files[:min(by(f.t, 1, 24, len(files)), len(files))] {
		for _, line := range shownIn {
			if strings.HasPrefix(line, "redact") && filepath.Ext(name) == ".db" {
				continue // whose values touch one another: it warns
			}
			e.call(append(strings.Fields(line), filepath.Join(dir, name))...)
		}
	}
	id := f.plant("the id of a session that a hook names", func(match string) string { return match })
	e.call("run", "--background", "--sessions", f.t.TempDir(), "--starting", id)
	e.input = fmt.Sprintf(`{"hook_event_name": %s, "session_id": %s, "cwd": %s}`,
		quoted(f.add("SessionStart", "a hook's event")), quoted(id), quoted(f.add("/srv/app", "a hook's directory")))
	e.call("inject")
	for _, agent := range f.some(2, shownAs) {
		e.call("inject", "--agent", agent)
	}
	e.call("run", "--startup", "--limit", f.add("x", "a hook's argument"))
}

// some are a few of several in any order, where a few will do, else all.
func (f *flock) some(few int, all []string) []string {
	all = slices.Clone(all)
	f.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(by(f.t, few, len(all), len(all)), len(all))]
}

// namesBelow are the names of files below a directory.
func namesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(dir)
	must(t, err)
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(name))
		return err
	}))
	return names
}
