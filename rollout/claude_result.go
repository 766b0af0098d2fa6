package rollout

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// reachesOut reports whether somebody else chooses what a tool prints, so that its
// failure may imitate a refusal: a tool of an MCP server or of the web, or one whose call
// is not in the file. A real refusal also has a string for toolUseResult, where a result
// that only contains its words has none or an object.
func reachesOut(tool string) bool {
	return tool == "" || strings.HasPrefix(tool, "mcp__") || tool == "WebFetch" || tool == "WebSearch"
}

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
	if isTrue(get(block, "is_error")) && isString(structured) && !reachesOut(tool) {
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

// What a person says to a tool stands in its result: why they refused a call, what
// they answered to a question.

// refusals begin the results of calls that a person refused or stopped.
var refusals = []string{
	"The user doesn't want to", "Permission for this tool use was denied",
	"The agent proposed a plan that was rejected by the user",
	"User rejected", "User denied", "User aborted",
}

// saidLabel stands before what a person said when refusing a call.
var saidLabel = lazyregexp.New(`(?:[Tt]he user said:|reason for the rejection:|` +
	`[Tt]he user provided the following (?:feedback|reason)[^:\n]*:)\s*`)

// refusalNote is what the agent adds for the model after it.
var refusalNote = lazyregexp.New(`\n\nNote: The user's next message may contain`)

// rejection reports whether a result says that the person refused the call, and
// what they said to it.
func rejection(output string) (words string, ok bool) {
	if !hasAnyPrefix(output, refusals) {
		return "", false
	}
	output, _, _ = strings.Cut(output, "\nRejected plan:") // the agent's words, whatever they say of the person's
	label := saidLabel.FindStringIndex(output)
	if label == nil {
		return "", true
	}
	words = output[label[1]:]
	if note := refusalNote.FindStringIndex(words); note != nil {
		words = words[:note[0]]
	}
	if strings.HasPrefix(words, "The user wants to clarify these questions") {
		words = clarification(words)
	}
	return strings.TrimSpace(words), true
}

// clarification takes what a person filled in out of the form in which questions
// that they would rather talk about are sent back.
func clarification(form string) string {
	var said []string
	for line := range strings.Lines(form) {
		line = strings.TrimSpace(line)
		for _, label := range []string{"Answer: ", "User notes: "} {
			if words, ok := strings.CutPrefix(line, label); ok {
				said = append(said, words)
			}
		}
	}
	return strings.Join(said, "\n")
}

// answered finds the answers in the text of a result that has no structured copy.
var answered = lazyregexp.New(`"="((?:[^"]|"[^,. ])*)"`)

// claudeAnswers returns what a person answered to the questions of a call, a line an
// answer. What time chose for them is not theirs.
func claudeAnswers(structured []byte, output string) string {
	var said []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			said = append(said, s)
		}
	}
	if isObject(structured) {
		if get(structured, "afkTimeoutMs") != nil {
			return ""
		}
		answers, notes := get(structured, "answers"), get(structured, "annotations")
		each(answers, func(question, value []byte) bool {
			if isArray(value) {
				elements(value, func(choice []byte) bool {
					add(text(choice))
					return true
				})
			} else {
				add(text(value))
			}
			add(getText(notes, string(question), "notes"))
			return true
		})
		add(getText(structured, "response"))
		return strings.Join(said, "\n")
	}
	if hasAnyPrefix(output, []string{"User has answered", "Your questions have been answered", "The user answered"}) {
		for _, match := range answered.FindAllStringSubmatch(output, -1) {
			add(match[1])
		}
	}
	return strings.Join(said, "\n")
}

// ownTool are the tools of memoir's own server, whatever it is registered by.
var ownTool = lazyregexp.New(`^mcp__(?:plugin_\w+_)?memoir__`)
