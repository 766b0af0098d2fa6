package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/extract"
	"memoir/secrets"
)

// realScore is the score of one real session's raw memory, and of its project's MEMORY.md.
type realScore struct {
	Session       string
	Recall, Traps Tally
	// The facts and traps in what the session's project published.
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
	Raw      signalScores  // by signal
	Files    signalScores
	Misses   []Miss
	seen     map[*signalLine]bool // first lines of the MEMORY.md that are counted
}

// runReal scores raw memories of the real sessions, each extracted alone with the built-in model or taken from a home;
// the files of a run over all of the corpus, or of the home; and what of the sessions survives being fitted.
func runReal(ctx context.Context, o options, out, stderr io.Writer) error {
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		return err
	}
	extractor := extract.NewBuiltin()
	report := &realReport{Total: realScore{Session: "all"}, Raw: signalScores{}, Files: signalScores{},
		seen:   map[*signalLine]bool{},
		Fitted: []fitScore{{Budget: 4000}, {Budget: 8000}, {Budget: 16000}, {Budget: 64000}}}
	kept, err := homeOf(ctx, o, stderr)
	if err == nil {
		err = eachReal(ctx, o, scanner, func(r realSession) error {
			of, ok := kept[r.session.ID]
			if o.home == "" {
				start := time.Now()
				extraction, err := extractor.Extract(ctx, extract.Input{Session: r.session, Items: r.items})
				if err != nil {
					return fmt.Errorf("extract %s: %w", r.Session, err)
				}
				report.Spent += time.Since(start)
				extraction, _ = scanner.Extraction(extraction)
				of.statements = extraction.Statements
			} else if !ok {
				return nil
			}
			report.add(r, of)
			return nil
		})
	}
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		_, err = fmt.Fprintln(out, err)
		return err
	}
	if err != nil {
		return err
	}
	return give(o, out, report, &report.Misses)
}

// homeOf returns what a home has of each session: the home that is asked for, else that of a run over the corpus.
func homeOf(ctx context.Context, o options, stderr io.Writer) (map[string]remembered, error) {
	if o.home != "" {
		return readHome(o.home)
	}
	if _, err := os.Stat(o.corpus); err != nil {
		return nil, nil // eachReal says so
	}
	m, err := newProgram(ctx, o, stderr)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(m.dir)
	if err := m.run(ctx, new(any), o.corpus); err != nil {
		return nil, err
	}
	return readHome(m.home)
}

func (t *realReport) add(r realSession, of remembered) {
	raw := memoir.FormatStatements(of.statements)
	s := realScore{Session: r.Session, Tokens: memoir.Tokens(raw), Items: len(r.items)}
	count := func(to *Tally, lines []marks.Line, all []marks.Mark, where string) {
		found, misses := look(lines, all, r.Session, where)
		to.merge(found)
		t.Misses = append(t.Misses, misses...)
	}
	count(&s.Recall, marks.Lines(raw), r.Facts, inRaw)
	count(&s.Traps, marks.Lines(raw), r.Traps, inRaw)
	var lines []signalLine
	for _, st := range of.statements {
		lines = append(lines, signalLine{st.Signal, marks.Whole(st.Line())})
	}
	t.Raw.count(lines)
	t.Raw.look(lines, r.Marks)
	var memory []marks.Line
	for _, l := range of.memory {
		memory = append(memory, l.Line)
	}
	if len(memory) > 0 && !t.seen[&of.memory[0]] {
		t.seen[&of.memory[0]] = true
		t.Files.count(of.memory)
	}
	t.Files.look(of.memory, r.Marks)
	count(&s.InMemory, memory, r.Facts, "MEMORY.md")
	count(&s.InSummary, of.summary, r.Facts, "summary")
	count(&s.TrapsInFiles, append(memory, of.summary...), r.Traps, trapsFiles)
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
	t.Raw.print(out, "raw memories")
	t.Files.print(out, "MEMORY.md")
}

func (t signalScores) print(out io.Writer, where string) {
	lines := []string{where + "\tlines\tbytes\tfacts (weight)\tonly there\ttraps"}
	for _, signal := range slices.Sorted(maps.Keys(t)) {
		s := t[signal]
		lines = append(lines, fmt.Sprintf("%s\t%d\t%d\t%d (%d)\t%d (%d)\t%d", signal, s.Lines, s.Bytes,
			s.Found.Found, s.Found.WeightFound, s.Only.Found, s.Only.WeightFound, s.Traps.Found))
	}
	fmt.Fprintln(out)
	table(out, lines)
}
