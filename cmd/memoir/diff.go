package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"memoir/memory"
	"memoir/serve"
)

func diffCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "diff", ArgsUsage: "[FROM [TO]]", Category: groupMemory,
		Usage: "show how two generations of a project's memory differ",
		Description: help("Prints the difference between the files of two generations as a unified diff: by default the\n"+
			"last two that are kept; with one number, that generation and the live files, hand edits\n"+
			"included. The exit code is 0 whether or not they differ.",
			"memoir diff", "memoir diff 3", "memoir diff 3 5 --project mise"),
		Flags: []cli.Flag{
			projectRefFlag(),
			jsonFlag(),
		},
		Action: p.diff,
	}
}

func (p *program) diff(c *cli.Context) error {
	id, err := p.projectID(c)
	if err != nil {
		return err
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	if c.NArg() > 2 {
		return usagef("", "diff takes two generations at most, not also %q", c.Args().Get(2))
	}
	var numbers [2]int
	for i, text := range c.Args().Slice() {
		if numbers[i], err = generationNumber(text); err != nil {
			return err
		}
	}
	out, err := serve.Compare(memory.At(home, id), id, numbers[0], numbers[1])
	if err != nil {
		return err
	}
	return p.result(c, out, func() {
		from, to := sideNamed(out.From, false), sideNamed(out.To, out.Live)
		if len(out.Files) == 0 {
			p.ui.say("%s and %s do not differ", from, to)
			return
		}
		for _, file := range out.Files {
			p.ui.write(file.Diff)
		}
		p.ui.say("%s to %s: %s changed", from, to, count(len(out.Files), "file"))
	})
}

// sideNamed names one side of a comparison in messages.
func sideNamed(n int, live bool) string {
	switch {
	case live:
		return fmt.Sprintf("the live files (generation %d)", n)
	case n == 0:
		return "nothing"
	}
	return fmt.Sprintf("generation %d", n)
}

func catCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "cat", Category: groupMemory, ArgsUsage: "PATH|memory://…",
		Usage: "print a file of a project's memory",
		Description: help("Prints a file of the live memory of this directory's project, or of another, or lists a\n"+
			"directory of it. memory://root is the summary. Nothing outside the memory can be read.",
			"memoir cat MEMORY.md", "memoir cat memory://root/skills/release/SKILL.md",
			"memoir cat skills", "memoir cat . --project mise"),
		Flags: []cli.Flag{
			projectRefFlag(),
		},
		Action: func(c *cli.Context) error {
			place, err := argument(c, "path")
			if err != nil {
				return err
			}
			home, err := p.home(c)
			if err != nil {
				return err
			}
			id, err := p.projectID(c)
			if err != nil {
				return err
			}
			content, err := memory.At(home, id).Open(place)
			if err != nil {
				return err
			}
			p.ui.write(string(content))
			return nil
		},
	}
}
