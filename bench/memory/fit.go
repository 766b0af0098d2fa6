package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/score"
	"memoir/extract"
)

// budgets are the room, in tokens, that sessions are fitted to.
var budgets = []int{4000, 16000, 64000}

// fitScore is what survives at one budget: of the facts' proofs, by weight.
type fitScore struct {
	Budget int          `json:"budget"` // tokens
	Fit    score.Recall `json:"fit"`
	Over   int          `json:"over"` // sessions that exceed the budget
}

// fitReport is what survives over all sessions.
type fitReport struct {
	All  []*fitScore  `json:"all"`
	Lost []score.Miss `json:"lost,omitempty"` // facts that do not survive
}

// runFit measures extract.Fit on the real sessions.
func runFit(ctx context.Context, o options, out io.Writer) error {
	report := &fitReport{}
	for _, budget := range budgets {
		report.All = append(report.All, &fitScore{Budget: budget})
	}
	err := eachReal(ctx, o, func(r realSession) error {
		for _, s := range report.All {
			report.add(s, r)
		}
		return nil
	})
	if !o.misses {
		report.Lost = nil
	}
	return give(o, out, report, err)
}

func (t *fitReport) add(s *fitScore, r realSession) {
	size := 0
	for _, it := range r.items {
		size += extract.Cost(it)
	}
	if size > s.Budget {
		s.Over++
	}
	items, _ := extract.Fit(r.items, s.Budget)
	fitted := itemTexts(items)
	for _, f := range r.Facts {
		survives := f.Proof.Survives(fitted)
		s.Fit.Add(f, survives)
		if !survives {
			t.Lost = append(t.Lost, score.Miss{Project: "corpus", Session: r.Session,
				Where: fmt.Sprintf("%d tokens", s.Budget), ID: f.ID, Kind: f.Kind, Weight: f.Weight, Text: f.Text,
				Needs: len(f.Proof)})
		}
	}
}

func (t *fitReport) print(out io.Writer) {
	table(out, "tokens\tfit\tsessions over it", func(row func(string, ...any)) {
		for _, s := range t.All {
			row("%d\t%s\t%d", s.Budget, recall(s.Fit), s.Over)
		}
	})
	for _, m := range t.Lost {
		fmt.Fprintf(out, "%s\n", m)
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
