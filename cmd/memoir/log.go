package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
	"memoir/serve"
)

func logCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "log", Category: groupMemory,
		Usage: "list the generations of a project's memory",
		Description: help("Lists the generations that are kept, the newest first: of this directory's project, or of\n"+
			"another. The next publication turns your edits of the live files into a generation.",
			"memoir log", "memoir log --project mise --json"),
		Flags: []cli.Flag{
			projectRefFlag(),
			jsonFlag(),
		},
		Action: p.log,
	}
}

func (p *program) log(c *cli.Context) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	st, err := p.openForReading(c)
	if err != nil {
		return err
	}
	defer st.Close()
	project, err := p.projectOf(c, st)
	if err != nil {
		return err
	}
	generations, err := serve.Generations(c.Context, st, home, project.ID)
	if err != nil {
		return err
	}
	return p.result(c, struct {
		Generations []serve.Generation `json:"generations"`
	}{list(generations)}, func() {
		t := newTable("generation", "published", "sessions", "files", "archive", "")
		forgotten := false
		for _, g := range generations {
			published := none
			if g.PublishedAt != nil {
				published = when(*g.PublishedAt)
			}
			t.row(g.Generation, published, len(g.Inputs), g.Files, size(g.Bytes), noteOn(g))
			forgotten = forgotten || g.Forgotten && !g.Live
		}
		p.ui.table(t)
		p.ui.say("%s", count(len(generations), "generation"))
		if forgotten {
			p.ui.sayHint("`memoir forget` with --purge removes generations that contain forgotten sessions; " +
				"they cannot be restored")
		}
	})
}

// noteOn says what is special about a generation.
func noteOn(g serve.Generation) string {
	var notes []string
	add := func(applies bool, format string, args ...any) {
		if applies {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(g.Live, "live")
	add(g.EditedFrom > 0, "hand edits of %d", g.EditedFrom)
	add(g.Restored > 0, "restored from %d", g.Restored)
	add(g.Redacted > 0, "redacted from %d", g.Redacted)
	add(g.Error != "", "%s", g.Error)
	add(g.Forgotten, "contains forgotten sessions")
	return strings.Join(notes, ", ")
}

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
	project, err := p.projectOf(c, st)
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
