package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"memoir/pipeline"
	"memoir/store"
)

func mergeCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "merge", ArgsUsage: "PROJECT INTO",
		Usage: "make one project of two: the first becomes a part of the second",
		Description: help("Gives the second project all that belongs to the first: sessions, what was extracted from\n"+
			"them, what you wrote into its memory, directories, and the names it is known by. Later\n"+
			"sessions of the first count for the second. The next run consolidates both together. The\n"+
			"first one's memory and generations are kept in the folder merged/ of the second; where\n"+
			"hand edits of both contradict each other, those of the second hold. Only memoir clear or\n"+
			"projects forget undoes it.",
			"memoir projects merge app-old app", "memoir projects merge ~/src/app-copy . --wait 5m"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "wait", Usage: "wait up to `TIME` for a project that another process holds"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: p.mergeProjects,
	}
}

// changeOptions are those of a command that changes a project while nobody else works
// on it, and waits for that as --wait says.
func (p *program) changeOptions(c *cli.Context) (opts pipeline.Options, err error) {
	opts.Env = p.env()
	if opts.Wait, err = span(c, "wait"); err != nil {
		return opts, err
	}
	if opts.Settings, err = p.settings(c, nil); err != nil {
		return opts, err
	}
	if opts.Home, err = p.home(c); err != nil {
		return opts, err
	}
	opts.ConfigDir, err = p.configDir(c)
	return opts, err
}

// openToChange opens the database for such a command, with its options: of changeOptions,
// or of what adds to them.
func (p *program) openToChange(c *cli.Context, options func(*cli.Context) (pipeline.Options, error)) (pipeline.Options, *store.Store, error) {
	opts, err := options(c)
	if err != nil {
		return opts, nil, err
	}
	st, err := p.openForWriting(c)
	return opts, st, err
}

func (p *program) mergeProjects(c *cli.Context) error {
	from, into, err := twoArguments(c, "two projects: which one, and into which")
	if err != nil {
		return err
	}
	opts, st, err := p.openToChange(c, p.changeOptions)
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
	if source.ID == target.ID { // also when it was merged before: its name leads to the other
		p.ui.say("%s and %s are one project already", from, into)
		return p.changed(c, st, target.ID)
	}
	if err := pipeline.Merge(c.Context, st, opts, source.Project, target.Project); err != nil {
		return err
	}
	p.ui.say("%s is now a part of %s, with %s", source.ID, target.ID, count(source.Sessions, "session"))
	p.ui.sayHint("the next run consolidates them together")
	return p.changed(c, st, target.ID)
}

// changed ends a command on a project with what it is now, if --json asks for it.
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
			"folder stay, the former name goes on leading to it, and no run changes the name again.",
			"memoir projects rename app-0123456789ab shop"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print one JSON object"}},
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
			p.ui.say("%s is now called %s", project.ID, name)
			return p.changed(c, st, project.ID)
		},
	}
}

// maxProjectName bounds a name that a person chose, in bytes, as the settings do.
const maxProjectName = 100

// newName checks a name that a person chose: a line that no path and no flag looks like.
func (p *program) newName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "", len(name) > maxProjectName, !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return "", usagef("", "a project's name is a line of at most %d bytes", maxProjectName)
	case strings.ContainsAny(name, `/\`), name[0] == '-', name[0] == '.':
		return "", usagef("", "%q would be taken for a path or a flag", name)
	case p.redact(name) != name:
		return "", usagef("choose another", "the name holds what looks like a secret")
	}
	return name, nil
}

func forgetProjectCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "forget", ArgsUsage: "PROJECT",
		Usage: "withdraw a project: forget its sessions and delete its memory",
		Description: help("Forgets every session of a project for good, and deletes what was extracted from them, the\n"+
			"project's memory with all generations, and what was merged into it. The agents' own files\n"+
			"stay, but are not read again. New sessions begin a new project: to keep a directory out,\n"+
			"name it in the setting exclude. The same as memoir forget --project. Asks first; without a\n"+
			"terminal it needs --yes.",
			"memoir projects forget scratch", "memoir projects forget ~/src/secret --yes"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "purge", Usage: "also from logs, and the database's copies and free pages"},
			&cli.StringFlag{Name: "wait", Usage: "wait up to `TIME` for a project that another process holds"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: p.forgetProject,
	}
}

func (p *program) forgetProject(c *cli.Context) error {
	ref, err := argument(c, "project")
	if err != nil {
		return err
	}
	opts, st, err := p.openToChange(c, p.changeOptions)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := pipeline.FinishMoves(c.Context, st, opts.Home); err != nil {
		return err
	}
	project, err := p.projectNamed(c, st, ref)
	if err != nil {
		return err
	}
	return p.forgetWholeProject(c, st, opts, project)
}

// twoArguments returns the two arguments of a command that needs both.
func twoArguments(c *cli.Context, what string) (first, second string, err error) {
	if c.NArg() != 2 {
		return "", "", usagef("", "%s needs %s", calledAs(c), what)
	}
	if first, second = c.Args().Get(0), c.Args().Get(1); first == "" || second == "" {
		return "", "", usagef("", "%s needs %s, and what was given is empty", calledAs(c), what)
	}
	return first, second, nil
}
