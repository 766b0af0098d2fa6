package main

import (
	"github.com/urfave/cli/v2"

	"memoir"
)

func retryCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "retry", Category: groupSession, ArgsUsage: "[SESSION]...",
		Usage: "retry failed and dead jobs at once",
		Description: help("Names sessions (or projects, whose consolidation failed), or all. The next run tries them\n"+
			"with all their attempts. What processes died over is tried last and alone,\n"+
			"and given up after two more deaths.", "memoir retry 019f1fd6", "memoir retry --all"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "every failed and dead job, those of crashed processes included"}},
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
