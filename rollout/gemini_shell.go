package rollout

import (
	"strings"

	"memoir/internal/lazyregexp"
)

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
