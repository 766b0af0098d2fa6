package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/secrets"
)

func trustCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "trust", Category: groupSetup, ArgsUsage: "[DIR]",
		Usage: "trust a project's own settings and rules",
		Description: help("A project's own .memoir.yml may switch memory off and tighten limits, and its .gitleaks.toml\n"+
			"may add rules for secrets. What goes further, such as settings and allowlists that loosen,\n"+
			"needs this, once, and again when a file changes: read the files first.",
			"memoir trust", "memoir trust ~/src/app", "memoir trust --undo ~/src/app", "memoir trust --list"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "undo", Usage: "revoke the trust"},
			&cli.BoolFlag{Name: "list", Usage: "list trusted files"},
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
			return p.trust(home, file)
		},
	}
}

// trust records trust in a project's settings and in its secret rules; one of them may be missing.
func (p *program) trust(home, file string) error {
	rules := config.RulesFile(filepath.Dir(file))
	if _, err := os.Stat(rules); err != nil {
		rules = ""
	} else if _, err := secrets.New(secrets.Options{ProjectPath: rules, ProjectTrusted: true}); err != nil {
		return err
	}
	err := config.Trust(home, file)
	if err != nil && (rules == "" || memoir.CodeOf(err) != memoir.CodeNotFound) {
		return err
	}
	if err == nil {
		p.ui.say("%s is trusted in its current version", file)
	}
	if rules == "" {
		return nil
	}
	if err := config.Trust(home, rules); err != nil {
		return err
	}
	p.ui.say("%s is trusted in its current version", rules)
	return nil
}

// distrust revokes the trust in a file and in the secret rules beside it.
func (p *program) distrust(home, file string) error {
	trusted, err := config.LoadTrust(home)
	if err != nil {
		return err
	}
	revoked := false
	for _, name := range []string{file, config.RulesFile(filepath.Dir(file))} {
		if !slices.Contains(trusted.Files(), name) {
			continue
		}
		if err := config.Distrust(home, name); err != nil {
			return err
		}
		p.ui.say("%s is no longer trusted", name)
		revoked = true
	}
	if !revoked {
		p.ui.say("%s was not trusted", file)
	}
	return nil
}
