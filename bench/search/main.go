// Command search is the benchmark of what `memoir search` finds: long conversations of two people, written for
// it, and questions that share few words with the session that answers them. It needs no network and no model.
//
// It also measures abstention: how many questions of off-topic.txt get no hit or a weak answer, and how many with an
// answer do not; which of two decisions stands first (decisions.txt: the newer one should); and how exactly notes are
// found (notes.txt: "= text" is a note, "? text" a question that it answers, "! text" one that none answers). With
// -sessions, it asks the questions of on-topic.tsv about the sessions below a directory.
//
// A conversation is a file of sessions: "== DATE TIME" begins one, "Name: text" is what somebody said, "? text" a
// question that this session answers, "?? text" one that avoids the words of the answer. The person of the first
// line types; the other one is the agent.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir/config"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/search"
	"memoir/store"
)

// chosenOn are the conversations on which the ranking was chosen; it is measured with the others.
var chosenOn = []string{"nadia-tom", "priya-lucas"}

func main() {
	misses := flag.Bool("misses", false, "list the questions whose session is not the first, or whose answer is misjudged")
	sessions := flag.String("sessions", "", "also ask about the sessions below `DIR`")
	flag.Parse()
	err := run(context.Background(), *misses)
	if err == nil {
		err = abstain(context.Background(), *sessions, *misses)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

// conversation is the content of a file.
type conversation struct {
	name      string
	files     map[string][]byte // the sessions in pi's format, by name
	questions []question
}

type question struct {
	text, session string
	far           bool // it avoids the words of the answer
}

// places are those of the right session among the hits, from 1; 0: it is none of them.
type places []int

func (p places) print(name string) {
	first, five, reciprocal := 0, 0, 0.0
	for _, place := range p {
		if place == 1 {
			first++
		}
		if place > 0 {
			reciprocal += 1 / float64(place)
		}
		if place > 0 && place <= 5 {
			five++
		}
	}
	n := float64(max(len(p), 1))
	fmt.Printf("%-28s %9d %8.3f %8.3f %8.3f\n", name, len(p), float64(first)/n, float64(five)/n, reciprocal/n)
}

func run(ctx context.Context, misses bool) error {
	if !search.Available {
		return fmt.Errorf("built without the full-text index: go run -tags sqlite_fts5 ./bench/search")
	}
	paths, err := filepath.Glob(filepath.Join("bench", "search", "conversations", "*.txt"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("run it at the root of the repository: there are no conversations here (%v)", err)
	}
	var all []conversation
	for _, path := range paths {
		c, err := read(path)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	fmt.Printf("%-28s %9s %8s %8s %8s\n", "conversation", "questions", "first", "in five", "MRR")
	var chosen, others, far places
	for _, c := range all {
		near, avoiding, err := measure(ctx, []conversation{c}, misses)
		if err != nil {
			return err
		}
		near.print(c.name)
		far = append(far, avoiding...)
		if slices.Contains(chosenOn, c.name) {
			chosen = append(chosen, near...)
		} else {
			others = append(others, near...)
		}
	}
	together, _, err := measure(ctx, all, false)
	if err != nil {
		return err
	}
	chosen.print("those it was chosen on")
	others.print("the others")
	together.print("all in one home")
	far.print("words of the answer avoided")
	return nil
}

// read parses a conversation.
func read(path string) (conversation, error) {
	c := conversation{name: strings.TrimSuffix(filepath.Base(path), ".txt"), files: map[string][]byte{}}
	content, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	var at time.Time
	var id, file, person string
	var parent any // of the next message
	add := func(record map[string]any) {
		record["timestamp"] = at.Format("2006-01-02T15:04:05.000Z")
		at = at.Add(time.Minute)
		b, err := json.Marshal(record)
		if err != nil {
			panic(err) // strings always marshal
		}
		c.files[file] = append(append(c.files[file], b...), '\n')
	}
	for text := range strings.Lines(string(content)) {
		text = strings.TrimSpace(text)
		mark, rest, _ := strings.Cut(text, " ")
		name, words, said := strings.Cut(text, ": ")
		switch {
		case mark == "==":
			if at, err = time.Parse("2006-01-02 15:04", rest); err != nil {
				return c, fmt.Errorf("%s: %w", path, err)
			}
			id, person, parent = fmt.Sprintf("%s-%02d", c.name, len(c.files)+1), "", nil
			file = at.Format("2006-01-02T15-04-05-000Z_") + id + ".jsonl"
			add(map[string]any{"type": "session", "version": 3, "id": id, "cwd": "/srv/chats/" + c.name})
		case mark == "?" || mark == "??":
			c.questions = append(c.questions, question{rest, "pi:" + id, mark == "??"})
		case said && id != "":
			person = cmp.Or(person, name)
			role := "assistant"
			if name == person {
				role = "user"
			}
			next := fmt.Sprintf("%08x", bytes.Count(c.files[file], []byte("\n")))
			add(map[string]any{"type": "message", "id": next, "parentId": parent, "message": map[string]any{"role": role,
				"content": []any{map[string]any{"type": "text", "text": name + ": " + words}}}})
			parent = next
		}
	}
	return c, nil
}

// measure puts conversations into a home of their own and asks their questions. Those that avoid the words of the
// answer are counted apart.
func measure(ctx context.Context, all []conversation, misses bool) (near, far places, err error) {
	var dir string
	dir, err = os.MkdirTemp("", "memoir-bench-")
	if err != nil {
		return near, far, err
	}
	defer os.RemoveAll(dir)
	home, sessions := filepath.Join(dir, "home"), filepath.Join(dir, "sessions")
	for _, c := range all {
		own := filepath.Join(sessions, c.name)
		if err := os.MkdirAll(own, 0o700); err != nil {
			return near, far, err
		}
		for name, content := range c.files {
			if err := os.WriteFile(filepath.Join(own, name), content, 0o600); err != nil {
				return near, far, err
			}
		}
	}
	st, err := store.Open(ctx, filepath.Join(home, "memoir.db"), store.Options{})
	if err != nil {
		return near, far, err
	}
	defer st.Close()
	report, err := pipeline.Run(ctx, st, pipeline.Options{Home: home, Settings: config.Default(), SessionsDir: sessions,
		Env: rollout.Env{Home: dir, Getenv: func(string) string { return "" }}, Limit: 10_000})
	if err != nil {
		return near, far, err
	}
	if n := report.Phase1.Stored + report.Phase1.Empty; n != report.Scan.Sessions {
		return near, far, fmt.Errorf("%d of %d sessions were extracted", n, report.Scan.Sessions)
	}
	for _, c := range all {
		for _, q := range c.questions {
			found, err := search.Find(ctx, home, search.Query{Text: q.text, Redact: strings.Clone})
			if err != nil {
				return near, far, fmt.Errorf("%s: %w", q.text, err)
			}
			place := 1 + slices.IndexFunc(found.Hits, func(h search.Hit) bool { return h.Session == q.session })
			if q.far {
				far = append(far, place)
			} else if near = append(near, place); misses && place != 1 {
				fmt.Printf("%2d  %s: %s\n", place, q.session, q.text)
			}
		}
	}
	return near, far, nil
}
