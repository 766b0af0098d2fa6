package main

import "github.com/urfave/cli/v2"

func teamCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "team", Category: groupMemory,
		Usage: "share statements with a team",
		Description: help("Shares statements of a project's memory with a team, through its repository.",
			"memoir team promote 6af2da0a36", "memoir team demote 6af2da0a36"),
		Subcommands: promoteCommands(p),
	}
}
