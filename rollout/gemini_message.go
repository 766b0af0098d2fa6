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
var geminiEnvelopes = []string{"session_context", "hook_context", "system-reminder", "user-prompt-submit-context",
	"user_prompt_submit_context",
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

// geminiResponse reads a tool's response: {"name":…,"response":{"output"|"error":…}}.
func geminiResponse(tool string, response []byte) outcome {
	body := get(response, "response")
	o := outcome{output: getText(body, "output"), tool: tool}
	if output := get(body, "output"); isObject(output) || isArray(output) {
		o.output = compact(output)
	}
	if failure := getText(body, "error"); failure != "" {
		if o.failed = true; o.output != "" {
			o.output += "\n"
		}
		o.output += failure
	}
	if inner, rest, ok := cutElement(strings.TrimSpace(o.output), "untrusted_context"); ok {
		o.output = strings.TrimPrefix(inner, "\n") + rest
	}
	if o.tool == "run_shell_command" {
		failed, tool := o.failed, o.tool
		o = geminiShell(o.output)
		o.failed, o.tool = failed, tool
	}
	return o
}

// shellLabels are the lines that end a shell tool's result.
var shellLabels = lazyregexp.New(`^(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): (.*)$`)

// shellOpening begins what a command printed.
var shellOpening = lazyregexp.New(`\n(?:Output|Stdout): `)

// lastExit is an exit code below an output without a frame.
var lastExit = lazyregexp.New(`(?:^|\n)Exit Code: (-?[0-9]{1,9})\s*$`)

func unframed(s string) outcome {
	o := outcome{output: s}
	if m := lastExit.FindStringSubmatchIndex(s); m != nil {
		if n, ok := leadingInt(s[m[2]:m[3]]); ok {
			o.exit, o.output = &n, s[:m[0]]
		}
	}
	return o
}

// geminiShell takes the frame off a shell tool's result and reads the exit code,
// which later versions give only if it is not 0: "Command: …\nDirectory:
// …\nOutput: …\nError: …\nExit Code: 1\nSignal: …".
func geminiShell(s string) outcome {
	o := outcome{output: s}
	body := s
	if strings.HasPrefix(body, "Command: ") {
		opening := shellOpening.FindStringIndex(body)
		if opening == nil {
			return unframed(s)
		}
		body = body[opening[1]:]
	} else if after, ok := strings.CutPrefix(body, "Output: "); ok {
		body = after
	} else {
		return unframed(s)
	}
	failure := ""
	for body = strings.TrimRight(body, "\n"); ; {
		i := strings.LastIndexByte(body, '\n')
		m := shellLabels.FindStringSubmatch(body[i+1:])
		if m == nil || i < 0 {
			break
		}
		line := body[i+1:]
		body = body[:i]
		switch {
		case strings.HasPrefix(line, "Exit Code: "):
			if n, ok := leadingInt(m[1]); ok {
				o.exit = &n
			}
		case strings.HasPrefix(line, "Error: ") && m[1] != "(none)":
			failure = m[1]
		}
		if strings.HasPrefix(line, "Error: ") {
			break // stands before all others
		}
	}
	body = strings.TrimSuffix(body, "\nStderr: (empty)")
	if body == "(empty)" {
		body = ""
	}
	if failure != "" {
		body = strings.TrimPrefix(body+"\n"+failure, "\n")
	}
	o.output = body
	return o
}

// geminiUserShell reads the message that stands for a command the person ran with
// "!".
func geminiUserShell(s string) (command, output string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "I ran the following shell command:\n```sh\n")
	if !ok {
		return "", "", false
	}
	command, rest, ok = strings.Cut(rest, "\n```\n\nThis produced the following result:\n```\n")
	if !ok {
		return "", "", false
	}
	return command, strings.TrimSuffix(rest, "\n```"), true
}

// geminiUnquoted takes back the quoting of back-slashes and back-quotes.
func geminiUnquoted(s string) string {
	return strings.NewReplacer("\\\\", "\\", "\\`", "`").Replace(s)
}

// geminiUserOutput reads the exit code that stands before the output of a command
// that failed.
func geminiUserOutput(s string) outcome {
	o := outcome{output: s}
	if after, ok := strings.CutPrefix(s, "Command exited with code "); ok {
		status, body, _ := strings.Cut(after, ".\n")
		if n, ok := leadingInt(status); ok {
			o.exit, o.output = &n, body
		}
	} else if strings.HasPrefix(s, "Command was cancelled.") || strings.HasPrefix(s, "Command terminated by signal:") {
		o.failed = true
	}
	return o
}
