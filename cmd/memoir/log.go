package main

import (
	"context"
	"fmt"
	"slices"
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
	EditedFrom  int            `json:"edited_from"`   // made by hand of this generation; 0: not by hand
	Restored    int            `json:"restored_from"` // has the content of this generation; 0: was not restored
	Forgotten   bool           `json:"forgotten"`     // it tells of what was forgotten
	Redacted    int            `json:"redacted_from"` // is this generation without secrets that were found later; 0: is not
	Error       string         `json:"error"`
}

func logCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "log", Category: groupMemory,
		Usage: "list the generations of a project's memory",
		Description: help("Lists the generations that are kept, the newest first: of this directory's project, of\n"+
			"another, or of all. What you edited in the live files is a generation of its own from the\n"+
			"next publication on.", "memoir log", "memoir log --project mise --json", "memoir log --all"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "of all projects"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
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
			if c.Bool("json") {
				return p.ui.json(struct {
					Generations []generationJSON `json:"generations"`
				}{list(generations)})
			}
			t := newTable("generation", "published", "sessions", "files", "archive", "project", "")
			t.narrower = []step{{"archive", 0}, {"files", 0}, {"project", 12}}
			for _, g := range generations {
				note := g.Error
				switch {
				case g.EditedFrom > 0:
					note = strings.TrimSpace(fmt.Sprintf("by hand, of %d %s", g.EditedFrom, note))
				case g.Restored > 0:
					note = strings.TrimSpace(fmt.Sprintf("restored from %d %s", g.Restored, note))
				case g.Redacted > 0:
					note = strings.TrimSpace(fmt.Sprintf("redacted from %d %s", g.Redacted, note))
				}
				if g.Forgotten {
					note = strings.TrimPrefix(note+", ", ", ") + "tells of what was forgotten"
				}
				if g.Live {
					note = strings.TrimSuffix("live, "+note, ", ")
				}
				published := none
				if g.PublishedAt != nil {
					published = when(*g.PublishedAt)
				}
				t.row(g.Generation, published, len(g.Inputs), g.Files, size(g.Bytes), g.Project, note)
			}
			p.ui.table(t)
			if st != nil {
				p.ui.say("%s", count(len(generations), "generation"))
			}
			if slices.ContainsFunc(generations, func(g generationJSON) bool { return g.Forgotten && !g.Live }) {
				p.ui.sayHint("`memoir forget` with --purge removes the generations that tell of what was forgotten; restoring one leaves it out")
			}
			return nil
		},
	}
}

// generations lists the archives of projects, the newest first.
func generations(ctx context.Context, st *store.Store, home string, projects []store.ProjectRow) ([]generationJSON, error) {
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
				Project: project.ID, Generation: g.Number, Live: g.Live, PublishedAt: moments(g.ModTime), Inputs: []string{},
				Files: len(g.Manifest.Files), Bytes: g.Bytes, Redactions: g.Manifest.Redactions,
				EditedFrom: g.Manifest.EditedFrom, Restored: g.Manifest.RestoredFrom, Forgotten: telling[g.Number], Redacted: g.Manifest.RedactedFrom,
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
