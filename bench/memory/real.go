package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/score"
	"memoir/extract"
	"memoir/secrets"
)

// realScore is the score of one real session's raw memory.
type realScore struct {
	Session string       `json:"session"`
	Recall  score.Recall `json:"recall"`
	Traps   score.Fallen `json:"traps"`
	Tokens  int          `json:"tokens"` // of the raw memory, 4 bytes each
	Items   int          `json:"items"`
	Read    int          `json:"read"` // tokens of the session
}

// fitScore is what survives being fitted to a budget: of the facts' proofs, by weight.
type fitScore struct {
	Budget int          `json:"budget"` // tokens
	Fit    score.Recall `json:"fit"`
	Over   int          `json:"over"` // sessions that exceed the budget
}

func (f *fitScore) add(r realSession, tokens int) {
	if tokens > f.Budget {
		f.Over++
	}
	items, _ := extract.Fit(r.items, f.Budget)
	fitted := itemTexts(items)
	for _, fact := range r.Facts {
		f.Fit.Add(fact, fact.Proof.Survives(fitted))
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
	Sessions []realScore  `json:"sessions"`
	Total    realScore    `json:"total"`
	Size     score.Size   `json:"size"`
	Fitted   []fitScore   `json:"fitted"`
	Millis   int64        `json:"duration_ms"` // of the extractions alone
	Misses   []score.Miss `json:"misses,omitempty"`
}

// runReal scores raw memories of the real sessions, each extracted alone with the
// built-in model, and what of the sessions survives being fitted to a budget.
func runReal(ctx context.Context, o options, out io.Writer) error {
	scanner, err := secrets.New(secrets.Options{})
	if err != nil {
		return err
	}
	extractor := extract.NewBuiltin()
	report := realReport{Total: realScore{Session: "all"},
		Fitted: []fitScore{{Budget: 4000}, {Budget: 16000}, {Budget: 64000}}}
	var spent time.Duration
	err = eachReal(ctx, o, func(r realSession) error {
		start := time.Now()
		extraction, _, err := extractor.Extract(ctx, extract.Input{Session: r.session, Items: r.items})
		if err != nil {
			return fmt.Errorf("extract %s: %w", r.Session, err)
		}
		spent += time.Since(start)
		extraction, _ = scanner.Extraction(extraction)
		report.add(r, extraction.RawMemory)
		return nil
	})
	report.Millis = spent.Milliseconds()
	if !o.misses {
		report.Misses = nil
	}
	return give(o, out, &report, err)
}

func (t *realReport) add(r realSession, raw string) {
	one := score.OfSession(marks.Lines(raw), r.Facts, r.Traps, score.Miss{Project: "corpus", Session: r.Session,
		Where: score.InRaw})
	s := realScore{Session: r.Session, Recall: one.Recall, Traps: one.Traps, Tokens: memoir.Tokens(raw),
		Items: len(r.items)}
	for _, it := range r.items {
		s.Read += extract.Cost(it)
	}
	for i := range t.Fitted {
		t.Fitted[i].add(r, s.Read)
	}
	t.Sessions = append(t.Sessions, s)
	t.Total.Recall.Merge(s.Recall)
	t.Total.Traps.Merge(s.Traps)
	t.Total.Items += s.Items
	t.Total.Read += s.Read
	t.Total.Tokens += s.Tokens
	t.Size.Add(s.Tokens)
	t.Misses = append(t.Misses, one.Misses...)
}

func (t *realReport) print(out io.Writer) {
	table(out, "session\titems\tread\trecall\ttraps\ttokens", func(row func(string, ...any)) {
		for _, s := range append(t.Sessions, t.Total) {
			row("%s\t%d\t%d\t%s\t%s\t%d", strings.TrimSuffix(s.Session, ".jsonl"), s.Items, s.Read, recall(s.Recall),
				fallen(s.Traps), s.Tokens)
		}
	})
	fmt.Fprintf(out, "raw memory: %.0f tokens a session on average, %d the largest; %d ms for all\n", t.Size.Average(),
		t.Size.Largest, t.Millis)
	table(out, "\ntokens\tfit\tsessions over it", func(row func(string, ...any)) {
		for _, s := range t.Fitted {
			row("%d\t%s\t%d", s.Budget, recall(s.Fit), s.Over)
		}
	})
	for _, m := range t.Misses {
		fmt.Fprintf(out, "\n%s\n", m)
	}
}
