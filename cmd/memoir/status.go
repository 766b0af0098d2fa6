package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/store"
)

func statusCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupSession,
		Usage: "show running, failed and dead jobs, and what the next run would do",
		Description: help("Shows the sessions, the running jobs with their processes, the failed jobs with the time of\n"+
			"the next attempt, the dead jobs, how the last run ended, what the next run would do, and\n"+
			"which sessions each memory was made from. Long lists are cut; -v shows all. Times are UTC.\n"+
			"--usage shows the use of language models by day, project and model instead.",
			"memoir status", "memoir status --json", "memoir status --usage --since 30d"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "usage", Usage: "show the use of language models"},
			&cli.StringFlag{Name: "since", Usage: "with --usage: since `TIME`: 30d, 2w, 2026-07-01"},
			nowFlag(), jsonFlag(),
		},
		Action: p.status,
	}
}

func (p *program) status(c *cli.Context) error {
	since, err := usageSince(c)
	if err != nil {
		return err
	}
	opts, err := p.runOptions(c)
	if err != nil {
		return err
	}
	out, err := p.currentStatus(c, opts)
	registered := memoir.CodeOf(err) != memoir.CodeNotFound
	if !registered {
		p.ui.sayError(err)
	} else if err != nil {
		return err
	}
	if c.Bool("usage") {
		if out.UsageBy, err = p.usageBy(c, registered, since); err != nil {
			return err
		}
	}
	return p.result(c, out, func() {
		switch {
		case c.Bool("usage"):
			p.printUsage(*out.UsageBy)
		case registered:
			p.printStatus(out)
		}
	})
}

// printStatus shows the state to a person.
func (p *program) printStatus(s statusJSON) {
	v := statusText{width: p.ui.width(), verbose: p.ui.verbose}
	v.all(s)
	p.ui.put(strings.Join(v.lines, "\n") + "\n")
	for _, hint := range v.hints {
		p.ui.sayHint(hint)
	}
}

// usageJSON is what `status --usage --json` adds. Each list adds up to the total.
type usageJSON struct {
	Total    memoir.Usage `json:"total"`
	Days     []spentJSON  `json:"days"` // of UTC, the first first
	Projects []spentJSON  `json:"projects"`
	Models   []spentJSON  `json:"models"`
	Phases   []spentJSON  `json:"phases"`
	Outcomes []spentJSON  `json:"outcomes"`      // of the work that calls were made for
	Calls    []spentJSON  `json:"call_outcomes"` // of the calls themselves
	Rows     []spentJSON  `json:"rows"`          // all of these at once
}

// spentJSON is a sum of usage; the fields that it is not grouped by are empty.
type spentJSON struct {
	Day     string `json:"day,omitempty"`
	Project string `json:"project,omitempty"` // its id
	Name    string `json:"name,omitempty"`    // of the project, if it is still known
	Model   string `json:"model,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Call    string `json:"call,omitempty"` // empty in a row where work alone is known
	memoir.Usage
	Estimated  int   `json:"estimated,omitempty"` // of the calls: those whose tokens and cost are an estimate
	DurationMS int64 `json:"duration_ms"`         // of the calls; of the work where they are not known one by one
}

// usageSince reads the flags that belong together.
func usageSince(c *cli.Context) (time.Time, error) {
	if !c.IsSet("since") {
		return time.Time{}, nil
	}
	if !c.Bool("usage") {
		return time.Time{}, usagef("", "--since goes with --usage")
	}
	return sinceFlag(c, "since", time.Now())
}

// usageBy adds the ledger up.
func (p *program) usageBy(c *cli.Context, registered bool, since time.Time) (*usageJSON, error) {
	var rows []store.UsageRow
	names := map[string]string{}
	if registered {
		st, err := p.openForReading(c)
		if err != nil {
			return nil, err
		}
		defer st.Close()
		if rows, err = st.UsageRows(c.Context, since); err != nil {
			return nil, err
		}
		projects, err := st.Projects(c.Context)
		if err != nil {
			return nil, err
		}
		for _, project := range projects {
			names[project.ID] = p.redact(project.Name)
		}
	}
	out := &usageJSON{Rows: []spentJSON{}}
	for _, r := range rows {
		out.Total = out.Total.Add(r.Usage)
		out.Rows = append(out.Rows, spentJSON{Day: r.Day, Project: r.ProjectID, Name: names[r.ProjectID], Model: r.Model,
			Phase: r.Phase, Outcome: r.Outcome, Call: r.Call, Usage: r.Usage, Estimated: r.Estimated,
			DurationMS: r.Duration.Milliseconds()})
	}
	out.Days = sumBy(out.Rows, func(s spentJSON) spentJSON { return spentJSON{Day: s.Day} })
	out.Projects = sumBy(out.Rows, func(s spentJSON) spentJSON { return spentJSON{Project: s.Project, Name: s.Name} })
	out.Models = sumBy(out.Rows, func(s spentJSON) spentJSON { return spentJSON{Model: s.Model} })
	out.Phases = sumBy(out.Rows, func(s spentJSON) spentJSON { return spentJSON{Phase: s.Phase} })
	out.Outcomes = sumBy(out.Rows, func(s spentJSON) spentJSON { return spentJSON{Outcome: s.Outcome} })
	out.Calls = sumBy(out.Rows, func(s spentJSON) spentJSON { return spentJSON{Call: s.Call} })
	return out, nil
}

// sumBy adds up the rows that have the same key; sorted by it.
func sumBy(rows []spentJSON, key func(spentJSON) spentJSON) []spentJSON {
	sums := []spentJSON{}
	at := map[spentJSON]int{}
	for _, row := range rows {
		k := key(row)
		i, ok := at[k]
		if !ok {
			i = len(sums)
			at[k], sums = i, append(sums, k)
		}
		sums[i].Usage = sums[i].Usage.Add(row.Usage)
		sums[i].Estimated += row.Estimated
		sums[i].DurationMS += row.DurationMS
	}
	slices.SortStableFunc(sums, func(a, b spentJSON) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Call, b.Call))
	})
	return sums
}

// printUsage prints one table for each way to add up.
func (p *program) printUsage(u usageJSON) {
	if u.Total.Calls == 0 {
		p.ui.say("no language model was used")
		return
	}
	for i, by := range []struct {
		what string
		sums []spentJSON
		name func(spentJSON) string
	}{
		{"day", u.Days, func(s spentJSON) string { return s.Day }},
		{"project", u.Projects, func(s spentJSON) string { return cmp.Or(s.Project, none) }},
		{"model", u.Models, func(s spentJSON) string { return s.Model }},
	} {
		if i > 0 {
			p.ui.printf("\n")
		}
		t := newTable(by.what, "calls", "in", "cached", "out", "cost")
		row := func(name string, u memoir.Usage) {
			cost := none // unknown, or nothing
			if u.Cost > 0 {
				cost = dollars(u.Cost)
			}
			t.row(name, u.Calls, u.InputTokens, u.CachedTokens, u.OutputTokens, cost)
		}
		for _, s := range by.sums {
			row(by.name(s), s.Usage)
		}
		row("total", u.Total)
		p.ui.table(t)
	}
	for _, s := range u.Calls {
		if s.Call == store.CallBegun {
			p.ui.printf("\nunfinished: %s, running or of a process that died: counted by an estimate, %d tokens in, %d out\n",
				count(s.Usage.Calls, "call"), s.InputTokens, s.OutputTokens)
		}
	}
}
