package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

func statusCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupSession,
		Usage: "show how the queue stands: running, failed and dead jobs, what is due",
		Description: help("Shows at a glance what is queued, what is running and who runs it, what failed and when it\n"+
			"is tried again, what was given up, how the last run ended, what the next would do, and from\n"+
			"what each project was last consolidated. Long lists are cut; -v shows all. Times are UTC.\n"+
			"--watch prints it again at each interval until Ctrl-C, with --json as one object a line.\n"+
			"With --usage it shows instead what language models were used, by day, project and model.",
			"memoir status", "memoir status --json", "memoir status --watch", "memoir status --watch 10 --json",
			"memoir status --usage --since 30d"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "watch", Usage: "print it again every `SECONDS` (default 2) until Ctrl-C"},
			&cli.BoolFlag{Name: "usage", Usage: "show what was spent on language models"},
			&cli.StringFlag{Name: "since", Usage: "with --usage: spent since `TIME`: 30d, 2w, 2026-07-01"},
			&cli.StringFlag{Name: "now", Usage: "judge ages as of `TIME`: 2026-07-01 or 2026-07-01T12:00:00Z"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: p.status,
	}
}

func (p *program) status(c *cli.Context) error {
	since, err := usageSince(c)
	if err != nil {
		return err
	}
	opts, home, err := p.runOptions(c)
	if err != nil {
		return err
	}
	if c.IsSet("watch") {
		return p.watchStatus(c, opts)
	}
	st, rows, err := p.registeredAsIs(c)
	if err != nil {
		return err
	}
	if st != nil {
		defer st.Close()
	}
	if c.Bool("json") || c.Bool("usage") { // the text shows ids alone, and is to be quick
		p.cleanProjects(rows)
	}
	if c.Bool("usage") && !c.Bool("json") {
		by, err := usageBy(c, st, since, rows)
		if err == nil {
			p.printUsage(*by)
		}
		return err
	}
	out, err := p.statusOf(c.Context, st, rows, home, opts)
	if err != nil {
		return err
	}
	if c.Bool("usage") {
		if out.UsageBy, err = usageBy(c, st, since, rows); err != nil {
			return err
		}
	}
	switch {
	case c.Bool("json"):
		return p.ui.json(out)
	case st != nil:
		p.printStatus(out)
	}
	return nil
}

// statusOf looks at all that status shows; st is nil where nothing is registered.
func (p *program) statusOf(ctx context.Context, st *store.Store, rows []store.ProjectRow, home string, opts pipeline.Options) (statusJSON, error) {
	out := emptyStatus(time.Now())
	if st == nil {
		return out, nil
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
	out.Projects = asProjectStatuses(home, rows, standings)
	outlook, err := pipeline.Glance(ctx, st, opts)
	if err != nil && ctx.Err() != nil {
		return out, err
	}
	out.addOutlook(outlook, err, standings)
	if err == nil {
		out.doubtWaits(outlook)
	}
	trusted, err := config.LoadTrust(home)
	if err != nil {
		return out, err
	}
	out.Misruled = list(pipeline.FindMisruled(rows, opts.ConfigDir, trusted))
	if err := p.addUnfinished(ctx, &out, st, home); err != nil {
		return out, err
	}
	p.cleanStatus(&out)
	return out, nil
}

// addUnfinished lists what was begun and waits for the next run.
func (p *program) addUnfinished(ctx context.Context, out *statusJSON, st *store.Store, home string) error {
	add := func(what, project, detail, hint string) {
		out.Unfinished = append(out.Unfinished, unfinishedJSON{what, project, detail, hint})
	}
	withdrawals, err := st.Withdrawals(ctx)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if w.Error == "" {
			add("forgetting", w.ProjectID, "its memory is yet to be rid of what was forgotten", "the next run does it")
			continue
		}
		add("forgetting", w.ProjectID, "not verified: "+w.Error, "correct the file that it names; the next run tries again")
	}
	purging, err := st.Purging(ctx)
	if err != nil {
		return err
	}
	if purging {
		add("purge", "", "copies, logs and free pages are yet to be rid of what was forgotten", "the next run does it, once nothing is left to forget")
	}
	moves, err := st.FolderMoves(ctx)
	if err != nil {
		return err
	}
	for _, m := range moves {
		detail := "its folder is to be removed"
		if m.Into != "" {
			detail = "its folder is to be put below that of " + m.Into
		}
		add("folder", m.ProjectID, detail, "the next run does it")
	}
	for _, project := range out.Projects {
		// What cannot be read is doctor's business.
		if linked, err := memory.At(home, project.ID).Linked(); err == nil && int64(linked) > project.Generation {
			project := project.ID
			add("publication", project, "a generation is live that is not recorded yet: its run, or restore, was killed", "the next run that consolidates it records it: `memoir rebuild --project "+project+"`")
		}
	}
	return nil
}

// cleanStatus takes secrets out of what others wrote.
func (p *program) cleanStatus(s *statusJSON) {
	for i := range s.Running {
		s.Running[i].Title = p.redact(s.Running[i].Title)
	}
	for _, jobs := range [][]failedJSON{s.Failed, s.Dead} {
		for i := range jobs {
			jobs[i].Error, jobs[i].Title = p.redact(jobs[i].Error), p.redact(jobs[i].Title)
		}
	}
	for i := range s.Unfinished {
		s.Unfinished[i].Detail = p.redact(s.Unfinished[i].Detail)
	}
	for i := range s.Misruled {
		s.Misruled[i].Error = p.redact(s.Misruled[i].Error)
	}
	if s.LastRun != nil {
		s.LastRun.Reason = p.redact(s.LastRun.Reason)
	}
	for i := range s.Next.Warnings {
		s.Next.Warnings[i].Message = p.redact(s.Next.Warnings[i].Message)
	}
	s.Next.Error = p.redact(s.Next.Error)
}

// addOutlook fills in what the next run would do, or why that cannot be told.
func (s *statusJSON) addOutlook(o pipeline.Outlook, err error, standings map[string]store.Standing) {
	if err != nil {
		s.Next.Error, s.Next.Hint = err.Error(), memoir.HintOf(err)
		return
	}
	s.Limits = list(o.Limits)
	s.Next.Left, s.Next.Reasons, s.Next.Estimate, s.Next.Warnings = o.Left, o.Scan.Reasons, o.Estimate, list(o.Warnings)
	at := map[string]int{}
	of := func(id string) *nextProjectJSON {
		i, ok := at[id]
		if !ok {
			i = len(s.Next.Projects)
			at[id] = i
			s.Next.Projects = append(s.Next.Projects, nextProjectJSON{Project: id, Why: []string{}})
		}
		return &s.Next.Projects[i]
	}
	for _, w := range o.Would {
		next := of(w.Project)
		if w.Action == "extract" {
			s.Next.Sessions++
			next.Sessions++
			continue
		}
		standing := standings[w.Project]
		next.Consolidate, next.Why = true, whyDue(standing)
		next.Waits, next.Dead = moments(standing.RetryAt), standing.Dead
	}
}
