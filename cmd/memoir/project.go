package main

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/project"
	"memoir/store"
	"memoir/team"
)

type place struct {
	dir     string
	top     string         // of the working tree, else dir: where .memoir.yml is
	project memoir.Project // zero value: none
	status  project.Status
}

// sure reports whether the id of the project is that of the registry, if it has the project, or that of a memory which
// the home has pulled here. A path may have been another project's.
func (p place) sure(home string) bool {
	return p.status.OK() && (!filepath.IsAbs(p.project.Identity) || team.IsPulled(home, p.project.ID))
}

// identify finds the project of a directory without the registry.
func (p *program) identify(settings config.Settings, dir string) place {
	resolver := project.NewResolver(project.Options{Explicit: settings.ProjectFor, Home: config.UserHome(p.environ)})
	found, status := resolver.Identify(dir, "")
	here := place{dir: dir, top: dir, project: found, status: status}
	if len(found.Directories) > 0 {
		here.top = found.Directories[0]
	}
	return here
}

func (p *program) here(settings config.Settings) (place, error) {
	dir, err := os.Getwd()
	if err != nil {
		return place{}, notFoundf("change to a directory that exists, or pass --project", "this directory: %w", err)
	}
	return p.identify(settings, dir), nil
}

// placeAt returns the place of a directory; "" is this one.
func (p *program) placeAt(c *cli.Context, dir string) (place, error) {
	settings, err := p.settings(c, nil)
	switch {
	case err != nil:
		return place{}, err
	case dir == "":
		return p.here(settings)
	}
	dir, err = filepath.Abs(dir)
	return p.identify(settings, dir), err
}

// projectSettings applies the .memoir.yml of the top directory of a project. Settings that need trust
// are ignored and returned.
func (p *program) projectSettings(
	c *cli.Context, settings config.Settings, top string,
) (config.Settings, []string, error) {
	home, err := p.home(c)
	if err != nil {
		return settings, nil, err
	}
	trusted, err := config.LoadTrust(home)
	if err != nil {
		return settings, nil, err
	}
	return settings.ForProject(top, trusted)
}

// projectHere returns the registered project of a place: by its identity, else by its directory.
func (p *program) projectHere(ctx context.Context, st *store.Store, here place) (store.ProjectRow, error) {
	if here.status.OK() {
		row, err := st.Resolve(ctx, here.project)
		if memoir.CodeOf(err) != memoir.CodeNotFound {
			return row, err
		}
	}
	row, err := st.FindProject(ctx, here.top)
	other := here.status == project.Remote && row.Remote != "" && row.Remote != here.project.Remote
	if err == nil && other && !redacted.MatchString(row.Remote) {
		// The directory now contains another repository.
		err = notFoundf("", "no project matches %q", here.project.Identity)
	}
	if memoir.CodeOf(err) != memoir.CodeNotFound {
		return row, err
	}
	const hint = "`memoir projects` lists projects, --project selects one"
	if !here.status.OK() {
		return store.ProjectRow{}, notFoundf(hint, "%s is not a project: %s", here.dir, here.status)
	}
	return store.ProjectRow{}, notFoundf(hint, "no session of %s (%s) is registered", here.dir,
		project.Changed(here.project, p.redact).ID)
}

// redacted matches a remote that contained a secret: two of them cannot be compared.
var redacted = lazyregexp.New(`(?i)\[redacted:`)

// isPath reports whether ref is a path: one that is there or is written as one, since an identity such as
// github.com/acme/shop contains slashes, too.
func isPath(ref string) bool {
	_, err := os.Stat(ref)
	return ref == "." || ref == ".." || strings.ContainsRune(ref, filepath.Separator) &&
		(err == nil || filepath.IsAbs(ref) || strings.HasPrefix(ref, "."))
}

// projectNamed returns the registered project that ref names: an id, a name or a path; "" is the project of this
// directory.
func (p *program) projectNamed(c *cli.Context, st *store.Store, ref string) (store.ProjectRow, error) {
	path := isPath(ref)
	if ref != "" && !path {
		row, err := st.FindProject(c.Context, ref)
		unknown := memoir.CodeOf(err) == memoir.CodeNotFound
		if user := memoir.UserProject(); unknown && (ref == user.Name || ref == user.ID) && !isDirectory(ref) {
			return row, memoir.ErrUserEmpty
		}
		if !unknown || !isDirectory(ref) {
			return row, err
		}
	}
	here, err := p.placeAt(c, ref)
	if err != nil {
		return store.ProjectRow{}, err
	}
	row, err := p.projectHere(c.Context, st, here)
	if path && memoir.CodeOf(err) == memoir.CodeNotFound { // an identity may also contain slashes: host/owner/name
		if named, nameErr := st.FindProject(c.Context, ref); nameErr == nil {
			return named, nil
		}
	}
	return row, err
}

// projectFlag returns the value of --project, "" if it was not given. An empty value, such as an
// empty variable of a script, is an error: it must not mean the project of this directory.
func projectFlag(c *cli.Context) (string, error) {
	ref := c.String("project")
	if ref == "" && c.IsSet("project") {
		return "", usagef("an id, a name or a path", "--project is empty")
	}
	return ref, nil
}

// projectOf returns the registered project of --project, else of this directory.
func (p *program) projectOf(c *cli.Context, st *store.Store) (store.ProjectRow, error) {
	ref, err := projectFlag(c)
	if err != nil {
		return store.ProjectRow{}, err
	}
	return p.projectNamed(c, st, ref)
}

// whyNoMemory returns why a session here gets no context, and the next step.
func (p *program) whyNoMemory(c *cli.Context) (why, hint string) {
	if c.Bool("user") {
		return memoir.ErrUserEmpty.Message, memoir.ErrUserEmpty.Hint
	}
	st, err := p.openForReading(c)
	var old []memoir.Session
	var row store.ProjectRow
	if err == nil {
		defer st.Close()
		if row, err = p.projectOf(c, st); err == nil {
			old, err = st.Sessions(c.Context, store.Filter{Project: row.ID, Reason: memoir.ReasonTooOld})
		}
	}
	switch {
	case err != nil:
		return p.redact(err.Error()), memoir.HintOf(err)
	case len(old) > 0:
		return countAre(len(old), "session") + " too old", readsAnyAge
	case row.Generation > 0:
		return "no line of its memory is told", "`memoir search` also finds what is not told"
	}
	return "the project has no memory yet", "`memoir run` creates a memory, `memoir projects` lists memories"
}

// projectsNamed returns the ids of the projects of --project or --all, else this directory's.
func (p *program) projectsNamed(c *cli.Context, st *store.Store) ([]string, error) {
	if !c.Bool("all") {
		row, err := p.projectOf(c, st)
		return []string{row.ID}, err
	}
	rows, err := st.Projects(c.Context)
	return idsOf(rows), err
}

func idsOf(rows []store.ProjectRow) []string {
	return memoir.Map(rows, func(r store.ProjectRow) string { return r.ID })
}

// projectID returns the home and the id of the project of --project, else of this directory. It opens the registry
// only if there is no folder of that name.
func (p *program) projectID(c *cli.Context) (home, id string, err error) {
	opts, err := p.options(c, nil)
	if err != nil {
		return "", "", err
	}
	ref, err := projectFlag(c)
	if err != nil {
		return opts.Home, "", err
	}
	if ref != "" && isProjectFolder(opts.Home, ref) {
		return opts.Home, ref, nil
	}
	if ref == "" {
		here, err := p.here(opts.Settings)
		if err != nil {
			return opts.Home, "", err
		}
		if here.sure(opts.Home) && isProjectFolder(opts.Home, here.project.ID) {
			return opts.Home, here.project.ID, nil
		}
	}
	st, err := p.openForReading(c)
	if err != nil {
		return opts.Home, "", err
	}
	defer p.release(st)
	row, err := p.projectNamed(c, st, ref)
	return opts.Home, row.ID, err
}

// isProjectFolder reports whether home has a folder of that name that memoir made.
func isProjectFolder(home, id string) bool {
	if !folderName.MatchString(id) {
		return false
	}
	dir := memory.At(home, id).Dir()
	return isDirectory(filepath.Join(dir, "live")) || isDirectory(filepath.Join(dir, "generations"))
}

func projectsCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "projects", Category: groupUpkeep,
		Usage: "list projects with the paths of their memory",
		Description: help("Lists all registered projects, each with its directory and the path of its live memory.\n"+
			"A project is identified by its remote, else by its repository or directory, and keeps its memory\n"+
			"if the remote is renamed: other names are listed below. --json adds all directories.",
			"memoir projects", "memoir projects --json", "memoir projects merge oldname newname",
			"memoir projects split newname"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: p.projects,
		Subcommands: []*cli.Command{
			regroupCommand(p, "merge", "PROJECT INTO", "move everything of a project into another one",
				"Moves the sessions, notes, journals, conversations, hand edits and history of PROJECT to the\n"+
					"project INTO. Its names become aliases of INTO; its memory with all generations is removed.\n"+
					"`memoir projects split` undoes this, but for generations, history and journals.",
				"memoir projects merge oldname newname", "memoir projects merge ~/src/a ~/src/b --dry-run"),
			regroupCommand(p, "split", "PROJECT", "separate what a project got by merges and renamed remotes",
				"Makes a project of each that was merged into PROJECT, with what it brought, and of each remote\n"+
					"that PROJECT adopted, with the sessions that were found by it. History and journals stay in PROJECT.",
				"memoir projects split newname", "memoir projects split . --dry-run --json"),
		},
	}
}

func regroupCommand(p *program, name, args, usage, about string, examples ...string) *cli.Command {
	return &cli.Command{Name: name, ArgsUsage: args, Usage: usage, Action: p.regroup,
		Description: help(about+" The next\nrun consolidates the projects. Asks first; without a terminal it needs --yes.",
			examples...),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "dry-run", Usage: "show what would be moved, and change nothing"},
			waitFlag(), yesFlag(), jsonFlag()}}
}

// regroup says what will move from a project, asks, moves it unless --dry-run was given, and prints the result.
func (p *program) regroup(c *cli.Context) error {
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	var rows []store.ProjectRow
	for _, ref := range c.Args().Slice() {
		row, err := p.projectNamed(c, st, ref)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	moves, do, err := regrouping(c.Context, st, rows)
	if err != nil {
		return err
	}
	what := memoir.Map(slices.Sorted(maps.Keys(moves)), func(to string) string {
		return cmp.Or(kinds(moves[to], nil), "no session") + " to " + p.redact(to)
	})
	text := strings.Join(what, ", ") + " from " + rows[0].ID
	if len(rows) > 1 {
		text += ", with journals, hand edits and history, and remove its " + count(int(rows[0].Generation), "generation")
	}
	dry := c.Bool("dry-run")
	if !dry {
		if err := p.confirm(c, "move "+text, opts.Home); err != nil {
			return err
		}
		if err := pipeline.Regroup(c.Context, st, opts, rows[0].Project, do); err != nil {
			return err
		}
	}
	return p.result(c, nil, map[string]any{"project": rows[0].ID, "dry_run": dry, "moves": moves}, func() {
		if dry {
			p.ui.printf("would move %s\n", text)
			return
		}
		p.ui.say("moved %s", strings.Join(what, ", "))
		p.ui.sayHint("`memoir run` consolidates them")
	})
}

// regrouping returns what a merge of two projects moves, or a split of one, and does it. Keys are listed by the id or
// identity of the project that gets them.
func regrouping(ctx context.Context, st *store.Store, rows []store.ProjectRow) (
	moves map[string][]string, do func(context.Context, store.ProjectClaim) error, err error) {
	from, into := rows[0], rows[len(rows)-1]
	if len(rows) > 1 {
		if from.ID == into.ID || from.IsUser() || into.IsUser() {
			return nil, nil, usagef("name two projects", "%s cannot be merged into %s", from.ID, into.ID)
		}
		sessions, err := st.Sessions(ctx, store.Filter{Project: from.ID})
		return map[string][]string{into.ID: memoir.Map(sessions, memoir.Session.Key)},
			func(ctx context.Context, c store.ProjectClaim) error { return st.Merge(ctx, c, into.ID) }, err
	}
	moves, err = st.Parts(ctx, from.ID)
	if err == nil && len(moves) == 0 {
		err = notFoundf("the setting projects separates directories",
			"%s has nothing to split: it got nothing by a merge or a renamed remote", from.ID)
	}
	parts := memoir.Map(slices.Sorted(maps.Keys(moves)), project.Named)
	return moves, func(ctx context.Context, c store.ProjectClaim) error { return st.Split(ctx, c, parts) }, err
}

func (p *program) projects(c *cli.Context) error {
	home, _ := p.home(c) // an error is returned when the registry is opened
	st, err := p.openForListing(c)
	if err != nil {
		return err
	}
	out := operation.Projects{Projects: []operation.Project{}}
	if st != nil {
		defer st.Close()
		if out, err = operation.ListProjects(c.Context, st, home, p.redact); err != nil {
			return err
		}
	}
	t := newTable("project", "sessions", "generation", "published", "directory", "memory")
	for _, one := range out.Projects {
		directory := strings.Join(one.Directories[:min(len(one.Directories), 1)], "")
		t.row(one.ID, one.Sessions, one.Generation, whenKnown(one.PublishedAt), orDash(directory), orDash(one.Root))
	}
	return p.result(c, nil, out, func() {
		p.ui.table(t)
		for _, one := range out.Projects {
			one.Aliases = slices.DeleteFunc(one.Aliases, func(alias string) bool {
				return !strings.Contains(alias, "/") || slices.Contains(one.Directories, alias)
			})
			if len(one.Aliases) > 0 {
				p.ui.printf("other names of %s: %s\n", one.ID, strings.Join(one.Aliases, ", "))
			}
		}
		if st != nil {
			p.ui.say("%s", count(len(out.Projects), "project"))
		}
	})
}
