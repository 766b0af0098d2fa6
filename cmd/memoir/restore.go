package main

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
)

func restoreCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "restore", ArgsUsage: "GENERATION", Category: groupMemory,
		Usage: "make an earlier generation the live memory again",
		Description: help("Publishes the content of an earlier generation as a new one. Nothing is lost: the memory as\n"+
			"it was stays in the log, and your edits since the last generation become a generation. Later\n"+
			"consolidations treat the difference like hand edits: what was removed stays removed. A\n"+
			"generation that contains sessions that were disabled or forgotten since is not restored.\n"+
			"Asks first on a terminal, unless --yes.",
			"memoir log", "memoir restore 3", "memoir restore 3 --project mise --wait 1m --yes"),
		Flags: []cli.Flag{
			projectRefFlag(),
			waitFlag(),
			yesFlag(),
			jsonFlag(),
		},
		Action: p.restore,
	}
}

func (p *program) restore(c *cli.Context) error {
	text, err := argument(c, "generation's number")
	if err != nil {
		return err
	}
	n, err := generationNumber(text)
	if err != nil {
		return err
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	ref, err := projectFlag(c)
	if err != nil {
		return err
	}
	project, err := p.projectNamed(c, st, ref)
	if err != nil {
		return err
	}
	if !c.Bool("yes") && p.ui.canAsk() {
		question := fmt.Sprintf("make generation %d of %s live again in place of %d?", n, project.Name, project.Generation)
		if yes, err := p.ui.ask(c.Context, question); err != nil || !yes {
			return notConfirmed(p.ui, err, "nothing was restored")
		}
	}
	out, err := pipeline.Restore(c.Context, st, opts, project.Project, n)
	if err != nil {
		return err
	}
	p.sayRestored(project.Name, out)
	if c.Bool("json") {
		return p.ui.json(out)
	}
	if !p.ui.quiet {
		p.ui.printf("%s\n", out.Root)
	}
	return nil
}

func (p *program) sayRestored(name string, out pipeline.Restored) {
	if out.Unchanged {
		p.ui.say("%s: the live generation %d already has the content of generation %d", name, out.Generation, out.Restored)
		return
	}
	for _, n := range out.ByHand {
		p.ui.say("%s: generation %d keeps what was edited by hand", name, n)
	}
	p.ui.say("%s: published generation %d, with the content of generation %d", name, out.Generation, out.Restored)
	if n := len(out.SetAside); n > 0 {
		p.ui.say("%s: left out until they change: %s newer than generation %d", name, count(n, "session"), out.Restored)
	}
	if out.Over > 0 {
		p.ui.sayHint(fmt.Sprintf("`memoir restore %d` undoes it", out.Over))
	}
}

// generationNumber parses a generation as people type it.
func generationNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, usagef("`memoir log` lists the generations", "%q is not the number of a generation", text)
	}
	return n, nil
}
