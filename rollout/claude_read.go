package rollout

import (
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
	r := claudeReader{plan: plan, e: e, subagent: subagent, given: map[uint64]bool{}}
	r.w.cwd, r.w.branch = head.CWD, head.Branch
	if t.heads == nil && !subagent {
		r.session = t.parts[0].Path
	}
	err = t.each(ctx, true, func(at place, raw []byte) error {
		r.line(at.index, parseClaudeLine(raw))
		return e.err
	})
	if err != nil {
		return err
	}
	r.closeAnswers()
	r.closeShell(outcome{})
	for _, prompt := range plan.atEnd {
		e.user(memoir.OriginQueued, prompt, r.w)
	}
	return nil
}

type claudeReader struct {
	plan       *claudePlan
	e          *emitter
	w          where
	subagent   bool
	session    string          // path of its file, "" if files beside it are not to be read
	answers    []*claudeAnswer // messages that are not finished, in the order in which they began
	unfinished int             // bytes of their texts
	given      map[uint64]bool // hashes of the texts that were given, with their messages' ids
	shell      string          // a command that the person ran and whose output is to come
	shellAt    where
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
		r.closeAnswers()
		r.user(l)
	case "assistant":
		r.assistant(l)
	case "system":
		r.system(l)
	case "attachment":
		r.attachment(l)
	case "queue-operation":
		r.e.hear(text(l.content))
		for _, prompt := range r.plan.late[at] {
			r.closeAnswers()
			r.e.user(memoir.OriginQueued, prompt, r.w)
		}
	default:
		if get(l.message, "role") != nil { // the others are the agent's notes for itself
			r.e.stats.unknown(l.kind)
		}
	}
}

// attachment lines hold what the agent, a hook or an editor adds to a prompt, and
// prompts that were typed while the agent was busy.
func (r *claudeReader) attachment(l claudeLine) {
	prompt, shell, ok := l.queuedCommand()
	if !ok {
		r.e.injected()
		return
	}
	r.closeAnswers()
	r.e.hear(prompt)
	if shell {
		r.closeShell(outcome{})
		r.shell, r.shellAt = strings.TrimSpace(prompt), r.w
		return
	}
	r.said(memoir.OriginQueued, prompt)
}

// replayed passes over a line that belongs to another session.
func (r *claudeReader) replayed(l claudeLine) bool {
	if l.uuid == "" || !r.plan.elsewhere[textHash(l.uuid)] {
		return false
	}
	r.closeAnswers()
	if s, ok := l.spoken(); ok {
		r.e.hear(s)
	}
	if l.kind == "user" || l.kind == "assistant" {
		r.e.stats.Replayed++
	}
	return true
}

func (r *claudeReader) user(l claudeLine) {
	content := get(l.message, "content")
	if l.compact {
		r.e.summary(removeReminders(contentText(content)), r.w)
		return
	}
	origin := memoir.OriginTyped
	switch {
	case l.plan:
		origin = memoir.OriginPlanHandover
	case l.promptSource == "queued":
		origin = memoir.OriginQueued
	}
	inject := l.injected()
	if isString(content) {
		r.words(origin, text(content), inject)
		return
	}
	// The words of one line are one utterance, whatever blocks they stand in.
	var words []string
	silent := true
	elements(content, func(block []byte) bool {
		switch getText(block, "type") {
		case "tool_result":
			silent = false
			r.result(block, l.answer)
		case "text":
			silent = false
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
	if silent { // an image and no word
		r.e.injected()
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
		if command = strings.TrimSpace(command); command != r.shell { // it may have been queued
			r.closeShell(outcome{})
			r.shell, r.shellAt = command, r.w
		}
		return true
	}
	if !strings.HasPrefix(strings.TrimSpace(s), "<bash-std") {
		return false
	}
	stdout, _ := element(s, "bash-stdout")
	stdout = claudeOutput(r.persisted(stdout))
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

// system lines hold commands of the interface; the rest is the agent's own log.
func (r *claudeReader) system(l claudeLine) {
	if l.subtype != "local_command" {
		return
	}
	s := text(l.content)
	if strings.Contains(s, "<command-name>") {
		r.closeAnswers()
		r.said(memoir.OriginSlashCommand, s)
	} else if strings.HasPrefix(s, "<bash-") {
		r.closeAnswers()
		r.shellText(s)
	}
}

// claudeAnswer is an assistant message as far as it has been read.
type claudeAnswer struct {
	id    string
	texts []string
	final bool
	w     where
}

func (r *claudeReader) assistant(l claudeLine) {
	if l.apiError || getText(l.message, "model") == "<synthetic>" {
		r.closeAnswers()
		r.e.injected() // an error message of the client
		return
	}
	a := r.answer(getText(l.message, "id"))
	a.final = a.final || getText(l.message, "stop_reason") == "end_turn"
	content := get(l.message, "content")
	if isString(content) {
		a.add(text(content), r.given)
		return
	}
	elements(content, func(block []byte) bool {
		switch getText(block, "type") {
		case "text":
			if r.unfinished += len(block); r.unfinished > maxText {
				r.closeAnswers()
				a = r.answer(getText(l.message, "id"))
			}
			a.add(getText(block, "text"), r.given)
		case "tool_use", "server_tool_use", "mcp_tool_use":
			r.call(block)
		case "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result":
			r.closeAnswers()
			a = r.answer(getText(l.message, "id"))
			r.result(block, nil)
		}
		return true
	})
}

// answer returns the message of an id, which may have been begun before another:
// agents that work at the same time write between each other's lines.
func (r *claudeReader) answer(id string) *claudeAnswer {
	for _, a := range r.answers {
		if id != "" && a.id == id {
			return a
		}
	}
	if id == "" || len(r.answers) >= 64 {
		r.closeAnswers()
	}
	a := &claudeAnswer{id: id, w: r.w}
	r.answers = append(r.answers, a)
	return a
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
func (a *claudeAnswer) add(s string, given map[uint64]bool) {
	if strings.TrimSpace(s) == "" || slices.Contains(a.texts, s) || given[textHash(a.id+s)] {
		return
	}
	if n := len(a.texts); n > 0 && strings.HasPrefix(s, a.texts[n-1]) {
		a.texts[n-1] = s
		return
	}
	a.texts = append(a.texts, s)
}

// closeAnswers gives the messages that were read so far. If one goes on later, it
// is another item.
func (r *claudeReader) closeAnswers() {
	open := r.answers
	r.answers, r.unfinished = nil, 0
	for _, a := range open {
		if len(a.texts) == 0 {
			continue
		}
		r.closeShell(outcome{})
		r.e.assistant(strings.Join(a.texts, "\n\n"), a.final, a.w)
		for _, s := range a.texts {
			if a.id != "" {
				r.given[textHash(a.id+s)] = true
			}
		}
	}
}
