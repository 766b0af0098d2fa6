package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/integrate"
	"memoir/internal/commandline"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// startupPatience is how long `run --startup` waits for the hook's input. It must return within
// 50 ms; agents write at once.
const startupPatience = 20 * time.Millisecond

// maxLog is the size at which a log file is rotated, in bytes.
const maxLog = 1 << 20

// launch starts a run in the background, in a session of its own so that it outlives the agent that
// called the hook: at a session's start, with --ended at its end, with --turn after a turn.
func (p *program) launch(c *cli.Context, in hookInput) error {
	settings, err := p.settings(c, nil)
	if err != nil || !settings.Memories.Enabled {
		return err
	}
	agent, turn := cmp.Or(c.String("ended"), c.String("turn")), c.String("turn") != ""
	switch key := memoir.SessionKey(memoir.Source(agent), in.session()); {
	case agent != "" && in.session() == "", turn && !settings.ShadowJournal.Enabled:
		return nil
	case turn:
		return p.background(c, "--turn="+key)
	case agent != "" && !settings.Memories.RunAtSessionEnd:
		return p.ended(c, in)
	case agent != "":
		return p.background(c, "--only="+key, fmt.Sprintf("--timeout=%ds", settings.Memories.SessionEndSeconds))
	case in.overflow != "":
		return p.background(c, "--only="+in.overflow)
	case in.session() != "":
		return p.background(c, "--starting="+in.session())
	}
	return p.background(c)
}

// background starts a run with the flags of this command line, if it is `run`, and additional ones.
func (p *program) background(c *cli.Context, flags ...string) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	log, err := openLog(home, "run.log")
	if err != nil {
		return err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	process, err := os.StartProcess(self, slices.Concat([]string{"memoir"}, backgroundArgs(c, home), flags), &os.ProcAttr{
		Dir: home, Env: childEnviron(p.environ), Files: []*os.File{nil, log, log}, Sys: detached(),
	})
	if err != nil {
		return fmt.Errorf("start a run in the background: %w", err)
	}
	go func() { _, _ = process.Wait() }() // a program that stays, such as serve, must not collect ended children
	return nil
}

// pluginFlag is the flag of calls by a plugin of an agent.
func pluginFlag() cli.Flag {
	return &cli.BoolFlag{Name: "plugin", Hidden: true, Usage: "a plugin calls"}
}

// silent reports whether a call of an agent does nothing: memoir started the agent, or a plugin of it calls, and
// `memoir install` has connected it already.
func (p *program) silent(c *cli.Context) bool {
	if p.getenv(memoir.ChildVariable) != "" {
		return true
	}
	home, err := p.home(c) // an error is reported by what follows
	if err != nil || !c.Bool("plugin") {
		return false
	}
	record, err := integrate.Load(home)
	agent := cmp.Or(c.String("agent"), c.String("ended"))
	return err == nil && slices.ContainsFunc(record.Files, func(f integrate.FileRecord) bool {
		return f.Agent == agent && f.Project == ""
	})
}

// childEnviron is the environment of a process that memoir starts: hooks of the agents that it
// starts do nothing.
func childEnviron(environ []string) []string {
	const name = memoir.ChildVariable + "="
	child := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, name) })
	return append(child, name+"1")
}

// notHandedOn are the flags that the run in the background does not get unchanged.
var notHandedOn = []string{"background", "startup", "ended", "turn", "input", "plugin", "json", "home"}

// backgroundArgs returns the arguments of the run in the background: the flags of this command line, if it is `run`,
// else --config alone. Paths are made absolute, since its working directory differs.
func backgroundArgs(c *cli.Context, home string) []string {
	args := []string{"run", "--background", "--home=" + home}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(notHandedOn, name) || c.Command.Name != "run" && name != "config" {
			continue
		}
		value := fmt.Sprint(c.Value(name))
		if abs, err := filepath.Abs(value); err == nil && isDirectory(abs) &&
			slices.Contains([]string{"config", "project", "sessions"}, name) {
			value = abs
		}
		args = append(args, "--"+name+"="+value)
	}
	return args
}

// logStartup logs, redacted, why a hook did nothing, if a log can be opened.
func (p *program) logStartup(cause error) {
	flag := ""
	line, _ := commandline.Arrange(newApp(p), p.args, config.IsList)
	for _, word := range line {
		if value, ok := strings.CutPrefix(strings.TrimLeft(word, "-"), "home="); ok {
			flag = value
		}
	}
	home, err := config.Home(flag, p.environ)
	if err != nil {
		return
	}
	log, err := openLog(home, "startup.log")
	if err != nil {
		return
	}
	defer log.Close()
	fmt.Fprintf(log, "%s memoir: error: %s\n", time.Now().UTC().Format(time.RFC3339), oneLine(p.redact(cause.Error())))
}

func openLog(home, name string) (*os.File, error) {
	dir := filepath.Join(home, "log")
	if err := failpoint.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the log directory: %w", err)
	}
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := failpoint.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("set the old log aside: %w", err)
		}
	}
	if err := failpoint.Before("open log"); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// refreshSkills updates the agents' links to the present skills. It reports errors as warnings, since the command
// itself has succeeded.
func (p *program) refreshSkills(c *cli.Context) error {
	home, err := p.home(c)
	if err != nil || c.Bool("startup") || c.Bool("help") {
		return nil
	}
	record, err := integrate.Load(home)
	if err == nil {
		err = record.RefreshSkills()
	}
	if err != nil {
		p.ui.warn(cmp.Or(memoir.HintOf(err), "`memoir install` recreates them"), "links to skills: %v", err)
	}
	return nil
}

// agentEnv returns the environment in which package integrate looks for agents.
func (p *program) agentEnv() (integrate.Env, error) {
	env := integrate.Env{UserHome: config.UserHome(p.environ), Getenv: p.getenv}
	if env.UserHome == "" {
		return env, memoir.Errorf(memoir.CodeConfig, "set HOME", "no home directory: agents keep their settings there")
	}
	return env, nil
}

// agentCall returns how agents call this program, with flags for directories other than the default.
func (p *program) agentCall(c *cli.Context, home string) (o integrate.Options, err error) {
	settings, err := p.settings(c, nil)
	if err != nil && c.Command.Name != "uninstall" { // uninstall works with invalid settings, too
		return o, err
	}
	o.Turns, o.Prompts = settings.ShadowJournal.Enabled, settings.Deliver.AtPrompt
	if o.Program, err = integrate.Program(); err != nil {
		return o, err
	}
	bare := []string{"HOME=" + config.UserHome(p.environ)}
	if usual, err := config.Home("", bare); err != nil || usual != home {
		o.Flags = append(o.Flags, "--home="+home)
	}
	dir, err := p.configDir(c)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if usual, usualErr := config.ConfigDir(bare); usualErr != nil || usual != dir {
		o.Flags = append(o.Flags, "--config="+dir)
	}
	return o, err
}

// Bounds of what a search does before it answers, and of what a session waits for.
const (
	catchUpWithin = 2 * time.Second
	catchUpLock   = 500 * time.Millisecond // a wait for the database
	hearProcessor = 250 * time.Millisecond // of processor time, so that a busy machine tells as much
	hearWithin    = time.Second            // of time that passes, before a session starts
	hearLock      = 150 * time.Millisecond
)

// heard returns the project of a starting session, after it read what agents have written in its sessions since the
// last scan, and what a start elsewhere left of them. The run in the background reads the rest.
func (p *program) heard(c *cli.Context, opts pipeline.Options, settings *config.Settings, in *hookInput) (
	found injection, err error) {
	dir, unread := in.directory(), 0
	found, err = p.projectOfSession(c, settings, opts.Home, dir)
	if err != nil || found.why != "" || p.reading == nil { // the next run creates, updates or restores the database
		return found, err
	}
	if found.project != "" {
		unread, _ = p.reading.CountUntaken(c.Context, found.project, pipeline.MaxCatchUp)
	}
	late, fault := p.hear(c, opts, dir, unread > 0)
	if fault != nil { // what runs read is told all the same
		p.logStartup(fault)
	}
	if found.project == "" { // its first session may be known now
		found, err = p.projectOfSession(c, settings, opts.Home, dir)
	}
	found.late = late
	return found, err
}

// ended reads a session that has ended, so that others are told its repairs, and starts nothing.
func (p *program) ended(c *cli.Context, in hookInput) error {
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	p.hook = new(c.String("ended")) // nothing is printed
	p.reading, _ = openAtOnce(c.Context, opts)
	_, err = p.heard(c, opts, &opts.Settings, &in)
	return err
}

// hear reads new sessions of the project of a directory. It reports whether there was no time to read all of them.
func (p *program) hear(c *cli.Context, opts pipeline.Options, dir string, unread bool) (late bool, err error) {
	if opts.Progress = nil; dir == "" && c.String("project") == "" {
		if dir, err = os.Getwd(); err != nil {
			return false, err
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // collecting what one session leaves takes time
	ctx, cancel := bounded(c.Context)
	defer cancel()
	whole, stop := context.WithTimeout(c.Context, hearWithin+hearLock) // a directory may be on a disk that does not answer
	defer stop()
	open := func(ctx context.Context) (*store.Store, error) {
		return store.Open(ctx, filepath.Join(opts.Home, databaseName), store.Options{BusyTimeout: hearLock})
	}
	_, err = interruptibly(whole, func() (none struct{}, err error) {
		return none, pipeline.CatchUp(ctx, opts, hearWithin, dir, unread, open)
	})
	late = ctx.Err() != nil || err != nil && unlessLate(err) == nil
	if errors.Is(err, context.Canceled) {
		return late, nil
	}
	return late, unlessLate(err)
}

// bounded returns a context that ends when this process has used hearProcessor, or after hearWithin.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	from := processorTime()
	go func() {
		ticks := time.NewTicker(5 * time.Millisecond)
		defer ticks.Stop()
		for processorTime()-from < hearProcessor {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
		}
		cancel()
	}()
	return ctx, cancel
}

// saidHead is the heading of what no consolidation has taken yet; there may have been none.
const saidHead = "## Said in sessions that are not in the memory yet\n\n"

// saidSince returns what a session is told of others that no consolidation has taken yet, and the rules that they
// overturn. The memory is told without it if the database cannot be read.
func (p *program) saidSince(c *cli.Context, home string, found injection) (lines string, overturned map[string]bool) {
	st, err := p.openToInject(c)
	if err == nil && st != nil {
		defer p.release(st)
		lines, overturned, err = pipeline.Said(c.Context, st, home, found.project, found.session)
	}
	if err = unlessLate(err); err != nil {
		p.logStartup(err)
	}
	if lines != "" {
		lines = saidHead + lines
	}
	return lines, overturned
}

// stands returns a summary without the rules that later words overturned; "" if it tells nothing else.
func stands(summary string, overturned map[string]bool) string {
	summary = memory.Without(summary, func(_ int, line string) bool { return overturned[memoir.LineKey(line)] })
	if len(consolidate.Told(summary)) == 0 {
		return ""
	}
	return summary
}

// unlessLate returns an error unless it says that the time was too short.
func unlessLate(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || memoir.CodeOf(err) == memoir.CodeBusy {
		return nil
	}
	return err
}

// catchUp reads what agents have written since the last scan. If that scan is old, it starts another one in the
// background, if memories.enabled.
func (p *program) catchUp(c *cli.Context, st *store.Store) error {
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	opts.Progress = nil
	unread, err := st.CountUntaken(c.Context, "", pipeline.MaxCatchUp)
	if err == nil {
		open := func(ctx context.Context) (*store.Store, error) {
			return store.Open(ctx, filepath.Join(opts.Home, databaseName), store.Options{BusyTimeout: catchUpLock})
		}
		err = pipeline.CatchUp(c.Context, opts, catchUpWithin, "", unread > 0, open)
	}
	err = unlessLate(err) // the answer counts what is left
	if err == nil && opts.Settings.Memories.Enabled && p.getenv(memoir.ChildVariable) == "" &&
		pipeline.ClaimScan(opts.Home) {
		err = p.background(c, "--take-in")
	}
	return err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// nothingSure says, once for a project, that nothing is told of the sessions that were read.
func (p *program) nothingSure(c *cli.Context, home, project string) string {
	said := filepath.Join(memory.At(home, project).Dir(), "nothing-sure")
	if _, err := os.Lstat(said); err == nil {
		return ""
	}
	row, err := p.reading.FindProject(c.Context, project)
	if err != nil || row.Generation == 0 || row.Extractions == 0 || failpoint.WriteFile(said, nil, 0o600) != nil {
		return ""
	}
	return "no line from " + count(row.Extractions, "session") + " is sure enough yet; `memoir search` finds what was said"
}
