package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/store"
)

func sessionsCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "sessions", Category: groupUpkeep,
		Usage: "list sessions, each with its reason",
		Description: help("Lists all registered sessions, newest first, each with its reason:\n"+
			"eligible, or why it is skipped. The last run set the reasons. Nothing is extracted from a\n"+
			"disabled session, and its content is removed from its project's memory. The agent unknown stands\n"+
			"for files in no known format, conversation for what `memoir message` adds, and memoir for notes\n"+
			"and lines of journals, which only --source memoir lists.\n\nReasons:\n"+reasonHelp(),
			"memoir sessions --project . --reason eligible", "memoir sessions --limit 10", "memoir sessions --json",
			"memoir sessions disable 019f1fd6", "memoir sessions enable 019f1fd6"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "project", Usage: "only the project `REF`: an id, a name or a path"},
			&cli.StringFlag{Name: "source", Usage: "only sessions of the agent `SOURCE`: " + strings.Join(sources(), ", ")},
			&cli.StringFlag{Name: "reason", Usage: "only sessions with this `REASON`"},
			&cli.IntFlag{Name: "limit", DefaultText: "all", Usage: "list at most `N` sessions"},
			jsonFlag(),
		},
		Action: p.sessions,
		Subcommands: []*cli.Command{
			markCommand(p, "disable", "keep a session out of memory", true),
			markCommand(p, "enable", "enable a disabled session", false),
		},
	}
}

func reasonHelp() string {
	var b strings.Builder
	for _, reason := range memoir.Reasons {
		fmt.Fprintf(&b, "  %-11s %s\n", reason, memoir.Meanings[reason])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (p *program) sessions(c *cli.Context) error {
	filter := store.Filter{Source: memoir.Source(c.String("source")), Reason: memoir.Reason(c.String("reason"))}
	st, err := p.openForListing(c)
	if err != nil {
		return err
	}
	out := operation.Sessions{Sessions: []operation.Session{}}
	if st != nil {
		defer st.Close()
		ref, err := projectFlag(c)
		if err != nil {
			return err
		}
		if ref != "" {
			project, err := p.projectNamed(c, st, ref)
			if err != nil {
				return err
			}
			filter.Project = project.ID
		}
		if out, err = operation.ListSessions(c.Context, st, filter, c.Int("limit"), p.redact); err != nil {
			return err
		}
	}
	t := newTable("session", "updated", "size", "reason", "project", "title or error")
	for _, s := range out.Sessions {
		t.row(s.Key(), whenKnown(s.UpdatedAt), size(s.Bytes), s.Reason, orDash(s.Project), cmp.Or(s.Error, s.Title))
	}
	return p.result(c, nil, out, func() {
		p.ui.table(t)
		if len(out.Sessions) < out.All {
			p.ui.say("%d of %s", len(out.Sessions), count(out.All, "session"))
		} else if st != nil {
			p.ui.say("%s", count(out.All, "session"))
		}
	})
}

func sources() []string {
	names := memoir.Map(rollout.Agents, func(a rollout.Agent) string { return string(a.Source) })
	slices.Sort(names)
	return append(names, string(memoir.SourceUnknown), string(memoir.SourceEntry), string(memoir.SourceTeam),
		string(memoir.SourceMachine))
}

func markCommand(p *program, name, usage string, disabled bool) *cli.Command {
	effect := "The next run adds the\nsession to its project's memory again."
	if disabled {
		effect = "It is removed from\n" +
			"its project's memory and from the search. HISTORY.md, which nothing injects, keeps its\n" +
			"paragraph: `memoir forget` removes it."
	}
	return &cli.Command{
		Name: name, ArgsUsage: "SESSION", Usage: usage,
		Description: help("Takes a session's id, the beginning of it, or source:id. "+effect,
			"memoir sessions "+name+" 019f1fd6"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			opts, st, err := p.openToChange(c)
			if err != nil {
				return err
			}
			defer st.Close()
			session, err := p.findSession(c.Context, st, c.Args().First())
			if err != nil {
				return err
			}
			was, forgotten, err := st.Marked(c.Context, session.Key())
			if err == nil && forgotten && !disabled {
				err = usagef("`memoir forget --undo "+session.Key()+"` reads it again", "%s is forgotten", session.Key())
			}
			if err == nil {
				err = st.SetDisabled(c.Context, session.Key(), disabled)
			}
			if err != nil {
				return err
			}
			hint := "the next run updates its project's memory"
			if disabled {
				if err := pipeline.Withdraw(c.Context, st, opts, session.ProjectID); err == nil {
					hint = ""
				} else if memoir.CodeOf(err) != memoir.CodeBusy {
					p.ui.warn(memoir.HintOf(err), "it is not removed from its project's memory yet: %v", err)
				}
			}
			now, err := p.findSession(c.Context, st, session.Key())
			if err == nil && !disabled && now.Reason == memoir.ReasonDisabled {
				return usagef("`memoir config get exclude` lists excluded directories",
					"%s stays disabled: exclude, or %s, covers %s", session.Key(), config.ProjectFileName, p.redact(session.CWD))
			}
			return p.result(c, nil, map[string]any{"session": session.Key(), "disabled": disabled}, func() {
				if was == disabled {
					p.ui.say("%s, “%s”, is %sd already", session.Key(), orUntitled(session.Title), name)
					return
				}
				p.ui.say("%sd %s, “%s”", name, session.Key(), orUntitled(session.Title))
				p.ui.sayHint(hint)
			})
		},
	}
}

func retryCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "retry", Category: groupUpkeep, ArgsUsage: "[SESSION|PROJECT]...",
		Usage: "make the next run retry failed and dead jobs",
		Description: help("Takes sessions, projects whose consolidation failed, or --all. The next run retries them;\n"+
			"their attempts are counted from 0 again. A job whose process crashed is retried last and\n"+
			"alone, and is dead after two more crashes.", "memoir retry 019f1fd6", "memoir retry --all"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "all",
			Usage: "all failed and dead jobs, including those whose process crashed"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 && !c.Bool("all") {
				return usagef("`memoir status` lists failed jobs; --all retries all of them",
					"retry needs a session or project, or --all")
			}
			if c.NArg() > 0 && c.Bool("all") {
				return usagef("", "arguments and --all exclude each other")
			}
			_, st, err := p.openToChange(c)
			if err != nil {
				return err
			}
			defer st.Close()
			var keys []string
			for _, ref := range c.Args().Slice() {
				session, err := p.findSession(c.Context, st, ref)
				if err == nil {
					keys = append(keys, session.Key())
					continue
				}
				if memoir.CodeOf(err) == memoir.CodeNotFound {
					if project, projectErr := st.FindProject(c.Context, ref); projectErr == nil {
						keys = append(keys, project.ID)
						continue
					}
					err = notFoundf("`memoir status` lists failed jobs", "no session or project matches %q", ref)
				}
				return err
			}
			n, err := st.Retry(c.Context, keys...)
			return p.result(c, err, map[string]int{"retried": n}, func() {
				if n == 0 {
					p.ui.say("no failed or dead job")
				} else {
					p.ui.say("the next run retries %s", count(n, "job"))
					p.ui.sayHint("a run skips sessions over memories.maxRolloutAgeDays; `memoir run --max-age 0` includes them")
				}
			})
		},
	}
}
