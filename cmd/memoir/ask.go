package main

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/ask"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/search"
	"memoir/secrets"
	"memoir/store"
	"memoir/team"
)

// forgetPatience is how long memory_forget waits for a run that holds the project; many start with a session.
const forgetPatience = 10 * time.Second

func mcpCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "mcp", Category: groupProgram,
		Usage: "serve memory to an agent over MCP, on standard input and output",
		Description: help("For an agent's list of MCP servers. Serves tools that search, read and change the memory of\n"+
			"this directory's project, and the memory's files as resources (docs/mcp.md lists them).\n"+
			"With --agent, search omits what inject gave the session at its start.",
			"memoir mcp --agent claude", "claude mcp add memoir -- memoir mcp --agent claude",
			"memoir mcp --deliver instructions"),
		Flags: append(contextFlags("the `AGENT` that calls"), &cli.StringFlag{Name: "deliver",
			Usage: "`CHANNEL` of the summary for agents without a start hook: instructions"}, pluginFlag()),
		Action: p.mcp,
	}
}

func (p *program) mcp(c *cli.Context) error {
	if _, err := agentNamed(c, "agent"); err != nil {
		return err
	}
	o := ask.Options{Version: version(), Silent: p.silent(c)}
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
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	settings := opts.Settings
	limitHeap(settings.Memories)
	o.Access = p.access(c)
	if c.String("project") != "" {
		if _, _, err = p.projectID(c); err != nil {
			return err
		}
	}
	o.Deliver, o.AllProjects = c.String("deliver") != "", settings.MCP.AllProjects
	o.Transcribed = c.String("agent") != ""
	var mu sync.Mutex
	o.Context = sync.OnceValue(func() (text string) {
		if settings.Memories.Enabled && (c.String("agent") != "" && settings.Deliver.AtStart || o.Deliver) {
			mu.Lock()
			defer mu.Unlock()
			found, _ := p.contextOf(c, &settings, "plain") // an error means that nothing was told
			text = found.text
		}
		return text
	})
	o.Project = func(context.Context) (ask.Project, error) {
		mu.Lock()
		defer mu.Unlock()
		return p.projectAsked(c)
	}
	o.Write = func(context.Context) (pipeline.Options, *store.Store, memoir.Project, error) {
		mu.Lock()
		defer mu.Unlock()
		opts, st, project, err := p.openToAdd(c)
		opts.Progress, opts.Wait = nil, forgetPatience
		return opts, st, project, err
	}
	return nil
}

// access returns what operations need of the program. Calls of doors may come at the same time.
func (p *program) access(c *cli.Context) operation.Access {
	home, _ := p.home(c) // an error is returned when the registry is opened
	return operation.Access{Home: home, Redact: p.redact,
		Scanner: func() (*secrets.Scanner, error) { return p.scanner(c) },
		Read:    func(context.Context) (*store.Store, error) { return p.openForReading(c) },
		Change: func(context.Context) (pipeline.Options, *store.Store, error) {
			opts, st, err := p.openToChange(c)
			opts.Progress, opts.Wait = nil, forgetPatience
			return opts, st, err
		},
		CatchUp: func(ctx context.Context) error {
			st, err := p.openForReading(c)
			if err != nil {
				return err
			}
			defer st.Close()
			return p.catchUp(c, st)
		},
		Extract: func(keys []string) error { return p.extractFrom(c, keys) }}
}

// projectAsked is the project that a client asks about, by the settings of now.
func (p *program) projectAsked(c *cli.Context) (ask.Project, error) {
	opts, err := p.options(c, nil)
	if err != nil {
		return ask.Project{}, err
	}
	found, err := p.projectOfSession(c, &opts.Settings, opts.Home, "")
	switch {
	case err == nil && found.why != "":
		err = memoir.Errorf(memoir.CodeConfig, "", "no memory here: %s", found.why)
	case err == nil && found.project == "":
		err = p.unknownHere(c)
	}
	return ask.Project{ID: found.project, Tree: found.tree}, err
}

func searchCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "search", Category: groupUse, ArgsUsage: "QUERY...",
		Usage: "find what was said, decided or remembered",
		Description: help("Searches the lines of MEMORY.md, the history, notes, journals, rollout summaries, the\n"+
			"statements and claims of raw memories, and in every session the messages, the commands and what\n"+
			"their results report. First it reads for up to two seconds what agents have written lately. A hit\n"+
			"need not contain all words, and word endings are ignored: \"parsing\" finds \"parser\". Each\n"+
			"session is listed once, besides lines of MEMORY.md. `memoir journal search` finds lines that were\n"+
			"added to a journal by hand.\n"+
			"Without --project or --all, it searches this directory's project.\n"+
			"In a project, notes for all projects are found only with --all or --project user.\n"+
			"The word after the date is the source of a hit: memory (a line of MEMORY.md), history, summary (of\n"+
			"a session), statement (with evidence), claim (without), typed (a person's message), agent (an\n"+
			"agent's message), command, error or output (of a call), note or journal.\n"+
			"A weak answer has little of the query: probably nothing answers it. Its two best hits are shown.\n"+
			"Hits far below the best one are counted; --weak shows them.\n"+
			"Of two hits that speak of the same thing, the newer stands first. --replaced also finds notes and\n"+
			"statements that something newer replaces.\n"+
			"Days and times are in UTC: today, yesterday or 2026-07-01; a time is 2026-07-01T12:00:00Z.\n"+
			"No match is not an error: the exit code is 0.",
			"memoir search why the upload retries three times", "memoir search --all 'release checklist' -n 3",
			"memoir search max_open_conns --json", "memoir show codex:019f1fd6 --at 12      # opens a hit"),
		Flags: []cli.Flag{
			projectRefFlag(),
			&cli.BoolFlag{Name: "all", Usage: "search all projects"},
			&cli.IntFlag{Name: "max", Aliases: []string{"n"}, Value: 10, Usage: "show at most `N` hits"},
			&cli.BoolFlag{Name: "weak", Usage: "also show hits far below the best one"},
			&cli.StringFlag{Name: "since", Usage: "only hits not before the day or time `TIME`"},
			&cli.StringFlag{Name: "until", Usage: "only hits not after the day or time `TIME`"},
			&cli.StringFlag{Name: "source", Usage: "only sessions of the agent `SOURCE`: " + strings.Join(sources(), ", ")},
			&cli.StringFlag{Name: "kind", Usage: "only hits of a `KIND`: " + strings.Join(search.Kinds, ", ")},
			&cli.BoolFlag{Name: "typed", Usage: "only what a person typed"},
			&cli.BoolFlag{Name: "replaced", Usage: "also what something newer replaces, with that"},
			jsonFlag(),
		},
		Action: p.search,
	}
}

func (p *program) search(c *cli.Context) error {
	query := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
	if n := c.Int("max"); n > 1000 {
		return usagef("", "--max: must be at most 1000, not %d", n)
	}
	home, project, err := p.searchedProject(c)
	if err != nil {
		return err
	}
	found, err := search.Find(c.Context, home, search.Query{Text: query, ProjectID: project, Max: c.Int("max"),
		Weak: c.Bool("weak"), Redact: p.redact, Filter: search.Filter{Kind: c.String("kind"), Source: c.String("source"),
			Since: c.String("since"), Until: c.String("until"), Typed: c.Bool("typed"), Replaced: c.Bool("replaced")}})
	return p.result(c, err, found, func() {
		for i, h := range found.Hits {
			p.printHit(i+1, h, project == "" || c.IsSet("project"), found.Names)
		}
		switch n, where := len(found.Hits), cmp.Or(project, "all projects"); {
		case n == 0:
			p.ui.say("no match in %s", where)
			if project != "" {
				p.ui.sayHint("--all searches all projects")
			}
			if team.SayPulled(home) != "" {
				p.ui.sayHint("what was pulled from a hub is not searched: `memoir cat MEMORY.md` prints it")
			}
		case found.More:
			p.ui.say("the %s in %s; --max N shows more", count(n, "best hit"), where)
		default:
			p.ui.say("%s in %s", count(n, "hit"), where)
		}
		if found.Weak {
			p.ui.say("weak: they have little of the query, so probably nothing answers it")
		}
		if found.Below > 0 {
			p.ui.sayHint(count(found.Below, "hit") + " far below the best: --weak shows them")
		}
		if found.Unread > 0 {
			p.ui.sayHint(countAre(found.Unread, "session") + " not read yet; `memoir run` reads all")
		} else if found.Behind {
			p.ui.sayHint("the index is not up to date; the next `memoir run` updates it")
		}
	})
}

// searchedProject is the home and the id of the project that is searched, "" for all.
func (p *program) searchedProject(c *cli.Context) (home, id string, err error) {
	st, err := p.openForReading(c)
	if err != nil {
		return "", "", err
	}
	defer st.Close()
	if err := p.catchUp(c, st); err != nil {
		p.ui.warn(memoir.HintOf(err), "what agents wrote since the last run was not read: %v", err)
	}
	if c.Bool("all") {
		home, err = p.home(c)
		return home, "", err
	}
	home, id, err = p.projectID(c)
	if err != nil && !c.IsSet("project") && memoir.CodeOf(err) == memoir.CodeNotFound {
		err = p.unknownHere(c)
	}
	return home, id, err
}

// unknownHere is the error of a command or an agent in a directory whose project has no memory.
func (p *program) unknownHere(c *cli.Context) error {
	why, hint := p.whyNoMemory(c)
	switch { // an agent cannot pass flags
	case c.Command.Name == "search":
		hint += "; --all searches all projects"
	case strings.Contains(hint, "--project"):
		hint = "the server answers for the project of the directory in which it was started; a run reads its sessions"
	}
	return notFoundf(hint, "no memory here: %s", why)
}

// day formats the time of a hit as --since and --until read it: in UTC.
func day(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func (p *program) printHit(n int, h search.Hit, named bool, names func(word string) bool) {
	head := []string{strconv.Itoa(n) + ".", day(h.At), h.Source}
	if memoir.IsEntry(h.Session) {
		head[2] = h.Kind()
	} else if h.Of != "" {
		head[2] += " of " + h.Of
	}
	if named && h.ProjectID != "" {
		head = append(head, h.ProjectID)
	}
	read := "memoir show " + h.Session
	if h.Item > 0 {
		read += " --at " + strconv.Itoa(h.Item)
	}
	if name, ok := strings.CutPrefix(h.Path, "memory://root/"); ok {
		read = "memoir cat " + name
		if named {
			read += " --project " + h.ProjectID
		}
		head = append(head, "line "+strconv.Itoa(h.StartLine))
		if h.Source == search.SourceHistory {
			read = strings.Replace(read, "cat "+name, "history", 1)
		}
	}
	p.ui.write(oneLine(strings.Join(head, "  ")) + "\n   ")
	for word := range strings.SplitAfterSeq(p.redact(oneLine(h.Snippet)), " ") {
		bold := map[bool]string{true: "1"}[names(word)]
		p.ui.paint(bold, word)
	}
	if h.ReplacedBy != "" {
		p.ui.write("\n   replaced by: " + p.redact(oneLine(memoir.Cut(h.ReplacedBy, maxText))))
	}
	p.ui.write("\n   " + oneLine(read) + "\n\n")
}
