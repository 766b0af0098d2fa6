package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
)

func statusCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupSession,
		Usage: "show running, failed and dead jobs, and what the next run would do",
		Description: help("Shows the sessions, the running jobs with their processes, the failed jobs with the time of\n"+
			"the next attempt, the dead jobs, how the last run ended, what the next run would do, and\n"+
			"which sessions each memory was made from. Long lists are cut; -v shows all. Times are UTC.\n"+
			"--watch repeats it until Ctrl-C, with --json as one object a line. --usage shows the use\n"+
			"of language models by day, project and model instead.",
			"memoir status", "memoir status --json", "memoir status --watch", "memoir status --watch 10 --json",
			"memoir status --usage --since 30d"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "watch", Usage: "repeat every `SECONDS` (default 2) until Ctrl-C"},
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
	opts, _, err := p.runOptions(c)
	if err != nil {
		return err
	}
	if c.IsSet("watch") {
		return p.watchStatus(c, opts)
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

const (
	watchDefault  = "2" // seconds
	watchShortest = 100 * time.Millisecond
	clearScreen   = "\x1b[H\x1b[2J" // and the cursor goes to the upper left corner
)

// watchStatus prints the status at each interval until it is interrupted or nobody reads it. It opens
// the database each time, so that a run may create, migrate or replace it meanwhile.
func (p *program) watchStatus(c *cli.Context, opts pipeline.Options) error {
	every, err := watchInterval(c.String("watch"))
	if err != nil {
		return err
	}
	if c.Bool("usage") {
		return usagef("", "--watch and --usage exclude each other")
	}
	if !c.Bool("json") && (!p.ui.outTTY || p.getenv("TERM") == "dumb") {
		return usagef("--json prints one object a line; without --watch it is shown once", "--watch needs a terminal")
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		out, err := p.currentStatus(c, opts)
		if c.Bool("json") {
			if err != nil {
				out.Error = p.redact(err.Error())
			}
			line, err := json.Marshal(out)
			if err != nil {
				return err
			}
			p.ui.put(escaped(string(line)) + "\n")
		} else {
			p.ui.put(clearScreen + time.Now().UTC().Format("15:04:05") + " UTC; Ctrl-C ends\n\n")
			if err != nil {
				p.ui.sayError(err)
			} else {
				p.printStatus(out)
			}
		}
		if !p.ui.push() {
			return nil // close reports why, unless the reader went away
		}
		select {
		case <-c.Context.Done():
			return status(exitInterrupted)
		case <-tick.C:
		}
	}
}

// watchInterval reads a number of seconds, or a duration.
func watchInterval(text string) (time.Duration, error) {
	every, err := config.ParseDuration(text)
	if n, numErr := strconv.ParseFloat(text, 64); numErr == nil && n > 0 && n < 1e6 {
		every, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || every < watchShortest {
		return 0, usagef("for example 2, 0.5 or 1m", "--watch: %q is not a number of seconds of at least 0.1", text)
	}
	return every, nil
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
