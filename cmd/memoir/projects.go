package main

import (
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
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
		Usage: "list projects with the paths of their memory; merge or rename one",
		Description: help("Lists the projects that sessions belong to, each with the path of its live memory. A\n"+
			"project is known by its remote, else by its repository or directory; --json also has the\n"+
			"directories it was seen in and what it was known by before.",
			"memoir projects", "memoir projects --json",
			"memoir projects merge old-name new-name", "memoir projects rename app-0123456789ab shop"),
		Flags:       []cli.Flag{jsonFlag()},
		Action:      p.projects,
		Subcommands: []*cli.Command{mergeCommand(p), renameCommand(p)},
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
	t := newTable("project", "name", "sessions", "extractions", "generation", "published", "also", "memory")
	t.narrower = []step{{"memory", below}, {"also", 20}, {"also", 0}, {"extractions", 0}, {"sessions", 0}, {"name", 0},
		{"published", 0}}
	for _, r := range rows {
		r.Project = p.cleanProject(r.Project)
		one := asProjectJSON(home, r)
		out.Projects = append(out.Projects, one)
		t.row(r.ID, r.Name, r.Sessions, r.Extractions, r.Generation, when(r.PublishedAt), orDash(alsoKnown(r.Project)),
			orDash(one.Root))
	}
	return p.result(c, out, func() {
		p.ui.table(t)
		if st != nil {
			p.ui.say("%s", count(len(rows), "project"))
		}
	})
}

// alsoKnown are the aliases of a project that are not its own directories.
func alsoKnown(p memoir.Project) string {
	var also []string
	for _, alias := range p.Aliases {
		if !slices.Contains(p.Directories, alias) {
			also = append(also, alias)
		}
	}
	return strings.Join(also, ", ")
}

func mergeCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "merge", ArgsUsage: "PROJECT INTO",
		Usage: "merge the first project into the second",
		Description: help("Gives the second project all that belongs to the first: sessions, what was extracted from\n"+
			"them, what you wrote into its memory, directories, and the names it is known by. Later\n"+
			"sessions of the first count for the second. The next run consolidates both together. The\n"+
			"first one's memory and generations are kept in the folder merged/ of the second; where\n"+
			"hand edits of both contradict each other, those of the second win. It cannot be undone.",
			"memoir projects merge app-old app", "memoir projects merge ~/src/app-copy . --wait 5m"),
		Flags: []cli.Flag{
			waitFlag(),
			jsonFlag(),
		},
		Action: p.mergeProjects,
	}
}

func (p *program) mergeProjects(c *cli.Context) error {
	from, into, err := twoArguments(c, "two projects: which one, and into which")
	if err != nil {
		return err
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	source, err := p.projectNamed(c, st, from)
	if err != nil {
		return err
	}
	target, err := p.projectNamed(c, st, into)
	if err != nil {
		return err
	}
	if source.ID == target.ID { // also if it was merged before: its name finds the other
		p.ui.say("%s and %s are the same project", from, into)
		return p.changed(c, st, target.ID)
	}
	if err := pipeline.Merge(c.Context, st, opts, source.Project, target.Project); err != nil {
		return err
	}
	p.ui.say("%s is now a part of %s, with %s", source.ID, target.ID, count(source.Sessions, "session"))
	p.ui.sayHint("the next run consolidates them together")
	return p.changed(c, st, target.ID)
}

// changed prints the project after a change, if --json was given.
func (p *program) changed(c *cli.Context, st *store.Store, id string) error {
	if !c.Bool("json") {
		return nil
	}
	home, err := p.home(c)
	if err != nil {
		return err
	}
	row, err := st.FindProject(c.Context, id)
	if err != nil {
		return err
	}
	row.Project = p.cleanProject(row.Project)
	return p.ui.json(struct {
		Project projectJSON `json:"project"`
	}{asProjectJSON(home, row)})
}

func renameCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "rename", ArgsUsage: "PROJECT NAME",
		Usage: "give a project another name",
		Description: help("Changes the name that a project is shown with and that --project takes. Its id and its\n"+
			"folder stay, the former name still finds it, and no run changes the name again.",
			"memoir projects rename app-0123456789ab shop"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			ref, name, err := twoArguments(c, "a project and its new name")
			if err != nil {
				return err
			}
			if name, err = p.newName(name); err != nil {
				return err
			}
			st, err := p.openForWriting(c)
			if err != nil {
				return err
			}
			defer st.Close()
			project, err := p.projectNamed(c, st, ref)
			if err != nil {
				return err
			}
			if err := st.RenameProject(c.Context, project.ID, name); err != nil {
				return err
			}
			p.ui.say("%s is renamed to %s", project.ID, name)
			return p.changed(c, st, project.ID)
		},
	}
}

// maxProjectName bounds a name that a person chose, in bytes, as the settings do.
const maxProjectName = 100

// newName checks a name that a person chose: one line, unlike a path or a flag.
func (p *program) newName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "", len(name) > maxProjectName, !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return "", usagef("", "a project's name is a line of at most %d bytes", maxProjectName)
	case strings.ContainsAny(name, `/\`), name[0] == '-', name[0] == '.':
		return "", usagef("", "%q looks like a path or a flag", name)
	case p.redact(name) != name:
		return "", usagef("choose another", "the name contains what looks like a secret")
	}
	return name, nil
}

// twoArguments returns the two arguments of a command that needs both.
func twoArguments(c *cli.Context, what string) (first, second string, err error) {
	first, second = c.Args().Get(0), c.Args().Get(1)
	if c.NArg() != 2 || first == "" || second == "" {
		return "", "", usagef("", "%s needs %s", calledAs(c), what)
	}
	return first, second, nil
}
