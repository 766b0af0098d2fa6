package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/store"
)

// statusJSON is what `status --json` prints.
type statusJSON struct {
	Jobs       map[string]int        `json:"jobs"` // by status
	Sessions   map[memoir.Reason]int `json:"sessions"`
	Running    []runningJSON         `json:"running"`
	Failed     []failedJSON          `json:"failed"`
	Dead       []failedJSON          `json:"dead"`
	Projects   []projectJSON         `json:"projects"`
	Usage      memoir.Usage          `json:"usage"`
	Redactions map[string]int        `json:"redactions"`
	UsageBy    *usageJSON            `json:"usage_by,omitempty"` // with --usage
}

type runningJSON struct {
	Kind   string     `json:"kind"`
	Key    string     `json:"key"`
	Holder string     `json:"holder"`
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Stale  bool       `json:"stale"` // the next run takes it over
}

type failedJSON struct {
	Kind     string     `json:"kind"`
	Session  string     `json:"session"` // its key, or the project's id if kind is consolidate
	Error    string     `json:"error"`
	Attempts int        `json:"attempts"`
	Crashes  int        `json:"crashes"`
	Next     *time.Time `json:"next"` // null: at once, or never if dead
}

func statusCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupSession,
		Usage: "show how the queue stands: running, failed and dead jobs, what is due",
		Description: help("Shows jobs by status, what is running and who runs it, what failed and when it is tried\n"+
			"again, what was given up, and which projects are due. With --usage it shows instead what\n"+
			"language models were used, by day (of UTC), project and model.",
			"memoir status", "memoir status --json", "memoir status --usage --since 30d"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "usage", Usage: "show what was spent on language models"},
			&cli.StringFlag{Name: "since", Usage: "with --usage: spent since `TIME`: 30d, 2w, 2026-07-01"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: func(c *cli.Context) error {
			since, err := usageSince(c)
			if err != nil {
				return err
			}
			home, err := p.home(c)
			if err != nil {
				return err
			}
			st, rows, err := p.registered(c)
			if err != nil {
				return err
			}
			var now store.Status
			if st != nil {
				defer st.Close()
				if now, err = st.Status(c.Context); err != nil {
					return err
				}
			}
			for _, jobs := range [][]store.FailedJob{now.Failed, now.Dead} {
				for i := range jobs {
					jobs[i].Error = p.redact(jobs[i].Error)
				}
			}
			out := asStatusJSON(home, now, rows)
			if c.Bool("usage") {
				if out.UsageBy, err = usageBy(c, st, since, rows); err != nil {
					return err
				}
			}
			switch {
			case c.Bool("json"):
				return p.ui.json(out)
			case c.Bool("usage"):
				p.printUsage(*out.UsageBy)
			case st != nil:
				p.printStatus(out)
				p.ui.sayHint(p.rulesHint(c.Context, c, st))
			}
			return nil
		},
	}
}

func asStatusJSON(home string, now store.Status, rows []store.ProjectRow) statusJSON {
	out := statusJSON{
		Jobs: map[string]int{}, Sessions: map[memoir.Reason]int{}, Running: []runningJSON{}, Failed: failedJobs(now.Failed), Dead: failedJobs(now.Dead),
		Projects: asProjectsJSON(home, rows), Usage: now.Usage, Redactions: map[string]int{},
	}
	for status, n := range now.Jobs {
		out.Jobs[status] = n
	}
	for reason, n := range now.Reasons {
		out.Sessions[reason] = n
	}
	for rule, n := range now.Redactions {
		out.Redactions[rule] = n
	}
	for _, j := range now.Running {
		out.Running = append(out.Running, runningJSON{j.Kind, j.Key, j.Holder.Describe(), moments(j.Since), moments(j.Until), j.Stale})
	}
	return out
}

func failedJobs(jobs []store.FailedJob) []failedJSON {
	out := []failedJSON{}
	for _, j := range jobs {
		out = append(out, failedJSON{j.Kind, j.Key, j.Error, j.Attempts, j.Crashes, moments(j.Next)})
	}
	return out
}

func (p *program) printStatus(s statusJSON) {
	line := func(name, text string) {
		if text == "" {
			text = "none"
		}
		p.ui.printf("%-10s %s\n", name, oneLine(text))
	}
	line("sessions", sayReasons(s.Sessions))
	line("jobs", byRule(s.Jobs))
	var due []string
	for _, project := range s.Projects {
		if project.Due {
			due = append(due, project.ID)
		}
	}
	text := fmt.Sprintf("%d, %d due", len(s.Projects), len(due))
	if len(due) > 0 {
		text += ": " + strings.Join(due, ", ")
	}
	line("projects", text)
	line("redacted", byRule(s.Redactions))
	if s.Usage.Calls > 0 {
		line("usage", sayUsage(s.Usage))
	}
	stale := 0
	for _, j := range s.Running {
		state := "running"
		if j.Stale {
			state = "stale"
			stale++
		}
		p.ui.printf("%-10s %s %s by %s since %s\n", state, j.Kind, oneLine(j.Key), oneLine(j.Holder), whenSet(j.Since))
	}
	for _, j := range s.Failed {
		attempt := fmt.Sprintf("attempt %d", j.Attempts)
		if j.Attempts == 0 && j.Crashes == 0 {
			attempt = "no attempt counted"
		}
		p.ui.printf("%-10s %s %s: %s (%s, next %s)\n", "failed", j.Kind, oneLine(j.Session), oneLine(j.Error), attempt, whenSet(j.Next))
	}
	for _, j := range s.Dead {
		p.ui.printf("%-10s %s %s: %s\n", "dead", j.Kind, oneLine(j.Session), oneLine(j.Error))
	}
	if stale > 0 {
		p.ui.sayHint("stale: the process is dead or its lease is over; the next run takes the work over")
	}
	if len(s.Dead) > 0 {
		p.ui.sayHint("`memoir retry SESSION` or `memoir retry --all` tries dead jobs again")
	}
}

func whenSet(t *time.Time) string {
	if t == nil {
		return "at once"
	}
	return when(*t)
}
