package pipeline

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/extract"
	"memoir/memory"
	"memoir/prompts"
	"memoir/store"
)

// plan says what the run would do, and what language models would take for it.
func (r *run) plan(ctx context.Context) error {
	r.report.DryRun = true
	sessions, err := r.store.Sessions(ctx, store.Filter{})
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	var eligible []memoir.Session
	fresh := map[string]int{} // sessions to be extracted, by project
	for _, s := range sessions {
		if s.Reason == memoir.ReasonEligible && r.concerns(s) {
			eligible = append(eligible, s)
			fresh[s.ProjectID]++
		}
	}
	if r.report.Would, err = r.planExtractions(ctx, eligible); err != nil {
		return err
	}
	r.report.Left = r.report.Scan.Reasons[memoir.ReasonOverCap]
	projects, err := r.store.Projects(ctx)
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	for _, p := range projects {
		if (p.Due || fresh[p.ID] > 0) && r.selected(p.ID) {
			planned, err := r.planConsolidation(ctx, p, fresh[p.ID])
			if err != nil {
				return err
			}
			r.report.Would = append(r.report.Would, planned)
		}
	}
	return r.sumUp(ctx)
}

// planExtractions reads the sessions as far as a language model would.
func (r *run) planExtractions(ctx context.Context, sessions []memoir.Session) ([]Planned, error) {
	var frame int64
	m := r.meter.named(r.extractor.Name())
	if m != nil {
		system, input, err := prompts.StageOne(prompts.StageOneVars{})
		if err != nil {
			return nil, err
		}
		frame = int64(len(system) + len(input))
	}
	planned := make([]Planned, len(sessions))
	var g errgroup.Group
	g.SetLimit(r.opts.Settings.Memories.Concurrency)
	for i, s := range sessions {
		g.Go(func() error {
			p := Planned{Session: s.ID, Source: s.Source, Project: s.ProjectID, Title: s.Title, Action: "extract",
				Tokens: min(int(s.Bytes/4), r.opts.Settings.Memories.Phase1InputTokenLimit)}
			if m != nil {
				calls, bytes, ok := r.reading(ctx, s)
				if !ok {
					calls, bytes = 1, frame+4*int64(r.fitted(ctx, m, s, p.Tokens))
				}
				p = m.plan(phaseExtract, p, bytes, int64(calls)*m.output(phaseExtract))
			}
			planned[i] = p
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, context.Cause(ctx)
	}
	return planned, nil
}

// fitted is how many tokens, 4 bytes each, of a session a model would read; otherwise if
// it cannot be read now.
func (r *run) fitted(ctx context.Context, m *metered, s memoir.Session, otherwise int) int {
	size, err := apart(ctx, r, func() (int, error) {
		parts, err := partsOf(ctx, s, r.heads)
		if err != nil {
			return 0, err
		}
		loaded, err := Load(ctx, r.scanner, parts)
		if err != nil {
			return 0, err
		}
		n := 0
		for _, it := range loaded.Items {
			n += extract.Cost(it)
		}
		return n, nil
	})
	if err != nil {
		return otherwise
	}
	memories := r.opts.Settings.Memories
	size = min(size, memories.Phase1InputTokenLimit)
	if m.Window() > 0 {
		size = min(size, int(memories.RolloutPayloadPercent*float64(m.Window())))
	}
	return size
}

// What an extraction that is yet to be made will be, about, in bytes.
const usualExtraction = 4000

// planConsolidation estimates a project's consolidation from what it rests on now
// and the sessions that are to be extracted before.
func (r *run) planConsolidation(ctx context.Context, project store.ProjectRow, fresh int) (Planned, error) {
	planned := Planned{Project: project.ID, Action: "consolidate"}
	m := r.meter.named(r.consolidator.Name())
	if m == nil {
		return planned, nil
	}
	extractions, _, err := r.store.Selected(ctx, project.ID, r.opts.Settings.Memories.MaxRawMemoriesForGlobal)
	if err != nil {
		return planned, fmt.Errorf("read extractions: %w", err)
	}
	if len(extractions)+fresh == 0 { // nothing to ask about
		return planned, nil
	}
	system, input, err := prompts.Consolidate(prompts.ConsolidateVars{})
	if err != nil {
		return planned, err
	}
	bytes := len(system) + len(input) + fresh*usualExtraction
	for _, e := range extractions {
		bytes += len(e.RawMemory) + len(e.RolloutSummary)
	}
	if live, err := memory.At(r.opts.Home, project.ID).Current(); err == nil { // what cannot be read is a fault of the run, not of its plan
		for path, content := range live.Files {
			if path == memory.MemoryFile || path == memory.SummaryFile {
				bytes += len(content)
			}
		}
	}
	output := m.output(phaseConsolidate)
	if w := int64(m.Window()); w > 0 {
		bytes = int(min(int64(bytes), 4*max(w-output, 0)))
	}
	return m.plan(phaseConsolidate, planned, int64(bytes), output), nil
}

// plan fills in what one call takes.
func (m *metered) plan(phase string, p Planned, bytes, output int64) Planned {
	u := m.priced(phase, memoir.Usage{Calls: 1, InputTokens: m.input(phase, bytes), OutputTokens: output})
	p.Model, p.Tokens, p.OutputTokens, p.Cost = m.Name(), int(u.InputTokens), int(u.OutputTokens), u.Cost
	return p
}

// sumUp adds up what is planned, and says which limit would stop it.
func (r *run) sumUp(ctx context.Context) error {
	if len(r.meter.models) == 0 {
		return nil
	}
	var sum memoir.Usage
	for _, p := range r.report.Would {
		if p.Model != "" {
			sum = sum.Add(memoir.Usage{Calls: 1, InputTokens: int64(p.Tokens), OutputTokens: int64(p.OutputTokens), Cost: p.Cost})
		}
	}
	r.report.Estimate = &sum
	if sum.Calls == 0 {
		return nil
	}
	others, err := r.store.Spent(ctx, r.meter.midnight())
	if err != nil {
		return err
	}
	r.meter.mu.Lock()
	stop, _ := r.meter.exceeded(sum, others)
	r.meter.mu.Unlock()
	if stop != nil {
		r.warn(stop.Limit+" would stop this before its end", stop.hint())
	}
	return nil
}
