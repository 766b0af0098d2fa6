package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
)

func restoreCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "restore", ArgsUsage: "GENERATION", Category: groupMemory,
		Usage: "make an earlier generation the live memory again",
		Description: help("Publishes the content of an earlier generation as a new one; nothing is lost: the memory as\n"+
			"it was stays in the log, and what you edited since the last generation is kept as one of\n"+
			"its own. What the restoring took away stays away when later sessions are consolidated,\n"+
			"what it brought back stays, as if you had edited the files. Sessions that were disabled\n"+
			"or forgotten meanwhile do not come back. Asks first on a terminal, unless --yes.",
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
		yes, err := p.ui.ask(c.Context, fmt.Sprintf("make generation %d of %s live again in place of %d?", n, project.Name, project.Generation))
		if err != nil {
			return err
		}
		if !yes {
			p.ui.say("nothing was restored")
			return status(exitFailed)
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
	if len(out.Left) > 0 {
		p.ui.say("%s: left out %s of generation %d: taken out of memory since: %s", name, count(out.Lines, "line"), out.Restored, strings.Join(out.Left, ", "))
	}
	if out.Unchanged {
		p.ui.say("%s: generation %d, which is live, has the content of generation %d already", name, out.Generation, out.Restored)
		return
	}
	for _, n := range out.ByHand {
		p.ui.say("%s: generation %d keeps what was edited by hand", name, n)
	}
	p.ui.say("%s: published generation %d, with the content of generation %d", name, out.Generation, out.Restored)
	if n := len(out.SetAside); n > 0 {
		p.ui.say("%s: %s that generation %d knows nothing of: set aside until they go on", name, count(n, "session"), out.Restored)
	}
	if out.Over > 0 {
		p.ui.sayHint(fmt.Sprintf("`memoir restore %d` takes it back", out.Over))
	}
}

// generationNumber parses a generation as people type it.
func generationNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, memoir.Errorf(memoir.CodeUsage, "`memoir log` lists the generations", "%q is not a generation: they are numbered from 1", text)
	}
	return n, nil
}
