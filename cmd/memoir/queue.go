package main

import (
	"github.com/urfave/cli/v2"

	"memoir"
)

func retryCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "retry", Category: groupSession, ArgsUsage: "[SESSION]...",
		Usage: "retry failed and dead jobs at once",
		Description: help("Takes sessions, projects whose consolidation failed, or --all. The next run tries them\n"+
			"again, with all their attempts. A job that a process died over is tried last and alone, and\n"+
			"is dead after two more crashes.", "memoir retry 019f1fd6", "memoir retry --all"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "all",
			Usage: "every failed and dead job, those of crashed processes included"}},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 && !c.Bool("all") {
				return usagef("`memoir status` lists what failed; --all means all of it", "retry needs a session, or --all")
			}
			if c.NArg() > 0 && c.Bool("all") {
				return usagef("", "a session and --all exclude each other")
			}
			st, err := p.openForWriting(c)
			if err != nil {
				return err
			}
			defer st.Close()
			var keys []string
			for _, ref := range c.Args().Slice() {
				session, err := p.findSession(c.Context, st, ref)
				if err == nil {
					keys = append(keys, session.Key())
					continue
				}
				if memoir.CodeOf(err) == memoir.CodeNotFound {
					if project, projectErr := st.FindProject(c.Context, ref); projectErr == nil {
						keys = append(keys, project.ID)
						continue
					}
				}
				return err
			}
			n, err := st.Retry(c.Context, keys...)
			if err != nil {
				return err
			}
			if n == 0 {
				p.ui.say("nothing had failed")
				return nil
			}
			p.ui.say("%s tried again by the next run", countAre(n, "job"))
			return nil
		},
	}
}

func enqueueCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "enqueue", Aliases: []string{"rebuild"}, Category: groupMemory,
		Usage: "make the next run consolidate a project even if nothing is new",
		Description: help("Marks this directory's project, another, or all of them as due. The next run consolidates\n"+
			"them from what was extracted. A language model is asked about all their sessions again;\n"+
			"`memoir run --dry-run` says what that costs.",
			"memoir rebuild --all && memoir run -q     # a line for cron", "memoir enqueue --project mise"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "all projects"},
		},
		Action: func(c *cli.Context) error {
			st, err := p.openForWriting(c)
			if c.Bool("all") && memoir.CodeOf(err) == memoir.CodeNotFound { // cron may run before the first run
				p.ui.sayError(err)
				return nil
			}
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
