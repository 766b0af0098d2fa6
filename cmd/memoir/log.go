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
		Description: help("Lists the generations that are kept, the newest first: of this directory's project, or of\n"+
			"another. The next publication turns your edits of the live files into a generation.",
			"memoir log", "memoir log --project mise --json"),
		Flags: []cli.Flag{
			projectRefFlag(),
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
	st, err := p.openForReading(c)
	if err != nil {
		return err
	}
	defer st.Close()
	ref, err := projectFlag(c)
	if err != nil {
		return err
	}
	project, err := p.projectNamed(c, st, ref)
	if err != nil {
		return err
	}
	generations, err := generations(c.Context, st, home, project.ID)
	if err != nil {
		return err
	}
	return p.result(c, struct {
		Generations []generationJSON `json:"generations"`
	}{list(generations)}, func() {
		t := newTable("generation", "published", "sessions", "files", "archive", "")
		forgotten := false
		for _, g := range generations {
			published := none
			if g.PublishedAt != nil {
				published = when(*g.PublishedAt)
			}
			t.row(g.Generation, published, len(g.Inputs), g.Files, size(g.Bytes), g.note())
			forgotten = forgotten || g.Forgotten && !g.Live
		}
		p.ui.table(t)
		p.ui.say("%s", count(len(generations), "generation"))
		if forgotten {
			p.ui.sayHint("`memoir forget` with --purge removes generations that contain forgotten sessions; " +
				"they cannot be restored")
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

// generations lists the archives of a project, the newest first.
func generations(ctx context.Context, st *store.Store, home, project string) ([]generationJSON, error) {
	kept, err := memory.At(home, project).Generations()
	if err != nil {
		return nil, fmt.Errorf("list the generations of %s: %w", project, err)
	}
	forgotten, err := pipeline.RestingOnForgotten(ctx, st, kept)
	if err != nil {
		return nil, err
	}
	var out []generationJSON
	for _, g := range slices.Backward(kept) {
		m := g.Manifest
		row := generationJSON{
			Project: project, Generation: g.Number, Live: g.Live, PublishedAt: timeJSON(g.ModTime), Inputs: []string{},
			Files: len(m.Files), Bytes: g.Bytes, Redactions: m.Redactions, EditedFrom: m.EditedFrom,
			Restored: m.RestoredFrom, Forgotten: forgotten[g.Number], Redacted: m.RedactedFrom,
		}
		for _, in := range m.Inputs {
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
	return out, nil
}
