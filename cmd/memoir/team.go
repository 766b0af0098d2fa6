package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
	return &cli.Command{
		Name: "team", Category: groupMemory,
		Usage: "share projects with your other machines and with other people",
		Description: help("Nothing leaves this machine before `memoir team share` names a project. Then its statements\n"+
			"go to the hub that this home has joined, without quotations, directories, titles and branches;\n"+
			"what you said goes only to your own machines. A run sends and receives after its local work.\n"+
			"Without a subcommand it prints what `memoir team status` does.",
			"memoir team join https://hub.example.com", "memoir team share", "memoir team status"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: p.teamStatus,
		Subcommands: append(promoteCommands(p),
			joinCommand(p), leaveCommand(p), shareCommand(p), unshareCommand(p),
			syncCommand(p, "sync", "send and receive now", team.Push|team.Pull),
			syncCommand(p, "push", "send now", team.Push),
			syncCommand(p, "pull", "receive now", team.Pull),
			&cli.Command{Name: "status", Usage: "show what is shared, and how synchronising goes", Action: p.teamStatus,
				Description: help("Shows the hub, the shared projects, what waits, what stays here and why, and since when\n"+
					"synchronising fails. It uses no network.", "memoir team status", "memoir team status --json"),
				Flags: []cli.Flag{jsonFlag()}},
		),
	}
}

func syncCommand(p *program, name, usage string, what int) *cli.Command {
	return &cli.Command{Name: name, Usage: usage, Flags: []cli.Flag{jsonFlag()},
		Description: help("Every run does it, too. `memoir run` consolidates what was received; what others withdrew is\n"+
			"removed at once.", "memoir team "+name, "memoir team "+name+" --json"),
		Action: func(c *cli.Context) error {
			return p.withTeam(c, func(o team.Options) error {
				r, err := team.Sync(c.Context, o, what)
				return p.result(c, err, r, func() {
					p.ui.say("%s sent, %d withdrawn, %d received", count(r.Sent, "statement"), r.Withdrawn, r.Received)
					p.sayHeldBack(r.Held)
					if r.Received > 0 {
						p.ui.sayHint("`memoir run` consolidates what was received")
					}
				})
			})
		}}
}

// withTeam does something with what is shared. It makes the database of a new home.
func (p *program) withTeam(c *cli.Context, do func(team.Options) error) error {
	opts, err := p.options(c, nil)
	if err == nil {
		_, err = team.Load(opts.Home)
	}
	if err != nil {
		return err
	}
	st, err := p.openStore(c.Context, opts.Home, opts.Settings)
	if err != nil {
		return err
	}
	defer st.Close()
	return pipeline.Team(c.Context, st, opts, do)
}

func (p *program) sayHeldBack(held []team.Held) {
	if len(held) > 0 {
		p.ui.say("%s here: %s", strings.TrimSuffix(countAre(len(held), "statement"), " are")+" stay", sayHeld(held[0]))
	}
}

func sayHeld(h team.Held) string { return fmt.Sprintf("of %s (%s): %s", h.Session, h.Project, h.Why) }

func joinCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "join", ArgsUsage: "URL", Usage: "join a hub with a one-time code",
		Description: help("Exchanges a one-time code of an operator for a token of this machine, which only you can read.\n"+
			"It asks for the code, unless a file or a pipe has it. Nothing is shared by that. If the token\n"+
			"was revoked or has expired, join again with a new code: what is shared stays.",
			"memoir team join https://hub.example.com", "memoir team join https://hub.example.com --code-file - < code"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "code-file", Usage: "read the code from `FILE`; - is standard input"},
			&cli.StringFlag{Name: "ca", Usage: "also trust the certificates in `FILE` (PEM)"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			at, err := argument(c, "URL")
			home, errHome := p.home(c)
			if err = cmp.Or(err, errHome); err != nil {
				return err
			}
			h := team.Hub{Membership: team.Membership{URL: at}}
			if ca := c.String("ca"); ca != "" {
				text, err := disk.ReadFile(ca, 1<<20)
				if err != nil {
					return usagef("", "--ca: %w", err)
				}
				h.CA = string(text)
			}
			code, err := p.oneTimeCode(c)
			if err != nil {
				return err
			}
			name, _ := os.Hostname()
			if err = team.Join(c.Context, home, h, code, cmp.Or(memoir.CutBytes(name, 100, ""), "unnamed")); err != nil {
				return err
			}
			out, err := operation.ReadTeam(c.Context, nil, home, p.redact)
			return p.result(c, err, out, func() {
				p.ui.say("joined %s as %s of %s", out.URL, out.Member, out.Organisation)
				p.ui.sayHint("`memoir team share` shares a project; nothing leaves before")
			})
		},
	}
}

// oneTimeCode reads the code of --code-file, or asks for it.
func (p *program) oneTimeCode(c *cli.Context) (code string, err error) {
	const most = 1 << 10
	var text []byte
	switch file := c.String("code-file"); {
	case file == "-":
		text, err = interruptibly(c.Context, func() ([]byte, error) { return io.ReadAll(io.LimitReader(p.ui.stdin, most)) })
	case file != "":
		text, err = disk.ReadFile(file, most)
	case p.ui.canAsk():
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

func leaveCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "leave", Usage: "leave the hub",
		Description: help("Withdraws from the hub what this machine sent, then removes the token, the shares and what was\n"+
			"received. Without the hub it changes nothing and exits with 1, except with --keep.",
			"memoir team leave", "memoir team leave --keep"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "withdraw nothing: what was sent stays at the hub"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			return p.withTeam(c, func(o team.Options) error {
				report, left, err := team.Leave(c.Context, o, c.Bool("keep"))
				if left != nil && err == nil {
					p.ui.warn("ask an operator to revoke the token of this machine", "the hub was not told all: %v", left)
				}
				return p.result(c, err, report, func() {
					p.ui.say("left the hub; %s withdrawn", count(report.Withdrawn, "statement"))
				})
			})
		},
	}
}

func shareCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "share", ArgsUsage: "[PROJECT]", Usage: "share a project", Action: p.share,
		Description: help("Lets the statements of this directory's project, or another, leave with the next run. It says\n"+
			"what would leave and asks first; without a terminal it needs --yes. Machines share what has the\n"+
			"same remote, or the same name by --as. With team.share: false in .memoir.yml all stays here.",
			"memoir team share --dry-run", "memoir team share ~/src/notes --as notes"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: "share it under `NAME` instead of its remote"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print every statement that would leave, and change nothing"},
			yesFlag(), jsonFlag()},
	}
}

// shared is what `team share --json` prints.
type shared struct {
	Project    string       `json:"project"`
	Key        string       `json:"key"`
	DryRun     bool         `json:"dry_run"`
	Statements []sharedLine `json:"statements"` // that leave
	Held       []team.Held  `json:"held"`       // that stay here
}

type sharedLine struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	Day  string `json:"day"`
	Own  bool   `json:"own"` // for the person's own machines only
}

func (l sharedLine) String() string {
	text := l.Kind + ": " + l.Text
	if l.Own {
		text += " (only your own machines)"
	}
	return oneLine(text)
}

func (p *program) share(c *cli.Context) error {
	ref, err := optional(c)
	if err != nil {
		return err
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	dry := c.Bool("dry-run")
	hub, err := team.Load(opts.Home)
	if err != nil && !(dry && errors.Is(err, team.ErrNone)) {
		return err
	}
	row, err := p.projectNamed(c, st, ref)
	if err != nil {
		return err
	}
	key, err := team.KeyOf(row.Project, c.String("as"), opts.Settings)
	already, errShared := sharedAs(c, st, row.ID)
	if err == nil && already != "" && already != key {
		err = usagef("`memoir team unshare` ends that", "%s is shared as %s", row.ID, already)
	}
	if err = cmp.Or(err, errShared); err != nil {
		return err
	}
	out := shared{Project: row.ID, Key: p.redact(key), DryRun: dry, Statements: []sharedLine{}, Held: []team.Held{}}
	err = pipeline.Team(c.Context, st, opts, func(o team.Options) error {
		return out.fill(c, st, o.Leaving(row.Project, key, hub.Machine))
	})
	if err == nil && !dry && already == "" {
		p.sayShared(out, 5)
		err = p.confirm(c, fmt.Sprintf("share %s as %s at %s", out.Project, out.Key, hub.URL), opts.Home)
		if err == nil {
			err = st.Share(c.Context, row.ID, key)
		}
	}
	return p.result(c, err, out, func() {
		if dry {
			p.sayShared(out, len(out.Statements))
			return
		}
		p.ui.say("%s is shared as %s", out.Project, out.Key)
		p.ui.sayHint("the next run sends it, or `memoir team sync` now")
	})
}

// sharedAs returns the key that a project is shared as; empty if it is not shared.
func sharedAs(c *cli.Context, st *store.Store, projectID string) (string, error) {
	shares, _, err := st.Shares(c.Context)
	for _, s := range shares {
		if s.ProjectID == projectID {
			return s.Key, err
		}
	}
	return "", err
}

// fill adds what would leave of the project.
func (out *shared) fill(c *cli.Context, st *store.Store, leaving team.Leaving) error {
	extractions, _, err := st.Selected(c.Context, out.Project, math.MaxInt32)
	for _, e := range extractions {
		if memoir.IsReceived(e.SessionKey) {
			continue
		}
		leaves, held := leaving.Of(e, nil)
		out.Held = append(out.Held, held...)
		for _, leaf := range leaves {
			out.Statements = append(out.Statements, sharedLine{string(leaf.Kind), leaf.Text, leaf.Day, leaf.Own})
		}
	}
	return err
}

// sayShared says how many statements of each kind leave, and prints some of them.
func (p *program) sayShared(out shared, most int) {
	kinds := map[string]int{}
	for i, line := range out.Statements {
		kinds[line.Kind]++
		switch {
		case out.DryRun && !p.ui.quiet:
			p.ui.printf("%s\n", line)
		case i%max(1, len(out.Statements)/most) == 0 && i/max(1, len(out.Statements)/most) < most:
			p.ui.say("  %s", memoir.Cut(line.String(), maxText))
		}
	}
	p.ui.say("%s would leave: %s", count(len(out.Statements), "statement"), cmp.Or(byRule(kinds), "none"))
	p.sayHeldBack(out.Held)
}

func unshareCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "unshare", ArgsUsage: "[PROJECT]", Usage: "end the sharing of a project",
		Description: help("Withdraws from the hub what this machine sent of a project, at once or with the next run, and\n"+
			"removes what was received of it.", "memoir team unshare", "memoir team unshare notes --keep"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "withdraw nothing: what was sent stays at the hub"}, jsonFlag()},
		Action: func(c *cli.Context) error {
			ref, err := optional(c)
			if err != nil {
				return err
			}
			return p.withTeam(c, func(o team.Options) error {
				row, err := p.projectNamed(c, o.Store, ref)
				if err != nil {
					return err
				}
				key, err := sharedAs(c, o.Store, row.ID)
				if err == nil && key == "" {
					err = notFoundf("`memoir team status` lists shared projects", "%s is not shared", row.ID)
				}
				if err == nil {
					err = o.Store.Unshare(c.Context, row.ID, c.Bool("keep"))
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
		},
	}
}

func (p *program) teamStatus(c *cli.Context) error {
	home, err := p.home(c)
	if err != nil {
		return err
	}
	st, err := p.openForReading(c)
	if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
		return err
	}
	if err == nil {
		defer st.Close()
	}
	out, err := operation.ReadTeam(c.Context, st, home, p.redact)
	return p.result(c, err, map[string]any{"joined": out != nil, "team": out}, func() {
		if out == nil {
			p.ui.sayError(team.ErrNone)
			return
		}
		p.statusLine("hub", fmt.Sprintf("%s, as %s of %s; the token is valid until %s", out.URL, out.Member,
			out.Organisation, when(out.Expires)))
		for _, s := range out.Shares {
			p.statusLine("shared", fmt.Sprintf("%s as %s: %d sent, %d received", s.ProjectID, s.Key, s.Sent, s.Received))
		}
		p.statusLine("sync", saySync(*out))
		statusList(p, "kept here", out.Held, sayHeld)
		p.ui.sayHint(out.Hint)
	})
}

// statusOfTeam prints the lines of `memoir status`: of the hub and of repositories.
func (p *program) statusOfTeam(t *operation.Team, repositories []team.Memory) {
	if t != nil {
		p.statusLine("team", fmt.Sprintf("%s shared; sync: %s", count(len(t.Shares), "project"), saySync(*t)))
		p.sayHeldBack(t.Held)
	}
	statusList(p, "team", repositories, sayTeam)
}

// saySync says how synchronising goes.
func saySync(t operation.Team) string {
	text := "never yet"
	if !t.Success.IsZero() {
		text = "last at " + operation.Zoned(t.Success)
	}
	if !t.Failing.IsZero() {
		text += "; failing since " + operation.Zoned(t.Failing) + ": " + t.Error
	}
	if t.Waiting > 0 {
		text += fmt.Sprintf("; the next looks at %s", count(t.Waiting, "session"))
	}
	return text
}
