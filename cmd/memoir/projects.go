package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// projectJSON is a project as `projects --json` and `status --json` give it.
type projectJSON struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Root        string     `json:"root"` // of the live memory; empty before the first publish
	Directories []string   `json:"directories"`
	Remote      string     `json:"remote"`
	Aliases     []string   `json:"aliases"`
	Sessions    int        `json:"sessions"`
	Extractions int        `json:"extractions"`
	Generation  int64      `json:"generation"`
	PublishedAt *time.Time `json:"published_at"`
	Due         bool       `json:"due"`
}

func asProjectJSON(home string, r store.ProjectRow) projectJSON {
	return projectJSON{
		ID: r.ID, Name: r.Name, Root: liveRoot(home, r.ID), Directories: list(r.Directories), Remote: r.Remote,
		Aliases: list(r.Aliases), Sessions: r.Sessions, Extractions: r.Extractions, Generation: int64(r.Generation),
		PublishedAt: moments(r.PublishedAt), Due: r.Due,
	}
}

// liveRoot is the path of a project's live memory, "" if nothing is published.
func liveRoot(home, projectID string) string {
	link := memory.At(home, projectID).Link()
	if _, err := os.Stat(link); err != nil {
		return ""
	}
	return link
}

// registered opens the registry for a listing and reads its projects, redacted.
// The store is nil where nothing is registered, which a person was told.
func (p *program) registered(c *cli.Context) (*store.Store, []store.ProjectRow, error) {
	st, rows, err := p.registeredAsIs(c)
	p.cleanProjects(rows)
	return st, rows, err
}

// registeredAsIs is registered for who shows no more of the projects than their ids.
func (p *program) registeredAsIs(c *cli.Context) (*store.Store, []store.ProjectRow, error) {
	st, err := p.openForListing(c)
	if st == nil {
		return nil, nil, err
	}
	rows, err := st.Projects(c.Context)
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return st, rows, nil
}

func (p *program) cleanProjects(rows []store.ProjectRow) {
	for i := range rows {
		rows[i].Project = p.cleanProject(rows[i].Project)
	}
}

func asProjectsJSON(home string, rows []store.ProjectRow) []projectJSON {
	out := []projectJSON{}
	for _, r := range rows {
		out = append(out, asProjectJSON(home, r))
	}
	return out
}

func projectsCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "projects", Category: groupMemory,
		Usage: "list projects and where their memory is; merge, rename or forget one",
		Description: help("Lists the projects that sessions belong to, each with the path of its live memory. A\n"+
			"project is known by its remote, else by its repository or directory; --json also has the\n"+
			"directories it was seen in and what it was known by before.",
			"memoir projects", "memoir projects --json",
			"memoir projects merge old-name new-name", "memoir projects rename app-0123456789ab shop",
			"memoir projects forget scratch"),
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print one JSON object"}},
		Action:      p.projects,
		Subcommands: []*cli.Command{mergeCommand(p), renameCommand(p), forgetProjectCommand(p)},
	}
}

func (p *program) projects(c *cli.Context) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	st, rows, err := p.registered(c)
	if err != nil {
		return err
	}
	if st != nil {
		defer st.Close()
	}
	if c.Bool("json") {
		return p.ui.json(struct {
			Projects []projectJSON `json:"projects"`
		}{asProjectsJSON(home, rows)})
	}
	t := newTable("project", "name", "sessions", "extractions", "generation", "published", "also", "memory")
	t.narrower = []step{{"memory", below}, {"also", 20}, {"also", 0}, {"extractions", 0}, {"sessions", 0}, {"name", 0}, {"published", 0}}
	for _, r := range rows {
		root := liveRoot(home, r.ID)
		if root == "" {
			root = none
		}
		t.row(r.ID, r.Name, r.Sessions, r.Extractions, r.Generation, when(r.PublishedAt), alsoKnown(r.Project), root)
	}
	p.ui.table(t)
	if st != nil {
		p.ui.say("%s", count(len(rows), "project"))
	}
	return nil
}

// alsoKnown are the aliases of a project that are not its own directories.
func alsoKnown(p memoir.Project) string {
	var also []string
	for _, alias := range p.Aliases {
		if !slices.Contains(p.Directories, alias) {
			also = append(also, alias)
		}
	}
	if len(also) == 0 {
		return none
	}
	return strings.Join(also, ", ")
}
