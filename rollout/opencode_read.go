package rollout

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"memoir"
)

// Read emits a session. A fork begins with copies: messages that are older than the session and belong to a fork
// or have a newer id. Messages after a revert are undone; OpenCode deletes them at the next prompt.
func (OpenCode) Read(ctx context.Context, t *tape, e *emitter) error {
	r := opencodeReader{e: e}
	r.w.cwd = t.parts[0].Head.CWD
	return t.each(ctx, true, func(at place, raw []byte) error {
		info := get(raw, "info")
		if at.index > 0 || get(info, "role") != nil || get(info, "type") != nil {
			r.message(info, get(raw, "parts"))
			return e.err
		}
		r.session(info)
		for m := range elements(get(raw, "messages")) { // a document on one long line
			if info := get(m, "info"); info != nil {
				r.message(info, get(m, "parts"))
			} else {
				r.message(m, nil)
			}
		}
		return e.err
	})
}

type opencodeReader struct {
	e *emitter
	w where

	created    time.Time // of the session
	fork       bool      // it says so, or its title does
	revertTo   string    // id of the first undone message
	revertPart string    // id of the first undone part in it; "": the whole message is undone
	undone     bool
	shell      string // id of the message that announces a person's command
}

func (r *opencodeReader) session(info []byte) {
	r.created = instant(get(info, "time", "created"))
	r.fork = forkTitle.MatchString(getText(info, "title")) || getText(info, "forkedFrom") != "" || get(info, "fork") != nil
	r.revertTo, r.revertPart = getText(info, "revert", "messageID"), getText(info, "revert", "partID")
	r.undone, r.shell = false, ""
	r.w.move(getText(info, "directory"), "")
}

func (r *opencodeReader) message(info, parts []byte) {
	created := get(info, "time", "created")
	if created == nil {
		created = get(info, "created")
	}
	id, at := getText(info, "id"), instant(created)
	r.w.when(created)
	r.w.move(getText(info, "path", "cwd"), "")
	if id != "" && id == r.revertTo && r.revertPart == "" {
		r.undone = true
	}
	switch {
	case r.undone:
		r.e.stats.Undone++
	case at.IsZero() || !at.Before(r.created) || !r.fork && !hasLaterID(id, at): // otherwise it is a copy
		r.live(id, info, parts)
	}
}

// hasLaterID reports whether a message's id is newer than the message: a copy keeps its time and gets a new id.
// Ids begin with the lowest 48 bits of the time, in milliseconds times 4096.
func hasLaterID(id string, at time.Time) bool {
	_, stamp, ok := strings.Cut(id, "_")
	if !ok || len(stamp) < 12 {
		return false
	}
	n, err := strconv.ParseUint(stamp[:12], 16, 64)
	if err != nil {
		return false
	}
	const clock = 1 << 36 // milliseconds until the 48 bits wrap around
	late := (int64(n>>12) - at.UnixMilli()%clock + clock) % clock
	return late > 250 && late < clock/2
}

func (r *opencodeReader) live(id string, info, parts []byte) {
	switch role := getText(info, "role"); role {
	case "user":
		r.user(id, parts)
	case "assistant":
		parent := getText(info, "parentID")
		own := parent != "" && parent == r.shell
		r.assistant(parts, own, isTrue(get(info, "summary")), getText(info, "finish") == "stop")
	case "":
		r.second(getText(info, "type"), info)
	default:
		r.e.stats.unknown(role)
	}
}

// second emits a message of OpenCode 2.
func (r *opencodeReader) second(kind string, info []byte) {
	said := map[string]string{"user": "text", "assistant": "content", "shell": "command"}[kind]
	if said != "" && get(info, said) == nil {
		kind = "(no " + said + ")"
	}
	switch kind {
	case "user":
		r.e.findOwnRun(getText(info, "text"))
		r.typed(getText(info, "text"))
	case "assistant":
		r.assistant(get(info, "content"), false, false, getText(info, "finish") == "stop")
	case "shell":
		output := cmp.Or(getText(info, "output", "output"), getText(info, "output"))
		r.e.shell(getText(info, "command"), outcome{output: output, exit: exitStatus(get(info, "exit"))}, r.w)
	case "compaction":
		if getText(info, "reason") == "manual" {
			r.e.user(memoir.OriginSlashCommand, "/compact", r.w)
		}
		r.e.summary(getText(info, "summary"), r.w)
	case "location-switched":
		r.w.move(getText(info, "location", "directory"), "")
	case "synthetic", "system", "skill", "idle", "agent-switched", "model-switched":
	default:
		r.e.stats.unknown(kind)
	}
}

// cut reports whether a part is undone, as the part revertPart and all later ones are.
func (r *opencodeReader) cut(part []byte) bool {
	if r.revertPart != "" && !r.undone && getText(part, "id") == r.revertPart {
		r.undone = true
	}
	if r.undone {
		r.e.stats.Undone++
	}
	return r.undone
}

// shellNotice is OpenCode's text in the user's role before a command that the person ran.
const shellNotice = "The following tool was executed by the user"

func (r *opencodeReader) user(id string, parts []byte) {
	var said blocks
	for p := range elements(parts) {
		if r.cut(p) {
			continue
		}
		switch kind := getText(p, "type"); kind {
		case "text":
			s := getText(p, "text")
			r.e.findOwnRun(s)
			switch {
			case isTrue(get(p, "synthetic")) && strings.TrimSpace(s) == shellNotice:
				r.shell = id
			case isTrue(get(p, "synthetic")), isTrue(get(p, "ignored")):
			case strings.TrimSpace(s) != "":
				said.add(s)
			}
		case "subtask":
			if command := getText(p, "command"); command != "" {
				r.e.user(memoir.OriginSlashCommand, "/"+command, r.w)
			}
		case "compaction":
			if !isTrue(get(p, "auto")) {
				r.e.user(memoir.OriginSlashCommand, "/compact", r.w)
			}
		case "file", "agent", "snapshot", "patch", "step-start", "step-finish", "reasoning", "retry":
		default:
			r.e.stats.unknown(kind)
		}
	}
	r.typed(strings.Join(said.texts, "\n\n"))
}

func (r *opencodeReader) typed(full string) {
	own := unquoted(stripAdded(full, nil))
	if command, ok := opencodeCommand(own); ok {
		r.e.user(memoir.OriginSlashCommand, command, r.w)
		return
	}
	r.e.user(memoir.OriginTyped, own, r.w)
}

// unquoted removes the quotes that `opencode run` adds to an argument with a blank.
func unquoted(text string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
	if len(inner)+2 != len(text) || !strings.ContainsAny(inner, " \n") ||
		strings.Contains(strings.ReplaceAll(inner, `\"`, ""), `"`) {
		return text
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

// opencodeCommands are the beginnings of the expansions of OpenCode's commands, and the text before a person's
// words in them. Commands that people define cannot be distinguished from prompts.
var opencodeCommands = []struct{ name, opening, before string }{
	{"/init", "Create or update `AGENTS.md` for this repository.",
		"\nUser-provided focus or constraints (honor these):\n"},
	{"/init", "Please analyze this codebase and create an AGENTS.md file containing:", ""},
	{"/review", "You are a code reviewer. Your job is to review code changes and provide actionable feedback.",
		"\nInput: "},
}

func opencodeCommand(text string) (string, bool) {
	for _, c := range opencodeCommands {
		if !strings.HasPrefix(text, c.opening) {
			continue
		}
		if _, rest, ok := strings.Cut(text, c.before); ok && c.before != "" {
			words, _, _ := strings.Cut(rest, "\n")
			return strings.TrimSpace(c.name + " " + strings.TrimSpace(words)), true
		}
		return c.name, true
	}
	return "", false
}

// assistant emits the parts of an answer in order. own says that a person ran its command, summary that it is a
// compaction summary, ended that it ends a turn: the texts after its last call are then final.
func (r *opencodeReader) assistant(parts []byte, own, summary, ended bool) {
	calls := 0
	for p := range elements(parts) {
		if getText(p, "type") == "tool" {
			calls++
		}
	}
	var sum blocks
	for p := range elements(parts) {
		if r.cut(p) {
			continue
		}
		w := r.w
		switch kind := getText(p, "type"); kind {
		case "text":
			w.when(get(p, "time", "start"))
			s := getText(p, "text")
			switch {
			case isTrue(get(p, "synthetic")), isTrue(get(p, "ignored")):
			case summary:
				sum.add(s)
			default:
				r.e.assistant(s, ended && calls == 0, w)
			}
		case "tool":
			calls--
			r.tool(p, own, w)
		case "reasoning", "step-start", "step-finish", "snapshot", "patch", "file", "agent", "retry", "compaction", "subtask":
		default:
			r.e.stats.unknown(kind)
		}
	}
	r.e.summary(strings.Join(sum.texts, "\n\n"), r.w)
}

// opencodeRejection is the beginning of the error of a call that a person refused with a reason.
const opencodeRejection = "The user rejected permission "

// opencodeTools are OpenCode's tools. Errors of other tools, such as those of MCP servers, may imitate a refusal.
var opencodeTools = memoir.SetOf("apply_patch bash edit glob grep list multiedit patch read" +
	" shell task todoread todowrite write")

func (r *opencodeReader) tool(p []byte, own bool, w where) {
	tool, state := cmp.Or(getText(p, "tool"), getText(p, "name")), get(p, "state")
	w.when(get(state, "time", "start"))
	w.when(get(p, "time", "created"))
	input := callInput(tool == "bash" || tool == "shell", []byte(compact(get(state, "input"))))
	o := outcome{exit: exitStatus(get(state, "metadata", "exit"))}
	rejected := ""
	switch getText(state, "status") {
	case "completed":
		said := textsOf(get(state, "content"), func(block []byte) bool {
			return !strings.HasPrefix(getText(block, "text"), "Command exited with code ")
		})
		o.output = cmp.Or(getText(state, "output"), strings.Join(said, "\n"))
	case "error":
		o.output, o.failed = cmp.Or(getText(state, "error"), getText(state, "error", "message")), true
		if rest, ok := strings.CutPrefix(o.output, opencodeRejection); ok && opencodeTools[tool] {
			_, rejected, _ = strings.Cut(rest, "feedback: ")
		}
	}
	if own {
		r.e.shell(input, o, w)
		return
	}
	r.e.lone(tool, input, o, w)
	r.e.user(memoir.OriginRejection, rejected, w)
}
