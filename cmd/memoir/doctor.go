package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

func doctorCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "doctor", Category: groupSetup,
		Usage: "check the installation and the data",
		Description: help("Checks settings, the database and its rows, permissions, the disk, where agents keep\n"+
			"sessions, what was not understood of them, what killed runs left behind, and every project's\n"+
			"live files and archives against their manifests. Each finding says what to do about it.\n"+
			"Nothing is changed. Exit code 1 says that something is wrong.",
			"memoir doctor", "memoir doctor --json"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print one JSON object"}},
		Action: func(c *cli.Context) error {
			d := &doctor{program: p}
			d.examine(c)
			d.clean(p.redact)
			if c.Bool("json") {
				err := p.ui.json(struct {
					OK      bool          `json:"ok"`
					Checks  []check       `json:"checks"`
					Records []recordsJSON `json:"records"` // that no reader understood
				}{d.failed() == 0, list(d.checks), list(d.records)})
				if err != nil {
					return err
				}
			} else {
				p.ui.printChecks(d.checks)
			}
			if n := d.failed(); n > 0 {
				p.ui.say("%s failed", count(n, "check"))
				return status(exitFailed)
			}
			return nil
		},
	}
}

// doctor is one run of `memoir doctor`.
type doctor struct {
	*program
	checklist
	records []recordsJSON
}

func (d *doctor) examine(c *cli.Context) {
	settings, err := d.settings(c, nil)
	d.check("settings", "valid", err)
	if err == nil {
		d.models(settings)
		if settings.Memories.Enabled {
			d.add(checkOK, "memories.enabled", "", "on: hooks read sessions and inject memory")
		} else {
			d.add(checkWarn, "memories.enabled", "set memories.enabled to true in "+d.configFile(c), "off: hooks do nothing; commands typed by hand work")
		}
	}
	d.agents()
	d.configuration(c)
	home, err := d.home(c)
	if err != nil {
		d.check("home", "", err)
		return
	}
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		d.add(checkWarn, "home", "`memoir run` makes it", home+" does not exist yet")
		d.limits(c.Context, nil, settings)
		return
	}
	d.permissions(home)
	d.space(home)
	d.leftovers(home)
	st, err := d.openForReading(c)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		d.add(checkWarn, "database", memoir.HintOf(err), err.Error())
		return
	}
	if err != nil {
		d.check("database", "", err)
		return
	}
	defer st.Close()
	damage, err := st.Check(c.Context)
	if err != nil {
		d.check("database", "", err)
		return
	}
	for _, line := range damage {
		d.add(checkFail, "database", "move "+st.Path()+" aside: the next run opens the backup", line)
	}
	if len(damage) == 0 {
		d.add(checkOK, "database", "", st.Path()+" is sound")
	}
	d.limits(c.Context, st, settings)
	d.unread(c.Context, st)
	d.jobs(c.Context, home, st)
	rows, err := st.Projects(c.Context)
	if err != nil {
		d.check("projects", "", err)
		return
	}
	d.projectRules(c, home, rows)
	for _, row := range rows {
		d.project(c.Context, memory.At(home, row.ID), st, row)
	}
	d.folders(c.Context, home, st, rows)
}

// limits says that a limit on costs holds nothing back where nobody knows the costs.
func (d *doctor) limits(ctx context.Context, st *store.Store, settings config.Settings) {
	name, err := pipeline.Unpriced(ctx, st, settings)
	switch {
	case err != nil:
		d.check("limits", "", err)
	case name != "":
		d.add(checkWarn, "limits", "say the provider's inputPrice and outputPrice, or use limits.tokensPerRun and limits.tokensPerDay",
			"a limit on costs is set, but what "+name+" costs is not known: the limit does not hold")
	}
}

// check adds a check that err fails.
func (d *doctor) check(name, good string, err error) {
	if err != nil {
		d.add(checkFail, name, memoir.HintOf(err), err.Error())
		return
	}
	d.add(checkOK, name, "", good)
}

// configFile is where a person's settings go.
func (d *doctor) configFile(c *cli.Context) string {
	dir, err := d.configDir(c)
	if err != nil || dir == "" {
		return config.FileName
	}
	return filepath.Join(dir, config.FileName)
}
