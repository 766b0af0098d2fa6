package rollout

import (
	"context"
	"slices"
	"strings"

	"memoir"
)

// Read emits a session. The lines of one message id, one for each content block, are one item. Old versions
// repeat a growing answer, which is one item as well.
func (Claude) Read(ctx context.Context, t *tape, e *emitter) error {
	head := t.parts[0].Head
	plan, err := planClaude(ctx, t, head.Kind == memoir.KindSubagent)
	if err != nil {
		return err
	}
	e.results = plan.results
	r := claudeReader{plan: plan, e: e, given: map[uint64]bool{}}
	r.w.cwd, r.w.branch = head.CWD, head.Branch
	err = t.each(ctx, true, func(at place, raw []byte) error {
		r.line(at, parseClaudeLine(raw))
		return e.err
	})
	if err != nil {
		return err
	}
	r.closeAnswer()
	r.closeShell(outcome{})
	return nil
}

type claudeReader struct {
	plan    *claudePlan
	e       *emitter
	w       where
	answer  claudeAnswer    // the message that is being read
	given   map[uint64]bool // hashes of emitted texts with their message ids
	shell   string          // a person's command whose output is not read yet
	shellAt where
}

func (r *claudeReader) line(at place, l claudeLine) {
	if !r.counts(at, l) {
		return
	}
	if get(l.message, "content") == nil && (l.kind == "user" || l.kind == "assistant") {
		r.e.stats.unknown(l.kind)
	}
	switch l.kind {
	case "user":
		r.closeAnswer()
		r.user(l)
	case "assistant":
		r.assistant(l)
	case "system":
		r.system(l)
	case "attachment":
		r.attachment(l)
	case "queue-operation":
		r.e.findOwnRun(getText(l.raw, "content"))
		if prompt := r.plan.unsent[at.index]; prompt != "" {
			r.closeAnswer()
			r.e.user(memoir.OriginQueued, prompt, r.w)
		}
	case "api-request-blob": // other entries have its content
	default:
		if get(l.message, "role") != nil { // other types are internal records of the agent
			r.e.stats.unknown(l.kind)
		}
	}
}

// counts reports whether a line is emitted, and records its time and place. Lines are left out if they repeat
// an earlier one, belong to a subagent or another session, or were abandoned.
func (r *claudeReader) counts(at place, l claudeLine) bool {
	node := r.plan.node(l.uuid)
	if node != nil && int(node.record) != at.index || l.sidechain && !r.plan.subagent {
		return false
	}
	if node != nil && node.gone {
		r.e.stats.Undone++
		return false
	}
	r.w.when(l.time)
	r.w.move(l.cwd, l.branch)
	if node == nil || !r.plan.copies[at.part][textHash(l.uuid)] {
		return true
	}
	texts, _ := l.userTexts()
	r.e.findOwnRun(strings.Join(texts, "\n"))
	r.e.stats.Copied++
	return false
}

// attachment lines have additions of the agent, a hook or an editor to a prompt, and prompts that were typed
// while the agent was busy.
func (r *claudeReader) attachment(l claudeLine) {
	prompt, shell, ok := l.queuedCommand()
	if !ok {
		return
	}
	r.closeAnswer()
	r.e.findOwnRun(prompt)
	if shell {
		r.command(prompt)
	} else {
		r.message(memoir.OriginQueued, prompt)
	}
}

func (r *claudeReader) user(l claudeLine) {
	content := get(l.message, "content")
	if l.compact {
		r.e.summary(removeReminders(contentText(content)), r.w)
		return
	}
	for block := range elements(content) {
		if getText(block, "type") == "tool_result" {
			r.result(block, l)
		}
	}
	texts, speaks := l.userTexts()
	if !speaks {
		return
	}
	// A person's session may be continued by a script.
	injected, origin := untyped(l.raw) || r.e.kind == memoir.KindMain && scripted(l.raw), memoir.OriginTyped
	switch {
	case isString(get(l.raw, "planContent")):
		origin = memoir.OriginPlanHandover
	case getText(l.raw, "promptSource") == "queued":
		origin = memoir.OriginQueued
	}
	// The text blocks of one line are one message.
	var words []string
	for _, s := range texts {
		r.e.findOwnRun(s)
		kind, own := splitClaudeUser(s)
		switch {
		case injected:
			r.closeShell(outcome{})
		case kind == memoir.OriginTyped && own == strings.TrimSpace(s) && !strings.HasPrefix(own, "<bash-"):
			words = append(words, s)
		case !r.shellText(s):
			r.message(origin, s)
		}
	}
	if len(words) > 0 {
		r.message(origin, strings.Join(words, "\n"))
	}
}

func (r *claudeReader) message(origin memoir.Origin, s string) {
	r.closeShell(outcome{})
	kind, own := splitClaudeUser(s)
	switch kind {
	case memoir.OriginCompactionSummary:
		r.e.summary(own, r.w)
	case memoir.OriginTyped:
		r.e.user(origin, own, r.w)
	default:
		r.e.user(kind, own, r.w)
	}
}

// command records a command that the person ran with "!"; a queued one is recorded twice.
func (r *claudeReader) command(s string) {
	if s = strings.TrimSpace(s); s != r.shell {
		r.closeShell(outcome{})
		r.shell, r.shellAt = s, r.w
	}
}

// shellText handles the lines of a person's command and of its output.
func (r *claudeReader) shellText(s string) bool {
	s = strings.TrimSpace(s)
	if command, _, ok := cutElement(s, "bash-input"); ok {
		r.command(command)
		return true
	}
	if !strings.HasPrefix(s, "<bash-std") {
		return false
	}
	stdout, _ := element(s, "bash-stdout")
	stderr, _ := element(s, "bash-stderr")
	r.closeShell(outcome{output: appended(claudeOutput(stdout), stderr)})
	return true
}

func (r *claudeReader) closeShell(o outcome) {
	if r.shell != "" {
		r.e.shell(r.shell, o, r.shellAt)
		r.shell = ""
	}
}

// system lines have commands of the interface; the rest is the agent's log.
func (r *claudeReader) system(l claudeLine) {
	if getText(l.raw, "subtype") != "local_command" {
		return
	}
	s := getText(l.raw, "content")
	if strings.Contains(s, "<command-name>") {
		r.closeAnswer()
		r.message(memoir.OriginSlashCommand, s)
	} else if strings.HasPrefix(s, "<bash-") {
		r.closeAnswer()
		r.shellText(s)
	}
}

// claudeAnswer is the part of an assistant message that was read so far.
type claudeAnswer struct {
	id    string
	texts []string
	size  int // of the texts, in bytes
	final bool
	w     where
}

func (r *claudeReader) assistant(l claudeLine) {
	id := getText(l.message, "id")
	begin := func() {
		r.closeAnswer()
		r.answer = claudeAnswer{id: id, w: r.w}
	}
	if id == "" || id != r.answer.id {
		begin()
	}
	if getText(l.message, "model") == "<synthetic>" { // an error message of the client
		return
	}
	r.answer.final = r.answer.final || getText(l.message, "stop_reason") == "end_turn"
	content := get(l.message, "content")
	if isString(content) {
		r.add(text(content))
	}
	for block := range elements(content) {
		switch getText(block, "type") {
		case "text":
			if r.answer.size > maxText {
				begin()
			}
			r.add(getText(block, "text"))
		case "tool_use":
			r.call(block)
		}
	}
}

// add adds a text block. A repeated one is dropped; one that continues the last block replaces it.
func (r *claudeReader) add(s string) {
	a := &r.answer
	if strings.TrimSpace(s) == "" || slices.Contains(a.texts, s) || r.given[textHash(a.id+s)] {
		return
	}
	if n := len(a.texts); n > 0 && strings.HasPrefix(s, a.texts[n-1]) {
		a.texts = a.texts[:n-1]
	}
	a.texts, a.size = append(a.texts, s), a.size+len(s)
}

// closeAnswer emits the message that was read so far. A later continuation is another item.
func (r *claudeReader) closeAnswer() {
	a := r.answer
	r.answer = claudeAnswer{}
	if len(a.texts) == 0 {
		return
	}
	r.closeShell(outcome{})
	r.e.assistant(strings.Join(a.texts, "\n\n"), a.final, a.w)
	for _, s := range a.texts {
		if a.id != "" {
			r.given[textHash(a.id+s)] = true
		}
	}
}

func (r *claudeReader) call(block []byte) {
	tool := getText(block, "name")
	input := callInput(tool == "Bash" || tool == "PowerShell", get(block, "input"))
	r.e.call(getText(block, "id"), tool, input, r.w)
}
