package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"context"
	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// statusJSON is what `status --json` prints.
type statusJSON struct {
	At         time.Time             `json:"at"`
	Jobs       map[string]int        `json:"jobs"`     // by status
	Sessions   map[memoir.Reason]int `json:"sessions"` // as the last scan left them
	Running    []runningJSON         `json:"running"`
	Failed     []failedJSON          `json:"failed"`
	Dead       []failedJSON          `json:"dead"`
	Projects   []projectStatusJSON   `json:"projects"`
	Usage      memoir.Usage          `json:"usage"`
	Redactions map[string]int        `json:"redactions"`
	Limits     []pipeline.LimitLeft  `json:"limits"` // of a day, as far as they are set
	LastRun    *lastRunJSON          `json:"last_run"`
	Next       nextJSON              `json:"next"`
	Unfinished []unfinishedJSON      `json:"unfinished"`
	Misruled   []pipeline.Misruled   `json:"invalid_rules"`      // projects whose secret rules are invalid: they wait
	UsageBy    *usageJSON            `json:"usage_by,omitempty"` // with --usage
}

type runningJSON struct {
	Kind   string     `json:"kind"`
	Key    string     `json:"key"`
	Holder string     `json:"holder"`
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Stale  bool       `json:"stale"` // the next run takes it over
	Title  string     `json:"title"`
	Host   string     `json:"host"`
	PID    int        `json:"pid"`
}

type failedJSON struct {
	Kind     string     `json:"kind"`
	Session  string     `json:"session"` // its key, or the project's id if kind is consolidate
	Error    string     `json:"error"`
	Attempts int        `json:"attempts"`
	Crashes  int        `json:"crashes"`
	Next     *time.Time `json:"next"` // null: at once, or never if dead
	Title    string     `json:"title"`
	Suspect  bool       `json:"suspect"` // a process died while working on it: it is tried last and alone
	Model    string     `json:"model"`   // that failed; empty: not known
}

// projectStatusJSON is a project with what its memory rests on and waits for.
type projectStatusJSON struct {
	projectJSON
	Inputs         int        `json:"inputs"` // sessions that the live generation was made from
	NewestInput    *time.Time `json:"newest_input"`
	ConsolidatedAt *time.Time `json:"consolidated_at"`   // also when that changed nothing
	Why            []string   `json:"why"`               // it is due
	Waits          *time.Time `json:"waits,omitempty"`   // it failed, and is tried again then
	Dead           bool       `json:"dead,omitempty"`    // it failed too often
	Crashes        int        `json:"crashes,omitempty"` // of processes that died over it, while it is due
}

// lastRunJSON is the run that began last.
type lastRunJSON struct {
	Holder  string     `json:"holder"`
	BeganAt *time.Time `json:"began_at"`
	EndedAt *time.Time `json:"ended_at"` // null: it is under way, or died
	Outcome string     `json:"outcome"`  // done, partly, busy, failed, interrupted, running or died
	Reason  string     `json:"reason"`
	Hint    string     `json:"hint"`
	Left    int        `json:"left"` // sessions that it left to be done
}

// nextJSON is what the next run would do, by the settings' window.
type nextJSON struct {
	Sessions int                   `json:"sessions"` // that it would extract from
	Left     int                   `json:"left"`     // over the cap
	Projects []nextProjectJSON     `json:"projects"`
	Reasons  map[memoir.Reason]int `json:"reasons"` // that all sessions would have
	Estimate *memoir.Usage         `json:"estimate,omitempty"`
	Warnings []pipeline.Warning    `json:"warnings"`
	Error    string                `json:"error,omitempty"` // it would not begin
	Hint     string                `json:"hint,omitempty"`
}

type nextProjectJSON struct {
	Project     string     `json:"project"`
	Sessions    int        `json:"sessions"`
	Consolidate bool       `json:"consolidate"`
	Why         []string   `json:"why"`
	Waits       *time.Time `json:"waits,omitempty"` // it failed, and is not tried before
	Dead        bool       `json:"dead,omitempty"`  // it failed too often: what is extracted anew revives it
}

// unfinishedJSON is something that was begun, and that a later run has to end.
type unfinishedJSON struct {
	What    string `json:"what"` // forgetting, purge, folder or publication
	Project string `json:"project"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint"`
}

func emptyStatus(at time.Time) statusJSON {
	return statusJSON{
		At: at.UTC(), Jobs: map[string]int{}, Sessions: map[memoir.Reason]int{}, Redactions: map[string]int{},
		Running: []runningJSON{}, Failed: []failedJSON{}, Dead: []failedJSON{}, Projects: []projectStatusJSON{},
		Limits: []pipeline.LimitLeft{}, Unfinished: []unfinishedJSON{}, Misruled: []pipeline.Misruled{},
		Next: nextJSON{Projects: []nextProjectJSON{}, Reasons: map[memoir.Reason]int{}, Warnings: []pipeline.Warning{}},
	}
}

// currentStatus collects all that status shows. Where nothing is registered it is empty, and the
// error is memoir.CodeNotFound.
func (p *program) currentStatus(c *cli.Context, opts pipeline.Options) (statusJSON, error) {
	out, ctx := emptyStatus(time.Now()), c.Context
	st, err := p.openForReading(c)
	if err != nil {
		return out, err
	}
	defer st.Close()
	rows, err := st.Projects(ctx)
	if err != nil {
		return out, err
	}
	if c.Bool("json") { // the text shows ids alone, and is to be quick
		for i := range rows {
			rows[i].Project = p.cleanProject(rows[i].Project)
		}
	}
	now, err := st.Status(ctx)
	if err != nil {
		return out, err
	}
	standings, err := st.Standings(ctx)
	if err != nil {
		return out, err
	}
	runs, err := st.Runs(ctx)
	if err != nil {
		return out, err
	}
	out.addJobs(now)
	out.addRuns(runs)
	out.addProjects(opts.Home, rows, standings)
	outlook, err := pipeline.Glance(ctx, st, opts)
	if err != nil && ctx.Err() != nil {
		return out, err
	}
	out.addOutlook(outlook, err, standings)
	trusted, err := config.LoadTrust(opts.Home)
	if err != nil {
		return out, err
	}
	out.Misruled = list(pipeline.FindMisruled(rows, opts.ConfigDir, trusted))
	if out.Unfinished, err = unfinishedWork(ctx, st, opts.Home, rows); err != nil {
		return out, err
	}
	p.cleanStatus(&out)
	return out, nil
}

// unfinishedWork lists what was begun and waits for the next run.
func unfinishedWork(ctx context.Context, st *store.Store, home string, rows []store.ProjectRow) ([]unfinishedJSON,
	error) {
	out := []unfinishedJSON{}
	withdrawals, err := st.Withdrawals(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range withdrawals {
		detail, hint := "its memory still holds what was forgotten", "the next run removes it"
		if w.Error != "" {
			detail, hint = "not verified: "+w.Error, "correct the file that it names; the next run tries again"
		}
		out = append(out, unfinishedJSON{"forgetting", w.ProjectID, detail, hint})
	}
	purging, err := st.Purging(ctx)
	if err != nil {
		return nil, err
	}
	if purging {
		out = append(out, unfinishedJSON{"purge", "", "copies, logs and free pages may still hold what was forgotten",
			"the next run removes it, once nothing is left to forget"})
	}
	removed, err := st.RemovedProjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range removed {
		out = append(out, unfinishedJSON{"folder", id, "its folder is to be removed", "the next run does it"})
	}
	for _, r := range rows {
		// doctor reports what cannot be read.
		if linked, err := memory.At(home, r.ID).Linked(); err == nil && linked > int(r.Generation) {
			out = append(out, unfinishedJSON{"publication", r.ID,
				"the live generation is not recorded: its run, or restore, was killed",
				"the next run that consolidates it records it: `memoir rebuild --project " + r.ID + "`"})
		}
	}
	return out, nil
}

// cleanStatus redacts what others wrote.
func (p *program) cleanStatus(s *statusJSON) {
	clean := func(texts ...*string) {
		for _, text := range texts {
			*text = p.redact(*text)
		}
	}
	for i := range s.Running {
		clean(&s.Running[i].Title)
	}
	for _, jobs := range [][]failedJSON{s.Failed, s.Dead} {
		for i := range jobs {
			clean(&jobs[i].Error, &jobs[i].Title)
		}
	}
	for i := range s.Unfinished {
		clean(&s.Unfinished[i].Detail)
	}
	for i := range s.Misruled {
		clean(&s.Misruled[i].Error)
	}
	if s.LastRun != nil {
		clean(&s.LastRun.Reason)
	}
	for i := range s.Next.Warnings {
		clean(&s.Next.Warnings[i].Message)
	}
	clean(&s.Next.Error)
}

// addOutlook fills in what the next run would do, or why that cannot be told.
func (s *statusJSON) addOutlook(o pipeline.Outlook, err error, standings map[string]store.Standing) {
	if err != nil {
		s.Next.Error, s.Next.Hint = err.Error(), memoir.HintOf(err)
		return
	}
	s.Limits = list(o.Limits)
	s.Next.Left, s.Next.Reasons, s.Next.Estimate, s.Next.Warnings = o.Left, o.Scan.Reasons, o.Estimate, list(o.Warnings)
	index := map[string]int{}
	for _, w := range o.Would {
		i, ok := index[w.Project]
		if !ok {
			i = len(s.Next.Projects)
			index[w.Project] = i
			s.Next.Projects = append(s.Next.Projects, nextProjectJSON{Project: w.Project, Why: []string{}})
		}
		next := &s.Next.Projects[i]
		if w.Action == "extract" {
			s.Next.Sessions++
			next.Sessions++
			continue
		}
		standing := standings[w.Project]
		next.Consolidate, next.Why = true, whyDue(standing)
		next.Waits, next.Dead = timeJSON(standing.RetryAt), standing.Dead
	}
}

func (s *statusJSON) addJobs(now store.Status) {
	s.Jobs, s.Sessions, s.Redactions, s.Usage = now.Jobs, now.Reasons, now.Redactions, now.Usage
	s.Failed, s.Dead = failedJobs(now.Failed), failedJobs(now.Dead)
	for _, j := range now.Running {
		s.Running = append(s.Running, runningJSON{j.Kind, j.Key, j.Holder.Describe(), timeJSON(j.Since), timeJSON(j.Until),
			j.Stale, j.Title, j.Holder.Host, j.Holder.PID})
	}
}

func failedJobs(jobs []store.FailedJob) []failedJSON {
	out := []failedJSON{}
	for _, j := range jobs {
		out = append(out, failedJSON{Kind: j.Kind, Session: j.Key, Error: j.Error, Attempts: j.Attempts, Crashes: j.Crashes,
			Next: timeJSON(j.Next), Title: j.Title, Suspect: j.Suspect, Model: j.Model})
	}
	return out
}

// addRuns picks the run that began last.
func (s *statusJSON) addRuns(runs []store.RunRow) {
	if len(runs) == 0 {
		return
	}
	r := runs[0]
	s.LastRun = &lastRunJSON{r.Holder.Describe(), timeJSON(r.Began), timeJSON(r.Ended), string(r.Outcome), r.Reason,
		r.Hint, r.Left}
	if r.Ended.IsZero() {
		s.LastRun.Outcome = "running"
		if alive, known := r.Holder.Alive(); known && !alive {
			s.LastRun.Outcome = "died"
		}
	}
}

func (s *statusJSON) addProjects(home string, rows []store.ProjectRow, standings map[string]store.Standing) {
	for _, r := range rows {
		st := standings[r.ID]
		p := projectStatusJSON{projectJSON: asProjectJSON(home, r), Inputs: st.Inputs, NewestInput: timeJSON(st.Newest),
			ConsolidatedAt: timeJSON(st.Consolidated), Why: []string{}}
		if r.Due {
			p.Why, p.Waits, p.Dead, p.Crashes = whyDue(st), timeJSON(st.RetryAt), st.Dead, st.Crashes
		}
		s.Projects = append(s.Projects, p)
	}
}

// whyDue says what waits to get into a project's memory.
func whyDue(st store.Standing) []string {
	why := []string{}
	for _, part := range []struct {
		n    int
		what string
	}{{st.New, "new"}, {st.Changed, "changed"}, {st.Withdrawn, "withdrawn"}} {
		if part.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if st.Asked {
		why = append(why, "asked for")
	}
	return why
}
