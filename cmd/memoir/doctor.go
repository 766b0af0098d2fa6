package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/rollout"
	"memoir/store"
)

func doctorCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "doctor", Category: groupSetup,
		Usage: "check the installation and the data",
		Description: help("Checks settings, the database, permissions, where agents keep sessions, what was not\n"+
			"understood of them, and every project's live files against their manifest. Nothing is\n"+
			"changed. Exit code 1 says that something is wrong.\n\n"+repairHelp,
			"memoir doctor", "memoir doctor --json", "memoir doctor --repair --dry-run", "memoir doctor --repair --yes"),
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print one JSON object"}}, repairFlags()...),
		Action: func(c *cli.Context) error {
			if repairs, err := asksToRepair(c); err != nil {
				return err
			} else if repairs {
				return p.repair(c)
			}
			d := &doctor{program: p}
			d.examine(c)
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
	home, err := d.home(c)
	if err != nil {
		d.check("home", "", err)
		return
	}
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		d.add(checkWarn, "home", "`memoir run` makes it", home+" does not exist yet")
		return
	}
	d.permissions(home)
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
		d.add(checkFail, "database", "`memoir doctor --repair` makes a new database of what can be read, and keeps the old one", line)
	}
	if len(damage) == 0 {
		d.add(checkOK, "database", "", st.Path()+" is sound")
	}
	d.unread(c.Context, st)
	d.projects(c.Context, home, st)
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

// agents says whose sessions are found.
func (d *doctor) agents() {
	any := false
	for _, agent := range rollout.Agents {
		var found []string
		for _, root := range agent.Roots(d.env()) {
			if isDirectory(root.Dir) {
				found = append(found, root.Dir)
			}
		}
		any = any || len(found) > 0
		if len(found) > 0 {
			d.add(checkOK, "agent "+string(agent.Source()), "", strings.Join(found, ", "))
		} else {
			d.add(checkOK, "agent "+string(agent.Source()), "", "no sessions on this machine")
		}
	}
	if !any {
		d.add(checkWarn, "agents", "`memoir run --sessions DIR` reads sessions from anywhere", "no agent's sessions were found")
	}
}

// permissions looks for what others could read.
func (d *doctor) permissions(home string) {
	if runtime.GOOS == "windows" {
		return
	}
	open, first := 0, ""
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		if info.Mode().Perm()&0o077 != 0 {
			if open++; first == "" {
				first = fmt.Sprintf("%s (%s)", path, info.Mode().Perm())
			}
		}
		return nil
	})
	switch {
	case err != nil:
		d.check("permissions", "", err)
	case open > 0:
		d.add(checkWarn, "permissions", "chmod -R go= "+home, fmt.Sprintf("others may read %s, such as %s", count(open, "path"), first))
	default:
		d.add(checkOK, "permissions", "", home+" is readable by you alone")
	}
}

// projects compares each project's files with what was published and recorded.
func (d *doctor) projects(ctx context.Context, home string, st *store.Store) {
	rows, err := st.Projects(ctx)
	if err != nil {
		d.check("projects", "", err)
		return
	}
	for _, row := range rows {
		if ctx.Err() != nil {
			return
		}
		root := memory.At(home, row.ID)
		name := "project " + row.ID
		snap, err := root.Current()
		if err != nil {
			d.check(name, "", err)
			continue
		}
		switch recorded := int(row.Generation); {
		case snap.Generation == 0 && recorded > 0:
			d.add(checkFail, name, "`memoir rebuild --project "+row.ID+"` and `memoir run` make it again",
				fmt.Sprintf("generation %d is recorded, but there is no live memory", recorded))
		case snap.Generation != recorded:
			d.add(checkWarn, name, "the next run records it",
				fmt.Sprintf("generation %d is live, %d is recorded", snap.Generation, recorded))
		case snap.Generation == 0:
			d.add(checkOK, name, "", "nothing published yet")
		case len(snap.Edited) > 0:
			d.add(checkOK, name, "", fmt.Sprintf("generation %d, %s edited by hand: the next run keeps that", recorded, count(len(snap.Edited), "file")))
		default:
			d.add(checkOK, name, "", fmt.Sprintf("generation %d, %s as published", recorded, count(len(snap.Files), "file")))
		}
		debris, err := root.Debris(int(row.Generation))
		if err != nil {
			d.check(name, "", err)
		} else if len(debris) > 0 {
			d.add(checkWarn, name, "the next run that consolidates it removes them",
				fmt.Sprintf("%s of a run that was killed: %s", count(len(debris), "leftover"), strings.Join(debris, ", ")))
		}
	}
}
