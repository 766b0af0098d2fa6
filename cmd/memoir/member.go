package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/store"
	"memoir/team"
	hubwire "memoir/team/wire"
)

// memberCommands are what a member may do at the hub for the team, and for their own machines.
func memberCommands(p *program) []*cli.Command {
	return []*cli.Command{
		teamSubcommand(p.acceptTeam, "accept", "[PROJECT]", "look at a generation of the hub that waits, and accept it",
			"Where an operator has switched on the review, what the hub makes of a project waits until a member\n"+
				"with the role admin there accepts it. Shows how the newest one that waits differs from what machines\n"+
				"get, and asks. Without a terminal it needs --yes, which takes the newest one even if nobody has seen\n"+
				"it: with --generation N it takes none but the one that was shown as N, also if newer ones wait\n"+
				"meanwhile. --json alone accepts nothing. What members send does not wait: the others receive it at\n"+
				"once. A key such as github.com/acme/shop names a project that you do not share. With --without it\n"+
				"instead removes the line of MEMORY.md that has TEXT, from every generation and for all. The next one\n"+
				"waits without it. The words stay at the hub and on machines until `memoir forget` on the machine that\n"+
				"sent them takes them back.",
			[]cli.Flag{
				&cli.Int64Flag{Name: "generation", Usage: "accept the generation `N` that was shown, and no other",
					DefaultText: "the newest"},
				&cli.StringSliceFlag{Name: "without", Usage: "leave the line that has `TEXT` out; may be repeated"}, yesFlag()},
			"memoir team accept", "memoir team accept github.com/acme/shop --generation 8 --yes",
			"memoir team accept --without 'sort the queue by age'"),
		teamSubcommand(p.machines, "machines", "", "list your machines at the hub",
			"Lists the machines that have joined as you, with their ids. With --revoke the hub refuses another one\n"+
				"from its next request on; what it has sent stays. It asks first; without a terminal it needs --yes.",
			[]cli.Flag{&cli.StringFlag{Name: "revoke", Usage: "revoke the token of the machine `ID`"}, yesFlag()},
			"memoir team machines", "memoir team machines --revoke 17"),
		teamSubcommand(p.grantTeam, "grant", "MEMBER ROLE [PROJECT]", "give a member a role in a project, or end it",
			"For members with the role admin in the project: this directory's, another one that you share, one that\n"+
				"a key such as github.com/acme/shop names, or '*', which is every project, also those to come. ROLE is\n"+
				"reader, writer, admin, or none, which ends the role that was given there. The highest one counts. The\n"+
				"last admin keeps the role. docs/hub.md says what each role may.", nil,
			"memoir team grant ben writer", "memoir team grant ben admin github.com/acme/shop",
			"memoir team grant ben none '*'"),
		teamSubcommand(p.eraseMember, "erase", "MEMBER", "remove a member from the hub, with all that they sent",
			"For members with the role admin in every project. It ends the machines, codes and roles of the member,\n"+
				"and removes statements, edits and sessions. Hashes stay, so that other machines drop them at their next\n"+
				"run, and they do not come back. It asks first; without a terminal it needs --yes. The last admin stays.",
			[]cli.Flag{yesFlag()}, "memoir team erase ben"),
	}
}

// acceptTeam is a review of what a hub made, for all members.
func (p *program) acceptTeam(c *cli.Context) error {
	return p.withTeam(c, func(o team.Options) error {
		id, key, err := p.keyAtHub(c, o.Store, c.Args().First())
		if err != nil {
			return err
		}
		without, named := c.StringSlice("without"), c.Int64("generation")
		other := func(w team.Waiting) bool { return c.IsSet("generation") && w.Generation != named }
		w, err := team.Accept(c.Context, o, key, named, without, func(w team.Waiting) (bool, error) {
			if other(w) {
				return false, nil
			}
			if c.Bool("json") {
				return c.Bool("yes"), nil
			}
			for _, diff := range w.Diffs {
				p.ui.writeDiff(diff)
			}
			for _, one := range w.Went {
				p.ui.printf("went: %s: %s\n", memoir.Cut(one.Line, 100), one.Why)
			}
			do := fmt.Sprintf("accept generation %d of %s for all members", w.Generation, id)
			if len(without) > 0 {
				do = fmt.Sprintf("remove %s of %s, whose words only `memoir forget` takes back, for all members: %s",
					count(len(without), "line"), id, strings.Join(w.Without, "; "))
			}
			err := p.confirm(c, do, "")
			if memoir.CodeOf(err) == memoir.CodeUsage && len(without) == 0 {
				err = usagef(fmt.Sprintf("pass --generation %d --yes", w.Generation), "%w", err)
			}
			return true, err
		})
		if err == nil && other(w) {
			err = memoir.Errorf(memoir.CodeChanged, "`memoir team accept "+key+"` shows what waits",
				"generation %d of %s was not shown here last, and is not the newest that waits, so nothing is changed",
				named, id)
		}
		return p.result(c, err, w, func() {
			if len(without) > 0 {
				p.ui.say("accepted nothing: the hub makes the next generation of %s, without %s", id,
					count(len(without), "line"))
				p.ui.sayHint("if the project is reviewed, machines go on telling a published line until that generation is " +
					"accepted, with all else that is new in it: in a minute `memoir team accept " + key + "` shows it, and " +
					"with `--generation N --yes` accepts the one that it showed")
				return
			}
			if w.Generation == 0 {
				p.ui.say("no generation of %s waits", id)
				return
			}
			p.ui.say("accepted generation %d of %s", w.Generation, id)
			p.ui.sayHint("`memoir run` takes it in here")
		})
	})
}

// keyAtHub returns the key of a shared project, and what to call it. An admin need not share it: then its key names it.
func (p *program) keyAtHub(c *cli.Context, st *store.Store, ref string) (id, key string, err error) {
	shares, _, err := st.Shares(c.Context)
	for _, s := range shares {
		if s.Key == ref {
			return s.ProjectID, ref, err
		}
	}
	if err != nil || strings.Contains(ref, "/") && hubwire.CheckProject(ref) == nil && !isPath(ref) {
		return ref, ref, err
	}
	row, as, err := p.sharedNow(c, st, ref)
	return row.ID, as.Key, err
}

// machines lists the machines of this member, and before revokes one if its id is given.
func (p *program) machines(c *cli.Context) error {
	home, err := p.home(c)
	if id := c.String("revoke"); err == nil && id != "" {
		err = p.confirm(c, "revoke machine "+id, "")
	}
	if err != nil {
		return err
	}
	all, err := team.Machines(c.Context, home, c.String("revoke"))
	return p.result(c, err, map[string]any{"machines": all}, func() {
		for _, m := range all {
			this := map[bool]string{true: " (this one)"}[m.This]
			p.ui.printf("%s  %s%s, last seen %s\n", m.ID, m.Name, this, when(m.Seen))
		}
	})
}

func (p *program) grantTeam(c *cli.Context) error {
	opts, st, err := p.openJoined(c)
	if err != nil {
		return err
	}
	defer st.Close()
	ref, id, now := c.Args().Get(2), "every project", hubwire.Granted{}
	g := hubwire.Grant{Member: c.Args().First(), Project: ref, Role: hubwire.Role(c.Args().Get(1))}
	if ref != hubwire.EveryProject {
		id, g.Project, err = p.keyAtHub(c, st, ref)
	}
	if err == nil {
		now, err = team.Grant(c.Context, opts.Home, g)
	}
	return p.result(c, err, map[string]any{"member": g.Member, "project": g.Project, "granted": g.Role,
		"role": now.Role}, func() {
		p.ui.say("the role of %s in %s is %s", g.Member, id, now.Role)
		if ref == hubwire.EveryProject && now.Role != hubwire.Admin {
			p.ui.sayHint("roles in single projects stay: `memoir team grant MEMBER none PROJECT` ends one")
		} else if now.Role != g.Role {
			p.ui.sayHint("the highest role counts, also one for every project: `memoir team grant MEMBER none '*'` ends that")
		}
	})
}

func (p *program) eraseMember(c *cli.Context) error {
	e := hubwire.Erase{Member: c.Args().First()}
	home, err := p.home(c)
	if err == nil {
		_, err = team.Load(home)
	}
	if err == nil {
		err = p.confirm(c, "erase the member "+e.Member+" at the hub, with all that they sent", "")
	}
	if err != nil {
		return err
	}
	done, err := team.Erase(c.Context, home, e)
	return p.result(c, err, map[string]any{"member": e.Member, "erased": done.Erased}, func() {
		p.ui.say("erased %s, with %s", e.Member, count(done.Erased, "statement"))
		p.ui.sayHint("other machines drop them with their next run, and the memory of the hub with its next generation")
	})
}
