package serve

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// Each kind of line takes its own answers, of which one changes memory as a person would, and what is answered is not
// asked again.
func TestAReviewByHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const review = "/projects/lanternd/review"
	w.call("POST", "/projects/lanternd/notes", `{"content": "the broker restarts at night", "source": "agent"}`, 201)
	w.call("POST", "/projects/lanternd/notes", `{"content": "lamps have feet", "source": "agent"}`, 201)
	st, err := w.open(t.Context(), store.Options{})
	must(t, err)
	defer st.Close()
	row, err := st.FindProject(t.Context(), lanternd)
	must(t, err)
	_, err = pipeline.Patch(t.Context(), st, w.options, row.Project, memoir.AuthorAgent,
		[]byte(`{"ops": [{"op": "insert", "line": 6, "content": "- the rig has two lamps"}]}`))
	must(t, err)

	lines := func() map[string]map[string]any {
		out := map[string]map[string]any{}
		for _, l := range w.call("GET", review, "", 200)["lines"].([]any) {
			out[l.(map[string]any)["text"].(string)] = l.(map[string]any)
		}
		return out
	}
	before := lines()
	answer := func(text, answer, edit string, status int) {
		t.Helper()
		l := before[text]
		if l == nil {
			t.Fatalf("%q is not in the review: %v", text, before)
		}
		w.call("POST", review, fmt.Sprintf(`{"id": %q, "answer": %q, "text": %q}`, l["id"], answer, edit), status)
	}
	const (
		tag  = "refused `git tag v0.5.0`: “use git tag -s, the mirror refuses unsigned tags”"
		gen  = "`make gen` failed: protoc-gen-go: program not found or is not executable; fixed by `make tools`"
		test = "`make test-mqtt` failed: dial tcp 127.0.0.1:1883: connect: connection refused; fixed by `docker compose up -d mosquitto`"
		once = "Always use time.Duration in Go code and milliseconds only on the wire."
		held = "Never edit generated files under gen/, change the .proto and run make gen instead."
		only = "The steps are lint, test, dist, then the tag." // it may be a rule, and MEMORY.md does not have it
	)
	for text, state := range map[string]string{tag: "new", once: "once", only: "once", "lamps have feet": "unconfirmed",
		"the rig has two lamps": "unconfirmed"} {
		if before[text]["state"] != state {
			t.Errorf("%q is %v", text, before[text]["state"])
		}
	}
	answer(tag, "confirm", "", 422)
	answer(once, "keep", "", 422)
	answer(tag, "edit", "-", 422)
	form := request("POST", review, url.Values{"id": {before[tag]["id"].(string)}, "answer": {"keep"}}.Encode())
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	form.Header.Set("Accept", "text/html")
	if got := w.send(form); got.Code != 303 || got.Header().Get("Location") != review+"#main" {
		t.Errorf("by a form: %d %s", got.Code, got.Body)
	}
	answer(tag, "keep", "", 404)
	answer(gen, "drop", "", 201)
	answer(test, "edit", "`make test-mqtt` needs the broker", 201)
	answer(once, "confirm", "", 201)
	answer(held, "drop", "", 201)
	answer(only, "drop", "", 201)
	answer("the broker restarts at night", "confirm", "", 201)
	answer("lamps have feet", "drop", "", 201)
	answer("the rig has two lamps", "confirm", "", 201)

	rollouts, err := filepath.Glob(filepath.Join(w.options.SessionsDir, "codex", "sessions", "*", "*", "*", "*.jsonl"))
	if must(t, err); len(rollouts) == 0 {
		t.Fatal("no rollouts")
	}
	for range 2 { // also after all is read again
		after := lines()
		for _, text := range []string{tag, gen, test, "`make test-mqtt` needs the broker", once, held, only,
			"the broker restarts at night", "lamps have feet", "the rig has two lamps"} {
			if after[text] != nil {
				t.Errorf("asked again: %v", after[text])
			}
		}
		content := w.call("GET", "/projects/lanternd/memory", "", 200)["content"].(string)
		for text, want := range map[string]bool{"\n- refused `git tag v0.5.0`": true, "`make gen` failed": false, "needs the broker [": true,
			"\n- the rig has two lamps\n": true, "under gen/": false, "The steps are": false, "have feet": false} {
			if strings.Contains(content, text) != want {
				t.Errorf("%q: %v in %s", text, !want, content)
			}
		}
		for _, path := range rollouts {
			text, err := os.ReadFile(path)
			must(t, err)
			last := strings.Split(strings.TrimSpace(string(text)), "\n")
			must(t, os.WriteFile(path, append(text, last[len(last)-1]+"\n"...), 0o600))
		}
		must(t, st.Enqueue(t.Context(), lanternd))
		w.run()
	}
	notes := fmt.Sprint(w.call("GET", "/projects/lanternd/notes", "", 200))
	if !strings.Contains(notes, once) || strings.Contains(notes, "source:agent") || strings.Contains(notes, "feet") {
		t.Errorf("notes: %s", notes)
	}
}

// Wherever a session is named, its title is the same, and without Markdown.
func TestASessionHasOneTitle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call("POST", "/projects/lanternd/messages",
		`{"conversation": "marked", "messages": [{"role": "user", "content": "# Let `+"`make tools`"+` pass in **every** hall"}]}`, 201)
	titles := map[string]string{}
	for _, one := range w.call("GET", "/sessions", "", 200)["sessions"].([]any) {
		s := one.(map[string]any)
		key, title := s["source"].(string)+":"+s["id"].(string), s["title"].(string)
		if titles[key] = title; strings.ContainsAny(title, "`*#") {
			t.Errorf("the list has %s as %q", key, title)
		}
		if s["reason"] == "unreadable" {
			continue
		}
		if shown := w.call("GET", "/sessions/"+key, "", 200)["session"].(map[string]any)["title"]; shown != title {
			t.Errorf("%s is %q in the list, and itself %q", key, title, shown)
		}
	}
	for _, line := range w.call("GET", "/projects/lanternd/review", "", 200)["lines"].([]any) {
		for _, one := range line.(map[string]any)["sessions"].([]any) {
			if s := one.(map[string]any); s["title"] != titles[s["id"].(string)] {
				t.Errorf("%s is %q in the list, and at a line %q", s["id"], titles[s["id"].(string)], s["title"])
			}
		}
	}
}
