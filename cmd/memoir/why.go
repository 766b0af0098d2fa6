package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/operation"
)

func whyCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "why", Category: groupMemory, ArgsUsage: "ID|TEXT...",
		Usage: "show where a line of a memory comes from",
		Description: help("Shows the statements that the lines of MEMORY.md and memory_summary.md with a text were made\n"+
			"from: the rule that wrote each, whose word it is, and the sessions with the items that show it.\n"+
			"If no line has the text, it shows extracted statements that have it. A statement can be named by\n"+
			"its id. A line that a person wrote has no statements; one that a language model wrote in its own\n"+
			"words has the sessions that it cites.",
			"memoir why never push to main", "memoir why 6af2da0a36 --json", "memoir why 'make lint' --project mise"),
		Flags: []cli.Flag{projectRefFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			ref := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
			if ref == "" {
				return usagef("give a statement's id or some words of a line", "no text")
			}
			_, id, err := p.projectID(c)
			if err != nil {
				return err
			}
			st, err := p.openForReading(c)
			if err != nil {
				return err
			}
			defer st.Close()
			out, err := p.access(c).Why(c.Context, st, id, ref)
			return p.result(c, err, out, func() { p.printWhy(out) })
		},
	}
}

func (p *program) printWhy(out operation.Why) {
	for _, line := range out.Lines {
		p.ui.printf("%s\n", line)
	}
	if out.HandWritten {
		by := "a person wrote this line"
		if len(out.Lines) == 1 && strings.HasSuffix(out.Lines[0], memoir.Unconfirmed) {
			by = "an agent added this line, and nobody confirmed it"
		}
		p.ui.printf("%s\n", by)
	}
	for _, s := range out.Statements {
		p.ui.printf("\n%s  %s: %s\n  rule: %s, by: %s\n", s.ID, s.Kind, s.Text, s.Signal, s.By)
		if s.Replaces != "" {
			p.ui.printf("  replaces: %s\n", s.Replaces)
		}
		if s.Stands != "" {
			p.ui.printf("  stands in %s: MEMORY.md does not repeat it\n", s.Stands)
		}
		for _, e := range s.Sessions {
			p.ui.printf("  %s  %s  %s\n", e.At, e.ID, e.Title)
			if e.Error != "" {
				p.ui.printf("    %s\n", e.Error)
			}
			for _, it := range e.Items {
				p.ui.printf("    %s\n", strings.ReplaceAll(it.Text, "\n", "\n    "))
			}
			if e.More > 0 {
				p.ui.printf("    %s\n", count(e.More, "more item"))
			}
		}
	}
	if n := len(out.Statements); n > 0 {
		p.ui.say("%s", count(n, "statement"))
	}
}
