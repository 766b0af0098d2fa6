package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir/config"
	"memoir/model"
	"memoir/pipeline"
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
			"hooks read sessions and inject memory by themselves. A key is shown by its source alone.\n"+
			"Settings of a provider (providers.NAME.…); those from effort on are also settings of one\n"+
			"model (models.PROVIDER/MODEL.…):\n\n"+providerHelp(),
			"memoir config", "memoir config --json", "MEMOIR_MEMORIES_ENABLED=true memoir config"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			settings, err := p.settings(c, nil)
			if err != nil {
				return err
			}
			var ignored []config.Ignored
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
			if err := p.printSettings(c.Bool("json"), home, dir, settings.Values(), p.keys(settings)); err != nil {
				return err
			}
			for _, w := range settings.Warnings() {
				p.ui.warn(w.Hint, "%s", w.Message)
			}
			for _, i := range ignored {
				p.ui.warn("read the file, then `memoir trust`", "%s: %s has no effect: %s", i.Origin, i.Name, i.Why)
			}
			return nil
		},
	}
}

// providerHelp is a line for each setting of a provider.
func providerHelp() string {
	var b strings.Builder
	for _, d := range config.ProviderDocs() {
		fmt.Fprintf(&b, "  %-16s %s\n", d[0], d[1])
	}
	return b.String()
}

// keyJSON is the source of a provider's key.
type keyJSON struct {
	Provider string `json:"provider"`
	Source   string `json:"source"`
}

// keys are the sources of the keys of the models in use. No key is read.
func (p *program) keys(settings config.Settings) []keyJSON {
	var keys []keyJSON
	for _, role := range pipeline.Roles(settings.ModelRoles) {
		choice, err := pipeline.Choose(settings, role)
		if err != nil || choice.Key.Provider == "" || choice.Options.API == model.APIExec {
			continue
		}
		k := keyJSON{choice.Key.Provider, choice.Key.Source(p.getenv)}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func (p *program) printSettings(asJSON bool, home, dir string, values []config.Value, keys []keyJSON) error {
	for i := range values { // an address may have a password in it, and a command a key
		values[i].Name, values[i].Value = p.redact(values[i].Name), p.redact(values[i].Value)
	}
	for i := range keys {
		keys[i].Provider, keys[i].Source = p.redact(keys[i].Provider), p.redact(keys[i].Source)
	}
	if asJSON {
		out := struct {
			Home      string        `json:"home"`
			ConfigDir string        `json:"config_dir"`
			Settings  []settingJSON `json:"settings"`
			Keys      []keyJSON     `json:"keys"`
		}{home, dir, []settingJSON{}, list(keys)}
		for _, v := range values {
			out.Settings = append(out.Settings, settingJSON(v))
		}
		return p.ui.json(out)
	}
	t := newTable("setting", "value", "origin")
	for _, v := range values {
		value := v.Value
		if value == "" {
			value = none
		}
		t.row(v.Name, value, v.Origin)
	}
	p.ui.table(t)
	for _, k := range keys {
		p.ui.say("key of provider %s: %s", k.Provider, k.Source)
	}
	p.ui.say("data in %s, configuration in %s", home, dir)
	return nil
}
