package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/prompts"
	"memoir/team"
)

// injectPatience is how long inject waits for the input of a hook. Agents write at once; a pipe that
// nobody writes to may stay open.
const injectPatience = 100 * time.Millisecond

// hookPatience is the same for hooks whose command says that an agent calls, such as those that install writes. Agents
// always write, but late on a busy machine, and only the input shows the event, the directory, and whether the session
// has the context already.
const hookPatience = time.Second

// agentTokens limits the context of an agent: 9,000 bytes. Of more than 10,000
// characters Claude Code shows the model a preview of 2 KB, and Codex cuts the
// middle out of more than 2,500 tokens; other agents may change at any time.
const agentTokens = 2250

func injectCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "inject", Category: groupProgram,
		Usage: "print the context of a new session, in the format of its agent",
		Description: help("For an agent's start hook. Prints the project's summary with instructions for its use, or\n"+
			"nothing if there is no memory or memories.enabled is off (for Gemini {}). The project\n"+
			"is that of the directory in the hook's input, else of this directory. From a pipe it waits for\n"+
			"the input for 0.1 s; with --agent, --run or --action, which only a hook passes, for a second.",
			"memoir inject --agent claude", "memoir inject --format plain --project mise"),
		Flags: append(contextFlags("the `AGENT` that calls"),
			&cli.StringFlag{Name: "format", Usage: "print in `FORMAT` instead of the agent's own"},
			&cli.BoolFlag{Name: "run", Usage: "also start a run in the background, if memories.enabled"},
			&cli.BoolFlag{Name: "action", Usage: "the hook is of a tool call or a prompt: nothing is said of other events"},
			inputFlag(), pluginFlag()),
		Action: func(c *cli.Context) error {
			if p.silent(c) {
				return nil
			}
			in, isHook := p.hookInput(c, injectPatience)
			if in.Named() || in.Prompt != "" || c.Bool("action") {
				p.act(c, in, isHook)
				return nil
			}
			err := p.inject(c, &in, isHook)
			if c.Bool("run") && p.ui.push() {
				if fault := p.launch(c, in); fault != nil && err == nil && p.hook != nil { // the agent has its answer
					p.logStartup(fault)
				} else {
					err = cmp.Or(err, fault)
				}
			}
			return err
		},
	}
}

func (p *program) inject(c *cli.Context, in *hookInput, isHook bool) error {
	agent, err := agentNamed(c, "format")
	name := c.String("agent")
	if isHook || agent != "" {
		if agent == "" {
			agent = caller(*in, isHook, p.getenv)
		}
		name = cmp.Or(name, agent)
		p.hook = &agent
	}
	if err != nil {
		return err
	}
	agent = cmp.Or(agent, "plain")
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	settings := opts.Settings
	if !tells(settings, opts.Home) {
		p.answer(agent, in.Event, "", "")
		return nil
	}
	p.reading, _ = openAtOnce(c.Context, opts) // else each reader tries again, and says why not
	p.findOverflow(c, opts, in)
	found, err := p.heard(c, opts, &settings, in)
	found.recap, found.session = in.recap, in.session()
	if err == nil && found.why == "" {
		found, err = p.tell(c, settings, opts.Home, found, agent)
	}
	if err != nil {
		return err
	}
	if !settings.Deliver.AtStart {
		found.text, found.told = "", nil
	}
	if (found.text != "" || in.forgot()) && isHook && c.Bool("run") && !first(opts.Home, name, *in, time.Now()) {
		found.text = ""
	} else if isHook && p.fault == "" {
		p.fault = p.forUser(c, found)
	}
	p.answer(agent, in.Event, found.text, p.fault)
	return nil
}

// tells reports whether sessions are told the memory of a home. Who pulled it from a hub need not switch it on, too.
func tells(settings config.Settings, home string) bool {
	return settings.Memories.Enabled || settings.Origin("memories.enabled") == "default" && team.SayPulled(home) != ""
}

// answer writes the context of a start. Who types the command and gets none learns where the reason is.
func (p *program) answer(agent, event, text, fault string) {
	out := hookOutput(agent, event, text, fault)
	p.ui.write(out)
	if out == "" && p.hook == nil && p.ui.inTTY && p.ui.errTTY {
		p.ui.sayHint("nothing is told here; `memoir view` says why")
	}
}

func viewCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "view", Category: groupUse,
		Usage: "print exactly what the next session here gets",
		Description: help("Prints the text that inject gives to an agent, for this directory's project or another.\n"+
			"With --agent it is cut to that agent's limit; `memoir inject --agent` prints it in that agent's\n"+
			"format. Lines that are stale or gone in the working tree, or told by its own files, are\n"+
			"omitted; -v lists them.",
			"memoir view", "memoir view --project mise --agent claude", "memoir view --user"),
		Flags: append(contextFlags("cut the text to the limit of `AGENT`"), jsonFlag(), &cli.BoolFlag{Name: "user",
			Usage: "print the user's own memory; 'memoir cat MEMORY.md --project user' also shows its citations"}),
		Action: func(c *cli.Context) error {
			agent, err := agentNamed(c, "agent")
			settings, errSettings := p.settings(c, nil)
			if err = cmp.Or(err, errSettings); err != nil {
				return err
			}
			found, err := p.contextOf(c, &settings, agent)
			if err != nil {
				return err
			}
			hint := ""
			if found.text == "" && found.why == "" {
				found.why, hint = p.whyNoMemory(c)
			}
			return p.result(c, nil, map[string]string{"text": found.text, "why": found.why}, func() {
				p.ui.write(found.text)
				p.sayHeld(found.held)
				switch {
				case found.why != "":
					p.ui.say("nothing to inject here: %s", found.why)
					p.ui.sayHint(hint)
				case !tells(settings, p.access(c).Home):
					p.ui.say("memories.enabled is off: hooks inject nothing")
					p.ui.sayHint("`memoir install` or `memoir config set memories.enabled true` switches it on")
				}
			})
		},
	}
}

func contextFlags(agent string) []cli.Flag {
	return []cli.Flag{
		projectRefFlag(),
		&cli.StringFlag{Name: "agent", Usage: agent + ": " + strings.Join(formNames(), ", ")},
	}
}

// injection is the context for a session, and the reason for a missing one.
type injection struct {
	project string           // id; "": none, or switched off by settings
	tree    string           // the working tree
	dir     string           // in it; "": its top
	text    string           // the context; "": nothing
	told    []string         // the lines of memory in it
	why     string           // the setting or limit because of which there is no context
	held    []memory.Checked // lines left out because the working tree contradicts them
	recap   []string         // the last messages of the session itself
	session string           // its id
	late    bool             // there was no time to read all new sessions
}

// contextOf finds the context of a session here. It applies the project's own settings.
func (p *program) contextOf(c *cli.Context, settings *config.Settings, agent string) (found injection, err error) {
	home, err := p.home(c)
	if err != nil {
		return injection{}, err
	}
	if c.Bool("user") {
		found.project = memoir.UserProjectID
	} else {
		found, err = p.projectOfSession(c, settings, home, "")
	}
	if err != nil || found.why != "" {
		return found, err
	}
	return p.tell(c, *settings, home, found, agent)
}

func (p *program) tell(c *cli.Context, settings config.Settings, home string, found injection, agent string) (
	injection, error,
) {
	said, overturned := p.saidSince(c, home, found)
	user, err := p.summaryOf(memory.At(home, memoir.UserProjectID))
	user = stands(user, overturned)
	summary := ""
	if root := memory.At(home, found.project); found.project != "" && found.project != memoir.UserProjectID {
		if summary, err = p.summaryOf(root); err == nil {
			summary, found.held = root.BorneOut(found.tree, found.dir, summary)
		}
		summary = stands(summary, overturned)
	}
	if err != nil {
		return injection{}, err
	}
	notes, err := p.notesOf(c, home, found.project)
	if err != nil || user+summary+said == "" && notes.Empty() && len(found.recap) == 0 {
		return found, err
	}
	if found.project == "" {
		found.project = memoir.UserProjectID
	}
	limit := settings.Memories.SummaryInjectionTokenLimit
	if agent != "" {
		limit = min(limit, agentTokens)
	}
	if found.text = frame(home, found.project, notes.Text, user, summary, said, found.recap, limit); found.text == "" {
		found.why = fmt.Sprintf("the limit of %d tokens is too small for the frame and a line of the summary; "+
			"memories.summaryInjectionTokenLimit sets it", limit)
	} else {
		found.told = operation.Told(found.text)
	}
	if usual, err := config.Home("", p.environ); err != nil || usual != home || team.IsPulled(home, found.project) {
		found.text = strings.Replace(found.text, catHint, "", 1)
	}
	return found, nil
}

// summaryOf returns the live summary. If somebody edited the memory since its publication, the edits are applied, as
// the next consolidation does, and secrets are redacted.
func (p *program) summaryOf(root memory.Root) (string, error) {
	text, err := root.Summary()
	if err != nil || !root.Edited() {
		return text, err
	}
	live, err := root.Current()
	if made := live.Consolidation(); made != nil && root.Refused(live) == nil {
		edits := memory.HandEdits("", live.Edited, time.Time{})
		text = consolidate.ApplyHandEdits(*made, consolidate.LiveHandEdits(edits, consolidate.Input{})).MemorySummary
	}
	return p.redact(text), err
}

// projectOfSession returns the project of --project, else that of a session in dir, whose own settings it applies.
func (p *program) projectOfSession(
	c *cli.Context, settings *config.Settings, home, dir string,
) (found injection, err error) {
	if c.String("project") != "" {
		return p.projectWithTree(c, *settings)
	}
	here := place{}
	if filepath.IsAbs(dir) {
		here = p.identify(*settings, dir)
	} else if here, err = p.here(*settings); err != nil {
		return injection{}, err
	}
	if found.why = p.switchedOff(c, settings, here); found.why != "" {
		return found, nil
	}
	id, err := p.memoryOf(c, home, here)
	return injection{project: id, tree: here.top, dir: here.dir}, err
}

// switchedOff returns why memory is off at a place, "" if it is on. It applies the project's own settings.
func (p *program) switchedOff(c *cli.Context, settings *config.Settings, here place) (why string) {
	var err error
	*settings, _, err = p.projectSettings(c, *settings, here.top)
	if err != nil { // an invalid file must not break a session's hooks: memory is off
		if p.hook != nil {
			p.logStartup(err)
			p.fault = p.noMemory(err)
		} else {
			p.ui.warn(memoir.HintOf(err), "%v", err)
		}
	}
	switch file := filepath.Join(here.top, config.ProjectFileName); {
	case settings.Off && err != nil:
		return file + " is not valid; memory is off until it is corrected"
	case settings.Off:
		return file + " switches memory off"
	case settings.Excluded(here.dir):
		return "the setting exclude matches " + here.dir
	}
	return ""
}

// Divisors of the room in the frame: notes get at most a half of it. What was said since, the user's summary and a
// recap get at most a quarter each, in this order, while there is room.
const (
	notesShare = 2
	userShare  = 4
)

// frame renders the prompt of the read path with a person's notes, as many as fit, what was said since, the user's
// summary, the last messages of a session and the project's summary. Each may be empty. The result has at most limit
// tokens; if no line of the summary fits, it has the rest. The root is a file path, which every agent can open.
func frame(home, id string, fit func(tokens int) string, user, summary, said string, recap []string, limit int,
) string {
	root := memory.At(home, id)
	vars := prompts.ReadPathVars{Root: root.Link(), Files: filesBelow(root)}
	vars.Project = id[:max(0, strings.LastIndexByte(id, '-'))]
	room := limit - memoir.Tokens(prompts.ReadPath(vars))
	notes := fit(room / notesShare)
	before := notes
	share := func() int { return min(room/userShare, room-memoir.Tokens(before)-1) }
	for _, text := range []string{said, withoutRules(user, notes)} {
		text = memory.FitTokens(memory.Neutralise(text), share())
		if strings.Contains(text, "\n- ") {
			before += text + "\n"
		}
	}
	for len(recap) > 0 && memoir.Tokens(pipeline.OverflowHead+strings.Join(recap, "")) > share() {
		recap = recap[1:]
	}
	if len(recap) > 0 {
		before += pipeline.OverflowHead + strings.Join(recap, "") + "\n"
	}
	vars.MemorySummary = before
	alone := prompts.ReadPath(vars)
	if before == "" || memoir.Tokens(alone) > limit {
		alone = ""
	}
	summary = withoutRules(memory.Neutralise(summary), before)
	// The summary may become longer when it is made inert, so it is shortened until the whole fits.
	for room -= memoir.Tokens(before); room > 0; {
		fit := memory.FitTokens(summary, room)
		if len(consolidate.Told(fit)) == 0 {
			break
		}
		vars.MemorySummary = before + fit
		text := prompts.ReadPath(vars)
		over := memoir.Tokens(text) - limit
		if over <= 0 {
			return text
		}
		room -= over
	}
	return alone
}

// notesOf returns a person's notes as a session in a project gets them. It opens the database only if there are notes.
func (p *program) notesOf(c *cli.Context, home, project string) (notes entry.Notes, err error) {
	if !entry.Any(memory.At(home, project)) && !entry.Any(memory.At(home, memoir.UserProjectID)) {
		return notes, nil
	}
	st, err := p.openToInject(c)
	if err != nil || st == nil {
		return notes, err
	}
	defer p.release(st)
	return entry.Injected(c.Context, st, project)
}

// memoryOf finds the project of a place: by its remote or what was pulled here, which needs no database, else
// by the registry.
func (p *program) memoryOf(c *cli.Context, home string, here place) (string, error) {
	if here.sure(home) {
		if _, err := os.Lstat(memory.At(home, here.project.ID).Link()); err == nil {
			return here.project.ID, nil
		}
	}
	st, err := p.openToInject(c)
	if err != nil || st == nil {
		return "", err
	}
	defer p.release(st)
	row, err := p.projectHere(c.Context, st, here)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return "", nil
	}
	return row.ID, err
}
