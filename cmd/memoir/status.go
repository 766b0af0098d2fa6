package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

func statusCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupSession,
		Usage: "show running, failed and dead jobs, and what the next run would do",
		Description: help("Shows session counts, running jobs with their processes, failed jobs with the time of the\n"+
			"next attempt, dead jobs, the result of the last run (one with nothing to do is recorded only\n"+
			"after one that failed), and what the next run would do with the registered sessions;\n"+
			"`memoir run --dry-run` also looks for new ones. Long lists are cut; -v shows all. Times are UTC.\n"+
			"--usage instead shows the use of language models by day, project and model.",
			"memoir status", "memoir status --json", "memoir status --usage"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "usage", Usage: "show the use of language models"},
			nowFlag(), jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			opts, err := p.runOptions(c)
			if err != nil {
				return err
			}
			st, err := p.openForListing(c)
			if err != nil {
				return err
			}
			out := statusJSON{At: time.Now().UTC(), Jobs: map[string]int{}, Sessions: map[memoir.Reason]int{},
				Running: []operation.Running{}, Failed: []operation.Failed{}, Dead: []operation.Failed{}, Projects: []operation.Project{},
				Redactions: map[string]int{}, Entries: map[string]int{}, Limits: []pipeline.LimitLeft{},
				Unfinished: []unfinishedJSON{}}
			if st != nil {
				defer st.Close()
				if err := p.currentStatus(c, st, opts, &out); err != nil {
					return err
				}
			}
			return p.result(c, out, func() {
				switch {
				case c.Bool("usage"):
					p.printUsage(out)
				case st != nil:
					p.printStatus(out)
				}
			})
		},
	}
}

// statusJSON is what `status --json` prints.
type statusJSON struct {
	At         time.Time             `json:"at"`
	Jobs       map[string]int        `json:"jobs"`     // by status
	Sessions   map[memoir.Reason]int `json:"sessions"` // as the last scan left them
	Running    []operation.Running   `json:"running"`
	Failed     []operation.Failed    `json:"failed"`
	Dead       []operation.Failed    `json:"dead"`
	Projects   []operation.Project   `json:"projects"`
	Usage      memoir.Usage          `json:"usage"`
	Entries    map[string]int        `json:"entries"` // by kind
	Redactions map[string]int        `json:"redactions"`
	Limits     []pipeline.LimitLeft  `json:"limits"` // of a day, as far as they are set
	LastRun    *operation.LastRun    `json:"last_run"`
	Next       nextJSON              `json:"next"`
	Unfinished []unfinishedJSON      `json:"unfinished"`
	UsageBy    []operation.Spent     `json:"usage_by,omitempty"` // with --usage
}

// nextJSON is what the next run would do; `run --dry-run` lists it.
type nextJSON struct {
	Sessions int           `json:"sessions"` // that it would extract from
	Left     int           `json:"left"`     // over the cap
	Projects int           `json:"projects"` // that it would consolidate
	Estimate *memoir.Usage `json:"estimate,omitempty"`
	Error    string        `json:"error,omitempty"` // it would not begin
	Hint     string        `json:"hint,omitempty"`
}

// unfinishedJSON is unfinished work of a killed run, which a later run completes.
type unfinishedJSON struct {
	What    string `json:"what"` // forgetting, purge, folder or publication
	Project string `json:"project"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint"`
}

// currentStatus collects the data that status shows.
func (p *program) currentStatus(c *cli.Context, st *store.Store, opts pipeline.Options, out *statusJSON) error {
	ctx := c.Context
	now, err := st.Status(ctx)
	if err != nil {
		return err
	}
	out.Jobs, out.Sessions, out.Entries = now.Jobs, now.Reasons, now.Entries
	out.Redactions, out.Usage = now.Redactions, now.Usage
	queue, err := operation.QueueOf(ctx, st, now, p.redact)
	if err != nil {
		return err
	}
	out.Running, out.Failed, out.Dead, out.LastRun = queue.Running, queue.Failed, queue.Dead, queue.LastRun
	rows, err := pipeline.Projects(ctx, st, opts.Home)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if c.Bool("json") { // the text shows ids alone, and is to be quick
			r.Project = operation.CleanProject(r.Project, p.redact)
		}
		out.Projects = append(out.Projects, operation.ProjectOf(opts.Home, r))
	}
	if out.Unfinished, err = unfinishedWork(ctx, st, opts.Home, rows); err != nil {
		return err
	}
	next, err := pipeline.Glance(ctx, st, opts)
	if err != nil && ctx.Err() != nil {
		return err
	} else if err != nil {
		out.Next.Error, out.Next.Hint = p.redact(err.Error()), memoir.HintOf(err)
	}
	if len(next.Scan.Reasons) > 0 { // those of the settings; the last run may have had flags
		out.Sessions = next.Scan.Reasons
	}
	out.Limits, out.Next.Left, out.Next.Estimate = list(next.Limits), next.Left, next.Estimate
	fresh := map[string]bool{} // projects that get something new, which revives a dead one
	for _, w := range next.Would {
		if w.Action == "extract" {
			out.Next.Sessions++
			fresh[w.Project] = true
		} else if fresh[w.Project] || !out.waits(w.Project) {
			out.Next.Projects++
		}
	}
	if !c.Bool("usage") {
		return nil
	}
	out.UsageBy, err = operation.SpentEver(ctx, st)
	return err
}

// waits reports whether a project's consolidation is dead, or waits for its next attempt.
func (s *statusJSON) waits(project string) bool {
	of := func(j operation.Failed) bool { return j.Session == project }
	return slices.ContainsFunc(s.Dead, of) || slices.ContainsFunc(s.Failed, func(j operation.Failed) bool {
		return of(j) && j.Next != nil && j.Next.After(s.At)
	})
}

// unfinishedWork lists the unfinished work that the next run completes.
func unfinishedWork(ctx context.Context, st *store.Store, home string, rows []store.ProjectRow) ([]unfinishedJSON,
	error) {
	out := []unfinishedJSON{}
	withdrawals, err := st.Withdrawals(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range withdrawals {
		detail, hint := "its memory still contains forgotten text", "the next run removes it"
		if w.Error != "" {
			detail, hint = "not verified: "+w.Error, "correct the named file; the next run tries again"
		}
		out = append(out, unfinishedJSON{"forgetting", w.ProjectID, detail, hint})
	}
	purging, err := st.Purging(ctx)
	if err != nil {
		return nil, err
	}
	if purging {
		out = append(out, unfinishedJSON{"purge", "", "copies, logs and free pages may still contain forgotten text",
			"the next run removes it after all forgetting is done"})
	}
	removed, err := st.RemovedProjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range removed {
		out = append(out, unfinishedJSON{"folder", id, "its directory is not removed yet", "the next run removes it"})
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

// Limits of lists and texts without -v.
const (
	maxListed = 10
	maxText   = 200 // characters
)

// printStatus prints the status as text.
func (p *program) printStatus(s statusJSON) {
	var due []string
	for _, project := range s.Projects {
		if project.Due {
			due = append(due, project.ID)
		}
	}
	p.statusLine("sessions", cmp.Or(sayReasons(s.Sessions), "none"))
	if len(s.Entries) > 0 {
		p.statusLine("entries", byRule(s.Entries))
	}
	p.statusLine("jobs", cmp.Or(strings.Replace(byRule(s.Jobs), "error ", "failed ", 1), "none"))
	which := shortened(due)
	if p.ui.verbose {
		which = strings.Join(due, ", ")
	}
	projects := fmt.Sprintf("%d, %d due: %s", len(s.Projects), len(due), which)
	p.statusLine("projects", strings.TrimSuffix(projects, ": "))
	p.statusLine("redacted", cmp.Or(byRule(s.Redactions), "none"))
	if s.Usage.Calls > 0 {
		p.statusLine("usage", sayUsage(s.Usage))
	}
	for _, l := range s.Limits {
		p.statusLine("limit", fmt.Sprintf("%s: %.6g spent today, %.6g left", l.Limit, l.Spent, l.Left))
	}
	hint := ""
	if r := s.LastRun; r != nil {
		at := cmp.Or(r.EndedAt, r.BeganAt, &s.At)
		text := fmt.Sprintf("%s by %s: ", when(*at), r.Holder)
		switch {
		case r.Reason == "":
			text += r.Outcome
		case r.Outcome == string(store.RunInterrupted): // the reason says by what
			text += r.Reason
		default:
			text += r.Outcome + ": " + r.Reason
		}
		p.statusLine("last run", text)
		hint = r.Hint
	}
	p.statusLine("next run", s.Next.say())
	statusList(p, "running", s.Running, sayRunning)
	statusList(p, "failed", s.Failed, sayFailed)
	statusList(p, "dead", s.Dead, sayFailed)
	statusList(p, "unfinished", s.Unfinished, func(u unfinishedJSON) string {
		return fmt.Sprintf("%s: %s (%s)", strings.TrimSpace(u.What+" "+u.Project), u.Detail, u.Hint)
	})
	p.ui.sayHint(cmp.Or(s.Next.Hint, hint))
	if len(s.Dead) > 0 {
		p.ui.sayHint("`memoir retry SESSION` or `memoir retry --all` retries dead jobs")
	}
}

// statusLine prints a text with its label, cut unless -v was given.
func (p *program) statusLine(label, text string) {
	if text = oneLine(text); !p.ui.verbose {
		text = cut(text, maxText)
	}
	p.ui.printf("%-11s%s\n", label, text)
}

// statusList prints a line for each element of a list, at most maxListed without -v.
func statusList[T any](p *program, label string, all []T, say func(T) string) {
	for i, one := range all {
		if i == maxListed && !p.ui.verbose {
			p.statusLine("", fmt.Sprintf("… and %d more %s: -v shows all", len(all)-i, label))
			return
		}
		p.statusLine(label, say(one))
	}
}

func (n nextJSON) say() string {
	text := fmt.Sprintf("would extract from %s and consolidate %s", count(n.Sessions, "session"),
		count(n.Projects, "project"))
	text = strings.NewReplacer(" extract from 0 sessions and", "", " and consolidate 0 projects", "").Replace(text)
	switch {
	case n.Error != "":
		return "cannot start: " + n.Error
	case n.Sessions+n.Projects == 0:
		text = "nothing to do for the registered sessions"
	}
	if n.Left > 0 {
		text += fmt.Sprintf("; the cap leaves %s for a later run", count(n.Left, "session"))
	}
	if n.Estimate != nil && n.Estimate.Calls > 0 && n.Sessions+n.Projects > 0 {
		text += "; about " + sayUsage(*n.Estimate)
	}
	return text
}

func sayRunning(j operation.Running) string {
	text := fmt.Sprintf("%s %s by %s", j.Kind, j.Key, j.Holder)
	if j.Since != nil && j.Until != nil {
		text += " since " + when(*j.Since) + ", lease until " + when(*j.Until)
	}
	if j.Stale {
		text += ", stale: the next run takes over"
	}
	return text + titled(j.Title)
}

func sayFailed(j operation.Failed) string {
	about := ""
	if j.Crashes > 0 {
		about = fmt.Sprintf(", %d of %d crashes", j.Crashes, store.MaxCrashes)
	}
	if j.Suspect {
		about += ", next attempt last and alone"
	} else if j.Next != nil {
		about += ", next attempt at " + when(*j.Next)
	}
	return fmt.Sprintf("%s %s (%s%s): %s%s", j.Kind, j.Session, count(j.Attempts, "attempt"), about, j.Error,
		titled(j.Title))
}

func titled(title string) string {
	if title == "" {
		return ""
	}
	return ", “" + title + "”"
}
