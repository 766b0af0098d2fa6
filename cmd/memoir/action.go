package main

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/deliver"
	"memoir/extract"
	"memoir/internal/lazyregexp"
	"memoir/memory"
)

// action is what agents write to a hook after a tool call, each with its own names for the same things. None of it is
// stored or logged.
type action struct {
	AgentID    string          `json:"agent_id"` // of a sub-agent of Claude Code
	Tool       string          `json:"tool_name"`
	ToolCamel  string          `json:"toolName"` // Copilot
	Input      json.RawMessage `json:"tool_input"`
	InputCamel json.RawMessage `json:"toolArgs"`
	Response   json.RawMessage `json:"tool_response"`
	Result     json.RawMessage `json:"toolResult"`
	Error      json.RawMessage `json:"error"`
	Interrupt  bool            `json:"is_interrupt"`
}

// afterTool are the events of a tool call that has ended, and of one that failed.
var (
	afterTool    = []string{"PostToolUse", "AfterTool", "postToolUse"}
	afterFailure = []string{"PostToolUseFailure", "postToolUseFailure"}
)

// acts reports whether the hook is of a tool call.
func (in hookInput) acts() bool { return cmp.Or(in.Tool, in.ToolCamel) != "" }

// forgot reports whether a session starts again without what it was told.
func (in hookInput) forgot() bool { return in.Source == "compact" || in.Source == "clear" }

// ended reports whether the call has ended, and whether it failed, if the event says so. Copilot names no event.
func (in hookInput) ended() (ended, failed bool) {
	failed = slices.Contains(afterFailure, in.Event) || in.Event == "" && len(in.Error) > 0 ||
		gjson.GetBytes(in.Result, "resultType").Str == "failure"
	return failed || slices.Contains(afterTool, in.Event) || in.Event == "", failed
}

// call returns the tool call of the hook.
func (in hookInput) call() memoir.Item {
	input := append(in.Input, in.InputCamel...)
	if text := gjson.ParseBytes(input); text.Type == gjson.String {
		input = []byte(text.Str)
	}
	it := memoir.Item{Kind: memoir.ItemTool, Tool: cmp.Or(in.Tool, in.ToolCamel), Input: string(input)}
	it.Output = strings.Join(slices.Concat(textsOf(in.Response), textsOf(in.Result), textsOf(in.Error)), "\n")
	return it
}

// textsOf returns the texts of a JSON value, in order.
func textsOf(value json.RawMessage) (out []string) {
	gjson.ParseBytes(value).ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			out = append(out, v.Str)
		} else if v.IsObject() || v.IsArray() {
			out = append(out, textsOf([]byte(v.Raw))...)
		}
		return true
	})
	return out
}

// exited matches how agents say in a result with which status a command ended.
var exited = lazyregexp.New(`(?im)^(?:process |command )?exit(?:ed)?(?: with)?(?: code| status)?:? (\d+)`)

// status returns the exit status of a command as its result says it, "" if it does not.
func (in hookInput) status(output string) string {
	for _, result := range []json.RawMessage{in.Response, in.Result} {
		for _, name := range []string{"exit_code", "exitCode", "metadata.exit", "metadata.exit_code"} {
			if code := gjson.GetBytes(result, name); code.Type == gjson.Number {
				return code.Raw
			}
		}
	}
	return append(exited.FindStringSubmatch(output), "", "")[1]
}

// commandOf returns the command line of a call of a shell.
func commandOf(it memoir.Item) string {
	for _, name := range []string{"command", "cmd"} {
		line := gjson.Get(it.Input, name)
		if words := line.Array(); line.IsArray() && len(words) > 0 { // bash -lc LINE
			line = words[len(words)-1]
		}
		if line.Type == gjson.String {
			return line.Str
		}
	}
	return ""
}

// firstly reports whether a session has not got a statement yet, and records that it has it now.
type firstly = func(deliver.Known) bool

// act tells an agent after a tool call what the memory of its project knows of it. An error is logged, without the
// hook's input: the agent goes on.
func (p *program) act(c *cli.Context, in hookInput, isHook bool) {
	agent, err := agentNamed(c, "format")
	if agent == "" {
		agent = caller(in, isHook, p.getenv)
	}
	text := ""
	if ended, failed := in.ended(); err == nil && ended && in.acts() && !in.Interrupt && in.session() != "" {
		it := in.call()
		diff, edits := extract.EditOf(&it)
		status := in.status(it.Output)
		switch line := commandOf(it); {
		case edits && !failed:
			text, err = p.atAction(c, in, agent, "edit", func(r deliver.Reader, first firstly) (string, error) {
				return onEdit(r, diff, in.directory(), first)
			})
		case !edits && line != "" && (failed || status != "0"):
			text, err = p.atAction(c, in, agent, "failure", func(r deliver.Reader, first firstly) (string, error) {
				return r.AfterFailure(line, it.Output, first)
			})
		}
	}
	if err != nil {
		p.logStartup(err)
	}
	p.ui.write(hookOutput(agent, in.Event, text, ""))
}

// atAction returns the text of an event, as choose makes it, if the settings allow it.
func (p *program) atAction(c *cli.Context, in hookInput, agent, event string,
	choose func(r deliver.Reader, first firstly) (string, error),
) (string, error) {
	settings, err := p.settings(c, nil)
	home, errHome := p.home(c)
	if err = cmp.Or(err, errHome); err != nil || !settings.Memories.Enabled || !filepath.IsAbs(in.directory()) {
		return "", err
	}
	var found injection
	if c.String("project") != "" {
		found, err = p.projectWithTree(c, settings)
		found.tree = p.identify(settings, in.directory()).top
	} else {
		found, err = p.projectOfSession(c, &settings, home, in.directory())
	}
	on := map[string]bool{"edit": settings.Deliver.OnEdit, "failure": settings.Deliver.AfterFailure}
	if err != nil || found.project == "" || !on[event] {
		return "", err
	}
	receipt := deliver.Receipt{At: time.Now().UTC(), Event: event, Project: found.project,
		Session: memoir.SessionKey(memoir.Source(cmp.Or(c.String("agent"), agent)), in.session())}
	reader := deliver.Reader{Root: memory.At(home, found.project), Top: found.tree, Session: in.session(),
		Removed: func() ([]string, error) { return p.removedLines(c, found.project) }}
	return choose(reader, func(k deliver.Known) bool {
		receipt.Statement = k.ID
		return deliver.First(home, receipt, in.AgentID)
	})
}

// onEdit returns the text of the first file of a diff that has one.
func onEdit(r deliver.Reader, diff, dir string, first firstly) (text string, err error) {
	for line := range strings.Lines("\n" + diff) {
		head, name, ok := strings.Cut(strings.TrimSpace(line), " File: ")
		if !ok || !strings.HasPrefix(head, "*** ") || text != "" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if name, err = filepath.Rel(r.Top, name); err == nil && filepath.IsLocal(name) {
			text, err = r.OnEdit(filepath.ToSlash(name), first)
		}
		if err != nil {
			return "", err
		}
	}
	return text, nil
}

// removedLines returns the lines that people removed from the memory of a project.
func (p *program) removedLines(c *cli.Context, project string) (lines []string, err error) {
	st, err := p.openToInject(c)
	if err != nil || st == nil {
		return nil, err
	}
	defer st.Close()
	edits, err := st.HandEdits(c.Context, project)
	for _, edit := range edits {
		if edit.Action == memoir.EditRemoved {
			lines = append(lines, edit.Text)
		}
	}
	return lines, err
}
