package rollout

import (
	"strings"

	"memoir"
)

// result takes a tool's result in; structured is the copy of it that the agent
// keeps for itself.
func (r *claudeReader) result(block, structured []byte) {
	id := getText(block, "tool_use_id")
	tool := ""
	if call := r.e.waiting(id); call != nil {
		tool = call.Tool
	}
	output := claudeOutput(r.persisted(contentText(get(block, "content"))))
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
	if ownTool.MatchString(tool) {
		o.output = "" // memory is not made of memory
		r.e.injected()
	}
	words := ""
	if isTrue(get(block, "is_error")) { // a result that only begins with the words of a refusal is the tool's
		words, _ = rejection(output)
	}
	r.e.result(id, o, r.w)
	if words != "" {
		r.e.user(memoir.OriginRejection, words, r.w)
	}
	if tool == "AskUserQuestion" && !o.failed {
		if words := claudeAnswers(structured, output); words != "" {
			r.e.user(memoir.OriginAnswer, words, r.w)
		}
	}
}
