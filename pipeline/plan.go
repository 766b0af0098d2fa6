package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"memoir"
	"memoir/config"
	"memoir/extract"
	"memoir/memory"
	"memoir/model"
	"memoir/store"
	"memoir/team"
)

// Estimates, in tokens.
const (
	instructions    = 2000 // of a prompt besides its subject
	usualExtraction = 1000 // of an extraction that is not made yet
)

// plan reports what the run would do with the registered sessions, and what language models would cost. It
// opens no session; sizes are estimated from files.
func (p *phases) plan(ctx context.Context) error {
	reasons, keys, err := p.store.Foresee(ctx, p.window())
	if err != nil {
		return err
	}
	p.report.DryRun, p.report.Scan.Reasons, p.report.Left = true, reasons, reasons[memoir.ReasonOverCap]
	eligible, err := p.store.Sessions(ctx, store.Filter{Keys: append([]string{}, keys...)})
	if err = cmp.Or(err, p.store.Entitle(ctx, eligible)); err != nil {
		return err
	}
	if p.usual, err = p.usualPrices(ctx); err != nil {
		return err
	}
	p.report.Would = []Planned{}
	fresh := map[string]int{} // sessions to be extracted, by project
	for _, s := range eligible {
		fresh[s.ProjectID]++
		p.would(phaseExtract, p.extractor.Name(), Planned{Session: s.ID, Source: s.Source, Project: s.ProjectID,
			Title: extract.Title(s.Title), Tokens: min(int(s.Bytes/4), p.opts.Settings.Memories.Phase1InputTokenLimit)})
	}
	projects, err := p.selectedProjects(ctx)
	if err != nil {
		return err
	}
	for _, row := range projects {
		if !row.Due && fresh[row.ID] == 0 {
			continue
		}
		root := memory.At(p.opts.Home, row.ID)
		live, _ := root.Current() // the run, and doctor, report what cannot be read
		if err := root.Refused(live); err != nil {
			p.warn(fmt.Sprintf("project %s: %v", row.Name, err), memoir.HintOf(err))
			continue
		}
		p.would(phaseConsolidate, p.consolidatorOf(row.ID).Name(),
			Planned{Project: row.ID, Tokens: p.toConsolidate(row, fresh[row.ID])})
	}
	return p.sumUp(ctx)
}

// toConsolidate estimates the tokens of a project's consolidation: its memory, its new and changed
// extractions, and fresh ones that are not made yet.
func (p *phases) toConsolidate(project store.ProjectRow, fresh int) (tokens int) {
	changed := project.Extractions + project.Notes
	if !project.Forced {
		changed = min(changed, int(project.ChangeSeq-project.ConsumedSeq))
	}
	root := memory.At(p.opts.Home, project.ID)
	if info, err := os.Stat(filepath.Join(root.Link(), memoir.MemoryFile)); err == nil {
		tokens = int(info.Size() / 4)
	}
	return tokens + (changed+fresh)*usualExtraction
}

// would adds planned work with its estimate.
func (p *phases) would(phase, name string, work Planned) {
	work.Action = phase
	if m := p.meter.named(name); m != nil {
		work.Tokens += instructions
		work.Model, work.Calls, work.OutputTokens = name, 1, usualOutput[phase]
		work.Cost = cmp.Or(m.priced(int64(work.Tokens), int64(work.OutputTokens)).Cost,
			p.usual[name]*float64(work.Tokens+work.OutputTokens))
	} else {
		work.Tokens = 0
	}
	p.report.Would = append(p.report.Would, work)
}

// usualPrices returns what a token of each model has cost: the agents of presets tell it only with an answer.
func (p *phases) usualPrices(ctx context.Context) (map[string]float64, error) {
	rows, err := p.store.UsageRows(ctx, time.Time{})
	sums, prices := map[string]memoir.Usage{}, map[string]float64{}
	for _, r := range rows {
		if r.Usage.Cost > 0 {
			sums[r.Model] = sums[r.Model].Add(r.Usage)
		}
	}
	for name, u := range sums {
		prices[name] = u.Cost / float64(max(u.InputTokens+u.OutputTokens, 1))
	}
	return prices, err
}

// sumUp adds up the estimates, reports the daily limits, and warns if a limit would stop the run.
func (p *phases) sumUp(ctx context.Context) error {
	_, today, err := p.store.Spent(ctx, p.id)
	if err != nil {
		return err
	}
	for _, b := range bounds(p.opts.Settings.Limits, memoir.Usage{}, today) {
		if perDay(b.limit) {
			p.report.Limits = append(p.report.Limits, LimitLeft{b.limit, b.most, b.spent, max(b.most-b.spent, 0)})
		}
	}
	if len(p.meter.models) == 0 {
		return nil
	}
	var sum memoir.Usage
	by := map[string]memoir.Usage{}
	for _, w := range p.report.Would {
		u := memoir.Usage{Calls: w.Calls, InputTokens: int64(w.Tokens), OutputTokens: int64(w.OutputTokens), Cost: w.Cost}
		if w.Model != "" {
			by[w.Action], sum = by[w.Action].Add(u), sum.Add(u)
		}
	}
	p.report.Estimate, p.report.EstimateBy = &sum, by
	if b := exceeded(p.opts.Settings.Limits, sum, memoir.Usage{}, today); b != nil && sum.Calls > 0 {
		p.warn(b.limit+" would stop this run early", (&Stopped{Limit: b.limit}).hint())
	}
	return nil
}

// Glance is the report of a dry run over the registered sessions, without a scan. It writes nothing.
func Glance(ctx context.Context, st *store.Store, opts Options) (Report, error) {
	opts.DryRun = true
	r, err := newPhases(st, opts)
	if err = cmp.Or(err, team.MayRun(opts.Home)); err != nil {
		return Report{}, err
	}
	if err := r.chooseModels(ctx); err != nil {
		return Report{}, err
	}
	err = r.plan(ctx)
	return r.report, err
}

// Look scans and counts the sessions by agent and by project, the largest count first. If all are too old or too
// recent, it changes opts so that a first run has a result. No language model is opened or called.
func Look(ctx context.Context, st *store.Store, opts *Options) (s Survey, err error) {
	dry := *opts
	dry.DryRun, dry.Settings.ModelRoles = true, config.ModelRoles{Default: model.Builtin}
	report, err := Run(ctx, st, dry)
	if err != nil {
		return s, err
	}
	sessions, err1 := st.Sessions(ctx, store.Filter{})
	projects, err2 := st.Projects(ctx)
	if err := cmp.Or(err1, err2); err != nil {
		return s, err
	}
	sessions = slices.DeleteFunc(sessions, func(s memoir.Session) bool { return s.Source == memoir.SourceEntry })
	agents, found := map[string]int{}, map[string]int{}
	for _, session := range sessions {
		agents[string(session.Source)]++
		if session.ProjectID != "" {
			found[session.ProjectID]++
		}
	}
	s = Survey{Sessions: len(sessions), Agents: largestFirst(agents), Projects: largestFirst(found)}
	for _, p := range projects {
		same := func(other store.ProjectRow) bool { return other.Name == p.Name && other.ID != p.ID }
		i := slices.IndexFunc(s.Projects, func(c Counted) bool { return c.Name == p.ID })
		if i >= 0 && !slices.ContainsFunc(projects, same) { // else the id tells them apart
			s.Projects[i].Name = p.Name
		}
	}
	reasons := report.Scan.Reasons
	if reasons[memoir.ReasonEligible] == 0 && reasons[memoir.ReasonTooOld]+reasons[memoir.ReasonTooRecent] > 0 {
		s.Widened, opts.MaxAge = true, 0
		opts.MinIdle = time.Duration(opts.Settings.Memories.ActiveRolloutMinutes * float64(time.Minute))
	}
	return s, nil
}

// Survey is the result of Look.
type Survey struct {
	Sessions int       `json:"sessions"`
	Agents   []Counted `json:"agents"`
	Projects []Counted `json:"projects"`
	Widened  bool      `json:"widened"` // no session was within the limits of age, so the options were changed
}

// Counted is the number of sessions of an agent or a project.
type Counted struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
}

// largestFirst lists names with their counts, the largest first.
func largestFirst(counts map[string]int) []Counted {
	out := memoir.Map(slices.Sorted(maps.Keys(counts)), func(name string) Counted { return Counted{name, counts[name]} })
	slices.SortStableFunc(out, func(a, b Counted) int { return cmp.Compare(b.Sessions, a.Sessions) })
	return out
}
