package pipeline

import (
	"memoir/consolidate"
	"memoir/extract"
)

// extracted enters what became of a model's extraction.
func (r *run) extracted(e extract.Report) {
	r.meter.service(r.extractor.Name()).satisfy()
	r.ground(func(g *Grounding) {
		g.Statements += e.Kept
		if e.Grown {
			g.Grown++
		}
		if e.Passes > 1 {
			g.InPasses++
		}
		if e.Omitted > 0 {
			g.Cut++
			g.CutItems += e.Shown + e.Omitted
			g.Omitted += e.Omitted
		}
		d := e.Dropped
		for reason, n := range map[string]int{
			DroppedUncited: d.Uncited, DroppedMissing: d.Missing, DroppedUngrounded: d.Ungrounded, DroppedForeign: d.Foreign, DroppedCrowded: d.Crowded, DroppedUnplaced: d.Unplaced, DroppedSummary: d.Summary,
		} {
			if n > 0 {
				g.Dropped[reason] += n
			}
		}
	})
}

// consolidated enters what became of a model's consolidation.
func (r *run) consolidated(c consolidate.Report) {
	r.meter.service(r.consolidator.Name()).satisfy()
	r.ground(func(g *Grounding) {
		g.Lines += c.Kept
		if c.Uncited > 0 {
			g.Dropped[DroppedLine] += c.Uncited
		}
	})
}

func (r *run) ground(change func(*Grounding)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report.Grounding == nil {
		r.report.Grounding = &Grounding{Dropped: map[string]int{}}
	}
	change(r.report.Grounding)
}
