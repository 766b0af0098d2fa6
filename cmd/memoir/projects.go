package main

import (
	"os"
	"time"

	"github.com/urfave/cli/v2"

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
		PublishedAt: timeJSON(r.PublishedAt), Due: r.Due,
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

func projectsCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "projects", Category: groupMemory,
		Usage: "list projects with the paths of their memory",
		Description: help("Lists the projects that sessions belong to, each with the path of its live memory. A\n"+
			"project is known by its remote, else by its repository or directory; --json also has the\n"+
			"directories it was seen in and what it was known by before.",
			"memoir projects", "memoir projects --json"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: p.projects,
	}
}

func (p *program) projects(c *cli.Context) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	st, err := p.openForListing(c)
	if err != nil {
		return err
	}
	var rows []store.ProjectRow
	if st != nil {
		defer st.Close()
		if rows, err = st.Projects(c.Context); err != nil {
			return err
		}
	}
	out := struct {
		Projects []projectJSON `json:"projects"`
	}{[]projectJSON{}}
	t := newTable("project", "sessions", "generation", "published", "memory")
	for _, r := range rows {
		r.Project = p.cleanProject(r.Project)
		one := asProjectJSON(home, r)
		out.Projects = append(out.Projects, one)
		t.row(r.ID, r.Sessions, r.Generation, when(r.PublishedAt), orDash(one.Root))
	}
	return p.result(c, out, func() {
		p.ui.table(t)
		if st != nil {
			p.ui.say("%s", count(len(rows), "project"))
		}
	})
}
