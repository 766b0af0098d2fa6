package rollout

import (
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
		elements(get(m, "toolCalls"), func(call []byte) bool {
			if isObject(call) {
				r.call(call)
			}
			return true
		})
		eachPart(content, "functionCall", func(call []byte) bool {
			tool, args := getText(call, "name"), get(call, "args")
			r.e.call(getText(call, "id"), tool, geminiInput(tool, args), r.w)
			return true
		})
	case "info", "warning", "error":
	default:
		r.e.stats.unknown(kind)
	}
}

// user emits what stands as the user's: words, the results of calls, a command that
// the person ran, a summary that replaced what was said.
func (r *geminiReader) user(m []byte) {
	content := get(m, "content")
	responses := 0
	eachPart(content, "functionResponse", func(response []byte) bool {
		responses++
		r.result(getText(response, "id"), geminiResponse(getText(response, "name"), response))
		return true
	})
	full := geminiText(content)
	r.e.hear(full)
	if responses > 0 {
		return // what stands beside results is the tool's
	}
	if isGeminiSummary(full) {
		r.e.summary(full, r.w)
		return
	}
	if command, output, ok := geminiUserShell(full); ok {
		r.e.shell(geminiUnquoted(command), geminiUserOutput(output), r.w)
		return
	}
	if shown := geminiText(get(m, "displayContent")); shown != "" {
		full = shown // what was typed, before files were put in
	}
	geminiWords(r.e, full, memoir.OriginTyped, r.w)
}

// geminiEnvelopes are the elements that Gemini CLI and Qwen Code put before, or
// instead of, what the person typed.
var geminiEnvelopes = []string{"session_context", "hook_context", "system-reminder", "user-prompt-submit-context", "user_prompt_submit_context",
	"task-notification", "ide_context", "environment_context"}

// geminiContinue are the texts with which the clients go on by themselves.
var geminiContinue = []string{"System: Please continue.", "Please continue."}

// referenced is what "@file" in a prompt was expanded to. A file may hold an end of its own.
var referenced = lazyregexp.New(`(?s)\n?--- Content from referenced files ---(?:.*--- End of content ---|.*$)`)

// geminiWords emits a text of the user's role without what the client added.
func geminiWords(e *emitter, full string, origin memoir.Origin, w where) {
	own, n := cutElements(stripOwn(full), geminiEnvelopes)
	if strings.Contains(own, "<system-reminder>") {
		own, n = removeReminders(own), n+1
	}
	if cut := referenced.ReplaceAllString(own, ""); cut != own {
		own, n = cut, n+1
	}
	own = strings.TrimSpace(own)
	for _, s := range geminiContinue {
		if own == s {
			own = ""
		}
	}
	for range n {
		e.injected()
	}
	switch {
	case own == "" && n > 0:
	case own != "" && origin == memoir.OriginTyped && plainCommand.MatchString(own):
		e.user(memoir.OriginSlashCommand, own, w)
	default:
		e.user(origin, own, w)
	}
}

// call emits a tool call with its result. One that has none yet waits for it.
func (r *geminiReader) call(call []byte) {
	w := r.w
	if t := instant(get(call, "timestamp")); !t.IsZero() {
		w.at = t
	}
	id, tool, status := getText(call, "id"), getText(call, "name"), getText(call, "status")
	var o outcome
	answered := false
	elements(get(call, "result"), func(part []byte) bool {
		if response := get(part, "functionResponse"); response != nil {
			answered = true
			one := geminiResponse(tool, response)
			if o.output != "" && one.output != "" {
				o.output += "\n"
			}
			o.output += one.output
			o.exit, o.failed = one.exit, o.failed || one.failed
		}
		return true
	})
	o.tool = tool
	o.failed = o.failed || status == "error" || status == "cancelled"
	if !answered {
		for _, member := range []string{"result", "resultDisplay"} {
			if s := get(call, member); isString(s) && !answered {
				o.output, answered = text(s), true
			}
		}
	}
	if id == "" {
		r.e.lone(tool, geminiInput(tool, get(call, "args")), o, w)
		return
	}
	r.e.call(id, tool, geminiInput(tool, get(call, "args")), w)
	if answered || o.failed || status == "success" {
		r.result(id, o)
	}
}

// result joins a result to its call, and gives what the person said to it.
func (r *geminiReader) result(id string, o outcome) {
	call := r.e.waiting(id)
	plan := call != nil && call.Tool == "exit_plan_mode" // any other result may begin with these words
	r.e.result(id, o, r.w)
	if plan {
		geminiRejection(r.e, o.output, r.w)
	}
}

// geminiRejection emits what a person said when they refused a plan.
func geminiRejection(e *emitter, output string, w where) {
	if said, ok := strings.CutPrefix(output, "Plan rejected. User feedback: "); ok {
		said, _, _ = strings.Cut(said, "\n\nThe plan is stored at: ")
		e.user(memoir.OriginRejection, said, w)
	}
}

// geminiText joins the text parts of a message, without its thinking.
func geminiText(content []byte) string {
	if isString(content) {
		return text(content)
	}
	if isObject(content) {
		if parts := get(content, "parts"); isArray(parts) {
			return geminiText(parts)
		}
		return getText(content, "text")
	}
	var texts []string
	elements(content, func(part []byte) bool {
		s := text(part)
		if !isTrue(get(part, "thought")) && s == "" {
			s = getText(part, "text")
		}
		if strings.TrimSpace(s) != "" {
			texts = append(texts, s)
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// eachPart calls fn for the parts of a message that have a member.
func eachPart(content []byte, member string, fn func(value []byte) bool) {
	if !isArray(content) {
		return
	}
	elements(content, func(part []byte) bool {
		if value := get(part, member); isObject(value) {
			return fn(value)
		}
		return true
	})
}

// geminiInput is a call's input: the command line of the shell tool, else the
// arguments.
func geminiInput(tool string, args []byte) string {
	if command := get(args, "command"); tool == "run_shell_command" && isString(command) {
		return text(command)
	}
	if args == nil {
		return ""
	}
	return compact(args)
}
