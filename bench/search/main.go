// Command search is the benchmark of what `memoir search` finds: long conversations of two people, written for
// it, and questions that share few words with the session that answers them. It needs no network and no model.
//
// A conversation is a file of sessions: "== DATE TIME" begins one, "Name: text" is what somebody said, "? text" a
// question that this session answers, "?? text" one that avoids the words of the answer. The person of the first
// line types; the other one is the agent.
package main

import (
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
	data := flag.String("data", filepath.Join("bench", "search", "conversations"), "directory of the conversations")
	misses := flag.Bool("misses", false, "list the questions whose session is not the first")
	flag.Parse()
	if err := run(context.Background(), *data, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

// conversation is the content of a file.
type conversation struct {
	name     string
	sessions []session
}

type session struct {
	at        time.Time
	said      []line
	questions []question
}

type question struct {
	text string
	far  bool // it avoids the words of the answer
}

type line struct{ name, text string }

// tally counts where the right session was among the hits.
type tally struct {
	asked, first, five int
	reciprocal         float64
}

func (t *tally) add(place int) {
	t.asked++
	if place == 1 {
		t.first++
	}
	if place > 0 && place <= 5 {
		t.five++
	}
	if place > 0 {
		t.reciprocal += 1 / float64(place)
	}
}

func (t *tally) sum(other tally) {
	t.asked, t.first, t.five = t.asked+other.asked, t.first+other.first, t.five+other.five
	t.reciprocal += other.reciprocal
}

func (t tally) print(name string) {
	n := float64(max(t.asked, 1))
	fmt.Printf("%-28s %9d %8.3f %8.3f %8.3f\n", name, t.asked, float64(t.first)/n, float64(t.five)/n, t.reciprocal/n)
}

func run(ctx context.Context, data string, misses bool) error {
	if !search.Available {
		return fmt.Errorf("built without the full-text index: go run -tags sqlite_fts5 ./bench/search")
	}
	paths, err := filepath.Glob(filepath.Join(data, "*.txt"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("no conversations below %s: %w", data, err)
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
	var chosen, others, far tally
	for _, c := range all {
		near, avoiding, err := measure(ctx, []conversation{c}, misses)
		if err != nil {
			return err
		}
		near.print(c.name)
		far.sum(avoiding)
		if slices.Contains(chosenOn, c.name) {
			chosen.sum(near)
		} else {
			others.sum(near)
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
	c := conversation{name: strings.TrimSuffix(filepath.Base(path), ".txt")}
	content, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	for text := range strings.Lines(string(content)) {
		text = strings.TrimSpace(text)
		if date, ok := strings.CutPrefix(text, "== "); ok {
			at, err := time.Parse("2006-01-02 15:04", date)
			if err != nil {
				return c, fmt.Errorf("%s: %w", path, err)
			}
			c.sessions = append(c.sessions, session{at: at})
			continue
		}
		if text == "" || len(c.sessions) == 0 {
			continue
		}
		last := &c.sessions[len(c.sessions)-1]
		if text, ok := strings.CutPrefix(text, "?? "); ok {
			last.questions = append(last.questions, question{text, true})
		} else if text, ok := strings.CutPrefix(text, "? "); ok {
			last.questions = append(last.questions, question{text, false})
		} else if name, words, ok := strings.Cut(text, ": "); ok {
			last.said = append(last.said, line{name, words})
		}
	}
	return c, nil
}

// measure puts conversations into a home of their own and asks their questions. Those that avoid the words of the
// answer are counted apart.
func measure(ctx context.Context, all []conversation, misses bool) (near, far tally, err error) {
	var dir string
	dir, err = os.MkdirTemp("", "memoir-bench-")
	if err != nil {
		return near, far, err
	}
	defer os.RemoveAll(dir)
	home, sessions := filepath.Join(dir, "home"), filepath.Join(dir, "sessions")
	for _, c := range all {
		if err := write(c, sessions); err != nil {
			return near, far, err
		}
	}
	st, err := store.Open(ctx, filepath.Join(home, "memoir.db"), store.Options{})
	if err != nil {
		return near, far, err
	}
	defer st.Close()
	report, err := pipeline.Run(ctx, st, pipeline.Options{Home: home, Settings: config.Default(), SessionsDir: sessions,
		Env: rollout.Env{Home: dir, Getenv: func(string) string { return "" }, GOOS: "linux"}, Limit: 10_000})
	if err != nil {
		return near, far, err
	}
	if n := report.Phase1.Stored + report.Phase1.Empty; n != report.Scan.Sessions {
		return near, far, fmt.Errorf("%d of %d sessions were extracted", n, report.Scan.Sessions)
	}
	for _, c := range all {
		for i, s := range c.sessions {
			for _, q := range s.questions {
				found, err := search.Find(ctx, home, search.Query{Text: q.text})
				if err != nil {
					return near, far, fmt.Errorf("%s: %w", q.text, err)
				}
				place := 1 + slices.IndexFunc(found.Hits, func(h search.Hit) bool { return h.Session == "pi:"+id(c, i) })
				if q.far {
					far.add(place)
				} else if near.add(place); misses && place != 1 {
					fmt.Printf("%2d  session %d: %s\n", place, i+1, q.text)
				}
			}
		}
	}
	return near, far, nil
}

// id names a session.
func id(c conversation, i int) string { return fmt.Sprintf("%s-%02d", c.name, i+1) }

// write writes the sessions of a conversation in pi's format.
func write(c conversation, dir string) error {
	dir = filepath.Join(dir, c.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, s := range c.sessions {
		name := s.at.Format("2006-01-02T15-04-05-000Z_") + id(c, i) + ".jsonl"
		if err := os.WriteFile(filepath.Join(dir, name), asPi(c, i), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func asPi(c conversation, i int) []byte {
	s := c.sessions[i]
	stamp := func(n int) string { return s.at.Add(time.Duration(n) * time.Minute).Format("2006-01-02T15:04:05.000Z") }
	records := []map[string]any{
		{"type": "session", "version": 3, "id": id(c, i), "timestamp": stamp(0), "cwd": "/srv/chats/" + c.name},
	}
	parent := any(nil)
	for n, l := range s.said {
		role := "assistant"
		if l.name == s.said[0].name {
			role = "user"
		}
		text := map[string]any{"type": "text", "text": l.name + ": " + l.text}
		record := map[string]any{"type": "message", "id": fmt.Sprintf("%08x", n+1), "parentId": parent,
			"timestamp": stamp(n + 1), "message": map[string]any{"role": role, "content": []any{text}}}
		records, parent = append(records, record), record["id"]
	}
	var out []byte
	for _, r := range records {
		b, err := json.Marshal(r)
		if err != nil {
			panic(err) // strings always marshal
		}
		out = append(append(out, b...), '\n')
	}
	return out
}
