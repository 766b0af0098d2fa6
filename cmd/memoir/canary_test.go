package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoir/model/modeltest"
	"memoir/store"
)

// Every session, answer, error, setting, edit and argument has canaries; none comes out
// anywhere. What is planted follows from the seed.
func TestNoSecretComesOutAnywhere(t *testing.T) {
	t.Parallel()
	rounds := by(t, 1, 1, 272)
	models := []struct {
		name  string
		reply func(f *flock) reply
	}{
		{"the built-in model", nil},
		{"a model that fails", func(f *flock) reply { return f.refuses }},
		{"a model that echoes secrets", func(f *flock) reply { return f.echoes }},
		{"a model that answers well", func(*flock) reply { return well }},
	}
	for i, m := range models[:by(t, 3, 3, 4)] {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			pairs, planted := map[string]bool{}, 0
			for round := range rounds {
				f := newFlock(t, 4*round+i)
				f.release(round+i, m.reply)
				maps.Copy(pairs, f.seen)
				planted += len(f.all) + len(f.paths)
			}
			t.Logf("%d canaries, %d pairs of a rule and a field; %s=%d", planted, len(pairs), seedVariable, canarySeed(t))
		})
	}
}

// ears hear all that commands say, by what was called.
type ears struct {
	scene
	words map[string]string
}

// call calls a command and returns its results.
func (e ears) call(args ...string) string {
	e.t.Helper()
	_, out, said := e.memoir(append(args, "-v")...)
	what := args[0]
	if len(args) > 1 && strings.Trim(args[1], "-abcdefghijklmnopqrstuvwxyz") == "" {
		what += " " + args[1]
	}
	e.words[what] += out + "\n" + said + "\n"
	return out
}

// release makes a home of what was planted, looks at it, and searches it.
func (f *flock) release(round int, answers func(*flock) reply) {
	t := f.t
	t.Helper()
	dir := filepath.Join(f.base, "sessions")
	dirs := f.sow(dir, round)
	e := ears{newScene(t, dir, "api: openai-chat, baseURL: 'http://127.0.0.1:1/v1', keyEnv: SCENE_KEY"), map[string]string{}}
	var server *modeltest.Server
	if answers == nil {
		must(t, os.WriteFile(filepath.Join(e.user, ".config", "memoir", "config.yml"), []byte("memories: {enabled: true}\n"), 0o600))
	} else {
		w := wires[round%len(wires)]
		server = w.start(t, answers(f))
		e.asks(w.provider(server.URL, ""))
	}
	run := func() {
		e.call("run", "--json", "--sessions", dir, "--max-age", "0", "--min-idle", "0", "--limit", "1000")
	}
	run()
	held := openStore(t, e.home) // so that the database's log stays
	defer held.Close()
	run()
	failed := newNet(f.all)
	if failed.home(t, e.home, "") == 0 {
		t.Error("the home is empty")
	}
	f.healed.Store(true)
	edits := f.edit(e.home, by(t, 1, 1, 3))
	e.call("retry", "--all")
	e.call("enqueue", "--all") // what a person wrote goes when the memory is published again
	run()
	for _, edit := range edits {
		if edit.published() {
			maps.Copy(f.all, edit.canaries)
		} else if answers == nil {
			t.Errorf("%s was not published again", edit.root)
		}
	}
	f.look(e, dir, dirs)
	if answers == nil || by(t, false, false, true) {
		f.misuse(e)
	}
	f.change(e)

	n, paths := newNet(f.all), newNet(f.paths)
	for what, text := range e.words {
		n.search("what "+what+" says", []byte(text))
		if !tellsPaths.MatchString(what) {
			paths.search("what "+what+" says", []byte(text))
		}
	}
	if server != nil {
		for _, c := range server.Calls() {
			n.search("a request", c.Body)
			paths.search("a request", c.Body)
		}
	}
	n.home(t, e.home, "")
	paths.home(t, e.home, databaseName)
	must(t, held.Texts(t.Context(), "", func(text store.Text) error {
		paths.search(text.Table+"."+text.Column, []byte(text.Value))
		return nil
	}))
	maps.Copy(n.caught, paths.caught)
	maps.Copy(n.caught, failed.caught)
	for i, what := range slices.Sorted(maps.Keys(n.caught)) {
		if i == 40 {
			t.Errorf("and %d more", len(n.caught)-i)
			break
		}
		t.Errorf("%s: %s", what, n.caught[what])
	}
}

// tellsPaths matches the commands that a person calls to find a session's files.
var tellsPaths = regexp.MustCompile(`^(?:sessions|show|scan)\b`)

// sow writes sessions in every agent's format: some with a canary in every text, and some
// with one in a field that holds the session together; and what stands beside sessions. It
// returns directories in which sessions were.
func (f *flock) sow(dir string, round int) []string {
	f.t.Helper()
	texts, alone := by(f.t, 2, 10, 24), by(f.t, 5, 40, 60)
	must(f.t, os.MkdirAll(dir, 0o700))
	all := templates(f.t)
	n := 0
	var threads []string
	for i := range min(texts, len(all)) {
		x := all[(round*texts+i)%len(all)]
		n++
		x = f.sown(x.copyOf(n), "")
		x.write(f.t, dir)
		if x.agent == "codex" {
			threads = append(threads, x.id)
		}
	}
	for _, at := range f.chosen(alone) {
		n++
		planted := map[string]string{}
		x := at.template.copyOf(n).fields(func(path, text string) string {
			if path != at.field || text == "" {
				return text
			}
			if planted[text] == "" {
				planted[text] = f.add(text, at.agent+" "+path)
			}
			return planted[text]
		})
		x.write(f.t, dir)
		if x.agent == "codex" {
			threads = append(threads, x.id)
		}
	}
	of := func(agent string) template {
		i := slices.IndexFunc(all, func(x template) bool { return x.agent == agent })
		return all[i]
	}
	indexed := of("codex").copyOf(n + 1)
	indexed.path = filepath.Join("codex", "sessions", filepath.Base(indexed.path))
	indexed.write(f.t, dir)
	f.sowTitles(filepath.Join(dir, "codex"), append(threads, indexed.id))
	f.sowDatabase(filepath.Join(dir, "opencode.db"), of("opencode").copyOf(n+2))
	f.sowPath(dir, of("claude").copyOf(n+3))
	return f.sowDirectories(dir, filepath.Join(f.base, "work"), of("claude"))
}

// sown is a session with a canary in every text that does not hold it together, or in one of
// a few.
func (f *flock) sown(x template, where string) template {
	each := by(f.t, 3, 1, 1)
	return x.fields(func(path, text string) string {
		if text == "" || holding.MatchString(path) || f.random.IntN(each) > 0 {
			return text
		}
		return f.add(text, where+x.agent+" "+path)
	})
}

type fieldOf struct {
	template
	field string
}

// heldTogether are the fields of all templates that hold them together.
var heldTogether = once(func(t *testing.T) (fields []fieldOf) {
	for _, x := range templates(t) {
		for _, name := range x.fieldNames() {
			fields = append(fields, fieldOf{x, name})
		}
	}
	return fields
})

// chosen are some of them.
func (f *flock) chosen(many int) []fieldOf {
	fields := slices.Clone(heldTogether(f.t))
	f.random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields[:min(many, len(fields))]
}
