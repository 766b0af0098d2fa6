package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	// With a home: the facts and traps in what the session's project published.
	InMemory, InSummary, TrapsInFiles Tally
	Tokens                            int // of the raw memory, 4 bytes each
	Items                             int
	Read                              int // tokens of the session
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
	kept, err := homeFiles(o.home)
	if err != nil {
		return err
	}
	err = eachReal(ctx, o, scanner, func(r realSession) error {
		if files, ok := kept[r.session.ID]; o.home != "" {
			if ok {
				report.add(r, files)
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
		report.add(r, homeFile{raw: extraction.RawMemory()})
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

// homeFile is what a home has of a session: its raw memory, and its project's files.
type homeFile struct{ raw, memory, summary string }

// homeFiles reads a home, by the sessions' ids.
func homeFiles(home string) (map[string]homeFile, error) {
	out := map[string]homeFile{}
	if home == "" {
		return out, nil
	}
	roots, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory"))
	read := func(root, name string) string {
		data, failed := os.ReadFile(filepath.Join(root, name))
		err = errors.Join(err, failed)
		return string(data)
	}
	for _, root := range roots {
		memory, summary := read(root, "MEMORY.md"), read(root, "memory_summary.md")
		for id, raw := range rawSections(read(root, "raw_memories.md")) {
			out[id] = homeFile{raw, memory, summary}
		}
	}
	if err == nil && len(out) == 0 {
		err = memoir.Errorf(memoir.CodeInvalid, "", "%s has no raw memories", home)
	}
	return out, err
}

func (t *realReport) add(r realSession, f homeFile) {
	s := realScore{Session: r.Session, Tokens: memoir.Tokens(f.raw), Items: len(r.items)}
	count := func(to *Tally, text string, all []marks.Mark, where string) {
		found, misses := look(marks.Lines(text), all, r.Session, where)
		to.merge(found)
		t.Misses = append(t.Misses, misses...)
	}
	count(&s.Recall, f.raw, r.Facts, inRaw)
	count(&s.Traps, f.raw, r.Traps, inRaw)
	if f.memory != "" {
		count(&s.InMemory, f.memory, r.Facts, "MEMORY.md")
		count(&s.InSummary, f.summary, r.Facts, "summary")
		count(&s.TrapsInFiles, f.memory+f.summary, r.Traps, trapsFiles)
	}
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
	t.Total.InMemory.merge(s.InMemory)
	t.Total.InSummary.merge(s.InSummary)
	t.Total.TrapsInFiles.merge(s.TrapsInFiles)
	t.Total.Items += s.Items
	t.Total.Read += s.Read
	t.Total.Tokens += s.Tokens
}

func (t *realReport) print(out io.Writer) {
	lines := []string{"session\titems\tread\trecall\ttraps\ttokens\tMEMORY.md\tsummary\ttraps files"}
	for _, s := range append(t.Sessions, t.Total) {
		lines = append(lines, fmt.Sprintf("%s\t%d\t%d\t%s\t%s\t%d\t%s\t%s\t%s", s.Session, s.Items, s.Read, s.Recall,
			s.Traps, s.Tokens, s.InMemory, s.InSummary, s.TrapsInFiles))
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
