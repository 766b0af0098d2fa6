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
	Project string     `json:"project"` // whose memory it was removed from
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
		tombstones, err := st.Tombstones(c.Context)
		if err != nil {
			return err
		}
		for _, s := range tombstones {
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
	tombstones, err := st.Tombstones(ctx)
	if err != nil {
		return store.Tombstone{}, err
	}
	found := pipeline.TombstonesNamed(tombstones, ref)
	switch len(found) {
	case 0:
		return store.Tombstone{}, memoir.Errorf(memoir.CodeNotFound, "`memoir forget --list` lists them", "no forgotten session is called %q", ref)
	case 1:
		return found[0], nil
	}
	return store.Tombstone{}, usagef("use more of the id", "%s that were forgotten begin with %q", count(len(found), "session"), ref)
}

// undoForgetting removes tombstones.
func (p *program) undoForgetting(c *cli.Context, st *store.Store, refs []string) error {
	var tombstones []store.Tombstone
	for _, ref := range refs {
		tombstone, err := p.tombstone(c.Context, st, ref)
		if err != nil {
			return err
		}
		tombstones = append(tombstones, tombstone)
	}
	out := struct {
		Undone []string `json:"undone"`
	}{[]string{}}
	for _, tombstone := range tombstones {
		if !c.Bool("dry-run") {
			if err := st.SetForgotten(c.Context, tombstone.Key, false); err != nil {
				return err
			}
		}
		out.Undone = append(out.Undone, tombstone.Key)
		p.ui.say("%s is no longer forgotten", tombstone.Key)
	}
	p.ui.sayHint("the next run reads it anew if its files are still there and not too old")
	return p.forgetResult(c, out)
}

// projectToForget is the one that --project names.
func (p *program) projectToForget(c *cli.Context, st *store.Store, opts pipeline.Options) (store.ProjectRow, error) {
	ref, err := projectFlag(c)
	if err != nil {
		return store.ProjectRow{}, err
	}
	if !c.Bool("dry-run") {
		if err := pipeline.FinishMoves(c.Context, st, opts.Home); err != nil {
			return store.ProjectRow{}, err
		}
	}
	return p.projectNamed(c, st, ref)
}

// forgetWholeProject is `forget --project`, and `projects forget`.
func (p *program) forgetWholeProject(c *cli.Context, st *store.Store, opts pipeline.Options, project store.ProjectRow) error {
	what := "the memory of " + project.ID + " and forget its " + count(project.Sessions, "session")
	sessions := project.Sessions
	var removed []string
	if c.Bool("dry-run") {
		p.ui.say("would remove %s", what)
	} else {
		if err := p.confirm(c, what, opts.Home); err != nil {
			return err
		}
		var err error
		if sessions, removed, err = pipeline.ForgetProject(c.Context, st, opts, project.ID, c.Bool("purge")); err != nil {
			return err
		}
		p.ui.say("forgot %s with %s", project.ID, count(sessions, "session"))
		for _, path := range removed {
			p.ui.say("removed %s", path)
		}
		if len(project.Directories) > 0 && filepath.IsAbs(project.Directories[0]) {
			p.ui.sayHint("new sessions there start a new project; to prevent that, add " + p.redact(project.Directories[0]) + " to exclude in config.yml")
		}
	}
	type forgotten struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Sessions int    `json:"sessions"`
	}
	return p.forgetResult(c, struct {
		DryRun    bool      `json:"dry_run,omitempty"`
		Forgotten forgotten `json:"forgotten"`
		Removed   []string  `json:"removed"`
	}{c.Bool("dry-run"), forgotten{project.ID, p.redact(project.Name), sessions}, list(removed)})
}
