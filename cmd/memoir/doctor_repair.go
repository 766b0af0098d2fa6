package main

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/project"
	"memoir/store"
)

const repairHelp = "With --repair a database that is damaged or gone is replaced by a new one, made of all that\n" +
	"can be read of it and of the live memories. The old one is kept beside it, under a name with\n" +
	"the date. Asks first; without a terminal it needs --yes."

func repairFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "repair", Usage: "make a new database of what can be read of a damaged one"},
		&cli.BoolFlag{Name: "dry-run", Usage: "with --repair: say what can be read, and change nothing"},
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "with --repair: do not ask"},
	}
}

// asksToRepair reports whether --repair was given.
func asksToRepair(c *cli.Context) (bool, error) {
	for _, flag := range []string{"dry-run", "yes"} {
		if c.Bool(flag) && !c.Bool("repair") {
			return false, usagef("", "--%s goes with --repair", flag)
		}
	}
	return c.Bool("repair"), nil
}

// repairJSON is what `doctor --repair --json` prints.
type repairJSON struct {
	Repaired bool            `json:"repaired"` // a new database was put in place
	Damage   []string        `json:"damage"`   // what is wrong with the old one; empty if it is sound or missing
	Missing  bool            `json:"missing"`
	Resumed  bool            `json:"resumed"` // an earlier repair was finished
	Kept     string          `json:"kept"`    // where the old database is, or would be
	Tables   []repairedTable `json:"tables"`
	Projects []adoptedJSON   `json:"projects"` // what was taken from the files of their memory
}

type repairedTable struct {
	Table   string `json:"table"`
	Rows    int    `json:"rows"`
	Lost    int    `json:"lost"`    // known to be lost
	Unknown bool   `json:"unknown"` // more may be
}

type adoptedJSON struct {
	Project     string   `json:"project"`
	Extractions int      `json:"extractions"`
	Notes       int      `json:"notes"`
	Generations int      `json:"generations"` // that the database did not know, or otherwise
	Lost        []string `json:"lost"`        // sessions of its memory of which nothing is left
	Error       string   `json:"error"`       // why its memory can't be read
	Mended      int      `json:"mended"`      // extractions that the disk had changed, taken from its memory
	Again       int      `json:"again"`       // of those whose sessions are read again
	Stay        int      `json:"stay"`        // of those that neither could be done with: they stay as they are
}

// repair replaces a damaged database.
func (p *program) repair(c *cli.Context) error {
	settings, err := p.settings(c, nil)
	if err != nil {
		return err
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	if !isDirectory(home) {
		p.ui.say("%s does not exist: there is nothing to repair", home)
		return nil
	}
	r, err := store.BeginRepair(c.Context, filepath.Join(home, databaseName), store.RepairOptions{BusyTimeout: busyTimeout(settings)})
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			_ = r.Abandon()
		}
	}()
	out := repairJSON{Damage: list(r.Damage), Missing: r.Missing, Resumed: r.Resumed, Kept: r.Kept, Tables: []repairedTable{}, Projects: []adoptedJSON{}}
	for _, t := range r.Tables {
		out.Tables = append(out.Tables, repairedTable{t.Table, t.Rows, t.Lost, t.Unknown})
	}
	needed := r.Missing || len(r.Damage) > 0
	if !needed && !r.Resumed {
		if err := r.Abandon(); err != nil {
			return err
		}
		done = true
		return p.mendSound(c, home, out)
	}
	if needed {
		if out.Projects, err = p.adopt(c, r, settings, home); err != nil {
			return err
		}
	}
	if r.Missing && len(out.Projects) == 0 && r.Kept == "" {
		needed = false
	}
	if !c.Bool("json") {
		p.sayRepair(out, r.LogCut, needed)
	}
	switch {
	case !needed && !r.Resumed:
	case c.Bool("dry-run"):
		p.ui.say("nothing was changed")
	default:
		if err := p.confirmRepair(c, home); err != nil {
			return err
		}
		done = true
		if err := r.Finish(c.Context); err != nil {
			return err
		}
		out.Repaired = true
		if err := p.mendRepaired(c, home, &out); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return p.ui.json(out)
	}
	if out.Repaired {
		p.sayMended(out)
		p.ui.say("the database is repaired%s", keptAs(out.Kept))
		p.ui.sayHint("`memoir run` looks for sessions again, and reads those whose extraction was lost")
	}
	return nil
}

func keptAs(path string) string {
	if path == "" {
		return ""
	}
	return "; the old one is kept as " + path
}

// adopt takes what is lost from the files of the memories.
func (p *program) adopt(c *cli.Context, r *store.Repair, settings config.Settings, home string) ([]adoptedJSON, error) {
	damaged := map[string]bool{}
	for _, t := range r.Tables {
		damaged[t.Table] = t.Damaged()
	}
	trusted, err := config.LoadTrust(home)
	if err != nil {
		return nil, err
	}
	resolver := project.NewResolver(project.Options{Home: p.env().Home,
		Explicit: func(dir string) string { return settings.ProjectName(dir, trusted) }, Clean: p.redact})
	identify := func(cwd, remote string) (memoir.Project, project.Status) {
		found, status := resolver.Identify(cwd, remote)
		return project.Changed(found, p.redact), status
	}
	o := pipeline.AdoptOptions{Home: home, Identify: identify,
		Unregistered: r.Missing || damaged["project"], ExtractionsLost: r.Missing || damaged["extraction"], NotesLost: r.Missing || damaged["note"],
		GenerationsLost: r.Missing || damaged["generation"]}
	if !o.Unregistered && !o.ExtractionsLost && !o.NotesLost && !o.GenerationsLost {
		return []adoptedJSON{}, nil
	}
	out := []adoptedJSON{}
	err = r.Fill(c.Context, func(st *store.Store) error {
		adopted, err := pipeline.Adopt(c.Context, st, o)
		for _, a := range adopted {
			row := adoptedJSON{Project: a.ID, Extractions: a.Extractions, Notes: a.Notes, Generations: a.Generations, Lost: list(a.Lost)}
			if a.Err != nil {
				row.Error = p.redact(a.Err.Error())
			}
			out = append(out, row)
		}
		return err
	})
	return out, err
}

// sayRepair tells what was found.
func (p *program) sayRepair(out repairJSON, logCut, needed bool) {
	switch {
	case out.Resumed:
		p.ui.say("an earlier repair is complete, and only needs to be put in place")
		return
	case !needed && out.Missing:
		p.ui.say("there is no database, and no memory: there is nothing to repair")
		return
	case out.Missing:
		extractions, notes := 0, 0
		for _, a := range out.Projects {
			extractions, notes = extractions+a.Extractions, notes+a.Notes
		}
		p.ui.say("the database is gone or empty: what the memory of %s tells is taken over, %s and %s",
			count(len(out.Projects), "project"), count(extractions, "extraction"), count(notes, "edit")+" by hand")
	}
	const shown = 3
	for i, line := range out.Damage {
		if i == shown {
			p.ui.say("and %s more", count(len(out.Damage)-shown, "fault"))
			break
		}
		p.ui.say("%s", line)
	}
	if logCut {
		p.ui.say("the end of its log is lost, and with it what was written last")
	}
	for _, t := range out.Tables {
		switch {
		case out.Missing: // of all of them nobody can tell
		case t.Unknown:
			p.ui.printf("%s: %s read, an unknown number lost\n", t.Table, count(t.Rows, "row"))
		case t.Lost > 0:
			p.ui.printf("%s: %d of %s read\n", t.Table, t.Rows, count(t.Rows+t.Lost, "row"))
		case t.Rows > 0:
			p.ui.printf("%s: %s read\n", t.Table, count(t.Rows, "row"))
		}
	}
	for _, a := range out.Projects {
		if a.Error != "" {
			p.ui.warn("its memory stays as it is, and the next run says what to do about it", "project %s: %s", a.Project, a.Error)
			continue
		}
		if a.Extractions > 0 || a.Notes > 0 {
			p.ui.printf("%s: %s and %s taken from its memory\n", a.Project, count(a.Extractions, "extraction"), count(a.Notes, "note"))
		}
		if len(a.Lost) > 0 {
			p.ui.warn("they are read again if their files are still there", "project %s: nothing is left of %s that its memory rests on", a.Project, count(len(a.Lost), "session"))
		}
	}
	p.sayGenerations(out)
	for _, t := range out.Tables {
		if t.Table == "mark" && (t.Unknown || t.Lost > 0) && !out.Missing {
			p.ui.warn("`memoir forget` again what must not come back, before the next run", "what was forgotten or disabled is not all known any more: %s left", count(t.Rows, "mark"))
		}
	}
	if out.Missing {
		p.ui.warn("`memoir forget` again what must not come back, before the next run", "what was forgotten or disabled is not known any more")
	}
}

// confirmRepair asks unless --yes was said.
func (p *program) confirmRepair(c *cli.Context, home string) error {
	if c.Bool("yes") {
		return nil
	}
	if !p.ui.canAsk() {
		return usagef("pass --yes, or --dry-run to see what can be read", "%s would replace the database in %s, and stdin is not a terminal", calledAs(c), home)
	}
	yes, err := p.ui.ask(c.Context, "put the new database in place, and keep the old one?")
	if err != nil {
		return err
	}
	if !yes {
		p.ui.say("nothing was changed")
		return status(exitFailed)
	}
	return nil
}
