package rollout

import (
	"slices"
	"strings"
)

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
