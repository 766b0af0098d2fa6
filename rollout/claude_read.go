package rollout

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"memoir"
)

// Read emits a session. An answer stands on several lines, one a content block
// with the same message id, and old versions repeat a growing answer; those are
// one item.
func (Claude) Read(ctx context.Context, t *tape, e *emitter) error {
	head := t.parts[0].Head
	subagent := head.Kind == memoir.KindSubagent
	plan, err := planClaude(ctx, t, subagent)
	if err != nil {
		return err
	}
	e.results = plan.results
	r := claudeReader{plan: plan, e: e, subagent: subagent, ownOnly: t.heads != nil}
	r.w.cwd, r.w.branch = head.CWD, head.Branch
	play := func() error {
		return t.each(ctx, true, func(at place, raw []byte) error {
			r.line(at.index, parseClaudeLine(raw))
			return e.err
		})
	}
	if err = play(); err == nil && r.ownOnly && e.n == 0 {
		r.ownOnly = false // a fork that shows nothing of its own is called what it repeats
		err = play()
	}
	if err != nil {
		return err
	}
	r.closeAnswer()
	r.closeShell(outcome{})
	for _, prompt := range plan.atEnd {
		e.user(memoir.OriginQueued, prompt, r.w)
	}
	return nil
}

type claudeReader struct {
	plan     *claudePlan
	e        *emitter
	w        where
	subagent bool
	ownOnly  bool // lines that say that they were copied are passed over, whoever has them
	answer   claudeAnswer
	shell    string // a command that the person ran and whose output is to come
	shellAt  where
}

// claudeAnswer is an assistant message as far as it has been read.
type claudeAnswer struct {
	id     string
	texts  []string
	given  []string // texts already given, after which the same message went on
	final  bool
	w      where
	isOpen bool
}

func (r *claudeReader) line(at int, l claudeLine) {
	if l.uuid != "" {
		if first, ok := r.plan.first[textHash(l.uuid)]; ok && int(first) != at {
			return // written twice
		}
	}
	if l.sidechain && !r.subagent {
		return // a sub-agent's conversation; its result is the Task tool's
	}
	if r.plan.abandoned[at] {
		if l.kind == "user" || l.kind == "assistant" {
			r.e.stats.Undone++
		}
		return
	}
	if t := l.at(); !t.IsZero() {
		r.w.at = t
	}
	if l.cwd != "" {
		r.w.cwd, r.w.branch = l.cwd, l.branch()
	}
	if r.replayed(l) {
		return
	}
	switch l.kind {
	case "user":
		r.closeAnswer()
		r.user(at, l)
	case "assistant":
		r.assistant(l)
	case "system":
		r.system(l)
	case "attachment":
		if prompt, ok := l.queuedCommand(); ok {
			r.closeAnswer()
			r.said(memoir.OriginQueued, prompt)
		} else {
			r.e.injected()
		}
	case "queue-operation":
		for _, prompt := range r.plan.late[at] {
			r.closeAnswer()
			r.e.user(memoir.OriginQueued, prompt, r.w)
		}
	case "progress", "file-history-snapshot", "summary", "pr-link", "ai-title", "custom-title", "last-prompt", "mode",
		"permission-mode", "agent-name", "agent-setting", "agent-color", "worktree-state", "content-replacement", "tag",
		"speculation-accept", "attribution-snapshot":
	default:
		r.e.stats.unknown(l.kind)
	}
}

// replayed passes over a line that belongs to another session. A call in it is
// still noted if it was answered only here.
func (r *claudeReader) replayed(l claudeLine) bool {
	if l.uuid == "" || !r.plan.elsewhere[textHash(l.uuid)] && !(r.ownOnly && l.forkedFrom != nil) {
		return false
	}
	r.closeAnswer()
	switch l.kind {
	case "user":
		if s, ok := l.spoken(); ok {
			r.e.hear(s)
		}
	case "assistant":
		elements(get(l.message, "content"), func(block []byte) bool {
			if id := getText(block, "id"); id != "" && r.plan.unsettled[textHash(id)] {
				r.call(block)
			}
			return true
		})
	default:
		return true
	}
	r.e.stats.Replayed++
	return true
}

func (r *claudeReader) user(at int, l claudeLine) {
	content := get(l.message, "content")
	if l.compact {
		r.e.summary(contentText(content), r.w)
		return
	}
	origin := memoir.OriginTyped
	switch {
	case l.plan:
		origin = memoir.OriginPlanHandover
	case r.plan.queued[at] || l.promptSource == "queued":
		origin = memoir.OriginQueued
	}
	inject := l.meta || l.transcriptOnly || l.promptSource == "system"
	if isString(content) {
		r.words(origin, text(content), inject)
		return
	}
	// The words of one line are one utterance, whatever blocks they stand in.
	var words []string
	elements(content, func(block []byte) bool {
		switch word(get(block, "type")) {
		case "tool_result":
			r.result(block)
		case "text":
			s := getText(block, "text")
			if inject || origin == memoir.OriginTyped && !isPlainClaude(s) {
				r.words(origin, s, inject)
			} else {
				words = append(words, s)
			}
		}
		return true
	})
	if len(words) > 0 {
		r.words(origin, strings.Join(words, "\n"), inject)
	}
}

// words gives one text of a user line as what it is.
func (r *claudeReader) words(origin memoir.Origin, s string, inject bool) {
	r.e.hear(s)
	if inject {
		r.closeShell(outcome{})
		r.e.injected()
		return
	}
	if r.shellText(s) {
		return
	}
	r.closeShell(outcome{})
	r.said(origin, s)
}

func (r *claudeReader) said(origin memoir.Origin, s string) {
	kind, own, stripped := splitClaudeUser(s)
	for range stripped {
		r.e.injected()
	}
	switch {
	case kind == memoir.OriginCompactionSummary:
		r.e.summary(own, r.w)
	case kind == memoir.OriginInjected || own == "":
		if stripped == 0 {
			r.e.injected()
		}
	case kind != memoir.OriginTyped:
		r.e.user(kind, own, r.w)
	default:
		r.e.user(origin, own, r.w)
	}
}

// shellText handles the lines of a command that the person ran with "!".
func (r *claudeReader) shellText(s string) bool {
	if command, ok := element(s, "bash-input"); ok && strings.HasPrefix(strings.TrimSpace(s), "<bash-input>") {
		r.closeShell(outcome{})
		r.shell, r.shellAt = strings.TrimSpace(command), r.w
		return true
	}
	if !strings.HasPrefix(strings.TrimSpace(s), "<bash-std") {
		return false
	}
	stdout, _ := element(s, "bash-stdout")
	stderr, _ := element(s, "bash-stderr")
	if stdout != "" && stderr != "" {
		stdout += "\n"
	}
	r.closeShell(outcome{output: stdout + stderr})
	return true
}

func (r *claudeReader) closeShell(o outcome) {
	if r.shell != "" {
		r.e.shell(r.shell, o, r.shellAt)
		r.shell = ""
	}
}

func (r *claudeReader) assistant(l claudeLine) {
	if l.apiError || getText(l.message, "model") == "<synthetic>" {
		r.closeAnswer()
		r.e.injected() // an error message of the client
		return
	}
	id := getText(l.message, "id")
	if !r.answer.isOpen || id == "" || id != r.answer.id {
		r.closeAnswer()
		given := r.answer.given
		if id == "" || id != r.answer.id {
			given = nil
		}
		r.answer = claudeAnswer{id: id, given: given, isOpen: true, w: r.w}
	}
	r.answer.final = r.answer.final || getText(l.message, "stop_reason") == "end_turn"
	content := get(l.message, "content")
	if isString(content) {
		r.answer.add(text(content))
		return
	}
	elements(content, func(block []byte) bool {
		switch getText(block, "type") {
		case "text":
			r.answer.add(getText(block, "text"))
		case "tool_use", "server_tool_use", "mcp_tool_use":
			r.call(block)
		case "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result":
			r.closeAnswer()
			r.result(block)
		}
		return true
	})
}

func (r *claudeReader) call(block []byte) {
	tool, input := getText(block, "name"), get(block, "input")
	line := string(input)
	if command := get(input, "command"); (tool == "Bash" || tool == "PowerShell") && isString(command) {
		line = text(command)
	}
	r.e.call(getText(block, "id"), tool, line, r.w)
}

// add takes a text block in: a repeated one is dropped, a grown one replaces its
// beginning.
func (a *claudeAnswer) add(s string) {
	if strings.TrimSpace(s) == "" || slices.Contains(a.texts, s) || slices.Contains(a.given, s) {
		return
	}
	if n := len(a.texts); n > 0 && strings.HasPrefix(s, a.texts[n-1]) {
		a.texts[n-1] = s
		return
	}
	a.texts = append(a.texts, s)
}

func (r *claudeReader) closeAnswer() {
	a := &r.answer
	if !a.isOpen {
		return
	}
	a.isOpen = false
	if len(a.texts) == 0 {
		return
	}
	r.closeShell(outcome{})
	r.e.assistant(strings.Join(a.texts, "\n\n"), a.final, a.w)
	a.given, a.texts = append(a.given, a.texts...), nil
}

func (r *claudeReader) result(block []byte) {
	raw := get(block, "content")
	output := claudeOutput(contentText(raw))
	o := outcome{output: output, failed: isTrue(get(block, "is_error"))}
	if code, ok := strings.CutPrefix(output, "Exit code "); ok && o.failed {
		if n, ok := leadingInt(code); ok {
			_, rest, _ := strings.Cut(output, "\n")
			o.exit, o.output = &n, rest
		}
	}
	if inner, rest, ok := cutElement(o.output, "tool_use_error"); ok {
		o.output, o.failed = strings.TrimSpace(inner+"\n"+rest), true
	}
	words, rejected := rejection(output)
	o.failed = o.failed || rejected
	r.e.result(getText(block, "tool_use_id"), o, r.w)
	if words != "" {
		r.e.user(memoir.OriginRejection, words, r.w)
	}
}

// system lines hold commands of the interface; the rest is the agent's own log.
func (r *claudeReader) system(l claudeLine) {
	if l.subtype != "local_command" || !bytes.Contains(l.content, []byte("<command-name>")) {
		return
	}
	r.closeAnswer()
	r.said(memoir.OriginSlashCommand, text(l.content))
}
