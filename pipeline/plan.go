package pipeline

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/memory"
	"memoir/prompts"
	"memoir/store"
)

// plan says what the run would do, and what language models would take for it.
func (r *run) plan(ctx context.Context) error {
	sessions, err := r.store.Sessions(ctx, store.Filter{})
	if err != nil {
		return fmt.Errorf("list sessions: %w", err)
	}
	eligible := slices.DeleteFunc(
		sessions,
		func(s memoir.Session) bool { return s.Reason != memoir.ReasonEligible || !r.concerns(s) },
	)
	return r.planFor(ctx, eligible)
}

// planFor says what the run would do that extracts from some sessions.
func (r *run) planFor(ctx context.Context, eligible []memoir.Session) (err error) {
	r.report.DryRun = true
	fresh := map[string]int{} // sessions to be extracted, by project
	for _, s := range eligible {
		fresh[s.ProjectID]++
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
		if r.selected(p.ID) && (p.Due || fresh[p.ID] > 0) {
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
		system, input, err := r.prompts.StageOne(prompts.StageOneVars{})
		if err != nil {
			return nil, err
		}
		frame = int64(len(system) + len(input))
	}
	each, err := r.callsEach(ctx)
	if err != nil {
		return nil, err
	}
	planned := make([]Planned, len(sessions))
	var g errgroup.Group
	g.SetLimit(r.opts.Settings.Memories.Concurrency)
	for i, s := range sessions {
		g.Go(func() error {
			p := Planned{Session: s.ID, Source: s.Source, Project: s.ProjectID, Title: s.Title, Action: "extract",
				Tokens: min(int(s.Bytes/4), r.opts.Settings.Memories.Phase1InputTokenLimit)}
			if m != nil {
				calls, bytes, ok := 1, frame+4*int64(p.Tokens), r.glance
				if !ok {
					calls, bytes, ok = r.reading(ctx, s)
				}
				if !ok {
					calls, bytes = 1, frame+4*int64(r.fitted(ctx, m, s, p.Tokens))
				}
				p = m.plan(phaseExtract, p, max(each, float64(calls)), bytes/int64(calls), m.output(phaseExtract))
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
		loaded, err := Load(ctx, r.scannerOf(s.CWD), parts)
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
	output := m.output(phaseConsolidate)
	if e, ok := r.consolidator.(consolidate.Estimator); ok {
		live, err := memory.At(r.opts.Home, project.ID).Current()
		if err != nil {
			live = memory.Snapshot{} // what cannot be read is a fault of the run, not of its plan
		}
		in, err := r.inputs(ctx, project, live)
		if err != nil {
			return planned, err
		}
		in.Forced = project.Forced
		questions, bytes, err := e.Estimate(in, fresh, usualExtraction)
		if err != nil || questions == 0 {
			return planned, err
		}
		return m.plan(phaseConsolidate, planned, float64(questions), bytes/int64(questions), output), nil
	}
	system, input, err := r.prompts.Consolidate(prompts.ConsolidateVars{})
	if err != nil {
		return planned, err
	}
	bytes := len(system) + len(input) + fresh*usualExtraction
	for _, e := range extractions {
		bytes += len(e.RawMemory) + len(e.RolloutSummary)
	}
	// What cannot be read is a fault of the run, not of its plan.
	if live, err := memory.At(r.opts.Home, project.ID).Current(); err == nil {
		for path, content := range live.Files {
			if path == memory.MemoryFile || path == memory.SummaryFile {
				bytes += len(content)
			}
		}
	}
	if w := int64(m.Window()); w > 0 {
		bytes = int(min(int64(bytes), 4*max(w-output, 0)))
	}
	return m.plan(phaseConsolidate, planned, 1, int64(bytes), output), nil
}

// plan fills in what a number of calls take, each of them with so many bytes and
// tokens of an answer.
func (m *metered) plan(phase string, p Planned, calls float64, bytes, output int64) Planned {
	times := func(n int64) int64 { return int64(math.Round(float64(n) * calls)) }
	u := m.priced(phase, memoir.Usage{Calls: 1, InputTokens: times(m.input(phase, bytes)), OutputTokens: times(output)})
	p.Model, p.Calls, p.Tokens, p.OutputTokens, p.Cost = m.Name(), calls, int(
		u.InputTokens,
	), int(
		u.OutputTokens,
	), u.Cost
	return p
}

// mostCalls is the most calls for one session that are believed: some are retries of
// hours in which a server was busy.
const mostCalls = 4

// callsEach is how many calls a session took as a rule, repairs and retries included.
func (r *run) callsEach(ctx context.Context) (float64, error) {
	calls, works, err := r.store.CallsOfWork(ctx, r.extractor.Name(), phaseExtract)
	if err != nil || works < leastCalls {
		return 1, err
	}
	return min(max(float64(calls)/float64(works), 1), mostCalls), nil
}

// sumUp adds up what is planned, and says which limit would stop it.
func (r *run) sumUp(ctx context.Context) error {
	if len(r.meter.models) == 0 {
		return nil
	}
	var sum memoir.Usage
	calls, by := map[string]float64{}, map[string]memoir.Usage{}
	for _, p := range r.report.Would {
		if p.Model != "" {
			u := memoir.Usage{InputTokens: int64(p.Tokens), OutputTokens: int64(p.OutputTokens), Cost: p.Cost}
			by[p.Action] = by[p.Action].Add(u)
			calls[p.Action] += p.Calls
		}
	}
	for _, phase := range slices.Sorted(maps.Keys(by)) {
		u := by[phase]
		u.Calls = int(math.Ceil(calls[phase] - cent))
		by[phase], sum = u, sum.Add(u)
	}
	r.report.Estimate, r.report.EstimateBy = &sum, by
	if sum.Calls == 0 {
		return nil
	}
	today, err := r.meter.today(ctx, &r.meter.budget)
	if err != nil {
		return err
	}
	stop, _ := r.meter.exceeded(sum, today) // no call is under way
	if stop != nil {
		r.warn(stop.Limit+" would stop this before its end", stop.hint())
	}
	return nil
}

// reading is how many calls it would take to read a session, or what is new of it, and the bytes
// that are asked in all; false if the extractor does not say, or the session cannot be read now.
func (r *run) reading(ctx context.Context, s memoir.Session) (calls int, bytes int64, ok bool) {
	e, ok := r.extractor.(extract.Estimator)
	if !ok {
		return 0, 0, false
	}
	type estimate struct {
		calls int
		bytes int64
	}
	found, err := apart(ctx, r, func() (out estimate, err error) {
		prior, marks, err := r.store.Prior(ctx, s.Key())
		if err != nil {
			return out, err
		}
		parts, err := partsOf(ctx, s, r.heads)
		if err != nil {
			return out, err
		}
		loaded, err := Load(ctx, r.scannerOf(s.CWD), parts, marks...)
		if err != nil {
			return out, err
		}
		in := extract.Input{Session: s, Items: loaded.Items}
		in.Earlier, in.Since = r.earlier(prior, loaded)
		out.calls, out.bytes, err = e.Estimate(in)
		return out, err
	})
	return found.calls, found.bytes, err == nil
}

// Outlook is what the next run would do, as far as the registry tells.
type Outlook struct {
	Report              // as of a dry run, without what a scan finds
	Extractor    string // names of the models that would be asked
	Consolidator string
	Limits       []LimitLeft
}

// LimitLeft is how far a spending limit of a day is used.
type LimitLeft struct {
	Limit string  `json:"limit"` // the setting
	Most  float64 `json:"most"`  // tokens, or US dollars
	Spent float64 `json:"spent"` // today, a day of UTC
	Left  float64 `json:"left"`
}

// Glance says what a run with these options would do with the sessions that are
// registered. It is the plan of a dry run, but nothing is looked for on the disk,
// nothing is written, and no session is opened: what a language model would read of
// one is told by its size.
func Glance(ctx context.Context, st *store.Store, opts Options) (Outlook, error) {
	opts.DryRun = true
	r, err := newRun(st, opts)
	if err != nil {
		return Outlook{}, err
	}
	r.glance = true
	if err := r.chooseModels(ctx); err != nil {
		return Outlook{}, err
	}
	if err := r.recall(ctx); err != nil {
		return Outlook{}, err
	}
	reasons, eligible, err := st.Foresee(ctx, r.window())
	if err != nil {
		return Outlook{}, err
	}
	r.report.Scan.Reasons = reasons
	sessions, err := st.Sessions(ctx, store.Filter{Keys: append([]string{}, eligible...)})
	if err != nil {
		return Outlook{}, fmt.Errorf("list sessions: %w", err)
	}
	if err := r.planFor(ctx, sessions); err != nil {
		return Outlook{}, err
	}
	out := Outlook{Report: r.report, Extractor: r.extractor.Name(), Consolidator: r.consolidator.Name()}
	out.Limits, err = r.limitsLeft(ctx)
	return out, err
}

// limitsLeft says how far the limits of a day are used.
func (r *run) limitsLeft(ctx context.Context) ([]LimitLeft, error) {
	if !r.meter.perDay() {
		return nil, nil
	}
	spent, err := r.meter.today(ctx, &r.meter.budget)
	if err != nil {
		return nil, err
	}
	var left []LimitLeft
	for _, l := range []LimitLeft{
		{Limit: "limits.tokensPerDay", Most: float64(r.meter.limits.TokensPerDay), Spent: tokens(spent)},
		{Limit: "limits.costPerDay", Most: r.meter.limits.CostPerDay, Spent: spent.Cost},
	} {
		if l.Most > 0 {
			l.Left = max(l.Most-l.Spent, 0)
			left = append(left, l)
		}
	}
	return left, nil
}
