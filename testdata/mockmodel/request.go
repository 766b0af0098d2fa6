// Package mockmodel plays a language model on loopback, so that real coding
// agents can hold a scripted conversation and leave real session files. It knows
// no agent: what comes next follows from the conversation that a request carries,
// and a tool is called by the names and parameters that the request itself offers.
// modeltest writes the answers in the wire formats.
//
// Read script.go first (what is said and done), then request.go (what the wire
// formats say of a conversation) and tool.go (how a tool is called).
package mockmodel

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Roles of a message, whatever the wire format calls them. Results of tools
// belong to RoleTool.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleOther     = "other" // system, developer
)

// Request is what all formats have in common.
type Request struct {
	Messages []Message // neighbours of the assistant's role are joined
	Tools    []Tool
}

// Message is one entry of the conversation that a request carries.
type Message struct {
	Role  string
	Text  string   // without what tools gave
	Given string   // what tools gave; agents put in what a person types meanwhile
	Calls []string // names of the tools that an assistant's message calls
}

// Tool is a tool that a request offers.
type Tool struct {
	Name      string
	Namespace string
	Custom    bool         // takes text, not JSON
	Schema    gjson.Result // of its parameters, a JSON schema
}

// decode reads a request by the end of its path; false: it is no question to a model.
func decode(path string, body gjson.Result) (req Request, ok bool) {
	switch {
	case strings.HasSuffix(path, "/messages"), strings.HasSuffix(path, "/chat/completions"):
		req.messages(body)
	case strings.HasSuffix(path, "/responses"):
		req.responses(body)
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		req.gemini(body)
	default:
		return req, false
	}
	return req, true
}

// messages reads Anthropic's Messages and OpenAI's Chat Completions.
func (r *Request) messages(body gjson.Result) {
	for _, m := range body.Get("messages").Array() {
		out := Message{Role: role(m.Get("role").Str), Text: textOf(m.Get("content"))}
		if out.Role == RoleTool {
			out.Text, out.Given = "", out.Text
		}
		for _, call := range m.Get("tool_calls.#.function.name").Array() {
			out.Calls = append(out.Calls, call.Str)
		}
		for _, block := range m.Get("content").Array() {
			switch block.Get("type").Str {
			case "tool_use":
				out.Calls = append(out.Calls, block.Get("name").Str)
			case "tool_result":
				out.Role = RoleTool
				out.Given += textOf(block.Get("content")) + "\n"
			}
		}
		r.add(out)
	}
	for _, t := range body.Get("tools").Array() {
		if function := t.Get("function"); function.Exists() {
			t = function
		}
		r.tool("", t)
	}
}

// responses reads OpenAI's Responses.
func (r *Request) responses(body gjson.Result) {
	input := body.Get("input")
	if input.Type == gjson.String {
		r.add(Message{Role: RoleUser, Text: input.Str})
	}
	r.namespace("", body.Get("tools"))
	for _, it := range input.Array() {
		switch kind := it.Get("type").Str; {
		case kind == "additional_tools":
			r.namespace("", it.Get("tools"))
		case strings.HasSuffix(kind, "_call"):
			r.add(Message{Role: RoleAssistant, Calls: []string{it.Get("name").Str}})
		case strings.HasSuffix(kind, "_call_output"):
			r.add(Message{Role: RoleTool})
		case kind == "message", kind == "" && it.IsObject():
			r.add(Message{Role: role(it.Get("role").Str), Text: textOf(it.Get("content"))})
		}
	}
}

// namespace adds tools, and those of the namespaces among them.
func (r *Request) namespace(name string, tools gjson.Result) {
	for _, t := range tools.Array() {
		if t.Get("type").Str == "namespace" {
			r.namespace(t.Get("name").Str, t.Get("tools"))
			continue
		}
		r.tool(name, t)
	}
}

// tool adds one, whose schema each format names in its own way.
func (r *Request) tool(namespace string, t gjson.Result) {
	tool := Tool{Name: t.Get("name").Str, Namespace: namespace, Custom: t.Get("type").Str == "custom"}
	for _, name := range []string{"parameters", "input_schema", "parametersJsonSchema"} {
		if schema := t.Get(name); schema.Exists() {
			tool.Schema = schema
		}
	}
	r.Tools = append(r.Tools, tool)
}

// gemini reads Google's generateContent.
func (r *Request) gemini(body gjson.Result) {
	for _, c := range body.Get("contents").Array() {
		out := Message{Role: RoleUser}
		if name := c.Get("role").Str; name != "" {
			out.Role = role(name)
		}
		out.Text = textOf(c.Get("parts"))
		for _, part := range c.Get("parts").Array() {
			if call := part.Get("functionCall.name"); call.Exists() {
				out.Calls = append(out.Calls, call.Str)
			}
			if part.Get("functionResponse").Exists() {
				out.Role = RoleTool
			}
		}
		r.add(out)
	}
	for _, group := range body.Get("tools.#.functionDeclarations").Array() {
		for _, f := range group.Array() {
			r.tool("", f)
		}
	}
}

// add appends a message, joined to the one before if both are the assistant's.
func (r *Request) add(m Message) {
	if n := len(r.Messages); n > 0 && m.Role == RoleAssistant && r.Messages[n-1].Role == RoleAssistant {
		last := &r.Messages[n-1]
		last.Text += m.Text
		last.Calls = append(last.Calls, m.Calls...)
		return
	}
	r.Messages = append(r.Messages, m)
}

// textOf is the text of a message: a string, or the texts of blocks, a line each.
func textOf(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var texts []string
	for _, block := range content.Array() {
		if text := block.Get("text").Str; text != "" && !block.Get("thought").Bool() {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func role(name string) string {
	switch name {
	case "user", "assistant", "tool":
		return name
	case "model":
		return RoleAssistant
	}
	return RoleOther
}
