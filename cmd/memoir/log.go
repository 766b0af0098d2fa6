package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// generationJSON is one published state as `log --json` gives it.
type generationJSON struct {
	Project     string         `json:"project"`
	Generation  int            `json:"generation"`
	Live        bool           `json:"live"`
	PublishedAt *time.Time     `json:"published_at"`
	Inputs      []string       `json:"inputs"` // session keys
	Files       int            `json:"files"`
	Bytes       int64          `json:"bytes"` // of the archive
	Redactions  map[string]int `json:"redactions"`
	EditedFrom  int            `json:"edited_from"`   // contains the hand edits of this generation; 0: none
	Restored    int            `json:"restored_from"` // has the content of this generation; 0: was not restored
	Forgotten   bool           `json:"forgotten"`     // it contains forgotten sessions
	Redacted    int            `json:"redacted_from"` // made by redacting this generation; 0: was not
	Error       string         `json:"error"`
}

func logCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "log", Category: groupMemory,
		Usage: "list the generations of a project's memory",
		Description: help("Lists the generations that are kept, the newest first: of this directory's project, of\n"+
			"another, or of all. The next publication turns your edits of the live files into a generation.",
			"memoir log", "memoir log --project mise --json", "memoir log --all"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "of all projects"},
			jsonFlag(),
		},
		Action: p.log,
	}
}

func (p *program) log(c *cli.Context) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	open := p.openForReading
	if c.Bool("all") {
		open = p.openForListing
	}
	st, err := open(c)
	if err != nil {
		return err
	}
	var projects []store.ProjectRow
	if st != nil {
		defer st.Close()
		if projects, err = p.projectsNamed(c, st); err != nil {
			return err
		}
	}
	generations, err := generations(c.Context, st, home, projects)
	if err != nil {
		return err
	}
	return p.result(c, struct {
		Generations []generationJSON `json:"generations"`
	}{list(generations)}, func() {
		t := newTable("generation", "published", "sessions", "files", "archive", "project", "")
		t.narrower = []step{{"archive", 0}, {"files", 0}, {"project", 12}}
		forgotten := false
		for _, g := range generations {
			published := none
			if g.PublishedAt != nil {
				published = when(*g.PublishedAt)
			}
			t.row(g.Generation, published, len(g.Inputs), g.Files, size(g.Bytes), g.Project, g.note())
			forgotten = forgotten || g.Forgotten && !g.Live
		}
		p.ui.table(t)
		if st != nil {
			p.ui.say("%s", count(len(generations), "generation"))
		}
		if forgotten {
			p.ui.sayHint("`memoir forget` with --purge removes generations that contain forgotten sessions; " +
				"restoring one leaves them out")
		}
	})
}

// note says what is special about a generation.
func (g generationJSON) note() string {
	var notes []string
	add := func(applies bool, format string, args ...any) {
		if applies {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(g.Live, "live")
	add(g.EditedFrom > 0, "hand edits of %d", g.EditedFrom)
	add(g.Restored > 0, "restored from %d", g.Restored)
	add(g.Redacted > 0, "redacted from %d", g.Redacted)
	add(g.Error != "", "%s", g.Error)
	add(g.Forgotten, "contains forgotten sessions")
	return strings.Join(notes, ", ")
}

// generations lists the archives of projects, the newest first.
func generations(ctx context.Context, st *store.Store, home string, projects []store.ProjectRow) ([]generationJSON,
	error) {
	var out []generationJSON
	for _, project := range projects {
		root := memory.At(home, project.ID)
		kept, err := root.Generations()
		if err != nil {
			return nil, fmt.Errorf("list the generations of %s: %w", project.ID, err)
		}
		telling, err := pipeline.TellOfForgotten(ctx, st, kept)
		if err != nil {
			return nil, err
		}
		for i := len(kept) - 1; i >= 0; i-- {
			g := kept[i]
			row := generationJSON{
				Project: project.ID, Generation: g.Number, Live: g.Live, PublishedAt: timeJSON(g.ModTime), Inputs: []string{},
				Files: len(g.Manifest.Files), Bytes: g.Bytes, Redactions: g.Manifest.Redactions,
				EditedFrom: g.Manifest.EditedFrom, Restored: g.Manifest.RestoredFrom, Forgotten: telling[g.Number],
				Redacted: g.Manifest.RedactedFrom,
			}
			for _, in := range g.Manifest.Inputs {
				row.Inputs = append(row.Inputs, in.Session)
			}
			if row.Redactions == nil {
				row.Redactions = map[string]int{}
			}
			if g.Err != nil {
				row.Error = g.Err.Error()
			}
			out = append(out, row)
		}
	}
	return out, nil
}
