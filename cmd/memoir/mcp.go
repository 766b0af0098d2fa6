package main

import (
	"cmp"
	"context"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/ask"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

// forgetPatience is how long memory_forget waits for a run that holds the project; many start with a session.
const forgetPatience = 10 * time.Second

func mcpCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "mcp", Category: groupMemory,
		Usage: "answer an agent's questions about memory (an MCP server on standard input and output)",
		Description: help("For an agent's list of MCP servers. Serves memory_search, memory_get, search, fetch,\n"+
			"memory_remember and memory_forget, and the memory's files as resources, for the project of this\n"+
			"directory. With --agent, what inject told the session at its start is not told again.",
			"memoir mcp --agent claude", "claude mcp add memoir -- memoir mcp --agent claude",
			"memoir mcp --deliver instructions"),
		Flags: append(contextFlags(), &cli.StringFlag{Name: "deliver",
			Usage: "instructions: tell the summary by `CHANNEL`, to agents without a start hook"}),
		Action: p.mcp,
	}
}

func (p *program) mcp(c *cli.Context) error {
	if channel := c.String("deliver"); channel != "" && channel != "instructions" {
		return usagef("", "--deliver takes instructions, not %q", channel)
	}
	if _, err := agentNamed(c, "agent"); err != nil {
		return err
	}
	o := ask.Options{Version: version(), Silent: p.getenv(memoir.ChildVariable) != "", Redact: p.redact}
	if !o.Silent {
		if err := p.askOptions(c, &o); err != nil {
			return err
		}
	}
	err := ask.Serve(c.Context, ask.New(o), os.Stdin, os.Stdout)
	return cmp.Or(context.Cause(c.Context), err) // a signal names itself
}

// askOptions fills in what the server has of the program. Calls of a client may come at the same time.
func (p *program) askOptions(c *cli.Context, o *ask.Options) error {
	settings, err := p.settings(c, nil)
	if err != nil {
		return err
	}
	if o.Home, err = p.home(c); err != nil {
		return err
	}
	o.Deliver, o.AllProjects = c.String("deliver") != "", settings.MCP.AllProjects
	var mu sync.Mutex
	o.Context = sync.OnceValue(func() (text string) {
		if settings.Memories.Enabled && (c.String("agent") != "" || o.Deliver) {
			mu.Lock()
			defer mu.Unlock()
			text, _, _ = p.context(c, settings, "", "plain") // without one, nothing was told
		}
		return text
	})
	o.Project = func(context.Context) (ask.Project, error) {
		mu.Lock()
		defer mu.Unlock()
		return p.projectAsked(c)
	}
	o.Scanner = func(dir string) (*secrets.Scanner, error) { return p.scanner(c, dir) }
	o.Read = func(context.Context) (*store.Store, error) { return p.openForReading(c) }
	o.Change = func(context.Context) (pipeline.Options, *store.Store, error) {
		opts, st, err := p.openToChange(c)
		opts.Progress, opts.Wait = nil, forgetPatience
		return opts, st, err
	}
	return nil
}

// projectAsked is the project that a client asks about, by the settings of now.
func (p *program) projectAsked(c *cli.Context) (ask.Project, error) {
	settings, err := p.settings(c, nil)
	if err != nil {
		return ask.Project{}, err
	}
	home, err := p.home(c)
	if err != nil {
		return ask.Project{}, err
	}
	var found told
	if c.String("project") != "" {
		found, err = p.projectWithTree(c, settings)
	} else {
		found, err = p.projectOfSession(c, &settings, home, "")
	}
	switch {
	case err == nil && found.why != "":
		err = memoir.Errorf(memoir.CodeConfig, "", "there is no memory here: %s", found.why)
	case err == nil && found.project == "":
		err = notFoundf("`memoir projects` lists those with a memory",
			"there is no memory here: this directory is not a project with sessions")
	}
	return ask.Project{ID: found.project, Tree: found.tree}, err
}
