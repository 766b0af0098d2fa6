package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
)

// sow writes sessions in every agent's format: one of each template with a canary in
// every text, and as many with one in a field that holds the session together.
func (f *flock) sow(dir string, round, texts, alone int) (sessions int) {
	f.t.Helper()
	all := templates(f.t)
	for i := range min(texts, len(all)) {
		x := all[(round*texts+i)%len(all)]
		sessions++
		copied := x.copyOf(sessions)
		copied.fields(func(path, text string) string {
			if text == "" || holding.MatchString(path) {
				return text
			}
			return f.add(text, x.agent+" "+path)
		}).write(f.t, dir)
	}
	for _, at := range f.chosen(all, alone) {
		sessions++
		planted := map[string]string{}
		at.template.copyOf(sessions).fields(func(path, text string) string {
			if path != at.field || text == "" {
				return text
			}
			if planted[text] == "" {
				planted[text] = f.add(text, at.agent+" "+path)
			}
			return planted[text]
		}).write(f.t, dir)
	}
	return sessions
}

type fieldOf struct {
	template
	field string
}

// chosen are fields of all templates' that hold them together.
func (f *flock) chosen(all []template, many int) []fieldOf {
	var fields []fieldOf
	for _, x := range all {
		for _, name := range x.fieldNames() {
			fields = append(fields, fieldOf{x, name})
		}
	}
	f.random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields[:min(many, len(fields))]
}

// echo is a model that says canaries in each field of its answers, and in its errors.
func (f *flock) echo(n int, q scribe.Question, good modeltest.Step) modeltest.Step {
	if n%5 == 4 {
		return f.refuse(n, q, good)
	}
	say := func(field string) string { return f.add("the key is", "an answer's "+field) }
	var answer any
	if q.Phase == scribe.Extract {
		e := q.Extraction()
		if e.RawMemory == "" {
			return good
		}
		for _, section := range []string{"Preferences", "Decisions", "Environment", "Files", "Outcome", "Failures", "Commands"} {
			in(section, f.plant("an answer's "+section, func(match string) string {
				return "- the key is " + strings.Join(strings.Fields(match), " ") + " [1]\n"
			}))(&e)
		}
		e.RolloutSummary += "\n- " + say("summary") + "\n"
		e.RolloutSlug = f.add("fix", "an answer's slug")
		answer = e
	} else {
		m := q.Memory()
		m.MemoryMD += "\n" + say("memory") + "\n"
		m.MemorySummary += "\n" + say("memory summary") + "\n"
		for _, field := range []string{"name", "description", "content"} {
			s := scribe.NewSkill("steps", "# Steps\n\n1. `make`\n")
			switch field {
			case "name":
				s.Name = f.add("steps", "a skill's name")
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

// refuse is a model that fails, and says canaries of it.
func (f *flock) refuse(n int, _ scribe.Question, _ modeltest.Step) modeltest.Step {
	say := func(field string) string { return f.add("you sent", "an error's "+field) }
	switch n % 4 {
	case 0:
		return modeltest.Step{Status: 400, Code: say("code"), Message: say("message")}
	case 1:
		return modeltest.Step{Raw: say("body"), Status: 500}
	case 2:
		return modeltest.Step{Text: say("answer that is none")}
	}
	return modeltest.Step{Status: 401, Message: say("message")}
}

var unnamable = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// edit changes live memories by hand: a line, a file and a skill with canaries in them.
func (f *flock) edit(s scene, most int) {
	f.t.Helper()
	roots, err := filepath.Glob(filepath.Join(s.home, "projects", "*", "memory"))
	must(f.t, err)
	for _, root := range roots[:min(most, len(roots))] {
		for _, name := range []string{"MEMORY.md", "memory_summary.md"} {
			path := filepath.Join(root, name)
			old, err := os.ReadFile(path)
			must(f.t, err)
			must(f.t, os.WriteFile(path, append(old, "\n- "+f.add("ask Ada for", "a line by hand")+"\n"...), 0o600))
		}
		skill := filepath.Join(root, "skills", "by-hand")
		must(f.t, os.MkdirAll(skill, 0o700))
		must(f.t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: by-hand\ndescription: "+f.add("Use it with", "a skill by hand")+"\n---\n\n1. `make`\n"), 0o600))
		// A name is redacted in the form in which it is kept.
		name := f.plant("a file's name by hand", func(match string) string {
			return "notes-" + strings.Trim(unnamable.ReplaceAllString(match, "-"), "-.") + ".md"
		})
		if len(name) < 100 {
			must(f.t, os.WriteFile(filepath.Join(root, name), []byte("# Notes\n"), 0o600))
		}
	}
}

// look calls every command that shows something, and commands with canaries in what they
// are given.
func (f *flock) look(s scene, said func(what string, text ...string)) {
	f.t.Helper()
	call := func(args ...string) string {
		_, out, errs := s.memoir(append(args, "-v")...)
		said(strings.Join(args[:min(2, len(args))], " "), out, errs)
		return out
	}
	call("status", "--usage", "--json")
	call("status")
	call("doctor")
	call("config")
	call("scan", "--stored", "--json")
	sessions := gjson.Get(call("sessions", "--all", "--json"), "sessions").Array()
	for i := range min(4, len(sessions)) {
		call("show", sessions[(i*7)%len(sessions)].Get("id").Str, "--json")
	}
	for _, p := range gjson.Get(call("projects", "--json"), "projects").Array()[:1] {
		id := p.Get("id").Str
		for _, args := range [][]string{{"view"}, {"log"}, {"diff"}, {"cat", "memory://root/MEMORY.md"}} {
			call(append(args, "--project", id)...)
		}
		call("inject", "--format", "plain", "--project", id)
	}
	if f.plain {
		return // what a person just typed is shown to nobody else
	}
	for _, args := range [][]string{{"show"}, {"retry"}, {"view", "--project"}, {"cat"}, {"run", "--max-age"}, {"diff", "1"}, {"forget"}, {}, {"run", "--lost"}} {
		f.given(call, args)
	}
}

// given calls a command with a canary in its last argument.
func (f *flock) given(call func(...string) string, args []string) {
	word := f.plant("an argument of "+strings.Join(args, " "), func(match string) string { return "x " + match })
	call(append(args, word)...)
}

// Every session, answer, error, edit and argument has canaries; none comes out anywhere.
func TestNoSecretComesOutAnywhere(t *testing.T) {
	t.Parallel()
	rounds, texts, alone := by(t, 1, 8, 272), by(t, 3, 12, 24), by(t, 8, 40, 60)
	models := []struct {
		name  string
		reply func(f *flock) reply
	}{
		{"the built-in model", nil},
		{"a model that answers well", func(*flock) reply { return well }},
		{"a model that fails", func(f *flock) reply { return f.refuse }},
		{"a model that echoes secrets", func(f *flock) reply { return f.echo }},
	}
	first := int(chance(t, "first").Uint64N(1 << 20))
	for i, m := range models {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			pairs, planted := map[string]bool{}, 0
			for round := range rounds {
				f := newFlock(t, first+round*len(models)+i)
				f.release(t, first+round, texts, alone, m.reply)
				maps.Copy(pairs, f.seen)
				planted += len(f.all)
			}
			t.Logf("%d canaries, %d pairs of a rule and a field", planted, len(pairs))
		})
	}
}

// release makes a home of what was planted, looks at it, and searches it.
func (f *flock) release(t *testing.T, round, texts, alone int, answers func(*flock) reply) {
	t.Helper()
	dir := t.TempDir()
	f.sow(dir, round, texts, alone)
	words := map[string]string{}
	said := func(what string, text ...string) { words[what] += strings.Join(text, "\n") + "\n" }
	s := newScene(t, dir, "api: openai-chat, baseURL: 'http://127.0.0.1:1/v1', keyEnv: SCENE_KEY")
	var server *modeltest.Server
	if answers == nil {
		must(t, os.WriteFile(filepath.Join(s.user, ".config", "memoir", "config.yml"), []byte("memories: {enabled: true}\n"), 0o600))
	} else {
		w := wires[round%len(wires)]
		server = w.start(t, answers(f))
		s.asks(w.provider(server.URL, ""))
	}
	run := func() {
		_, out, errs := s.memoir("run", "-v", "--json", "--sessions", dir, "--max-age", "0", "--min-idle", "0", "--limit", "1000")
		said("run", out, errs)
	}
	run()
	held := openStore(t, s.home) // so that the database's log stays
	defer held.Close()
	f.edit(s, 3)
	run()
	_, out, errs := s.memoir("enqueue", "--all")
	said("enqueue", out, errs)
	run()
	f.look(s, said)
	n := newNet(f.all)
	for what, text := range words {
		n.search("what "+what+" says", []byte(text))
	}
	if server != nil {
		for _, c := range server.Calls() {
			n.search("a request", c.Body)
		}
	}
	if n.home(t, s.home) == 0 {
		t.Error("the home is empty")
	}
	for i, what := range slices.Sorted(maps.Keys(n.caught)) {
		if i == 40 {
			t.Errorf("and %d more", len(n.caught)-i)
			break
		}
		t.Errorf("%s", what)
	}
}
