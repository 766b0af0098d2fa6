package main

import (
	"github.com/urfave/cli/v2"

	"memoir/memory"
)

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
