package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/rollout"
)

func sessionsCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "sessions", Category: groupSession,
		Usage: "list sessions with what becomes of each, and why",
		Description: help("Lists every session that was seen, the latest first, with its age and its reason:\n"+
			"eligible, or why it is left alone. Reasons are those of the last run. A session that is\n"+
			"disabled is never extracted from, and what it gave is taken out of its project's memory.",
			"memoir sessions --project . --reason eligible", "memoir sessions --since 7d --sort size --limit 10",
			"memoir sessions --json",
			"memoir sessions disable 019f1fd6", "memoir sessions enable 019f1fd6"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "project", Usage: "only of the project `REF`: an id, a name or a path"},
			&cli.StringFlag{Name: "source", Usage: "only of `AGENT`: " + strings.Join(sources(), ", ")},
			&cli.StringFlag{Name: "reason", Usage: "only those that are `REASON`: eligible, up_to_date, too_old, …"},
			&cli.StringFlag{Name: "kind", Usage: "only those of `KIND`: " + strings.Join(kindNames(), ", ")},
			&cli.StringFlag{Name: "since", Usage: "only those active since `TIME`: 7d, 12h, 2026-07-01 or 2026-07-01T12:00:00Z"},
			&cli.StringFlag{Name: "sort", Value: "updated", Usage: "sort by `ORDER`: " + strings.Join(orderNames(), ", ") + "; -size begins with the smallest"},
			&cli.BoolFlag{Name: "reverse", Usage: "turn the order round"},
			&cli.IntFlag{Name: "limit", DefaultText: "all", Usage: "list at most `N` sessions"},
			&cli.StringFlag{Name: "now", Usage: "count ages from `TIME`: 2026-07-01 or 2026-07-01T12:00:00Z"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: p.sessions,
		Subcommands: []*cli.Command{
			markCommand(p, "disable", "keep a session out of memory", true),
			markCommand(p, "enable", "let a disabled session in again", false),
		},
	}
}

func (p *program) sessions(c *cli.Context) error {
	list, err := p.asked(c)
	if err != nil {
		return err
	}
	st, err := p.openForListing(c)
	if err != nil {
		return err
	}
	out := struct {
		Sessions []sessionJSON `json:"sessions"`
	}{[]sessionJSON{}}
	var sessions []memoir.Session
	if st != nil {
		defer st.Close()
		if c.IsSet("project") {
			ref, err := projectFlag(c)
			if err != nil {
				return err
			}
			project, err := p.projectNamed(c, st, ref)
			if err != nil {
				return err
			}
			list.filter.Project = project.ID
		}
		if sessions, err = st.Sessions(c.Context, list.filter); err != nil {
			return err
		}
	}
	sessions, all := list.choose(sessions)
	for i := range sessions {
		p.cleanSession(&sessions[i])
	}
	if c.Bool("json") {
		for _, s := range sessions {
			out.Sessions = append(out.Sessions, asSessionJSON(s))
		}
		return p.ui.json(out)
	}
	t := newSessionTable()
	for _, s := range sessions {
		title := s.Title
		if s.Error != "" {
			title = s.Error
		}
		project := s.ProjectID
		if project == "" {
			project = none
		}
		t.row(s.Key(), age(list.now, s.UpdatedAt), size(s.Bytes), s.Reason, project, title)
	}
	p.ui.table(t)
	if st != nil {
		if len(sessions) < all {
			p.ui.say("%d of %s", len(sessions), count(all, "session"))
		} else {
			p.ui.say("%s", count(all, "session"))
		}
	}
	return nil
}

// newSessionTable is a table of sessions without its rows.
func newSessionTable() *table {
	t := newTable("session", "age", "size", "reason", "project", "title")
	t.narrower = []step{{"title", 18}, {"session", 16}, {"size", 0}, {"project", 12}, {"project", 0}, {"age", 0}, {"title", 8}}
	return t
}

// sources are the agents that sessions may be of.
func sources() []string {
	var names []string
	for _, agent := range rollout.Agents {
		names = append(names, string(agent.Source()))
	}
	slices.Sort(names)
	return append(names, string(memoir.SourceUnknown))
}

func markCommand(p *program, name, usage string, disabled bool) *cli.Command {
	return &cli.Command{
		Name: name, ArgsUsage: "SESSION", Usage: usage,
		Description: help("Names a session by its id, the beginning of its id, or source:id. The next run brings the\n"+
			"project's memory up to date.", "memoir sessions "+name+" 019f1fd6"),
		Action: func(c *cli.Context) error {
			ref, err := argument(c, "session")
			if err != nil {
				return err
			}
			st, err := p.openForWriting(c)
			if err != nil {
				return err
			}
			defer st.Close()
			session, err := p.findSession(c.Context, st, ref)
			if err != nil {
				return err
			}
			if err := st.SetDisabled(c.Context, session.Key(), disabled); err != nil {
				return err
			}
			p.ui.say("%s %sd: %s", session.Key(), name, orNone(session.Title))
			p.ui.sayHint("the next run brings its project's memory up to date")
			return nil
		},
	}
}
