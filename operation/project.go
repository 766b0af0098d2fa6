package operation

import (
	"context"
	"os"
	"time"

	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// Project is the form of a registered project.
type Project struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Root        string     `json:"root"` // path of the live memory; empty before the first publication
	Directories []string   `json:"directories"`
	Remote      string     `json:"remote"`
	Aliases     []string   `json:"aliases"`
	Sessions    int        `json:"sessions"`
	Extractions int        `json:"extractions"` // sessions that are inputs of a consolidation
	Notes       int        `json:"notes"`
	Generation  int64      `json:"generation"`
	PublishedAt *time.Time `json:"published_at"`
	Due         bool       `json:"due"`
}

// ProjectOf returns the form of a project with clean texts, except its id: a folder has that name.
func ProjectOf(home string, r store.ProjectRow, clean func(string) string) Project {
	out := Project{
		ID: r.ID, Name: clean(r.Name), Directories: []string{}, Remote: clean(r.Remote), Aliases: []string{},
		Sessions: r.Sessions, Extractions: r.Extractions, Notes: r.Notes, Generation: int64(r.Generation),
		PublishedAt: Time(r.PublishedAt), Due: r.Due,
	}
	for _, dir := range r.Directories {
		out.Directories = append(out.Directories, clean(dir))
	}
	for _, alias := range r.Aliases {
		out.Aliases = append(out.Aliases, clean(alias))
	}
	link := memory.At(home, r.ID).Link()
	if _, err := os.Stat(link); err == nil {
		out.Root = link
	}
	return out
}

// Projects is a list of projects.
type Projects struct {
	Projects []Project `json:"projects"`
}

// ListProjects lists all projects, with clean texts.
func ListProjects(ctx context.Context, st *store.Store, home string, clean func(string) string) (Projects, error) {
	rows, err := pipeline.Projects(ctx, st, home)
	out := Projects{[]Project{}}
	for _, row := range rows {
		out.Projects = append(out.Projects, ProjectOf(home, row, clean))
	}
	return out, err
}
