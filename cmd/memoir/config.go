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

// settingJSON is one setting of `config --json`.
type settingJSON struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Doc    string `json:"doc"`
}

func configCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "config", Category: groupSetup,
		Usage: "print every setting and where its value comes from",
		Description: help("Prints every effective setting with its origin: default, a line of config.yml, a\n"+
			"MEMOIR_* variable, or this project's own .memoir.yml. Set memories.enabled to true to let\n"+
			"hooks read sessions and inject memory by themselves. `memoir doctor` shows the source of each\n"+
			"model's key. Settings of a provider are (providers.NAME.…):\n\n"+config.ProviderHelp(),
			"memoir config", "memoir config --json", "MEMOIR_MEMORIES_ENABLED=true memoir config"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			settings, err := p.settings(c, nil)
			if err != nil {
				return err
			}
			var ignored []string
			if here, err := p.here(c, settings); err == nil {
				if settings, ignored, err = p.projectSettings(c, settings, here.top); err != nil {
					return err
				}
			}
			home, err := p.home(c)
			if err != nil {
				return err
			}
			dir, err := p.configDir(c)
			if err != nil {
				return err
			}
			if err := p.printSettings(c, home, dir, settings.Values()); err != nil {
				return err
			}
			for _, i := range ignored {
				p.ui.warn("read the file, then `memoir trust`", "%s", i)
			}
			return nil
		},
	}
}

// printSettings prints the settings, redacted: an address may contain a password, and a command a key.
func (p *program) printSettings(c *cli.Context, home, dir string, values []config.Value) error {
	out := struct {
		Home      string        `json:"home"`
		ConfigDir string        `json:"config_dir"`
		Settings  []settingJSON `json:"settings"`
	}{home, dir, []settingJSON{}}
	t := newTable("setting", "value", "origin")
	for _, v := range values {
		v.Name, v.Value = p.redact(v.Name), p.redact(v.Value)
		out.Settings = append(out.Settings, settingJSON(v))
		t.row(v.Name, orDash(v.Value), v.Origin)
	}
	return p.result(c, out, func() {
		p.ui.table(t)
		p.ui.say("data in %s, configuration in %s", home, dir)
	})
}

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
