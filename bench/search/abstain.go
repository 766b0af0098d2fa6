package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/config"
	"memoir/entry"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/search"
	"memoir/store"
)

const dir = "bench/search"

// judged counts the questions of one kind whose answer is silent or weak.
type judged struct{ asked, silent, weak, first, five int }

func (j judged) print(name string) {
	fmt.Printf("%-28s %9d %8d %8d %8d %8d\n", name, j.asked, j.silent, j.weak, j.first, j.five)
}

// abstain prints what searches answer to questions with and without an answer.
func abstain(ctx context.Context, sessions string, misses bool) error {
	off, err := lines("off-topic.txt")
	if err != nil {
		return err
	}
	fmt.Printf("\n%-28s %9s %8s %8s %8s %8s\n", "abstention", "questions", "silent", "weak", "first", "in five")
	paths, err := filepath.Glob(filepath.Join(dir, "conversations", "*.txt"))
	var near, stray judged
	for _, path := range paths {
		c, errRead := read(path)
		home, drop, errHome := homeOf(ctx, c)
		err = cmp.Or(err, errRead, errHome)
		for _, q := range c.questions {
			if err == nil && !q.far {
				err = near.ask(ctx, home, q.text, q.session, misses)
			}
		}
		for _, q := range off {
			if err == nil {
				err = stray.ask(ctx, home, q, "", misses)
			}
		}
		if drop(); err != nil {
			return err
		}
	}
	near.print("conversations, on topic")
	stray.print("conversations, off topic")
	if err := decide(ctx, misses); err != nil {
		return err
	}
	if err := notes(ctx, misses); err != nil {
		return err
	}
	if sessions != "" {
		return real(ctx, sessions, off, misses)
	}
	return nil
}

// real asks about the sessions below a directory. The points were chosen on these questions and others.
func real(ctx context.Context, sessions string, off []string, misses bool) error {
	home, drop, err := homeIn(ctx, sessions)
	defer drop()
	on, errRead := lines("on-topic.tsv")
	if err = cmp.Or(err, errRead); err != nil {
		return err
	}
	for _, long := range []bool{false, true} {
		for half, name := range []string{"odd", "even"} {
			var near, stray judged
			for i, line := range on {
				session, question, _ := strings.Cut(line, "\t")
				if i%2 == half && isLong(question) == long && err == nil {
					err = near.ask(ctx, home, question, session, misses)
				}
			}
			for i, question := range off {
				if i%2 == half && isLong(question) == long && err == nil {
					err = stray.ask(ctx, home, question, "", misses)
				}
			}
			if err != nil {
				return err
			}
			if long {
				name += ", long"
			}
			near.print("sessions, on topic, " + name)
			stray.print("sessions, off topic, " + name)
		}
	}
	return nil
}

func isLong(question string) bool { return len(strings.Fields(question)) > 30 }

// ask asks a question whose answer is in a session, or none if that is empty.
func (j *judged) ask(ctx context.Context, home, question, session string, misses bool) error {
	out, err := search.Find(ctx, home, search.Query{Text: question, Redact: strings.Clone})
	if err != nil {
		return fmt.Errorf("%s: %w", question, err)
	}
	place := 1 + slices.IndexFunc(out.Hits, func(h search.Hit) bool {
		_, id := memoir.SplitKey(h.Session)
		return session != "" && (h.Session == session || strings.HasPrefix(id, session))
	})
	weak := out.Weak && len(out.Hits) > 0
	j.asked++
	for count, counts := range map[*int]bool{&j.silent: len(out.Hits) == 0, &j.weak: weak, &j.first: place == 1,
		&j.five: place > 0 && place <= 5} {
		if counts {
			*count++
		}
	}
	if misses && (session == "") != (weak || len(out.Hits) == 0) {
		match := 0.0
		if len(out.Hits) > 0 {
			match = out.Hits[0].Match
		}
		fmt.Printf("%.3f %2d %s\n", match, place, question)
	}
	return nil
}

// decide prints how often the newer of two decisions stands above the older one, which is the session before it.
func decide(ctx context.Context, misses bool) error {
	c, err := read(filepath.Join(dir, "decisions.txt"))
	if err != nil {
		return err
	}
	home, drop, err := homeOf(ctx, c)
	defer drop()
	above := 0
	for _, q := range c.questions {
		if err != nil {
			return err
		}
		var out search.Result
		out, err = search.Find(ctx, home, search.Query{Text: q.text, Redact: strings.Clone})
		if len(out.Hits) > 0 && out.Hits[0].Session == q.session {
			above++
		} else if misses {
			fmt.Println("  the older first:", q.text)
		}
	}
	fmt.Printf("%-28s %9d %8s %8s %8d\n", "newer decision first", len(c.questions), "", "", above)
	return err
}

// notes prints how exactly notes are found.
func notes(ctx context.Context, misses bool) error {
	all, err := lines("notes.txt")
	if err != nil {
		return err
	}
	home, drop, err := homeIn(ctx, "")
	defer drop()
	if err != nil {
		return err
	}
	note, asked, exact, precision, silent, none := "", 0, 0, 0.0, 0, 0
	for _, line := range all {
		if mark, text, _ := strings.Cut(line, " "); mark == "=" {
			if err := remember(ctx, home, text); err != nil {
				return err
			}
		}
	}
	for _, line := range all {
		mark, text, _ := strings.Cut(line, " ")
		if mark == "=" {
			note = text
			continue
		}
		out, err := search.Find(ctx, home, search.Query{Text: text, Max: 6, Redact: strings.Clone})
		if err != nil {
			return err
		}
		right := 0
		for _, h := range out.Hits {
			if strings.HasPrefix(note, strings.TrimSuffix(h.Snippet, " …")) {
				right = 1
			}
		}
		hits, wrong := len(out.Hits), false
		if mark == "!" {
			none++
			if wrong = hits > 0 && !out.Weak; !wrong {
				silent++
			}
		} else {
			asked++
			precision += float64(right) / float64(max(hits, 1))
			if wrong = right == 0 || hits > 1; !wrong {
				exact++
			}
		}
		if wrong && misses {
			fmt.Printf("%2d hits: %s\n", hits, text)
		}
	}
	fmt.Printf("%-28s %9d: %d exactly, mean precision %.3f; off topic %d, silent or weak %d\n", "notes", asked, exact,
		precision/float64(asked), none, silent)
	return nil
}

func remember(ctx context.Context, home, text string) error {
	st, err := store.Open(ctx, filepath.Join(home, "memoir.db"), store.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	user := memoir.UserProject()
	if _, err = st.Register(ctx, user); err == nil {
		_, _, err = entry.Book{Store: st, Home: home, Redact: strings.Clone}.Write(ctx, memoir.Entry{ProjectID: user.ID,
			Kind: memoir.EntryNote, Category: "fact", Author: memoir.AuthorAgent, Text: text})
	}
	return err
}

func lines(name string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

// homeOf returns a home with the sessions of conversations, and how to remove it.
func homeOf(ctx context.Context, all ...conversation) (home string, drop func(), err error) {
	sessions, err := os.MkdirTemp("", "memoir-bench-")
	for _, c := range all {
		own := filepath.Join(sessions, c.name)
		err = cmp.Or(err, os.MkdirAll(own, 0o700))
		for name, content := range c.files {
			err = cmp.Or(err, os.WriteFile(filepath.Join(own, name), content, 0o600))
		}
	}
	if err != nil {
		return "", func() { os.RemoveAll(sessions) }, err
	}
	home, done, err := homeIn(ctx, sessions)
	return home, func() { done(); os.RemoveAll(sessions) }, err
}

// homeIn returns a home with the sessions below a directory, none if that is empty.
func homeIn(ctx context.Context, sessions string) (home string, drop func(), err error) {
	dir, err := os.MkdirTemp("", "memoir-bench-")
	drop = func() { os.RemoveAll(dir) }
	home = filepath.Join(dir, "home")
	st, errOpen := store.Open(ctx, filepath.Join(home, "memoir.db"), store.Options{})
	if err = cmp.Or(err, errOpen); err != nil || sessions == "" {
		return home, drop, err
	}
	defer st.Close()
	report, err := pipeline.Run(ctx, st, pipeline.Options{Home: home, Settings: config.Default(), SessionsDir: sessions,
		Env: rollout.Env{Home: dir, Getenv: func(string) string { return "" }}, Limit: 10_000})
	if n := report.Phase1.Stored + report.Phase1.Empty; err == nil && n == 0 {
		err = fmt.Errorf("no session below %s was extracted", sessions)
	}
	return home, drop, err
}
