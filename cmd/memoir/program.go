package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/commandline"
	"memoir/internal/failpoint"
	"memoir/model"
	"memoir/rollout"
	"memoir/store"
)

// program is the state that all commands share: the environment and the terminal.
type program struct {
	ui      *ui
	environ []string
	args    []string // the command line
	cleaner cleaner
	hook    *string      // if a hook of an agent called, not a person: the agent
	fault   string       // what keeps memory away, for the person whose agent called
	reading *store.Store // the database, which inject opens once and does not close
	// sleep waits before a language model, or a hub, is called again. Tests set it.
	sleep func(ctx context.Context, d time.Duration) error
}

// newProgram uses the standard files of the process and an environment.
func newProgram(environ []string) *program {
	p := &program{environ: environ, sleep: model.Sleep}
	p.ui = newUI(os.Stdin, os.Stdout, os.Stderr, p.getenv)
	p.ui.redact = p.redact
	return p
}

func (p *program) getenv(name string) string { return config.Lookup(p.environ)(name) }

func (p *program) execute(ctx context.Context, args []string) error {
	p.args = args
	p.cleaner.setArguments(args, p.environ)
	app := newApp(p)
	if n := len(args) - 1; n >= 0 && args[n] == completeFlag {
		p.complete(ctx, app, args[:n])
		return nil
	}
	line, command := commandline.Arrange(app, args, config.IsList)
	p.ui.command = command
	return app.RunContext(ctx, append([]string{app.Name}, line...))
}

// home returns the data directory; it need not exist.
func (p *program) home(c *cli.Context) (string, error) {
	if c.IsSet("home") && c.String("home") == "" {
		return "", usagef("", "--home: the name of the directory is empty")
	}
	return config.Home(c.String("home"), p.environ)
}

// configOptions returns the directory of config.yml; an error if there is no home directory for it.
func (p *program) configOptions(c *cli.Context) (config.Options, error) {
	dir, err := p.configDir(c)
	if err == nil && dir == "" {
		dir, err = config.ConfigDir(p.environ)
	}
	return config.Options{ConfigDir: dir, Environ: p.environ}, err
}

// locked makes a change while a folder is locked against other processes of memoir. It creates the folder if it is
// missing, and waits five seconds for another process.
func locked(dir string, change func() error) (err error) {
	for range 100 {
		if failpoint.MkdirAll(dir, 0o700) != nil { // the change reports why
			return change()
		}
		unlock, busy := store.LockFolder(dir)
		if err = busy; err == nil {
			defer unlock()
			return change()
		}
		if memoir.CodeOf(err) != memoir.CodeBusy {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// configDir returns the directory of config.yml, "" without a home directory for it.
func (p *program) configDir(c *cli.Context) (dir string, err error) {
	if dir = c.String("config"); dir == "" {
		dir, _ = config.ConfigDir(p.environ)
	} else if dir, err = directory("--config", dir, "name the directory that contains config.yml"); err != nil {
		return "", err
	}
	p.cleaner.setRules(config.RulesFile(dir))
	return dir, nil
}

// settings returns the effective settings with flags as their last layer.
func (p *program) settings(c *cli.Context, flags map[string]string) (config.Settings, error) {
	dir, err := p.configDir(c)
	if err != nil {
		return config.Settings{}, err
	}
	environ := p.environ
	if token := c.String("token-env"); token != "" { // whatever its name
		environ = slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, token+"=") })
	}
	return config.Load(config.Options{ConfigDir: dir, Environ: environ, Flags: flags,
		Lenient: p.ui.command == "inject"}) // the memory of a session is worth more than a name
}

// memories returns the settings of that section, and the defaults if they are invalid, since texts are read anyway.
func (p *program) memories(c *cli.Context) config.Memories {
	settings, err := p.settings(c, nil)
	if err != nil {
		settings = config.Default()
	}
	return settings.Memories
}

// env returns the environment that determines the agents' directories of sessions.
func (p *program) env() rollout.Env {
	return rollout.Env{Home: config.UserHome(p.environ), Getenv: p.getenv}
}

// result ends a command, whose last step may have failed: --json prints v, else text is called.
func (p *program) result(c *cli.Context, err error, v any, text func()) error {
	if err == nil && c.Bool("json") {
		return p.ui.json(v)
	}
	if err == nil {
		text()
	}
	return err
}

// The flags that several commands have.

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print one JSON object"} }

func yesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"}
}

func waitFlag() cli.Flag {
	return &cli.StringFlag{Name: "wait", Usage: "wait up to `DURATION` for a project that another process has locked"}
}

func nowFlag() cli.Flag {
	return &cli.StringFlag{Name: "now",
		Usage: "use `TIME` as the current time: 2026-07-01 (midnight UTC) or 2026-07-01T12:00:00Z"}
}

func projectRefFlag() cli.Flag {
	return &cli.StringFlag{Name: "project",
		Usage: "the project `REF`: an id, a name or a path (default: this directory's)"}
}

func argument(c *cli.Context, what string) (string, error) {
	if c.Args().First() == "" { // also an empty variable of a script
		return "", usagef("", "%s needs a %s", calledAs(c), what)
	}
	return optional(c)
}

// optional returns the argument of a command that takes at most one.
func optional(c *cli.Context) (string, error) {
	if c.NArg() > 1 {
		return "", usagef("", "%s takes one argument; unexpected %q", calledAs(c), c.Args().Get(1))
	}
	return c.Args().First(), nil
}

// calledAs returns the name of a command with that of its parent: "sessions disable".
func calledAs(c *cli.Context) string { return strings.TrimPrefix(c.Command.HelpName, "memoir ") }

// durationFlag reads a flag that is a duration; 0 if it is not given.
func durationFlag(c *cli.Context, flag string) (time.Duration, error) {
	if !c.IsSet(flag) {
		return 0, nil
	}
	d, err := config.ParseDuration(c.String(flag))
	if err != nil {
		return 0, usagef("", "--%s: %w", flag, err)
	}
	return d, nil
}

// timeFlag reads a flag that is a time: RFC 3339, or a date, which means midnight UTC; the zero
// time if it is not given.
func timeFlag(c *cli.Context, flag string) (time.Time, error) {
	if !c.IsSet(flag) {
		return time.Time{}, nil
	}
	text := c.String(flag)
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("for example 2026-07-01 or 2026-07-01T12:00:00Z",
		"--%s: %q is not a date or a time", flag, text)
}
