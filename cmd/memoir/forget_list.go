package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// tombstoneJSON is a session that was forgotten.
type tombstoneJSON struct {
	Session string     `json:"session"` // its key
	Project string     `json:"project"` // whose memory it was withdrawn from
	At      *time.Time `json:"at"`
}

// listForgotten prints the tombstones.
func (p *program) listForgotten(c *cli.Context) error {
	out := struct {
		Forgotten []tombstoneJSON `json:"forgotten"`
	}{[]tombstoneJSON{}}
	st, err := p.openForListing(c)
	if err != nil {
		return err
	}
	t := newTable("session", "forgotten", "project")
	t.narrower = []step{{"session", 16}, {"project", 12}}
	if st != nil {
		defer st.Close()
		stones, err := st.Tombstones(c.Context)
		if err != nil {
			return err
		}
		for _, s := range stones {
			key := p.redact(s.Key)
			out.Forgotten = append(out.Forgotten, tombstoneJSON{key, s.ProjectID, moments(s.At)})
			t.row(key, when(s.At), orDash(s.ProjectID))
		}
	}
	if c.Bool("json") {
		return p.ui.json(out)
	}
	p.ui.table(t)
	if st != nil {
		p.ui.say("%s forgotten", count(len(out.Forgotten), "session"))
	}
	return nil
}

// tombstone finds the one that a person names.
func (p *program) tombstone(ctx context.Context, st *store.Store, ref string) (store.Tombstone, error) {
	stones, err := st.Tombstones(ctx)
	if err != nil {
		return store.Tombstone{}, err
	}
	found := pipeline.TombstonesNamed(stones, ref)
	switch len(found) {
	case 0:
		return store.Tombstone{}, memoir.Errorf(memoir.CodeNotFound, "`memoir forget --list` lists them", "no session called %q was forgotten", ref)
	case 1:
		return found[0], nil
	}
	return store.Tombstone{}, usagef("say more of the id", "%s that were forgotten begin with %q", count(len(found), "session"), ref)
}

// undoForgetting takes tombstones off.
func (p *program) undoForgetting(c *cli.Context, st *store.Store, refs []string) error {
	var stones []store.Tombstone
	for _, ref := range refs {
		stone, err := p.tombstone(c.Context, st, ref)
		if err != nil {
			return err
		}
		stones = append(stones, stone)
	}
	out := struct {
		Undone []string `json:"undone"`
	}{[]string{}}
	for _, stone := range stones {
		if !c.Bool("dry-run") {
			if err := st.SetForgotten(c.Context, stone.Key, false); err != nil {
				return err
			}
		}
		out.Undone = append(out.Undone, stone.Key)
		p.ui.say("%s is no longer forgotten", stone.Key)
	}
	p.ui.sayHint("the next run reads them anew, as far as their files are there and not too old")
	if c.Bool("json") {
		return p.ui.json(out)
	}
	return nil
}

// forgetWholeProject is `forget --project`, and `projects forget`.
func (p *program) forgetWholeProject(c *cli.Context, st *store.Store, opts pipeline.Options, project store.ProjectRow) error {
	of := c.Command.Name == "forget" && c.IsSet("project")
	if c.Bool("dry-run") {
		p.ui.say("would remove the memory of %s and forget its %s", project.ID, count(project.Sessions, "session"))
		return p.forgottenProject(c, of, project, project.Sessions, nil)
	}
	if err := p.confirm(c, "the memory of "+project.ID+" and forget its "+count(project.Sessions, "session"), opts.Home); err != nil {
		return err
	}
	n, removed, err := pipeline.ForgetProject(c.Context, st, opts, project.ID, c.Bool("purge"))
	if err != nil {
		return err
	}
	p.ui.say("forgot %s with %s", project.ID, count(n, "session"))
	for _, path := range removed {
		p.ui.say("removed %s", path)
	}
	if len(project.Directories) > 0 && filepath.IsAbs(project.Directories[0]) {
		p.ui.sayHint("new sessions there begin a new project; to keep it out, add " + p.redact(project.Directories[0]) + " to exclude in config.yml")
	}
	return p.forgottenProject(c, of, project, n, removed)
}

// forgottenProject prints what became of a project, if --json asks for it.
func (p *program) forgottenProject(c *cli.Context, of bool, project store.ProjectRow, sessions int, removed []string) error {
	if !c.Bool("json") {
		return nil
	}
	type forgotten struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Sessions int    `json:"sessions"`
	}
	one := forgotten{project.ID, p.redact(project.Name), sessions}
	if !of {
		return p.ui.json(struct {
			Forgotten forgotten `json:"forgotten"`
		}{one})
	}
	return p.ui.json(struct {
		DryRun    bool      `json:"dry_run,omitempty"`
		Forgotten forgotten `json:"forgotten"`
		Removed   []string  `json:"removed"`
	}{c.Bool("dry-run"), one, list(removed)})
}
