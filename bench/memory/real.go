package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/extract"
	"memoir/secrets"
)

// realScore is the score of one real session's raw memory.
type realScore struct {
	Session       string
	Recall, Traps Tally
	Tokens        int // of the raw memory, 4 bytes each
	Items         int
	Read          int // tokens of the session
}

// fitScore is what survives being fitted to a budget: of the facts' proofs, by weight.
type fitScore struct {
	Budget int // tokens
	Fit    Tally
	Over   int // sessions that exceed the budget
}

func (f *fitScore) add(r realSession, tokens int) {
	if tokens > f.Budget {
		f.Over++
	}
	items, _ := extract.Fit(r.items, f.Budget)
	fitted := itemTexts(items)
	for _, fact := range r.Facts {
		f.Fit.add(fact.Weight, fact.Proof.Survives(fitted))
	}
}

// itemTexts is what a reader of items can find a proof in, white space folded.
func itemTexts(items []memoir.Item) string {
	var b strings.Builder
	for _, it := range items {
		for _, text := range []string{it.Text, it.Input, it.Output} {
			b.WriteString(marks.FoldSpace(text) + "\n")
		}
	}
	return b.String()
}

// realReport is the score of all of them.
type realReport struct {
	Sessions []realScore
	Total    realScore
	Largest  int // raw memory, tokens
	Fitted   []fitScore
	Spent    time.Duration // of the extractions alone
	Misses   []Miss
}

// runReal scores raw memories of the real sessions, each extracted alone with the built-in
// model or taken from a home, and what of the sessions survives being fitted to a budget.
func runReal(ctx context.Context, o options, out io.Writer) error {
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		return err
	}
	extractor := extract.NewBuiltin()
	report := &realReport{Total: realScore{Session: "all"},
		Fitted: []fitScore{{Budget: 4000}, {Budget: 8000}, {Budget: 16000}, {Budget: 64000}}}
	kept, err := rawMemories(o.home)
	if err != nil {
		return err
	}
	err = eachReal(ctx, o, scanner, func(r realSession) error {
		if raw, ok := kept[r.session.ID]; o.home != "" {
			if ok {
				report.add(r, raw)
			}
			return nil
		}
		start := time.Now()
		extraction, _, err := extractor.Extract(ctx, extract.Input{Session: r.session, Items: r.items})
		if err != nil {
			return fmt.Errorf("extract %s: %w", r.Session, err)
		}
		report.Spent += time.Since(start)
		extraction, _ = scanner.Extraction(extraction)
		report.add(r, extraction.RawMemory())
		return nil
	})
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		_, err = fmt.Fprintln(out, err)
		return err
	}
	if err != nil {
		return err
	}
	return give(o, out, report, &report.Misses)
}

// rawMemories reads the raw memories of a home by the sessions' ids.
func rawMemories(home string) (map[string]string, error) {
	out := map[string]string{}
	if home == "" {
		return out, nil
	}
	paths, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "raw_memories.md"))
	if err == nil && len(paths) == 0 {
		err = memoir.Errorf(memoir.CodeInvalid, "", "%s has no raw memories", home)
	}
	for _, path := range paths {
		data, failed := os.ReadFile(path)
		err = errors.Join(err, failed)
		maps.Copy(out, rawSections(string(data)))
	}
	return out, err
}

func (t *realReport) add(r realSession, raw string) {
	s := realScore{Session: r.Session, Tokens: memoir.Tokens(raw), Items: len(r.items)}
	var missed, fallen []Miss
	s.Recall, missed = look(marks.Lines(raw), r.Facts, r.Session, inRaw)
	s.Traps, fallen = look(marks.Lines(raw), r.Traps, r.Session, inRaw)
	t.Misses = append(append(t.Misses, missed...), fallen...)
	for _, it := range r.items {
		s.Read += extract.Cost(it)
	}
	for i := range t.Fitted {
		t.Fitted[i].add(r, s.Read)
	}
	t.Sessions = append(t.Sessions, s)
	t.Largest = max(t.Largest, s.Tokens)
	t.Total.Recall.merge(s.Recall)
	t.Total.Traps.merge(s.Traps)
	t.Total.Items += s.Items
	t.Total.Read += s.Read
	t.Total.Tokens += s.Tokens
}

func (t *realReport) print(out io.Writer) {
	lines := []string{"session\titems\tread\trecall\ttraps\ttokens"}
	for _, s := range append(t.Sessions, t.Total) {
		lines = append(lines, fmt.Sprintf("%s\t%d\t%d\t%s\t%s\t%d", s.Session, s.Items, s.Read, s.Recall, s.Traps, s.Tokens))
	}
	table(out, lines)
	fmt.Fprintf(out, "\nraw memory: %d tokens a session on average, %d the largest; %d ms for all\n\n",
		t.Total.Tokens/max(len(t.Sessions), 1), t.Largest, t.Spent.Milliseconds())
	lines = []string{"tokens\tfit\tsessions over it"}
	for _, s := range t.Fitted {
		lines = append(lines, fmt.Sprintf("%d\t%s\t%d", s.Budget, s.Fit, s.Over))
	}
	table(out, lines)
}
