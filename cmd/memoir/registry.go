package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/failpoint"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
	"memoir/team"
)

const databaseName = "memoir.db"

// openStore opens the database of a home for writing, and creates both if they do not exist.
func (p *program) openStore(ctx context.Context, home string, settings config.Settings) (*store.Store, error) {
	if err := failpoint.MkdirAll(home, 0o700); err != nil {
		return nil, memoir.Errorf(memoir.CodeStorage, "choose another directory with --home DIR or MEMOIR_HOME",
			"make %s: %w",
			home, err)
	}
	return store.Open(ctx, filepath.Join(home, databaseName), p.forWork(settings))
}

// openForReading opens a home's database without a write transaction. If it does not exist, the
// error has the code memoir.CodeNotFound.
func (p *program) openForReading(c *cli.Context) (*store.Store, error) {
	if p.reading != nil {
		return p.reading, nil
	}
	settings, err := p.settings(c, nil)
	if err != nil {
		return nil, err
	}
	st, err := p.openWith(c, settings)
	if err != nil {
		return nil, err
	}
	// A killed merge or split of projects left files to move. If that fails, the next run reports it.
	folders, _ := st.RemovedFolders(c.Context)
	if maps.DeleteFunc(folders, func(_, to string) bool { return to == "" }); len(folders) > 0 {
		home, _ := p.home(c)
		if writer, err := p.openStore(c.Context, home, settings); err == nil {
			_ = pipeline.RemoveFolders(c.Context, writer, home, p.redact)
			writer.Close()
		}
	}
	return st, nil
}

// openWith is openForReading with given settings.
func (p *program) openWith(c *cli.Context, settings config.Settings) (*store.Store, error) {
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	path, reading := filepath.Join(home, databaseName), p.forWork(settings)
	reading.ReadOnly, reading.BusyTimeout = true, min(reading.BusyTimeout, readPatience)
	st, err := store.Open(c.Context, path, reading)
	switch {
	case errors.Is(err, store.ErrOutdated):
		return store.Open(c.Context, path, p.forWork(settings))
	case memoir.CodeOf(err) == memoir.CodeNotFound && team.SayPulled(home) != "":
		hint := "`memoir view` prints what a session is told, `memoir cat MEMORY.md` all"
		if c.Command.Name == "view" {
			hint = "`memoir team pull` gets the memory of this project; `memoir cat MEMORY.md` prints all that it has"
		}
		return nil, notFoundf(hint, "this home has %s; it has no sessions", team.SayPulled(home))
	case memoir.CodeOf(err) == memoir.CodeNotFound:
		return nil, notFoundf("`memoir init` finds sessions and creates the first memory; "+
			"in a container, `memoir team pull` gets one", "nothing is registered in %s yet", home)
	}
	return st, err
}

// openForListing is openForReading for commands that succeed without a database: it prints a message
// then, and the store is nil.
func (p *program) openForListing(c *cli.Context) (*store.Store, error) {
	st, err := p.openForReading(c)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		p.ui.sayError(err)
		return nil, nil
	}
	return st, err
}

// How long a reader waits for a database that another program has locked exclusively. Writers, such
// as another run, do not block readers.
const (
	readPatience   = 10 * time.Second
	injectDatabase = 300 * time.Millisecond // a session starts only when inject has ended
)

// forWork returns the options for a command that a person called. It waits for the database, and says so
// once.
func (p *program) forWork(settings config.Settings) store.Options {
	return store.Options{BusyTimeout: busyTimeout(settings), Waiting: sync.OnceFunc(func() {
		p.ui.say("waiting: another program has locked the database or files")
	}), Restored: func(aside string) {
		const again = "repeat `memoir forget`, `memoir sessions disable` and `memoir remember` if you used them " +
			"after the backup"
		if aside == "" {
			p.ui.warn(again, "the database was missing or empty: using its backup")
			return
		}
		p.ui.warn(again+"; then remove the damaged one",
			"the database was damaged: moved it to %s, using its backup", aside)
	}}
}

func busyTimeout(settings config.Settings) time.Duration {
	// The store takes 0 for its default.
	return max(time.Duration(settings.Memories.BusyTimeoutSeconds)*time.Second, time.Millisecond)
}

func (p *program) findSession(ctx context.Context, st *store.Store, ref string) (memoir.Session, error) {
	return operation.FindSession(ctx, st, ref, func(memoir.Session) bool { return true })
}

// options returns the options of the pipeline for a command with --wait. flags are the settings that the
// command's flags override.
func (p *program) options(c *cli.Context, flags map[string]string) (opts pipeline.Options, err error) {
	opts.Env, opts.Progress, opts.Background = p.env(), p.ui.progress, c.Bool("background")
	var errs [4]error
	opts.Wait, errs[0] = durationFlag(c, "wait")
	opts.Settings, errs[1] = p.settings(c, flags)
	opts.Home, errs[2] = p.home(c)
	opts.ConfigDir, errs[3] = p.configDir(c)
	return opts, cmp.Or(errs[:]...)
}

// openToChange opens the database of a home that must exist for writing. It also returns the options of the pipeline.
func (p *program) openToChange(c *cli.Context) (pipeline.Options, *store.Store, error) {
	opts, err := p.options(c, nil)
	if err != nil {
		return opts, nil, err
	}
	st, err := p.openForReading(c)
	if err == nil {
		err = st.Close()
	}
	if err != nil && !errors.Is(err, store.ErrGone) {
		return opts, nil, err
	}
	st, err = p.openStore(c.Context, opts.Home, opts.Settings)
	return opts, st, err
}

// openToInject opens the database for a starting session, unless it is open. It returns nil if none can be read now.
func (p *program) openToInject(c *cli.Context) (*store.Store, error) {
	if p.reading != nil {
		return p.reading, nil
	}
	opts, err := p.options(c, nil)
	if err != nil {
		return nil, err
	}
	return openAtOnce(c.Context, opts)
}

// release closes a database, unless inject reads on.
func (p *program) release(st *store.Store) {
	if st != p.reading {
		st.Close()
	}
}

// openAtOnce opens the database for reading. It returns nil if none can be read now.
func openAtOnce(ctx context.Context, opts pipeline.Options) (*store.Store, error) {
	st, err := store.Open(ctx, filepath.Join(opts.Home, databaseName), store.Options{ReadOnly: true,
		BusyTimeout: min(busyTimeout(opts.Settings), injectDatabase)})
	if memoir.CodeOf(err) == memoir.CodeNotFound || errors.Is(err, store.ErrOutdated) || errors.Is(err, store.ErrGone) {
		return nil, nil // the next run creates, updates or restores it
	}
	return st, err
}

func clearCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "clear", Aliases: []string{"reset"}, Category: groupUpkeep,
		Usage: "remove a project's sessions and memory from memoir",
		Description: help("Removes a project's sessions from the registry, their extractions, its notes, and\n"+
			"its directory with all generations, journals and messages of applications, which exist only\n"+
			"there. The agents' own files stay. A later run reads sessions again that are idle and not too\n"+
			"old; `memoir run --max-age 0 --min-idle 0` reads them whatever their age. Disabled sessions\n"+
			"stay disabled, and forgotten ones forgotten. Asks first; without a terminal it needs --yes.",
			"memoir clear --project mise", "memoir clear --all --yes"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "all projects, and sessions without a project"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be removed, and remove nothing"},
			yesFlag(), jsonFlag(),
		},
		Action: p.clear,
	}
}

func (p *program) clear(c *cli.Context) error {
	opts, st, err := p.openToChange(c)
	home, all := opts.Home, c.Bool("all")
	gone := memoir.CodeOf(err) == memoir.CodeNotFound && isDirectory(filepath.Join(home, "projects"))
	if all && gone { // of the database; its folders are there
		st, err = p.openStore(c.Context, home, opts.Settings)
	}
	if all && memoir.CodeOf(err) == memoir.CodeNotFound {
		p.ui.sayError(err)
		return p.result(c, nil, map[string]any{"cleared": []string{}, "dry_run": c.Bool("dry-run")}, func() {})
	}
	if err != nil {
		return err
	}
	defer st.Close()
	ids, err := p.projectsNamed(c, st)
	if err != nil {
		return err
	}
	if all {
		folders, err := pipeline.ProjectFolders(home) // also of projects without rows
		if err != nil {
			return err
		}
		ids = append(ids, slices.DeleteFunc(folders, func(id string) bool {
			return slices.Contains(ids, id) || !isProjectFolder(home, id)
		})...)
	}
	do := "remove the registry and the memory of all " + count(len(ids), "project") + ", with notes, journals and messages"
	if !all {
		do = "remove all stored data of " + ids[0] + ", with its notes, journals and messages"
	}
	dry := c.Bool("dry-run")
	if !dry {
		if err := p.confirm(c, do, home); err != nil {
			return err
		}
		if err := p.clearProjects(c.Context, st, home, ids, all); err != nil {
			return err
		}
	}
	return p.result(c, nil, map[string]any{"cleared": append([]string{}, ids...), "dry_run": dry}, func() {
		if dry {
			p.ui.say("would %s", do)
			return
		}
		for _, id := range ids {
			p.ui.say("cleared %s", id)
		}
		if len(ids) == 0 {
			p.ui.say("no projects")
		}
	})
}

// confirm asks whether to do something, such as "remove X", unless --yes was given. home is the directory that it
// changes, which an error names; empty if that is not what matters, as at a hub.
func (p *program) confirm(c *cli.Context, do, home string) error {
	if c.Bool("yes") {
		return nil
	}
	if !p.ui.canAsk() {
		if home != "" {
			home = "in " + home + ", "
		}
		return usagef("pass --yes", "cannot ask, since standard input is not a terminal: %s%s would %s", home,
			calledAs(c), do)
	}
	if yes, err := p.ui.ask(c.Context, do+"?"); err != nil || !yes {
		verb, _, _ := strings.Cut(do, " ")
		return notConfirmed(p.ui, err, "nothing was "+strings.TrimSuffix(verb, "e")+"ed")
	}
	return nil
}

// notConfirmed is the error of a command whose question was answered with no, or not at all.
func notConfirmed(u *ui, err error, said string) error {
	if err != nil {
		return err
	}
	u.say("%s", said)
	return status(exitFailed)
}

// clearProjects removes rows first, so that no run can publish into a folder that is being removed. After a crash,
// the next run removes the folders.
func (p *program) clearProjects(ctx context.Context, st *store.Store, home string, ids []string, all bool) error {
	of := ids
	if all {
		of = append(of, "") // sessions of no project
	}
	if err := st.Clear(ctx, of...); err != nil {
		return err
	}
	for _, id := range ids {
		if err := memory.At(home, id).Remove(); err != nil { // also without rows
			return err
		}
	}
	if err := pipeline.RemoveFolders(ctx, st, home, p.redact); err != nil {
		return err
	}
	if err := st.Backup(ctx, true); err != nil {
		p.ui.warn(memoir.HintOf(err), "cannot back up the database: %v", err)
	}
	return nil
}

// folderName matches the name of a project's folder, which is its id.
var folderName = lazyregexp.New(`^[^./\\][^/\\]*-[0-9a-f]{12}$`)
