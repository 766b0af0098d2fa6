package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir/config"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

// ownRules checks a person's own rules for secrets.
func (d *doctor) ownRules(c *cli.Context) {
	dir, err := d.configDir(c)
	if err != nil {
		return // the check of the settings reports it
	}
	file := config.RulesFile(dir)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return
	}
	d.check("secret rules", file+" is valid", secrets.Check(secrets.Options{ConfigPath: file}))
	if unread, err := secrets.Unread(file); err == nil && len(unread) > 0 {
		d.add(checkWarn, "secret rules", "correct their spelling, or remove them", "unknown keys: "+strings.Join(unread, "; "))
	}
}

// projectRules checks the rules for secrets that projects add.
func (d *doctor) projectRules(c *cli.Context, home string, rows []store.ProjectRow) {
	dir, err := d.configDir(c)
	if err != nil || secrets.Check(secrets.Options{ConfigPath: config.RulesFile(dir)}) != nil {
		return // ownRules reports it
	}
	trusted, err := config.LoadTrust(home)
	if err != nil {
		d.check("projects' rules", "", err)
		return
	}
	misruled := pipeline.FindMisruled(rows, dir, trusted)
	for _, m := range misruled {
		d.add(checkFail, "rules of project "+m.Project, m.Hint, m.Error)
	}
	if len(misruled) == 0 {
		d.add(checkOK, "projects' rules", "", "valid")
	}
}
