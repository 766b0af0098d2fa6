package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
)

func logCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "log", Category: groupUpkeep,
		Usage: "list the generations of a project's memory",
		Description: help("Lists the stored generations, newest first, of this directory's project or of\n"+
			"another. The next publication stores your edits of the live files as a generation.",
			"memoir log", "memoir log --project mise --json"),
		Flags:  []cli.Flag{projectRefFlag(), jsonFlag()},
		Action: p.log,
	}
}

func (p *program) log(c *cli.Context) error {
	home, id, err := p.projectID(c)
	if err != nil {
		return err
	}
	st, err := p.openForReading(c)
	if err != nil {
		return err
	}
	defer st.Close()
	out, err := operation.ListGenerations(c.Context, st, home, id)
	return p.result(c, err, out, func() {
		t := newTable("generation", "published", "sessions", "notes", "files", "size", "")
		forgotten := false
		for _, g := range out.Generations {
			t.row(g.Generation, whenKnown(g.PublishedAt), g.Sessions(), g.Notes(), g.Files, size(g.Bytes), noteOn(g))
			forgotten = forgotten || g.Forgotten && !g.Live
		}
		p.ui.table(t)
		p.ui.say("%s", count(len(out.Generations), "generation"))
		if forgotten {
			p.ui.sayHint("generations that contain forgotten sessions cannot be restored; " +
				"`memoir forget --purge SESSION` removes those that contain SESSION")
		}
	})
}

func noteOn(g operation.Generation) string {
	var notes []string
	add := func(applies bool, format string, args ...any) {
		if applies {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(g.Live, "live")
	add(g.EditedFrom > 0, "hand edits of %d", g.EditedFrom)
	add(g.Restored > 0, "restored from %d", g.Restored)
	add(g.Deferred > g.NotesDeferred, "left out until changed: %s", count(g.Deferred-g.NotesDeferred, "session"))
	add(g.NotesDeferred > 0, "left out: %s", count(g.NotesDeferred, "note"))
	add(g.Redacted > 0, "redacted from %d", g.Redacted)
	add(g.Error != "", "%s", g.Error)
	add(g.Forgotten, "contains forgotten sessions")
	return strings.Join(notes, ", ")
}

func restoreCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "restore", ArgsUsage: "GENERATION", Category: groupUpkeep,
		Usage: "make an earlier generation the live memory again",
		Description: help("Publishes the content of an earlier generation as a new one. Nothing is lost: the current\n"+
			"memory stays in the log, and your edits since the last generation become a generation. Later\n"+
			"consolidations keep the difference: removed lines stay removed, and sessions that the\n"+
			"generation does not have are left out until they change. Notes that MEMORY.md has only since\n"+
			"then are left out of it for good, but still injected (`memoir log` counts both). To undo it,\n"+
			"restore the later generation. A generation with sessions that were disabled or forgotten since\n"+
			"is not restored.\n"+
			"Asks first on a terminal, unless --yes. -q also drops the path that it prints.",
			"memoir log", "memoir restore 3", "memoir restore 3 --project mise --wait 1m --yes"),
		Flags:  []cli.Flag{projectRefFlag(), waitFlag(), yesFlag(), jsonFlag()},
		Action: p.restore,
	}
}

func (p *program) restore(c *cli.Context) error {
	n, err := generationNumber(c.Args().First())
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
		question := fmt.Sprintf("replace generation %d of %s by generation %d?", project.Generation, project.Name, n)
		if yes, err := p.ui.ask(c.Context, question); err != nil || !yes {
			return notConfirmed(p.ui, err, "nothing was restored")
		}
	}
	out, err := pipeline.Restore(c.Context, st, opts, project.Project, n)
	if err != nil {
		return err
	}
	p.sayRestored(c, project.Name, out)
	return p.result(c, nil, out, func() {
		if !p.ui.quiet {
			p.ui.printf("%s\n", out.Root)
		}
	})
}

func (p *program) sayRestored(c *cli.Context, name string, out pipeline.Restored) {
	if out.Unchanged {
		p.ui.say("%s: the live generation %d already has the content of generation %d", name, out.Generation, out.Restored)
		return
	}
	for _, n := range out.ByHand {
		p.ui.say("%s: generation %d keeps the hand edits", name, n)
	}
	p.ui.say("%s: published generation %d, with the content of generation %d", name, out.Generation, out.Restored)
	kinds := byKind(out.Deferred)
	notes := kinds["note"] + kinds["journal line"]
	if n := len(out.Deferred) - notes; n > 0 {
		p.ui.say("%s: left out until changed: %s that generation %d does not have", name, count(n, "session"),
			out.Restored)
	}
	if notes > 0 { // they are still injected
		p.ui.say("%s: %s newer than generation %d, and no longer in MEMORY.md; `memoir notes` lists notes", name,
			countAre(notes, "note"), out.Restored)
	}
	if out.Over > 0 {
		undo := fmt.Sprintf("memoir restore %d", out.Over)
		if c.IsSet("project") {
			undo += " --project " + out.Project
		}
		p.ui.sayHint("`" + undo + "` undoes it")
	}
}

func generationNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, usagef("`memoir log` lists the generations", "%q is not a generation number", text)
	}
	return n, nil
}

func diffCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "diff", ArgsUsage: "[FROM [TO]]", Category: groupUpkeep,
		Usage: "show how two generations of a project's memory differ",
		Description: help("Prints the differences between two generations as a unified diff: with one number, that\n"+
			"generation and the live files, hand edits included. By default it shows the hand edits since the\n"+
			"newest generation; if there are none, the last two. The exit code is 0 whether or not they differ.",
			"memoir diff", "memoir diff 3", "memoir diff 3 5 --project mise"),
		Flags:  []cli.Flag{projectRefFlag(), jsonFlag()},
		Action: p.diff,
	}
}

func (p *program) diff(c *cli.Context) error {
	home, id, err := p.projectID(c)
	if err != nil {
		return err
	}
	var numbers [2]int
	for i, text := range c.Args().Slice() {
		if numbers[i], err = generationNumber(text); err != nil {
			return err
		}
	}
	out, err := operation.Compare(home, id, numbers[0], numbers[1])
	return p.result(c, err, out, func() {
		from, to := fmt.Sprintf("generation %d", out.From), fmt.Sprintf("generation %d", out.To)
		if out.Live {
			to = "the live files (" + to + ")"
		}
		if len(out.Files) == 0 {
			p.ui.say("%s and %s do not differ", from, to)
			return
		}
		for _, file := range out.Files {
			p.ui.writeDiff(file.Diff)
		}
		if out.From == 0 {
			p.ui.say("%s, the first: %s", to, count(len(out.Files), "file"))
			return
		}
		p.ui.say("%s to %s: %s changed", from, to, count(len(out.Files), "file"))
	})
}

func catCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "cat", Category: groupUpkeep, ArgsUsage: "PATH|memory://…",
		Usage: "print a file of a project's memory",
		Description: help("Prints a file, or lists a directory, of the live memory of this directory's project or of\n"+
			"another. memory://root is the summary. Files outside the memory cannot be read.",
			"memoir cat MEMORY.md", "memoir cat memory://root/skills/release/SKILL.md",
			"memoir cat skills", "memoir cat . --project mise"),
		Flags: []cli.Flag{projectRefFlag(), jsonFlag()},
		Action: func(c *cli.Context) error {
			place := c.Args().First()
			home, id, err := p.projectID(c)
			if err != nil {
				return err
			}
			content, err := memory.At(home, id).Open(place)
			return p.result(c, err, map[string]string{"path": place, "text": string(content)}, func() {
				p.ui.write(string(content))
			})
		},
	}
}
