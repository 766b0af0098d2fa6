package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/hub"
	"memoir/pages"
	"memoir/team/wire"
)

var (
	databaseFlag = &cli.StringFlag{Name: "database", EnvVars: []string{"MEMOIR_HUB_DATABASE"},
		Usage: "connect to `URL`, postgres://ROLE@HOST/NAME; a password belongs in the variable or in ~/.pgpass"}
	orgFlag  = &cli.StringFlag{Name: "org", Usage: "the organisation `NAME`, if there are several"}
	newFlag  = &cli.BoolFlag{Name: "new", DisableDefaultText: true, Usage: "add the project: nobody has pushed to it yet"}
	jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print JSON", DisableDefaultText: true}
)

func newApp() *cli.App {
	group := func(name, usage string, commands ...*cli.Command) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, Subcommands: commands, Action: unknown}
	}
	return &cli.App{
		Name: "memoir-hub", Usage: "a team's hub for memoir", Version: version(), HideHelpCommand: true, Action: unknown,
		Flags: []cli.Flag{cli.HelpFlag}, // urfave/cli leaves it out, since there is a command help
		Description: "Machines push what their sessions showed, and pull what others pushed. `serve` and `worker` run as\n" +
			"a role that row-level security binds; all other commands as the role that owns the tables.\n\n" +
			"Exit codes: 0 done; 1 failed; 2 bad usage or configuration; 130 interrupted.",
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageError,
		Commands: []*cli.Command{
			migrateCommand(), serveCommand(), workerCommand(), pagesCommand(),
			{Name: "help", ArgsUsage: "[COMMAND]", Usage: "show help for a command"},
			group("org", "organisations",
				command("add", "NAME", "add an organisation", "memoir-hub org add acme", nil,
					func(r run) error { return r.hub.AddOrganisation(r.ctx, r.args[0]) }),
				orgSetCommand(),
				command("list", "", "list organisations", "memoir-hub org list --json", []cli.Flag{jsonFlag},
					func(r run) error { return r.print(r.hub.Organisations(r.ctx)) })),
			group("member", "who may use the hub", memberCommands()...),
			group("token", "machines, each with a token", tokenCommands()...),
			admin("grant", "MEMBER PROJECT ROLE", "give a member a role in a project, * for every project; the highest counts",
				"memoir-hub grant anna github.com/acme/shop writer\n  memoir-hub grant anna '*' reader",
				[]cli.Flag{newFlag},
				func(r run) error {
					return r.org.Grant(r.ctx, r.args[0], r.args[1], wire.Role(r.args[2]), r.Bool("new"))
				}),
			admin("revoke", "MEMBER PROJECT", "take a role in a project away, * for the one in every project",
				"memoir-hub revoke anna github.com/acme/shop", nil,
				func(r run) error { return r.org.Revoke(r.ctx, r.args[0], r.args[1]) }),
			group("project", "projects and their keys",
				list("projects", "memoir-hub project list", hub.Admin.Projects),
				admin("alias", "PROJECT KEY", "give a project another key, for example after its remote was renamed",
					"memoir-hub project alias github.com/acme/shop github.com/acme/store", nil,
					func(r run) error { return r.org.Alias(r.ctx, r.args[0], r.args[1]) })),
			group("generation", "memories that workers have made of a project", generationCommands()...),
			group("job", "work that waits, runs or has failed", list("jobs that wait, run or have failed, with the reason",
				"memoir-hub job list", hub.Admin.Jobs)),
			admin("erase", "MEMBER", "remove a member with all statements; name and hashes stay", "memoir-hub erase anna",
				[]cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask", DisableDefaultText: true}},
				func(r run) error {
					if err := r.confirm("erase the member " + r.args[0] + ", with all that they sent"); err != nil {
						return err
					}
					n, err := r.org.Erase(r.ctx, r.args[0])
					return said(err, "erased %s of %s; machines get them in the memory until the next generation "+
						"is published", memoir.Count(n, "statement"), r.args[0])
				}),
			command("status", "", "count what the database holds", "memoir-hub status --json", []cli.Flag{jsonFlag},
				func(r run) error { return r.print(r.hub.Status(r.ctx)) }),
		},
	}
}

func tokenCommands() []*cli.Command {
	return []*cli.Command{
		list("machines", "memoir-hub token list --json", hub.Admin.Tokens),
		admin("add", "MEMBER", "print a token of a member for containers, which cannot join",
			"memoir-hub token add ci --days 365",
			[]cli.Flag{&cli.IntFlag{Name: "days", Value: 90, Usage: "it ends after `DAYS`"}},
			func(r run) error {
				if err := r.checkDays(); err != nil {
					return err
				}
				return r.addToken()
			}),
		admin("revoke", "ID", "refuse a machine from its next request on", "memoir-hub token revoke 17", nil,
			func(r run) error { return r.org.RevokeToken(r.ctx, r.number(0)) }),
	}
}

const codeIsValid = "the code is valid for 24 hours; `memoir team join URL` asks for it"

func memberCommands() []*cli.Command {
	return []*cli.Command{
		admin("add", "NAME", "add a member and print a one-time code to join with",
			"memoir-hub member add anna\n  memoir-hub member add ci --role reader --project github.com/acme/shop",
			[]cli.Flag{
				&cli.StringFlag{Name: "role", Value: "writer", Usage: "`ROLE`: reader, writer or admin"},
				&cli.StringSliceFlag{Name: "project", Usage: "only in the project `KEY`; may be repeated (default: every project)"},
				newFlag,
				&cli.IntFlag{Name: "days", DefaultText: "a code",
					Usage: "print a token for containers, which ends after `DAYS`, in place of the code"},
			},
			func(r run) error {
				if err := r.checkDays(); r.IsSet("days") && err != nil {
					return err
				}
				code, err := r.org.AddMember(r.ctx, r.args[0], wire.Role(r.String("role")), r.StringSlice("project"),
					r.Bool("new"))
				if erased, failed := r.org.Erased(r.ctx, r.args[0]); err == nil && erased {
					err = said(failed, "%s was erased: what was sent under this name does not come back; another name can send it",
						r.args[0])
				}
				if err == nil && r.IsSet("days") {
					return r.addToken()
				}
				return r.secret(code, err, codeIsValid)
			}),
		admin("code", "NAME", "print another one-time code, for another machine", "memoir-hub member code anna", nil,
			func(r run) error {
				code, err := r.org.NewCode(r.ctx, r.args[0])
				return r.secret(code, err, codeIsValid)
			}),
		list("members with their roles", "memoir-hub member list --json", hub.Admin.Members),
		admin("remove", "NAME", "end a member's machines, codes and roles; statements stay", "memoir-hub member remove anna",
			nil, func(r run) error { return r.org.Remove(r.ctx, r.args[0]) }),
	}
}

func (r run) checkDays() error {
	if days := r.Int("days"); days < 1 || days > 400 {
		return memoir.Errorf(memoir.CodeUsage, "", "--days is a number from 1 to 400")
	}
	return nil
}

// addToken prints a token of the member that is the first argument.
func (r run) addToken() error {
	days := r.Int("days")
	id, token, err := r.org.NewToken(r.ctx, r.args[0], time.Duration(days)*24*time.Hour)
	return r.secret(token, err, "the token ends after %s; who has it is %s; `memoir-hub token revoke %d` ends it before",
		memoir.Count(days, "day"), r.args[0], id)
}

func generationCommands() []*cli.Command {
	return []*cli.Command{
		admin("list", "PROJECT", "list generations, the newest first", "memoir-hub generation list github.com/acme/shop",
			[]cli.Flag{jsonFlag}, func(r run) error { return r.print(r.org.Generations(r.ctx, r.args[0])) }),
		admin("show", "PROJECT N", "print the MEMORY.md of a generation", "memoir-hub generation show github.com/acme/shop 7",
			nil, func(r run) error {
				text, err := r.org.Show(r.ctx, r.args[0], r.number(1))
				if err == nil {
					_, err = fmt.Fprint(r.App.Writer, text)
				}
				return err
			}),
		admin("accept", "PROJECT N", "publish a generation that waits for a review",
			"memoir-hub generation accept github.com/acme/shop 7", nil,
			func(r run) error { return r.org.Accept(r.ctx, r.args[0], r.number(1)) }),
	}
}

func migrateCommand() *cli.Command {
	return command("migrate", "", "create or update the tables, and grant the serving role what it needs",
		"memoir-hub migrate --database postgres://hub_owner@db/memoir --serve-role hub_serve",
		[]cli.Flag{
			&cli.StringFlag{Name: "serve-role", Usage: "the role `NAME` of `serve` and `worker`"},
			&cli.BoolFlag{Name: "new-epoch", DisableDefaultText: true,
				Usage: "machines send and read everything again: after the database's files were copied back"},
		},
		func(r run) error {
			if r.String("serve-role") == "" {
				return memoir.Errorf(memoir.CodeUsage, "pass --serve-role NAME", "no role of `serve` and `worker` was named")
			}
			n, err := r.hub.Migrate(r.ctx, r.String("serve-role"))
			if err == nil && r.Bool("new-epoch") {
				err = r.hub.NewEpoch(r.ctx)
			}
			return said(err, "applied %s; the schema has version %d", memoir.Count(n, "migration"), hub.SchemaVersion())
		})
}

func serveCommand() *cli.Command {
	return command("serve", "", "answer machines until SIGTERM; plain http is for this machine, or for a proxy",
		"memoir-hub serve --listen :443 --tls-cert cert.pem --tls-key key.pem\n"+
			"  memoir-hub serve --listen 10.0.0.5:8470 --behind-proxy --metrics-listen 127.0.0.1:8471",
		append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8470", Usage: "listen on `HOST:PORT`"},
			&cli.StringFlag{Name: "tls-cert", Usage: "certificate chain, a `FILE` in PEM"},
			&cli.StringFlag{Name: "tls-key", Usage: "its key, a `FILE` in PEM"},
			&cli.BoolFlag{Name: "behind-proxy", DisableDefaultText: true,
				Usage: "a proxy speaks https, and sets X-Forwarded-Proto and X-Forwarded-For"},
			&cli.StringFlag{Name: "metrics-listen", Usage: "serve /metrics on `HOST:PORT` (default: on a loopback --listen)"},
			&cli.IntFlag{Name: "workers", Value: 2, Usage: "work on `N` jobs at a time beside requests; 0: `worker` does"},
		}, workFlags...),
		func(r run) error {
			if os.Getenv("GOMEMLIMIT") == "" { // Go would let garbage double what pushes take
				debug.SetMemoryLimit(int64(128+32*r.Int("workers")) << 20)
			}
			return r.hub.Serve(r.ctx, hub.ServeOptions{
				Listen: r.String("listen"), Certificate: r.String("tls-cert"), Key: r.String("tls-key"),
				Metrics: r.String("metrics-listen"), Work: r.workOptions("workers"),
			})
		})
}

// workFlags are those of commands that work on jobs.
var workFlags = []cli.Flag{
	&cli.BoolFlag{Name: "poll-only", DisableDefaultText: true,
		Usage: "look for jobs each second instead of listening: behind PgBouncer in transaction mode"},
	&cli.DurationFlag{Name: "job-timeout", Value: 15 * time.Minute, Usage: "give a job up after `DURATION`"},
	&cli.DurationFlag{Name: "rescue-after", Value: time.Minute,
		Usage: "try the job of a worker that was killed again `DURATION` after its timeout, at least 31s"},
	&cli.DurationFlag{Name: "debounce", Value: 30 * time.Second,
		Usage: "consolidate a project `DURATION` after the first push since the last time; 0: at once"},
}

func (r run) workOptions(workers string) hub.WorkOptions {
	return hub.WorkOptions{Workers: r.Int(workers), PollOnly: r.Bool("poll-only"), Timeout: r.Duration("job-timeout"),
		RescueAfter: r.Duration("rescue-after")}
}

func workerCommand() *cli.Command {
	return command("worker", "", "work on jobs alone, until SIGTERM: extract from sessions, and consolidate",
		"memoir-hub worker --concurrency 8 --poll-only",
		append([]cli.Flag{&cli.IntFlag{Name: "concurrency", Value: 4, Usage: "work on `N` jobs at a time"}}, workFlags...),
		func(r run) error {
			if r.Int("concurrency") < 1 {
				return memoir.Errorf(memoir.CodeUsage, "", "--concurrency is 1 or more")
			}
			return r.hub.Work(r.ctx, r.workOptions("concurrency"))
		})
}

func pagesCommand() *cli.Command {
	return admin("pages", "", "show projects, members, jobs and spending to a browser here, until it is interrupted",
		"memoir-hub pages --port 8480\n  ssh -L 8480:127.0.0.1:8480 hub.internal      # for a browser on another machine",
		[]cli.Flag{&cli.IntFlag{Name: "port", DefaultText: "a free port", Usage: "listen on port `N`"}},
		func(r run) error {
			token := rand.Text()
			handler, err := r.org.Pages(r.ctx, token)
			if err != nil {
				return err
			}
			l, err := pages.Listen(r.Int("port"))
			if err == nil {
				_, err = fmt.Fprintln(r.App.Writer, pages.Address(l, token))
			}
			if err != nil {
				return err
			}
			return pages.Run(r.ctx, l, handler)
		})
}

func orgSetCommand() *cli.Command {
	const same = "unchanged"
	return command("set", "NAME", "change how an organisation's memories are made; what is not passed stays",
		"memoir-hub org set acme --model anthropic/claude-sonnet-4-5 --daily-tokens 2000000\n"+
			"  memoir-hub org set acme --review\n  memoir-hub org set acme --model builtin --review=false",
		[]cli.Flag{
			&cli.StringFlag{Name: "model", Usage: "`PROVIDER/MODEL`, or builtin"},
			&cli.StringFlag{Name: "key-env", Usage: "the variable `NAME` of the workers' environment that has the key"},
			&cli.StringFlag{Name: "base-url", Usage: "reach the provider at `URL`"},
			&cli.Int64Flag{Name: "daily-tokens", DefaultText: same, Usage: "spend at most `N` tokens on a UTC day; 0: no limit"},
			&cli.Float64Flag{Name: "daily-cost", DefaultText: same, Usage: "spend at most `USD` on a UTC day; 0: no limit"},
			&cli.Float64Flag{Name: "input-price", DefaultText: same, Usage: "`USD` per million tokens"},
			&cli.Float64Flag{Name: "output-price", DefaultText: same, Usage: "`USD` per million tokens"},
			&cli.BoolFlag{Name: "review", DisableDefaultText: true,
				Usage: "generations wait until an admin accepts them; statements do not"},
		},
		func(r run) error {
			return r.hub.Admin(r.args[0]).SetPolicy(r.ctx, func(p *hub.Policy) {
				replace(r, "model", &p.Model)
				replace(r, "key-env", &p.KeyEnv)
				replace(r, "base-url", &p.BaseURL)
				replace(r, "daily-tokens", &p.DailyTokens)
				replace(r, "daily-cost", &p.DailyCost)
				replace(r, "input-price", &p.InputPrice)
				replace(r, "output-price", &p.OutputPrice)
				replace(r, "review", &p.Review)
			})
		})
}

// replace sets a value to that of a flag, if it was passed.
func replace[T any](r run, flag string, value *T) {
	if r.IsSet(flag) {
		*value = r.Value(flag).(T)
	}
}

// run is a command that was called.
type run struct {
	*cli.Context
	ctx  context.Context
	hub  *hub.Hub
	org  hub.Admin // of --org
	args []string
}

// number returns an argument as a number. Nothing has the number 0, which stands for other words.
func (r run) number(i int) int64 {
	n, _ := strconv.ParseInt(r.args[i], 10, 64)
	return n
}

// command is one that works on the database.
func command(name, args, usage, example string, flags []cli.Flag, action func(r run) error) *cli.Command {
	return &cli.Command{
		Name: name, ArgsUsage: cmp.Or(args, " "), Usage: usage, Description: "Examples:\n  " + example,
		Flags: append([]cli.Flag{databaseFlag}, flags...), OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			args, err := arguments(c)
			if err != nil {
				return err
			}
			if c.String("database") == "" {
				return memoir.Errorf(memoir.CodeUsage, "pass --database URL, or set MEMOIR_HUB_DATABASE",
					"no database was named")
			}
			h, err := hub.Open(c.Context, hub.Options{
				Database: c.String("database"), Proxied: c.Bool("behind-proxy"), Debounce: c.Duration("debounce"),
				Log: slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("version", version()),
			})
			if err != nil {
				return err
			}
			defer h.Close()
			return action(run{c, c.Context, h, h.Admin(c.String("org")), args})
		},
	}
}

// admin is a command on an organisation.
func admin(name, args, usage, example string, flags []cli.Flag, action func(r run) error) *cli.Command {
	return command(name, args, usage, example, append([]cli.Flag{orgFlag}, flags...), action)
}

func list(of, example string, rows func(a hub.Admin, ctx context.Context) (hub.Table, error)) *cli.Command {
	return admin("list", "", "list "+of, example, []cli.Flag{jsonFlag},
		func(r run) error { return r.print(rows(r.org, r.ctx)) })
}

func unknown(c *cli.Context) error {
	if word := c.Args().First(); word != "" {
		return memoir.Errorf(memoir.CodeUsage, "`memoir-hub help` lists the commands", "there is no command %q", word)
	}
	_ = cli.ShowSubcommandHelp(c)
	return memoir.Errorf(memoir.CodeUsage, "", "a command is missing")
}

func usageError(_ *cli.Context, err error, _ bool) error {
	return memoir.Errorf(memoir.CodeUsage, "`memoir-hub help` lists the commands", "%s", strings.TrimSpace(err.Error()))
}

// secret prints a token or a code, and on standard error what it is.
func (r run) secret(secret string, err error, format string, args ...any) error {
	if err == nil {
		_, err = fmt.Fprintln(r.App.Writer, secret)
	}
	return said(err, format, args...)
}

// said writes a message unless something failed.
func said(err error, format string, args ...any) error {
	if err == nil {
		fmt.Fprintf(os.Stderr, "memoir-hub: "+format+"\n", args...)
	}
	return err
}
