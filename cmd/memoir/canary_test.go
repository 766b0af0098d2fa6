package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
)

// Every session, answer, error, edit and argument has canaries. No output and no file contains one.
func TestNoSecretComesOutAnywhere(t *testing.T) {
	t.Parallel()
	for i, m := range []struct {
		name  string
		reply func(f *flock) reply
	}{
		{"the built-in model", nil},
		{"a model that fails", func(f *flock) reply { return f.refuses }},
		{"a model that echoes secrets", func(f *flock) reply { return f.echoes }},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before the preparation
			f := newFlock(t, i)
			f.release(i, m.reply)
			t.Logf("%d canaries; %s=%d", len(f.all), seedVariable, f.seed)
		})
	}
}

// ears record the output of commands, by command.
type ears struct {
	scene
	words map[string]string
}

// call runs a command and returns its standard output.
func (e ears) call(args ...string) string {
	e.t.Helper()
	_, out, said := e.memoir(append(args, "-v")...)
	e.words[strings.Join(args[:min(2, len(args))], " ")] += out + "\n" + said + "\n"
	return out
}

// release plants canaries, makes a home of them, runs commands in it and searches all output and files.
func (f *flock) release(n int, answers func(*flock) reply) {
	t := f.t
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	f.sow(dir)
	e := ears{newScene(t, dir, "api: openai-chat, baseURL: 'http://127.0.0.1:1/v1', keyEnv: SCENE_KEY"), map[string]string{}}
	var server *modeltest.Server
	if answers == nil {
		put(t, filepath.Join(e.user, ".config", "memoir", "config.yml"), "memories: {enabled: true}\n")
	} else {
		w := wires[n%len(wires)]
		server = w.start(t, answers(f))
		configureModel(t, e.user, w.provider(server.URL, ""))
	}
	run := func() {
		e.call("run", "--json", "--sessions", dir, "--max-age", "0", "--min-idle", "0", "--limit", "1000")
	}
	run()
	held := openStore(t, e.home) // keeps the database's WAL file
	defer held.Close()
	failed := newNet(f.all)
	failed.home(t, e.home)
	f.healed.Store(true)
	e.call("retry", "--all")
	run()
	f.edit(e.home)
	e.call("enqueue", "--all") // hand edits are redacted by the next publication
	run()
	f.look(e, dir)
	if answers == nil {
		f.misuse(e)
	}
	f.change(e)

	n1 := newNet(f.all)
	for what, text := range e.words {
		n1.search("what "+what+" says", []byte(text))
	}
	if server != nil {
		for _, c := range server.Calls() {
			n1.search("a request", c.Body)
		}
	}
	n1.home(t, e.home)
	maps.Copy(n1.caught, failed.caught)
	for i, what := range slices.Sorted(maps.Keys(n1.caught)) {
		if i == 40 {
			t.Errorf("and %d more", len(n1.caught)-i)
			break
		}
		t.Errorf("%s: %s", what, n1.caught[what])
	}
}

// edit adds a line and a skill with canaries to each live memory.
func (f *flock) edit(home string) {
	f.t.Helper()
	roots, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory"))
	must(f.t, err)
	for _, root := range roots {
		path := filepath.Join(root, "MEMORY.md")
		old, err := os.ReadFile(path)
		must(f.t, err)
		must(f.t, os.WriteFile(path, append(old, "\n- "+f.add("ask Ada for", "a line by hand")+"\n"...), 0o600))
		put(f.t, filepath.Join(root, "skills", "by-hand", "SKILL.md"),
			"---\nname: by-hand\ndescription: "+f.add("Use it with", "a skill by hand")+"\n---\n\n1. `make`\n")
	}
}

// misuse runs commands with a canary as an argument and as the value of a flag.
func (f *flock) misuse(e ears) {
	f.t.Helper()
	var lines [][]string
	for _, c := range newApp(newProgram(nil)).Commands {
		lines = append(lines, linesOf(c, nil)...)
	}
	f.random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for _, line := range lines[:min(by(f.t, 12, len(lines), len(lines)), len(lines))] {
		if slices.Contains(line, "--keep") || slices.Contains(line, "--home") { // these create a directory
			continue
		}
		as := func(match string) string { return match }
		if slices.Contains(line, "--project") || slices.Contains(line, "trust") { // errors contain the cleaned path
			as = filepath.Clean
		}
		word := f.plant("an argument of "+strings.Join(line, " "),
			func(match string) string { return as("x " + match) }, func(match string) string { return as(match) })
		e.call(append(line, word)...)
	}
}

// linesOf returns the command lines of a command and its subcommands that lack a last argument or flag value.
func linesOf(c *cli.Command, before []string) (lines [][]string) {
	name := append(before[:len(before):len(before)], c.Name)
	lines = append(lines, name)
	for _, flag := range c.Flags {
		switch flag.(type) {
		case *cli.StringFlag, *cli.StringSliceFlag, *cli.IntFlag, *cli.DurationFlag:
			lines = append(lines, append(name[:len(name):len(name)], "--"+flag.Names()[0]))
		}
	}
	for _, below := range c.Subcommands {
		lines = append(lines, linesOf(below, name)...)
	}
	return lines
}

// change restores earlier generations.
func (f *flock) change(e ears) {
	f.t.Helper()
	projects := gjson.Get(e.call("projects", "--json"), "projects").Array()
	for _, p := range projects[:min(3, len(projects))] {
		e.call("restore", "1", "--yes", "--project", p.Get("id").Str)
	}
	e.call("projects")
}

// shown are commands without arguments that print stored data.
var shown = []string{
	"status --usage --json", "status", "status --usage -v", "doctor", "doctor --json", "config", "config --json",
	"scan --stored", "scan --stored --json",
	"sessions", "sessions --reason forgotten", "projects", "trust --list",
	"retry --all", "run --dry-run --json", "completion bash", "version", "help",
}

// shownOf are commands that print stored data of a project.
var shownOf = []string{
	"view", "log", "log --json", "diff", "diff --json", "cat memory://root", "cat memory://root/MEMORY.md",
	"scan --stored --json", "sessions", "run --dry-run", "enqueue",
}

// shownAs are the agents whose output formats inject supports.
var shownAs = []string{"claude", "codex", "copilot", "cursor", "gemini", "omp", "opencode", "pi", "plain", "qwen"}

// look runs the commands that print stored data, and those that hooks run.
func (f *flock) look(e ears, dir string) {
	f.t.Helper()
	for _, line := range f.some(8, shown) {
		e.call(strings.Fields(line)...)
	}
	for i, s := range gjson.Get(e.call("sessions", "--json"), "sessions").Array() {
		if i%7 == 0 && i < by(f.t, 14, 56, 56) {
			e.call("show", "--json", s.Get("id").Str)
			e.call("show", s.Get("id").Str)
		}
	}
	for _, p := range gjson.Get(e.call("projects", "--json"), "projects").Array()[:1] {
		of := []string{"--project", p.Get("id").Str}
		for _, line := range f.some(5, shownOf) {
			e.call(append(strings.Fields(line), of...)...)
		}
		for _, agent := range f.some(2, shownAs) {
			e.call(append([]string{"inject", "--format", agent}, of...)...)
		}
		if p.Get("root").Str == "" {
			continue
		}
		for name := range files(f.t, p.Get("root").Str+"/") {
			e.call(append([]string{"cat", "memory://root/" + filepath.ToSlash(name)}, of...)...)
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	must(f.t, err)
	for _, path := range f.some(1, paths)[:1] {
		for _, line := range []string{"show", "show --json", "scan", "scan --json", "redact"} {
			e.call(append(strings.Fields(line), path)...)
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

// some returns few of the strings, or all with a higher depth, in random order.
func (f *flock) some(few int, all []string) []string {
	all = slices.Clone(all)
	f.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(by(f.t, few, len(all), len(all)), len(all))]
}

// answering returns a hand for the answer to a question. Its name is the question and its count, since the order of
// questions does not depend on the seed.
func (f *flock) answering(q scribe.Question) hand {
	key := fmt.Sprint(q.Phase, q.Input, q.Objection != "")
	f.mu.Lock()
	before := f.asked[key]
	f.asked[key]++
	f.mu.Unlock()
	return f.another(fmt.Sprint(key, before))
}

// echoes is a model with canaries in each field of its answers and in its errors.
func (f *flock) echoes(_ int, q scribe.Question, good modeltest.Step) modeltest.Step {
	h := f.answering(q)
	if h.random.IntN(5) == 0 && !f.healed.Load() {
		return h.refusal()
	}
	say := func(field string) string { return h.add("the key is", "an answer's "+field) }
	var answer any
	if q.Phase == scribe.Extract {
		e := q.Extraction()
		if e.RawMemory == "" {
			return good
		}
		for _, section := range []string{"Preferences", "Decisions", "Environment", "Files", "Outcome", "Failures", "Commands"} {
			in(section, h.plant("an answer's "+section, func(match string) string {
				return "- the key is " + strings.Join(strings.Fields(match), " ") + " [1]\n"
			}))(&e)
		}
		e.RolloutSummary += "\n- " + say("summary") + "\n"
		e.RolloutSlug = h.add("fix", "an answer's slug")
		answer = e
	} else {
		m := q.Memory()
		m.MemoryMD += "\n" + say("memory") + "\n"
		m.MemorySummary += "\n" + say("memory summary") + "\n"
		for _, field := range []string{"name", "description", "content"} {
			s := scribe.Skill{Name: "steps", Content: "# Steps\n\n1. `make`\n"}
			switch field {
			case "name":
				s.Name = h.add("steps", "a skill's name")
			case "description":
				s.Description = say("skill's description")
			case "content":
				s.Content += "\n" + say("skill's content") + "\n"
			}
			m.Skills = append(m.Skills, s)
		}
		answer = m
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return modeltest.Step{Status: 500}
	}
	return modeltest.Step{Text: string(text)}
}

// refuses is a model that fails with canaries in its errors.
func (f *flock) refuses(_ int, q scribe.Question, good modeltest.Step) modeltest.Step {
	if f.healed.Load() {
		return good
	}
	h := f.answering(q)
	return h.refusal()
}

func (h *hand) refusal() modeltest.Step {
	say := func(field string) string { return h.add("you sent", "an error's "+field) }
	switch h.random.IntN(4) {
	case 0:
		return modeltest.Step{Status: 400, Code: say("code"), Message: say("message")}
	case 1:
		return modeltest.Step{Raw: say("body"), Status: 500}
	case 2:
		return modeltest.Step{Text: say("answer that is none")}
	}
	return modeltest.Step{Status: 403, Message: say("message")}
}

// in adds lines to a section of a raw memory.
func in(section, lines string) func(e *scribe.Extraction) {
	return func(e *scribe.Extraction) {
		if head := "## " + section + "\n"; strings.Contains(e.RawMemory, head) {
			e.RawMemory = strings.Replace(e.RawMemory, head, head+lines, 1)
		} else {
			e.RawMemory += "\n" + head + lines
		}
	}
}
