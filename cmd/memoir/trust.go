package main

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

	"memoir/config"
)

func trustCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "trust", Category: groupSetup, ArgsUsage: "[DIR]",
		Usage: "let a project's .memoir.yml change more than it may by itself",
		Description: help("A project's own .memoir.yml may switch memory off and tighten limits. What goes further\n"+
			"needs this, once, and again when the file changes: read the file first.",
			"memoir trust", "memoir trust ~/src/app", "memoir trust --undo ~/src/app", "memoir trust --list"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "undo", Usage: "take the trust back"},
			&cli.BoolFlag{Name: "list", Usage: "list the files that are trusted"},
		},
		Action: func(c *cli.Context) error {
			dir, err := optional(c)
			if err != nil {
				return err
			}
			home, err := p.home(c)
			if err != nil {
				return err
			}
			if c.Bool("list") {
				trusted, err := config.LoadTrust(home)
				if err != nil {
					return err
				}
				for _, file := range trusted.Files() {
					p.ui.printf("%s\n", file)
				}
				return nil
			}
			file := filepath.Join(dir, config.ProjectFileName)
			if dir == "" {
				if file, err = p.projectFile(c); err != nil {
					return err
				}
			} else if filepath.Base(dir) == config.ProjectFileName {
				file = dir
			}
			if file, err = filepath.Abs(file); err != nil {
				return err
			}
			if c.Bool("undo") {
				return p.distrust(home, file)
			}
			if err := config.Trust(home, file); err != nil {
				return err
			}
			p.ui.say("%s is trusted as it is now", file)
			return nil
		},
	}
}

// distrust takes a file's trust back, and says so if it had any.
func (p *program) distrust(home, file string) error {
	before, err := config.LoadTrust(home)
	if err != nil {
		return err
	}
	if len(before.Files()) > 0 { // else there is no home to write to
		if err := config.Distrust(home, file); err != nil {
			return err
		}
	}
	after, err := config.LoadTrust(home)
	if err != nil {
		return err
	}
	if len(after.Files()) == len(before.Files()) {
		p.ui.say("%s was not trusted", file)
		return nil
	}
	p.ui.say("%s is no longer trusted", file)
	return nil
}
