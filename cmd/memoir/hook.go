package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/deliver"
	"memoir/extract"
	"memoir/integrate"
	"memoir/internal/failpoint"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/operation"
	"memoir/search"
	"memoir/store"
	"memoir/team"
)

// hookInput is what agents write to a hook's standard input, each with its own
// names for the same things.
type hookInput struct {
	Event         string   `json:"hook_event_name"`
	Source        string   `json:"source"` // why the session starts: startup, resume, clear, compact, fork
	SessionID     string   `json:"session_id"`
	SessionCamel  string   `json:"sessionId"`       // Copilot
	Conversation  string   `json:"conversation_id"` // Cursor
	CWD           string   `json:"cwd"`
	WorkingDir    string   `json:"working_dir"` // Goose
	Prompt        string   `json:"prompt"`
	Workspaces    []string `json:"workspace_roots"` // Cursor, whose cwd is its own directory
	CursorVersion string   `json:"cursor_version"`

	integrate.Call

	recap    []string // of the session, where it has more messages than memories.memoryWindow
	overflow string   // its key then
}

// maxHookInput bounds a hook's input, in bytes. It contains prompts and whole files that were written.
const maxHookInput = 16 << 20

// readHook reads the first JSON value of a hook's input, from a pipe for at most patience: some agents leave it open,
// and in a shell nobody may write to it.
func readHook(stdin *os.File, patience time.Duration) (hookInput, bool) {
	if stdin == nil || isTerminal(stdin) {
		return hookInput{}, false
	}
	input := io.LimitReader(stdin, maxHookInput)
	if info, err := stdin.Stat(); err == nil && info.Mode().IsRegular() {
		in, err := parseHook(input)
		return in, err == nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	in, err := interruptibly(ctx, func() (hookInput, error) { return parseHook(input) })
	return in, err == nil
}

// inputFlag is the flag for a hook's input instead of standard input. memoir's own extensions use it, since a
// starting agent may take seconds to write to a pipe.
func inputFlag() cli.Flag {
	return &cli.StringFlag{Name: "input", Hidden: true, Usage: "the hook's `INPUT`"}
}

// hookInput reads the input of a hook, waiting for it for patience, or longer for one whose command names its agent.
func (p *program) hookInput(c *cli.Context, patience time.Duration) (hookInput, bool) {
	if text := c.String("input"); text != "" {
		in, err := parseHook(strings.NewReader(text))
		return in, err == nil
	}
	if cmp.Or(c.String("agent"), c.String("ended"), c.String("turn")) != "" || c.Bool("run") || c.Bool("action") {
		patience = hookPatience
	}
	return readHook(p.ui.stdin, patience)
}

// parseHook reads one JSON object; fields of an unexpected type are ignored.
func parseHook(r io.Reader) (hookInput, error) {
	var in *hookInput // nil after null
	err := json.NewDecoder(r).Decode(&in)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		err = nil // the other fields are read
	}
	if err != nil || in == nil {
		return hookInput{}, cmp.Or(err, io.EOF)
	}
	return *in, nil
}

func (in hookInput) session() string {
	for _, id := range []string{in.SessionID, in.SessionCamel, in.Conversation} {
		if len(id) <= maxSessionID && sessionID.MatchString(id) {
			return id
		}
	}
	return ""
}

// sessionID matches the id of a session. It becomes an argument and a part of a log, so nothing else is accepted. The
// expression has no length, since it would take milliseconds to compile.
var sessionID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const maxSessionID = 128

// eventName matches the name of an event. It is returned to the agent, so nothing else is accepted.
var eventName = lazyregexp.New(`^[A-Za-z]{1,40}$`)

// forgot reports whether a session starts again without what it was told.
func (in hookInput) forgot() bool { return in.Source == "compact" || in.Source == "clear" }

// directory returns the working directory of the agent, "" if it is unknown.
func (in hookInput) directory() string {
	return cmp.Or(slices.Concat(in.Workspaces, []string{in.CWD, in.WorkingDir})...)
}

// formNames are the names that --agent and --format take.
func formNames() []string { return append(agentNames(), "plain") }

// caller finds the agent that runs the hook. The input takes precedence over the environment, which
// a session may have inherited from another agent. Without input the caller is a person or a
// script: plain.
func caller(in hookInput, isHook bool, getenv func(string) string) string {
	switch {
	case !isHook:
		return "plain"
	case in.CursorVersion != "" || in.Conversation != "":
		return "cursor"
	case in.SessionCamel != "" || getenv("COPILOT_CLI") == "1" && in.Event == "":
		return "copilot"
	case in.Event == "":
		return "plain"
	case getenv("GEMINI_SESSION_ID") != "":
		return "gemini"
	case getenv("QWEN_CODE_SESSION_ID") != "":
		return "qwen"
	}
	return "claude" // also Codex, which sets no variable
}

// hookOutput wraps a context in the form that an agent takes, and a fault of memoir's or its news in the field that
// the agent shows to its user, if it has one. Each may be empty. No form is understood by all: Codex rejects unknown
// fields, Copilot and Cursor drop nested ones.
func hookOutput(agent, event, context, fault string) string {
	v := map[string]any{}
	switch agent {
	case "claude", "codex", "gemini", "qwen":
		if !eventName.MatchString(event) {
			event = "SessionStart"
		}
		if context != "" {
			v["hookSpecificOutput"] = map[string]any{"hookEventName": event, "additionalContext": context}
		}
		if fault != "" {
			v["systemMessage"] = "memoir: " + fault
		}
	case "copilot":
		v["additionalContext"] = context
	case "cursor":
		v["additional_context"] = context
	default:
		return context
	}
	if context == "" && v["systemMessage"] == nil && agent != "gemini" { // Gemini CLI shows standard error then
		return ""
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // texts can be encoded
	return b.String()
}

// noMemory says why a session gets no context; "" of a locked database, which the next session can read.
func (p *program) noMemory(err error) string {
	if memoir.CodeOf(err) == memoir.CodeBusy {
		return ""
	}
	return oneLine(p.redact(err.Error())) + "; no memory"
}

// forUser says why what is new does not get into a project's memory: the disk is full, the last run failed, or the
// project's consolidation did, which later runs wait to try again. Otherwise it says what is told and what waits, or
// that nothing is sure yet.
func (p *program) forUser(c *cli.Context, found injection) string {
	st := p.reading
	if st == nil { // no memory, or inject has failed already
		return ""
	}
	if err := st.Room(); err != nil {
		return oneLine(p.redact(err.Error())) + "; memory is not updated"
	}
	if last, err := st.LastRun(c.Context); err == nil && last.Outcome == store.RunFailed {
		return fmt.Sprintf("the last run failed, %s: %s; memory is not updated",
			operation.Zoned(last.Ended), oneLine(last.Reason))
	}
	if reason, _ := st.Failure(c.Context, found.project); reason != "" {
		return fmt.Sprintf("%s: %s; memory is not updated", found.project, oneLine(p.redact(reason)))
	}
	home := p.access(c).Home
	news, err := operation.ReadNews(c.Context, st, home, found.project) // doctor reports a memory that cannot be read
	team := operation.TeamNews(home, found.project, time.Now())
	text := strings.Trim(news.Text(time.Now(), found.told)+"; "+oneLine(team), "; ")
	if found.late {
		text = strings.TrimSuffix("no time was left to read all new sessions: a later start tells what they say; "+text, "; ")
	}
	if err == nil && text+found.text == "" && news.Lines == 0 && hookOutput(*p.hook, "", "", "shown") != "" {
		text = p.nothingSure(c, home, found.project)
	}
	return text
}

// sameStart is the time within which two hooks of one start run.
const sameStart = 5 * time.Second

// forgetful are the agents whose sessions do not keep a hook's context: each start needs it again. Other agents
// keep it until they compact or clear a session.
var forgetful = []string{"gemini", "qwen", "copilot", "opencode"}

// first reports whether a session of an agent has no context yet, and records that it has one now. An agent may
// call two hooks at one start: Cursor also runs those of Claude Code. It returns true if the record fails.
func first(home, agent string, in hookInput, now time.Time) bool {
	session := in.session()
	if session == "" {
		return true
	}
	fresh, reason := false, "start"
	if slices.Contains(forgetful, agent) || in.forgot() {
		fresh, reason = true, in.Source
	}
	path := deliver.RecordPath(home, session, reason)
	if info, err := os.Stat(path); err == nil {
		if !fresh || now.Sub(info.ModTime()).Abs() < sameStart {
			return false
		}
		_ = failpoint.Remove(path)
	}
	return !errors.Is(deliver.Record(home, nil, now, session, reason), fs.ErrExist)
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
	if err == nil && slices.Contains(integrate.PromptEvents, in.Event) && in.session() != "" {
		text, err = p.atAction(c, in, agent, "prompt", func(r deliver.Reader, first firstly) (string, error) {
			lines, err := p.linesAbout(c, in.Prompt, r)
			if err != nil || len(lines) == 0 {
				return "", err
			}
			return r.AtPrompt(lines, time.Now(), first)
		})
	}
	if ended, failed := in.Ended(in.Event); err == nil && ended && in.session() != "" {
		it := in.Item()
		diff, edits := extract.EditOf(&it)
		switch line := in.CommandLine(); {
		case edits && !failed:
			text, err = p.atAction(c, in, agent, "edit", func(r deliver.Reader, first firstly) (string, error) {
				return onEdit(r, diff, in.directory(), first)
			})
		case !edits && line != "" && (failed || !in.Passed()):
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
	if err = cmp.Or(err, errHome); err != nil || !tells(settings, home) || !filepath.IsAbs(in.directory()) {
		return "", err
	}
	found, err := p.projectOfSession(c, &settings, home, in.directory())
	if c.String("project") != "" {
		found.tree = p.identify(settings, in.directory()).top
	}
	on := map[string]bool{"edit": settings.Deliver.OnEdit, "failure": settings.Deliver.AfterFailure,
		"prompt": settings.Deliver.AtPrompt}
	if err != nil || found.project == "" || !on[event] {
		return "", err
	}
	receipt := deliver.Receipt{At: time.Now().UTC(), Event: event, Project: found.project,
		Session: memoir.SessionKey(memoir.Source(cmp.Or(c.String("agent"), agent)), in.session())}
	return choose(p.reader(c, home, found.project, found.tree, in.session()), func(k deliver.Known) bool {
		receipt.Statement = k.ID
		return deliver.First(home, receipt, in.AgentID)
	})
}

// reader chooses statements of a project for a session.
func (p *program) reader(c *cli.Context, home, project, tree, session string) deliver.Reader {
	r := deliver.Reader{Project: project, Root: memory.At(home, project), Top: tree, Session: session,
		Removed: sync.OnceValues(func() ([]string, error) {
			edits, err := readNow(p, c, project, (*store.Store).HandEdits)
			var lines []string
			for _, edit := range edits {
				if edit.Action == memoir.EditRemoved {
					lines = append(lines, edit.Text)
				}
			}
			return lines, err
		}),
		Accepted: func() (map[string]int64, error) { return readNow(p, c, project, (*store.Store).Answered) },
		Said: func(signatures map[string]bool) ([]memoir.Extraction, error) {
			if !deliver.IsLately(home, signatures) {
				return nil, nil
			}
			p.reading, _ = p.openToInject(c) // for all that follows; it need not be closed
			return readNow(p, c, project, (*store.Store).Said)
		}}
	if team.IsPulled(home, project) {
		r.Accepted = nil
	}
	return r
}

// readNow reads something of a project from the database: nothing if it cannot be opened now.
func readNow[T any](p *program, c *cli.Context, project string,
	read func(st *store.Store, ctx context.Context, project string) (T, error)) (value T, err error) {
	st, err := p.openToInject(c)
	if err != nil || st == nil {
		return value, err
	}
	defer p.release(st)
	return read(st, c.Context, project)
}

// leastAtPrompt is the least match of a line that is told at a prompt.
const leastAtPrompt = 0.5

// linesAbout returns the keys of the lines of MEMORY.md that have most of a prompt's words, the best first.
func (p *program) linesAbout(c *cli.Context, prompt string, r deliver.Reader) (keys []string, err error) {
	found, err := search.Find(c.Context, p.access(c).Home, search.Query{Text: prompt, ProjectID: r.Project,
		Filter: search.Filter{Kind: search.SourceMemory}, Redact: p.redact})
	if code := memoir.CodeOf(err); code == memoir.CodeUsage || code == memoir.CodeNotFound {
		return nil, nil
	}
	for _, hit := range found.Hits {
		if hit.Match > leastAtPrompt {
			keys = append(keys, hit.Key)
		}
	}
	return keys, err
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
