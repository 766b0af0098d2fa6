package main

import (
	"github.com/urfave/cli/v2"

	"memoir/config"
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
