package main

import (
	"context"
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

// rulesHint is what to do since the rules are others than those that all that is stored was
// held against; empty if they are not, or that cannot be told: who asks is busy with
// something else.
func (p *program) rulesHint(ctx context.Context, c *cli.Context, st *store.Store) string {
	dir, err := p.configDir(c)
	if err != nil {
		return ""
	}
	if changed, err := pipeline.RulesChanged(ctx, st, dir); err != nil || !changed {
		return ""
	}
	return "the rules for secrets changed since all that is stored was looked through: `memoir scan --stored`"
}

// ownRules is doctor's check of a person's own rules.
func (d *doctor) ownRules(c *cli.Context) {
	dir, err := d.configDir(c)
	if err != nil {
		return // and the settings cannot be read, which was said
	}
	file := config.RulesFile(dir)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return
	}
	d.check("secret rules", file+" is valid", secrets.Check(secrets.Options{ConfigPath: file}))
	if unread, err := secrets.Unread(file); err == nil && len(unread) > 0 {
		d.add(checkWarn, "secret rules", "correct their spelling, or take them out: the rules count without them", "nothing reads "+strings.Join(unread, "; "))
	}
}

// projectRules is doctor's check of the rules that projects add.
func (d *doctor) projectRules(c *cli.Context, home string, rows []store.ProjectRow) {
	dir, err := d.configDir(c)
	if err != nil || secrets.Check(secrets.Options{ConfigPath: config.RulesFile(dir)}) != nil {
		return // which was said
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

// storedRules is doctor's check of the same.
func (d *doctor) storedRules(c *cli.Context, st *store.Store) {
	if hint := d.rulesHint(c.Context, c, st); hint != "" {
		d.add(checkWarn, "stored secrets", "`memoir scan --stored`, then `memoir redact --stored` if it finds some", "the rules changed since all that is stored was looked through")
	}
}
