package rollout

import (
	"iter"
	"strings"
	"time"

	"memoir"
	"memoir/internal/lazyregexp"
)

type geminiReader struct {
	e *emitter
	w where
}

// message emits one message; at is when it was first written.
func (r *geminiReader) message(m []byte, at time.Time) {
	if !at.IsZero() {
		r.w.at = at
	}
	switch kind := getText(m, "type"); kind {
	case "user":
		r.user(m)
	case "gemini":
		content := get(m, "content")
		r.e.assistant(geminiText(content), false, r.w)
		for call := range elements(get(m, "toolCalls")) {
			if isObject(call) {
				r.call(call)
			}
		}
		geminiCalls(r.e, content, r.w)
	case "info", "warning", "error":
	default:
		r.e.stats.unknown(kind)
	}
}

// user emits a message of the user's role: a text, results of calls, a person's command, or a compaction summary.
func (r *geminiReader) user(m []byte) {
	content, answers := get(m, "content"), false
	for response := range parts(content, "functionResponse") {
		answers = true
		r.result(getText(response, "id"), geminiResponse(getText(response, "name"), response))
	}
	full := geminiText(content)
	r.e.findOwnRun(full)
	if answers {
		return // texts beside results are the tool's
	}
	if isGeminiSummary(full) {
		r.e.summary(full, r.w)
		return
	}
	if command, o, ok := geminiUserShell(full); ok {
		r.e.shell(strings.NewReplacer("\\\\", "\\", "\\`", "`").Replace(command), o, r.w)
		return
	}
	if shown := geminiText(get(m, "displayContent")); shown != "" {
		full = shown // the typed text, without inserted files
	}
	geminiWords(r.e, memoir.OriginTyped, full, r.w)
}

// geminiEnvelopes are the elements that Gemini CLI and Qwen Code add before a typed text, or write instead of one.
var geminiEnvelopes = []string{"session_context", "hook_context", "user-prompt-submit-context",
	"user_prompt_submit_context", "task-notification", "ide_context", "environment_context"}

// referenced matches the expansion of "@file" in a prompt, to the last end mark: a file may contain one.
var referenced = lazyregexp.New(`(?s)\n?--- Content from referenced files ---(?:.*--- End of content ---|.*$)`)

// geminiWords emits a text of the user's role without the client's additions. It leaves out the text with which
// the client continues on its own.
func geminiWords(e *emitter, origin memoir.Origin, full string, w where) {
	own := referenced.ReplaceAllString(full, "")
	if strings.TrimPrefix(strings.TrimSpace(own), "System: ") != "Please continue." {
		e.words(origin, own, geminiEnvelopes, w)
	}
}

// call emits a tool call with its result. A call without one waits for it.
func (r *geminiReader) call(call []byte) {
	w := r.w
	w.when(get(call, "timestamp"))
	id, tool, status := getText(call, "id"), getText(call, "name"), getText(call, "status")
	o := outcome{tool: tool, failed: status == "error" || status == "cancelled"}
	answered := o.failed || status == "success"
	if shown := get(call, "resultDisplay"); isString(shown) && get(call, "result") == nil {
		o.output, answered = text(shown), true
	}
	for response := range parts(get(call, "result"), "functionResponse") {
		one := geminiResponse(tool, response)
		o.output, answered = appended(o.output, one.output), true
		o.exit, o.failed = one.exit, o.failed || one.failed
	}
	if id == "" {
		r.e.lone(tool, geminiInput(tool, get(call, "args")), o, w)
		return
	}
	r.e.call(id, tool, geminiInput(tool, get(call, "args")), w)
	if answered {
		r.result(id, o)
	}
}

// result joins a result to its call, and emits a person's reason for refusing a plan. Results of other tools may
// imitate it, so the tool is checked.
func (r *geminiReader) result(id string, o outcome) {
	call := r.e.waiting(id)
	r.e.result(id, o, r.w)
	if said, ok := strings.CutPrefix(o.output, "Plan rejected. User feedback: "); ok && call != nil &&
		call.Tool == "exit_plan_mode" {
		said, _, _ = strings.Cut(said, "\n\nThe plan is stored at: ")
		r.e.user(memoir.OriginRejection, said, r.w)
	}
}

func geminiCalls(e *emitter, content []byte, w where) {
	for call := range parts(content, "functionCall") {
		tool := getText(call, "name")
		e.call(getText(call, "id"), tool, geminiInput(tool, get(call, "args")), w)
	}
}

// geminiText joins the text parts of a message, without its thinking.
func geminiText(content []byte) string {
	if parts := get(content, "parts"); parts != nil {
		content = parts
	}
	spoken := func(part []byte) bool { return !isTrue(get(part, "thought")) }
	return strings.Join(textsOf(content, spoken), "\n")
}

// parts returns the objects in a member of the parts of a message.
func parts(content []byte, name string) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		for part := range elements(content) {
			if value := get(part, name); isObject(value) && !yield(value) {
				return
			}
		}
	}
}

// geminiInput is callInput for an agent whose files are indented.
func geminiInput(tool string, args []byte) string {
	return callInput(tool == "run_shell_command", []byte(compact(args)))
}

// geminiResponse reads a tool's response: {"name":…,"response":{"output"|"error":…}}.
func geminiResponse(tool string, response []byte) outcome {
	output, failure := get(response, "response", "output"), getText(response, "response", "error")
	s := text(output)
	if isObject(output) || isArray(output) {
		s = compact(output)
	}
	s = appended(s, failure)
	if inner, rest, ok := cutElement(strings.TrimSpace(s), "untrusted_context"); ok {
		s = strings.TrimPrefix(inner, "\n") + rest
	}
	o := outcome{output: s, tool: tool, failed: failure != ""}
	if tool == "run_shell_command" {
		o.output, o.exit = geminiShell(s)
	}
	return o
}

// shellFrame matches the text before a command's output, and shellLabels the text after it.
var (
	shellFrame  = lazyregexp.New(`(?s)^(?:Command: .*?\n)?(?:Output|Stdout): `)
	shellLabels = lazyregexp.New(`(?:\nStderr: \(empty\))?(?:\nError: \(none\))?(?:\nExit Code: (-?\d+|\(none\)))?` +
		`(?:\nSignal: [^\n]*)?(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: [^\n]*)?\s*$`)
)

// geminiShell removes the frame of a shell tool's result and reads the exit code, which later versions write
// only if it is not 0: "Command: …\nDirectory: …\nOutput: …\nError: …\nExit Code: 1\nSignal: …".
func geminiShell(s string) (output string, exit *int) {
	frame := shellFrame.FindString(s)
	end := max(0, len(s)-1<<10) // labels are short
	labels := shellLabels.FindStringSubmatch(s[max(end, len(frame)):])
	exit = exitStatus([]byte(labels[1]))
	if frame == "" && exit == nil {
		return s, nil
	}
	output = strings.TrimSuffix(s[len(frame):], labels[0])
	if output == "(empty)" {
		output = ""
	}
	return output, exit
}

// typedShell is the message for a command that the person ran with "!".
var typedShell = lazyregexp.New("(?s)^I ran the following shell command:\n```sh\n(.*?)\n```\n\n" +
	"This produced the following result:\n```\n(?:Command exited with code (-?[0-9]+)\\.\n)?(.*?)(?:\n```)?$")

// geminiUserShell reads such a message.
func geminiUserShell(s string) (command string, o outcome, ok bool) {
	m := typedShell.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return "", outcome{}, false
	}
	o.output, o.exit = m[3], exitStatus([]byte(m[2]))
	o.failed = hasAnyPrefix(o.output, []string{"Command was cancelled.", "Command terminated by signal:"})
	return m[1], o, true
}

// isGeminiCompressed reports whether a list of messages begins with a summary of those before it.
func isGeminiCompressed(list []byte) bool {
	n := 0
	for m := range elements(list) {
		if n++; n > 4 {
			break
		}
		if getText(m, "type") == "user" && isGeminiSummary(geminiText(get(m, "content"))) {
			return true
		}
	}
	return false
}

// isGeminiSummary reports whether a text is the client's compaction summary.
func isGeminiSummary(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") {
		return strings.Contains(s, `"active_tasks"`) && strings.Contains(s, `"discovered_facts"`)
	}
	return strings.HasPrefix(s, "<") && strings.Contains(s, "<state_snapshot>") && strings.Contains(s, "</state_snapshot>")
}
