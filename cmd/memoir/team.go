package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/internal/disk"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
	"memoir/team"
)

func teamCommand(p *program) *cli.Command {
	sub := teamSubcommand
	keep := []cli.Flag{yesFlag(),
		&cli.BoolFlag{Name: "keep", Usage: "withdraw nothing: what was sent stays at the hub"}}
	const syncs = "Every run does it, too. `memoir run` consolidates what was received; what others withdrew is\n" +
		"removed at once."
	return &cli.Command{
		Name: "team", Category: groupTeam,
		Usage: "share projects with your other machines and with other people",
		Description: help("No statement leaves this machine before `memoir team share` names a project. Then its\n"+
			"statements, without secrets, go to the hub after each run: also texts of commits, with names but no\n"+
			"address of mail, and what you said, in your words. Only your own machines get that from the hub, but\n"+
			"whoever runs it can read it. docs/teams.md lists what leaves. Alone it prints `memoir team status`.",
			"memoir team join https://hub.example.com", "memoir team share", "memoir team status"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: p.teamStatus,
		Subcommands: append(append(promoteCommands(p), memberCommands(p)...),
			sub(p.joinTeam, "join", "URL", "join a hub with a one-time code",
				"Exchanges a one-time code of an operator for a token of this machine, which only you can read.\n"+
					"It asks for the code, or reads it from a pipe or --code-file. It shares nothing but the machine's\n"+
					"host name. If the token was revoked or has expired, join with a new code: what is shared stays.",
				[]cli.Flag{&cli.StringFlag{Name: "code-file", Usage: "read the code from `FILE`; - is standard input"},
					caFlag()},
				"memoir team join https://hub.example.com", "memoir team join https://hub.example.com --code-file - < code"),
			sub(p.leaveTeam, "leave", "", "leave the hub",
				"Withdraws from the hub what this machine sent, then removes the token, the shares and what was\n"+
					"received. It asks first; without a terminal it needs --yes. With --keep it does not ask. Without the\n"+
					"hub it changes nothing and exits with 1, but with --keep or if nothing was sent. Your roles stay.",
				keep, "memoir team leave"),
			sub(p.share, "share", "[PROJECT]", "share a project",
				"Lets the statements of this directory's project, or another, leave with the next run. It says\n"+
					"what would leave and asks first; without a terminal it needs --yes. Machines share what has the\n"+
					"same remote, or the same name by --as. With team.share: false in .memoir.yml all stays here.",
				[]cli.Flag{&cli.StringFlag{Name: "as", Usage: "share it under `NAME` instead of its remote"},
					&cli.BoolFlag{Name: "dry-run", Usage: "print every statement that would leave, and change nothing"}, yesFlag()},
				"memoir team share --dry-run", "memoir team share ~/src/notes --as notes"),
			sub(p.unshare, "unshare", "[PROJECT]", "end the sharing of a project",
				"Withdraws from the hub what this machine sent of a project, at once or with the next run, and\n"+
					"removes what was received of it. It asks before it withdraws; without a terminal it needs --yes.",
				keep, "memoir team unshare"),
			sub(p.syncs(team.Push|team.Pull), "sync", "", "send and receive now", syncs, nil, "memoir team sync"),
			sub(p.pushTeam, "push", "[URL]", "send now, or send sessions from a container", syncs+"\n"+
				"With a URL and --transcripts it sends the sessions of this directory's project to a hub that this\n"+
				"home has not joined, redacted and each once; the hub extracts from them: docs/fleets.md. What a\n"+
				"person said is kept by nobody. It exits with 3 if one cannot be sent, or all are of other projects.",
				containerFlags(&cli.StringFlag{Name: "transcripts", Usage: "send the sessions below `DIR`"},
					&cli.BoolFlag{Name: "dry-run", Usage: "list what would be sent, with --json all of it, and send nothing"}),
				"memoir team push", "memoir team push https://hub.example.com --token-env MEMOIR_TOKEN --transcripts ~/.claude"),
			sub(p.pullTeam, "pull", "[URL]", "receive now, or get a memory into a container", syncs+"\n"+
				"With a URL it gets the memory of this directory's project from a hub that this home has not\n"+
				"joined, for containers: docs/fleets.md. The home gets no database, and sessions are told the\n"+
				"memory unless memories.enabled was set to false. If there is none, or the hub is away, it says so\n"+
				"and exits with 0.", containerFlags(),
				"memoir team pull", "memoir team pull https://hub.example.com --token-env MEMOIR_TOKEN"),
			sub(p.teamStatus, "status", "", "show what is shared, and how synchronising goes",
				"Shows the team memories of repositories, the hub, the shared projects, what waits, what stays here\n"+
					"and why, and since when synchronising fails. It uses no network.", nil, "memoir team status"),
		),
	}
}

func teamSubcommand(
	do cli.ActionFunc, name, args, usage, about string, flags []cli.Flag, examples ...string,
) *cli.Command {
	return &cli.Command{Name: name, ArgsUsage: args, Usage: usage, Action: do, Flags: append([]cli.Flag{jsonFlag()},
		flags...), Description: help(about, examples...)}
}

// openJoined opens the database of a home that has joined a hub, and makes it if the home is new.
func (p *program) openJoined(c *cli.Context) (opts pipeline.Options, st *store.Store, err error) {
	if opts, err = p.options(c, nil); err == nil {
		_, err = team.Load(opts.Home)
	}
	if err == nil {
		st, err = p.openStore(c.Context, opts.Home, opts.Settings)
	}
	return opts, st, err
}

// withTeam does something with what is shared.
func (p *program) withTeam(c *cli.Context, do func(team.Options) error) error {
	opts, st, err := p.openJoined(c)
	if err != nil {
		return err
	}
	defer st.Close()
	return pipeline.Team(c.Context, st, opts, do)
}

func (p *program) syncs(what int) cli.ActionFunc {
	return func(c *cli.Context) error {
		return p.withTeam(c, func(o team.Options) error {
			r, err := team.Sync(c.Context, o, what)
			if h, errHub := team.Load(o.Home); errHub == nil {
				p.warnEnding(h.URL, h.Expires, syncRenews)
			}
			return p.result(c, err, r, func() {
				edits := map[bool]string{true: " and " + count(r.Edits, "edit") + " for all members"}[r.Edits > 0]
				p.ui.say("%s%s sent, %d withdrawn, %d received", count(r.Sent, "statement"), edits, r.Withdrawn, r.Received)
				statusList(p, "kept here", r.Held, sayHeld)
				state, _ := team.ReadState(o.Home)
				p.warnLimited(state.Limited)
				if r.Received > 0 {
					p.ui.sayHint("`memoir run` consolidates what was received")
				}
				if shares, _, _ := o.Store.Shares(c.Context); len(shares) == 0 {
					p.ui.sayHint("no project is shared: `memoir team share` shares one")
				}
			})
		})
	}
}

func sayHeld(h team.Held) string { return fmt.Sprintf("of %s (%s): %s", h.Session, h.Project, h.Why) }

func caFlag() cli.Flag {
	return &cli.StringFlag{Name: "ca", Usage: "also trust the certificates in `FILE` (PEM)"}
}

// hubAt returns the hub of an address, with the certificates of --ca.
func hubAt(c *cli.Context, url string) (team.Hub, error) {
	h := team.Hub{URL: url}
	if ca := c.String("ca"); ca != "" {
		text, err := disk.ReadFile(ca, 1<<20)
		if err != nil {
			return h, usagef("", "--ca: %w", err)
		}
		h.CA = string(text)
	}
	return h, nil
}

func (p *program) joinTeam(c *cli.Context) error {
	at, err := argument(c, "URL")
	home, errHome := p.home(c)
	if err = cmp.Or(err, errHome); err != nil {
		return err
	}
	h, err := hubAt(c, at)
	if err != nil {
		return err
	}
	code, err := p.oneTimeCode(c)
	if err == nil {
		name, _ := os.Hostname()
		err = team.Join(c.Context, home, h, code, cmp.Or(memoir.CutBytes(name, 100, ""), "unnamed"))
	}
	if err != nil {
		return err
	}
	out, err := operation.ReadTeam(c.Context, nil, home, p.redact)
	return p.result(c, err, out, func() {
		p.ui.say("joined %s as %s of %s", out.URL, out.Member, out.Organisation)
		p.ui.sayHint("`memoir team share` shares a project; no statement leaves before")
	})
}

// oneTimeCode reads the code of --code-file, or asks for it.
func (p *program) oneTimeCode(c *cli.Context) (code string, err error) {
	const most = 1 << 10
	var text []byte
	switch file := c.String("code-file"); {
	case file == "-", file == "" && !p.ui.inTTY:
		text, err = interruptibly(c.Context, func() ([]byte, error) { return io.ReadAll(io.LimitReader(p.ui.stdin, most)) })
	case file != "":
		text, err = disk.ReadFile(file, most)
	case file == "" && p.ui.canAsk():
		code, err = p.ui.words(c.Context, "one-time code:", "")
	}
	if err != nil {
		return "", usagef("", "--code-file: %w", err)
	}
	if code = strings.TrimSpace(code + string(text)); code == "" {
		return "", usagef("an operator makes one; pass it with --code-file", "%s needs a one-time code", calledAs(c))
	}
	return code, nil
}

func (p *program) leaveTeam(c *cli.Context) error {
	return p.withTeam(c, func(o team.Options) error {
		shares, _, err := o.Store.Shares(c.Context)
		sent := 0
		for _, s := range shares {
			sent += s.Sent
		}
		if err == nil && !c.Bool("keep") {
			err = p.confirm(c, "leave the hub: the team loses "+count(sent, "statement")+" of this machine", "")
		}
		if err != nil {
			return err
		}
		report, left, err := team.Leave(c.Context, o, c.Bool("keep"))
		if left != nil && err == nil {
			p.ui.warn("ask an operator to revoke the token of this machine", "the hub was not told all: %v", left)
		}
		return p.result(c, err, report, func() {
			kept := map[bool]string{true: "; what else was sent stays there"}[c.Bool("keep")]
			p.ui.say("left the hub; %s withdrawn%s", count(report.Withdrawn, "statement"), kept)
		})
	})
}

func (p *program) share(c *cli.Context) error {
	ref, err := optional(c)
	if err != nil {
		return err
	}
	dry, open := c.Bool("dry-run"), p.openJoined
	if dry {
		open = p.openToChange
	}
	opts, st, err := open(c)
	if err != nil {
		return err
	}
	defer st.Close()
	row, already, here, err := p.projectToShare(c, st, opts.Settings, ref)
	if err != nil {
		return err
	}
	key, err := p.keyToShare(c, opts, row, already.Key)
	if err != nil {
		return err
	}
	return pipeline.Team(c.Context, st, opts, func(o team.Options) error {
		leaves, edits, held, err := team.WouldLeave(c.Context, o, row.Project, key)
		lines, worded, says := describeLeaving(leaves, already)
		for _, e := range edits {
			lines = append(lines, oneLine("Edit: "+e.Before+" → "+cmp.Or(e.After, "(removed)")))
		}
		if len(edits) > 0 {
			says += "; and " + count(len(edits), "edit") + " of lines of the hub"
		}
		says += o.Waits(row.Project)
		if err == nil && !dry && already.Key == "" {
			p.showLeaving(lines, worded)
			p.ui.say("%s", says)
			if err = p.confirm(c, "share "+row.ID+" as "+key, ""); err == nil {
				row, err = p.registered(c, st, ref, here)
			}
			if err == nil {
				err = st.Share(c.Context, row.ID, key)
			}
		}
		return p.result(c, err, map[string]any{"project": row.ID, "key": key, "dry_run": dry, "statements": leaves,
			"edits": edits, "held": held}, func() {
			if !dry {
				p.ui.say("%s is shared as %s", row.ID, key)
				p.ui.sayHint("the next run sends it, or `memoir team sync` now; later sessions leave with each run, without " +
					"asking; other members get it once they run `memoir team share` in their clone" + o.Waits(row.Project))
				return
			}
			for _, line := range lines {
				p.ui.printf("%s\n", line)
			}
			p.ui.say("%s", says)
			statusList(p, "kept here", held, sayHeld)
		})
	})
}

// maxWorded bounds the texts of agents that are listed before a project is shared.
const maxWorded = 50

// showLeaving lists what agents worded, the first of the lines, and five of the rest. Only a reader notices what a text
// of an agent tells, such as the name of a customer, so a sample of these would not do.
func (p *program) showLeaving(lines []string, worded int) {
	shown, rest := slices.Clone(lines[:min(worded, maxWorded)]), lines[worded:]
	for i := range min(5, len(rest)) {
		shown = append(shown, rest[i*max(1, len(rest)/5)])
	}
	for _, line := range shown {
		p.ui.say("  %s", memoir.Cut(line, maxText))
	}
	among := ""
	switch {
	case worded > maxWorded:
		among = fmt.Sprintf(", the first %d of %d that agents worded among them", maxWorded, worded)
	case worded > 0:
		among = fmt.Sprintf(", all %d that agents worded among them", worded)
	}
	if len(shown) < len(lines) {
		p.ui.say("these are %d of %d texts%s; --dry-run prints all", len(shown), len(lines), among)
	}
}

// sharedNow is sharedProject for one that has to be shared.
func (p *program) sharedNow(
	c *cli.Context, st *store.Store, ref string,
) (row store.ProjectRow, as store.Share, err error) {
	row, as, err = p.sharedProject(c, st, ref)
	if err == nil && as.Key == "" {
		err = notFoundf("`memoir team status` lists shared projects", "%s is not shared", row.ID)
	}
	return row, as, err
}

// sharedProject returns a project, and how it is shared; that has no key if it is not.
func (p *program) sharedProject(c *cli.Context, st *store.Store, ref string) (
	row store.ProjectRow, as store.Share, err error) {
	row, err = p.projectNamed(c, st, ref)
	shares, _, errShares := st.Shares(c.Context)
	for _, s := range shares {
		if s.ProjectID == row.ID {
			as = s
		}
	}
	return row, as, cmp.Or(err, errShares)
}

func (p *program) unshare(c *cli.Context) error {
	return p.withTeam(c, func(o team.Options) error {
		row, as, err := p.sharedNow(c, o.Store, c.Args().First())
		if err == nil && as.Sent > 0 && !c.Bool("keep") {
			err = p.confirm(c, "unshare "+row.ID+": the team loses "+count(as.Sent, "statement")+" of this machine", "")
		}
		if err == nil {
			err = team.Unshare(c.Context, o, row.ID, c.Bool("keep"))
		}
		if err != nil {
			return err
		}
		report, failed := team.Sync(c.Context, o, team.Push)
		if failed != nil {
			p.ui.warn("the next run tells it, or `memoir team push` now", "the hub is not told yet: %v", failed)
		}
		return p.result(c, nil, report, func() {
			p.ui.say("%s is not shared any more; %s withdrawn", row.ID, count(report.Withdrawn, "statement"))
		})
	})
}

// describeLeaving returns a line for each text that leaves, what agents worded for others first, with its newest day
// and the number of others; how many lines are worded by agents; and how many statements there are of each kind.
func describeLeaving(leaves []team.Statement, already store.Share) (lines []string, worded int, says string) {
	kinds, days := map[string]int{}, map[string][]string{}
	for _, one := range leaves {
		var of memoir.Statement
		_ = json.Unmarshal(one.Body, &of) // our own
		if of.Signal == memoir.SignalVain {
			of.Kind = memoir.StatementFailure // the agent claims nothing
		}
		kinds[string(of.Kind)]++
		who := map[bool]string{true: " (only your own machines)"}[one.Own]
		line := oneLine(string(of.Kind) + ": " + of.Text + who)
		switch {
		case days[line] != nil:
		case of.By == memoir.ByAgent && !one.Own:
			lines = slices.Insert(lines, worded, line)
			worded++
		default:
			lines = append(lines, line)
		}
		days[line] = append(days[line], one.Day)
	}
	for i, line := range lines {
		more := ""
		if n := len(days[line]) - 1; n > 0 {
			more = fmt.Sprintf(", +%d", n)
		}
		lines[i] += " [" + slices.Max(days[line]) + more + "]"
	}
	switch says = count(len(leaves), "statement") + " would leave: "; {
	case len(leaves) == 0:
		return lines, worded, "no statement would leave yet"
	case already.Sent >= len(leaves):
		says = countAre(len(leaves), "statement") + " at the hub: "
	case already.Key != "":
		says = fmt.Sprintf("%s: %d have left, and the rest leaves with the next run: ", count(len(leaves), "statement"),
			already.Sent)
	}
	return lines, worded, says + byRule(kinds)
}
