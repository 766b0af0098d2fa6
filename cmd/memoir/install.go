package main

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/integrate"
	"memoir/store"
)

func installCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "install", Category: groupStart, ArgsUsage: "[AGENT]...",
		Usage: "connect coding agents: memory at each start and failure, the MCP server, skills",
		Description: help("Shows the changes to the agents' configuration, asks, and makes them: a hook,\n"+
			"extension or plugin that gives each session the memory and starts a run in the background; hooks\n"+
			"for tool calls and the end of a session; an entry for the MCP server; links to skills. Without a\n"+
			"name it connects the agents found here. It switches memories.enabled on. Comments and unknown keys stay; an\n"+
			"agent whose file cannot be parsed or written is reported, the others are connected. `memoir uninstall`\n"+
			"undoes exactly this. A second install changes nothing, or repairs changed entries. With --yes it\n"+
			"names only the changed files. Agents:\n"+
			strings.Join(agentNames(), ", ")+".",
			"memoir install", "memoir install claude codex --yes", "memoir install --dry-run",
			"memoir install gemini --scope project --no-mcp"),
		Flags: append(integrationFlags("change the files of `SCOPE`: user (default) or project (this directory's)"),
			&cli.BoolFlag{Name: "no-hooks", Usage: "install no hooks, extensions or plugins, and remove existing ones"},
			&cli.BoolFlag{Name: "no-mcp", Usage: "install no entry for the MCP server, and remove an existing one"}),
		Action: func(c *cli.Context) error {
			in, err := p.integration(c)
			if err != nil {
				return err
			}
			defer in.unlock()
			in.options.NoHooks, in.options.NoMCP = c.Bool("no-hooks"), c.Bool("no-mcp")
			agents, err := in.agents()
			if err != nil {
				return err
			}
			var connected []integrate.Agent
			for _, a := range agents {
				changes, err := in.record.Install(in.env, in.options, a)
				if memoir.CodeOf(err) == memoir.CodeNotFound {
					in.ui.say("%v", err)
					continue
				}
				if connected = append(connected, a); in.add(a.Name, changes, err) && a.Confirm != "" && !in.options.NoHooks {
					in.out.Confirm = append(in.out.Confirm, agentText{a.Name, a.Confirm, ""})
				}
			}
			if err := in.enable(len(connected)); err != nil {
				return err
			}
			return in.finish(c.Context, "install", func() error { return in.linkSkills(connected) })
		},
	}
}

func uninstallCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "uninstall", Category: groupStart, ArgsUsage: "[AGENT]...",
		Usage: "undo what install changed in agents",
		Description: help("Shows the changes, asks, and makes them. Restores each file byte for byte if nobody else\n"+
			"changed it since, and otherwise removes exactly memoir's entries. Without a name it undoes\n"+
			"everything. When memoir's entries are left in no agent, memories.enabled is switched off again\n"+
			"if install switched it on. With --yes it names only the changed files. Memory stays.",
			"memoir uninstall", "memoir uninstall claude --dry-run"),
		Flags: integrationFlags("only agents' files of `SCOPE`: user, or project (this directory's); default: of all"),
		Action: func(c *cli.Context) error {
			in, err := p.integration(c)
			if err != nil {
				return err
			}
			defer in.unlock()
			for _, name := range c.Args().Slice() {
				if _, ok := integrate.Named(name); !ok {
					return unknownAgent(name)
				}
			}
			named := func(agent string) bool { return c.NArg() == 0 || slices.Contains(c.Args().Slice(), agent) }
			covered := func(f integrate.FileRecord) bool {
				return f.Agent != integrate.SettingsName && named(f.Agent) &&
					(!c.IsSet("scope") || f.Project == in.options.Project)
			}
			// memoir's own settings go with the last agent.
			last := !slices.ContainsFunc(in.record.Files, func(f integrate.FileRecord) bool {
				return f.Agent != integrate.SettingsName && !covered(f)
			})
			for _, f := range slices.Backward(in.record.Files) {
				if covered(f) || last && f.Agent == integrate.SettingsName {
					change, err := f.TakeBack()
					in.add(f.Agent, []integrate.Change{change}, err)
				}
			}
			return in.finish(c.Context, "uninstall", func() error {
				for _, name := range in.record.Agents() {
					if in.options.Project == "" && named(name) {
						if err := in.record.UnlinkSkills(name); err != nil {
							return err
						}
					}
				}
				return nil
			})
		},
	}
}

func integrationFlags(scope string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "scope", Usage: scope},
		&cli.BoolFlag{Name: "dry-run", Usage: "show the changes without making them"},
		yesFlag(), jsonFlag(),
	}
}

type integration struct {
	*program
	c       *cli.Context
	env     integrate.Env
	options integrate.Options
	record  *integrate.Record
	unlock  func() error
	changes []integrate.Change
	out     integrationJSON
	varied  bool // a variable keeps memories.enabled off
}

// integrationJSON is what --json prints.
type integrationJSON struct {
	Program string       `json:"program"`
	Applied bool         `json:"applied"`
	Changes []changeJSON `json:"changes"`
	Failed  []agentText  `json:"failed"`
	Confirm []agentText  `json:"confirm"` // what a person must confirm in the agent
}

type changeJSON struct {
	Agent  string   `json:"agent"`
	Path   string   `json:"path"`
	Action string   `json:"action"` // create, change, remove; keep: an earlier change was not made or is undone already
	What   []string `json:"what"`
	Diff   string   `json:"diff"`
}

type agentText struct {
	Agent string `json:"agent"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

func (p *program) integration(c *cli.Context) (*integration, error) {
	in := &integration{program: p, c: c, out: integrationJSON{
		Changes: []changeJSON{}, Failed: []agentText{}, Confirm: []agentText{}}}
	home, err := p.home(c)
	if err != nil {
		return nil, err
	}
	if in.env, err = p.agentEnv(); err == nil {
		in.options, err = p.agentCall(c, home)
	}
	if err != nil {
		return nil, err
	}
	if c.String("scope") == "project" {
		here, err := p.placeAt(c, "")
		if err != nil {
			return nil, err
		}
		in.options.Project = cmp.Or(here.top, here.dir)
	}
	in.out.Program = in.options.Program
	// Two processes would overwrite each other's record.
	if in.unlock, err = store.LockFolder(in.env.UserHome); err != nil {
		return nil, err
	}
	in.record, err = integrate.Load(home)
	return in, err
}

func agentNames() []string {
	return memoir.Map(integrate.Agents, func(a integrate.Agent) string { return a.Name })
}

func unknownAgent(name string) error {
	return usagef("one of "+strings.Join(agentNames(), ", "), "%q is not an agent", name)
}

// agents returns the agents of the command line, else those found on this machine.
func (in *integration) agents() (agents []integrate.Agent, err error) {
	names := in.c.Args().Slice()
	for i, name := range names {
		a, ok := integrate.Named(name)
		if !ok {
			return nil, unknownAgent(name)
		}
		if !slices.Contains(names[:i], name) {
			agents = append(agents, a)
		}
	}
	if len(agents) > 0 {
		return agents, nil
	}
	for _, a := range integrate.Agents {
		if why, ok := a.Found(in.env); ok {
			in.ui.say("found %s: %s", a.Name, why)
			agents = append(agents, a)
		}
	}
	if len(agents) == 0 {
		return nil, notFoundf("name one: "+strings.Join(agentNames(), ", "), "no agents were found")
	}
	return agents, nil
}

// add adds the changes of one agent. If err is not nil, it records that instead and returns false.
func (in *integration) add(agent string, changes []integrate.Change, err error) bool {
	if err != nil {
		in.out.Failed = append(in.out.Failed, agentText{agent, in.redact(err.Error()), memoir.HintOf(err)})
		return false
	}
	in.changes = append(in.changes, changes...)
	return true
}

// enable adds the change that switches memories.enabled on, if the changes of any agent could be planned.
func (in *integration) enable(agents int) error {
	settings, err := in.settings(in.c, nil)
	if err != nil || settings.Memories.Enabled || agents == len(in.out.Failed) {
		return err
	}
	dir, err := in.configDir(in.c)
	if err != nil {
		return err
	}
	origin := settings.Origin("memories.enabled")
	if in.varied = strings.HasPrefix(origin, "$"); in.varied {
		in.ui.warn("unset it", "%s keeps memories.enabled off: hooks do nothing", origin)
	}
	changes, err := in.record.Install(in.env, integrate.Options{}, integrate.Settings(filepath.Join(dir, config.FileName)))
	in.add(integrate.SettingsName, changes, err)
	return nil
}

func (in *integration) linkSkills(agents []integrate.Agent) error {
	if in.options.Project != "" {
		return nil
	}
	for _, a := range agents {
		if slices.ContainsFunc(in.out.Failed, func(t agentText) bool { return t.Agent == a.Name }) {
			continue
		}
		err := error(nil)
		if in.options.NoHooks {
			err = in.record.UnlinkSkills(a.Name)
		} else {
			err = in.record.LinkSkills(in.env, a)
		}
		if err != nil {
			return err
		}
	}
	return in.record.RefreshSkills()
}

func (in *integration) finish(ctx context.Context, verb string, last func() error) error {
	in.describe()
	for _, f := range in.out.Failed {
		in.ui.warn(f.Hint, "%s", f.Text)
	}
	dry := in.c.Bool("dry-run")
	if len(in.changes) > 0 && !dry && !in.c.Bool("yes") {
		if !in.ui.canAsk() {
			return usagef("pass --yes, or --dry-run to see the changes",
				"%s would change %s, and standard input is not a terminal", verb, count(len(in.changes), "file"))
		}
		if yes, err := in.ui.ask(ctx, "make these changes?"); err != nil || !yes {
			return notConfirmed(in.ui, err, "nothing was changed")
		}
	}
	if !dry {
		if err := in.record.RemoveStale(); err != nil {
			in.ui.warn("remove it", "a temporary file of an earlier call cannot be removed: %v", err)
		}
		if err := in.apply(verb); err != nil {
			return err
		}
		if err := last(); err != nil {
			return err
		}
		in.out.Applied = len(in.out.Changes) > 0 || len(in.out.Failed) == 0
	}
	if err := in.result(in.c, nil, in.out, func() { in.conclude(verb, dry) }); err != nil {
		return err
	}
	switch {
	case len(in.out.Failed) == 0:
		return nil
	case len(in.out.Changes) == 0:
		return status(exitFailed)
	}
	return status(exitPartly)
}

// apply makes the changes. A file that cannot be written is left out, like one that cannot be parsed. memories.enabled
// is not switched on if nothing else could be installed.
func (in *integration) apply(verb string) error {
	made := []changeJSON{}
	for i, change := range in.changes {
		if verb == "install" && change.Agent == integrate.SettingsName && len(made) == 0 && len(in.out.Failed) > 0 {
			continue
		}
		apply, dir := func() error { return in.record.Apply(change) }, filepath.Dir(change.Path)
		if own := apply; change.Agent == integrate.SettingsName && in.out.Changes[i].Action != "keep" &&
			dir != in.env.UserHome { // that is locked already
			apply = func() error { return locked(dir, own) }
		}
		switch err := apply(); {
		case err == nil:
			made = append(made, in.out.Changes[i])
		case !slices.Contains([]memoir.Code{memoir.CodeStorage, memoir.CodeChanged, memoir.CodeBusy}, memoir.CodeOf(err)):
			return err
		default:
			in.add(change.Agent, nil, err)
			in.out.Confirm = slices.DeleteFunc(in.out.Confirm, func(t agentText) bool { return t.Agent == change.Agent })
			in.ui.warn(memoir.HintOf(err), "%v", err)
		}
	}
	in.out.Changes = made
	return nil
}

// describe prints the changes as redacted diffs, except with --yes.
func (in *integration) describe() {
	for _, change := range in.changes {
		j := changeJSON{change.Agent, change.Path, "change", append([]string{}, change.What...), ""}
		switch {
		case bytes.Equal(change.Before, change.After) && (change.Before == nil) == (change.After == nil):
			j.Action = "keep"
		case change.After == nil:
			j.Action = "remove"
		case change.Before == nil:
			j.Action = "create"
		}
		_, lines, _ := bytes.Cut(diff.Diff(change.Path, change.Before, change.Path, change.After), []byte("\n"))
		j.Diff = in.redact(string(lines)) // without the first line, which repeats the next two
		in.out.Changes = append(in.out.Changes, j)
		if !in.c.Bool("json") && (in.c.Bool("dry-run") || !in.c.Bool("yes")) {
			in.ui.write(j.Diff)
		}
	}
}

func (in *integration) conclude(verb string, dry bool) {
	for _, change := range in.out.Changes {
		switch {
		case dry || change.Action == "keep" && verb == "install":
		case change.Action == "keep":
			in.ui.say("%s: %s has nothing of memoir left", change.Agent, change.Path)
		case change.Agent == integrate.SettingsName && verb == "install" && !in.varied:
			in.ui.say("memories.enabled is now on, in %s: hooks read sessions and inject memory", change.Path)
		case change.Agent == integrate.SettingsName && !in.varied:
			in.ui.say("memories.enabled is now off, in %s: hooks do nothing", change.Path)
		default:
			in.ui.say("%s: %sd %s", change.Agent, change.Action, change.Path)
		}
	}
	switch {
	case dry:
		in.ui.say("%s would change %s", verb, count(len(in.changes), "file"))
	case len(in.changes) == 0 && len(in.out.Failed) == 0:
		in.ui.say("%s has nothing to change", verb)
	}
	for _, confirm := range in.out.Confirm {
		in.ui.say("%s: %s", confirm.Agent, confirm.Text)
	}
}
