package main

import (
	"github.com/urfave/cli/v2"
)

func enqueueCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "enqueue", Aliases: []string{"rebuild"}, Category: groupMemory,
		Usage: "make the next run consolidate a project even if nothing is new",
		Description: help("Marks this directory's project, another, or all of them as due. The next run consolidates\n"+
			"them from what was extracted. A language model is asked about all their sessions again;\n"+
			"`memoir run --dry-run` says what that costs.", "memoir rebuild --all && memoir run -q     # a line for cron", "memoir enqueue --project mise"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "all projects"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("all") {
				// Cron may come before the first run: nothing to rebuild is no error.
				if st, err := p.openForListing(c); st == nil {
					return err
				} else if err := st.Close(); err != nil {
					return err
				}
			}
			st, err := p.openForWriting(c)
			if err != nil {
				return err
			}
			defer st.Close()
			projects, err := p.projectsNamed(c, st)
			if err != nil {
				return err
			}
			for _, project := range projects {
				if err := st.Enqueue(c.Context, project.ID); err != nil {
					return err
				}
			}
			p.ui.say("%s due for the next run", countAre(len(projects), "project"))
			return nil
		},
	}
}
