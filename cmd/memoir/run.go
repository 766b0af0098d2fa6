package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/internal/disk"
	"memoir/model"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
	"memoir/team"
)

func runCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "run", Category: groupLook,
		Usage: "read new sessions and update the memory of every project that is due",
		Description: help("Scans the agents' sessions, extracts statements from each (Phase 1), and\n"+
			"consolidates every project that is due (Phase 2). The paths of published memories go to\n"+
			"standard output, one per line, messages to standard error. -q drops both, but not\n"+
			"warnings, errors and the plan of a dry run. Runs may overlap: they share the work.\n"+
			"`memoir retry` makes the next run retry failed and dead jobs, `memoir enqueue` consolidate a project\n"+
			"even if nothing is new.",
			"memoir run",
			"memoir run --project . --min-idle 0        # this project, including active sessions",
			"memoir run --sessions ~/old-sessions --max-age 0 --all",
			"memoir run --dry-run --json",
			"memoir run --startup                       # for hooks: in the background, silent"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "sessions", Usage: "read the session files below `DIR` instead of the agents' own"},
			&cli.StringFlag{Name: "project", Usage: "only the project `REF`: an id, a name or a path"},
			&cli.BoolFlag{Name: "all", Usage: "all projects (default)"},
			&cli.BoolFlag{Name: "dry-run", Usage: "list the planned work; only update the registry"},
			&cli.BoolFlag{Name: "again", Usage: "also read again what another model read, with the configured one; " +
				"it tells the estimate and asks"},
			yesFlag(),
			&cli.BoolFlag{Name: "startup", Usage: "for hooks: start a run in the background if memories.enabled; print nothing"},
			nowFlag(),
			&cli.StringFlag{Name: "min-idle",
				Usage: "skip sessions changed within `DURATION`, and active ones; 0: no limit " +
					"(default: memories.minRolloutIdleHours)"},
			&cli.StringFlag{Name: "max-age",
				Usage: "skip sessions older than `DURATION`; 0: no limit (default: memories.maxRolloutAgeDays)"},
			&cli.IntFlag{Name: "limit", DefaultText: "memories.maxRolloutsPerStartup",
				Usage: "extract from at most `N` sessions"},
			&cli.StringFlag{Name: "timeout", Usage: "stop after `DURATION` with exit code 1; finished work is kept"},
			waitFlag(),
			jsonFlag(),
			&cli.BoolFlag{Name: "background", Hidden: true, Usage: "write messages to a log"},
			&cli.StringFlag{Name: "ended", Hidden: true,
				Usage: "with --startup: the session of the `AGENT` that calls has ended; memories.runAtSessionEnd"},
			&cli.StringFlag{Name: "turn", Hidden: true, Usage: "journal the last turn of the session `KEY` and do nothing " +
				"else; with --startup: of the session of the AGENT that calls, in the background"},
			inputFlag(), pluginFlag(),
			&cli.BoolFlag{Name: "take-in", Hidden: true, Usage: "scan, read sessions for searching, and do nothing else"},
			&cli.StringFlag{Name: "only", Hidden: true, Usage: "extract from the session `KEY` alone, active or not"},
			&cli.StringFlag{Name: "starting", Hidden: true, Usage: "skip the session `ID`: it is starting"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("startup") && p.silent(c) {
				return nil
			} else if c.Bool("startup") {
				in, _ := p.hookInput(c, startupPatience)
				return p.launch(c, in)
			}
			if c.Bool("background") {
				p.ui.say("%s: memoir %s", time.Now().UTC().Format(time.RFC3339), strings.Join(p.args, " ")) // to its log
			}
			return p.run(c)
		},
	}
}

// errTimeout is the cause of a run that --timeout stopped. It fails, since nobody interrupted it.
var errTimeout = errors.New("stopped by --timeout")

func (p *program) run(c *cli.Context) error {
	opts, err := p.runOptions(c)
	timeout, errFlag := durationFlag(c, "timeout")
	if err = cmp.Or(err, errFlag, team.MayRun(opts.Home)); err != nil {
		return err
	}
	limitHeap(opts.Settings.Memories)
	ctx := c.Context
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout,
			memoir.Errorf(memoir.CodeInterrupted, "", "%w %s", errTimeout, c.String("timeout")))
		defer cancel()
	}
	// The database with its readers, and for each worker the files of a session or of a memory.
	if err := disk.Handles(32 + 16*opts.Settings.Memories.Concurrency); err != nil {
		return err
	}
	st, err := p.openStore(ctx, opts.Home, opts.Settings)
	if err != nil {
		return err
	}
	defer st.Close()
	if key := c.String("turn"); key != "" {
		return pipeline.Turn(ctx, st, opts, key)
	}
	if c.Bool("take-in") {
		return pipeline.TakeIn(ctx, st, opts)
	}
	if c.IsSet("project") {
		id, err := p.projectToRun(ctx, c, st, opts)
		if err != nil {
			return err
		}
		opts.ProjectIDs = []string{id}
	}
	if err := p.agree(c, st, opts); err != nil {
		return err
	}
	before, err := st.Projects(ctx)
	if err != nil {
		return err
	}
	report, err := pipeline.Run(ctx, st, opts)
	if report.Scan.Reasons == nil { // the run did not begin
		return err
	}
	err = p.reportRun(c, report, err)
	p.sayCame(ctx, st, opts.Home, before, report)
	return err
}

// sayCame says how many lines of other members a run added to memories. before are the projects before it.
func (p *program) sayCame(
	ctx context.Context, st *store.Store, home string, before []store.ProjectRow, report pipeline.Report,
) {
	since := memoir.MapOf(before, func(row store.ProjectRow) (string, int64) { return row.ID, row.Generation })
	for _, project := range report.Phase2 {
		if project.Outcome != pipeline.OutcomePublished {
			continue
		}
		news, _ := operation.ReadNews(ctx, st, home, project.Project) // doctor reports what cannot be read
		if came, err := news.Came(home, project.Project, since[project.Project]); came > 0 && err == nil {
			p.ui.say("%s: %s came from the team; `memoir review` shows what of it is told once you accept it",
				project.Name, count(came, "line"))
		}
	}
}

// agree asks whether to read sessions again, if that costs something.
func (p *program) agree(c *cli.Context, st *store.Store, opts pipeline.Options) error {
	if !opts.Again || opts.DryRun {
		return nil
	}
	opts.DryRun = true
	plan, err := pipeline.Run(c.Context, st, opts)
	if err != nil || plan.Estimate == nil || plan.Estimate.Calls == 0 {
		return err
	}
	one, two := model.Phases(opts.Settings.ModelRoles)
	names := strings.Join(slices.Compact([]string{one.Model, two.Model}), " and ")
	return p.confirm(c, "use "+names+": the run "+sayNext(operation.NextOf(plan)), "")
}

func (p *program) reportRun(c *cli.Context, report pipeline.Report, err error) error {
	if c.Bool("json") {
		if err := p.ui.json(report); err != nil {
			return err
		}
	}
	again := "memoir"
	for _, word := range p.args {
		again += " " + shellWord(word)
	}
	p.sayReport(report, again, err)
	p.sayLeft(report, again)
	if report.DryRun && !c.Bool("json") {
		p.printPlan(report)
	}
	for _, project := range report.Phase2 {
		if project.Outcome == pipeline.OutcomePublished && !c.Bool("json") && !p.ui.quiet {
			p.ui.printf("%s\n", project.Root)
		}
	}
	switch {
	case err != nil:
		return err
	case report.Partly():
		return status(exitPartly)
	case report.Busy():
		return status(exitBusy)
	}
	return nil
}

func (p *program) runOptions(c *cli.Context) (opts pipeline.Options, err error) {
	flags := map[string]string{}
	for _, name := range [][2]string{{"min-idle"}, {"max-age"}, {"limit", "memories.maxRolloutsPerStartup"}} {
		if c.IsSet(name[0]) {
			flags[cmp.Or(name[1], name[0])] = fmt.Sprint(c.Value(name[0]))
		}
	}
	if opts, err = p.options(c, flags); err != nil {
		return opts, err
	}
	memories := opts.Settings.Memories
	opts.Again, opts.DryRun, opts.Sleep = c.Bool("again"), c.Bool("dry-run"), p.sleep
	opts.MinIdle = time.Duration(memories.MinRolloutIdleHours * float64(time.Hour))
	opts.MaxAge = time.Duration(memories.MaxRolloutAgeDays * 24 * float64(time.Hour))
	opts.Limit, opts.StartingSession = memories.MaxRolloutsPerStartup, c.String("starting")
	if only := c.String("only"); only != "" {
		opts.Only, opts.MinIdle = []string{only}, 0
	}
	if c.IsSet("sessions") {
		if opts.SessionsDir, err = directory("--sessions", c.String("sessions"), hintSessions); err != nil {
			return opts, err
		}
	}
	opts.Now, err = timeFlag(c, "now")
	return opts, err
}

// hintSessions is the hint for a path that is not a directory of session files.
const hintSessions = "name a directory with session files; `memoir show FILE` reads one session"

// directory returns the absolute path of a directory that a flag or a command names.
func directory(named, dir, hint string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", usagef(hint, "%s %s: %w", named, dir, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return "", usagef(hint, "%s: %s is not a directory", named, dir)
	}
	return filepath.Abs(dir)
}

// projectToRun finds the project of --project. If it is not registered, it scans first.
func (p *program) projectToRun(ctx context.Context, c *cli.Context, st *store.Store, opts pipeline.Options) (
	string, error) {
	row, err := p.projectOf(c, st)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		if scanErr := pipeline.Scan(ctx, st, opts); scanErr != nil {
			return "", scanErr
		}
		row, err = p.projectOf(c, st)
	}
	return row.ID, err
}

func enqueueCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "enqueue", Aliases: []string{"rebuild"}, Category: groupUpkeep,
		Usage: "make the next run consolidate a project even if nothing is new",
		Description: help("Marks this directory's project, another, or all projects as due. The next run consolidates\n"+
			"them from their extractions. A language model gets all their extractions again, not only\n"+
			"the new ones; `memoir run --dry-run` estimates the cost.",
			"memoir rebuild --all -q && memoir run -q  # a line for cron", "memoir enqueue --project mise"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "all projects"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			_, st, err := p.openToChange(c)
			if c.Bool("all") && memoir.CodeOf(err) == memoir.CodeNotFound { // cron may run before the first run
				p.ui.sayError(err)
				return p.result(c, nil, map[string][]string{"projects": {}}, func() {})
			}
			if err != nil {
				return err
			}
			defer st.Close()
			ids, err := p.projectsNamed(c, st)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := st.Enqueue(c.Context, id); err != nil {
					return err
				}
			}
			return p.result(c, nil, map[string][]string{"projects": ids}, func() {
				p.ui.say("%s due for the next run", countAre(len(ids), "project"))
			})
		},
	}
}
