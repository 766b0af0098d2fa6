package model

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

// openAIBase is OpenAI's own server.
const openAIBase = "https://api.openai.com/v1"

// noWords stands for an empty earlier answer: APIs refuse an empty text.
const noWords = "(no answer)"

// formatNames are what servers call the schema of an answer when they refuse it.
var formatNames = []string{"response_format", "text.format", "json_schema", "response_schema",
	"structured output", "structured outputs", "grammar", "json schema"}

// chatAPI is OpenAI's Chat Completions, which most other servers speak too.
type chatAPI struct{ base string }

func (chatAPI) url(base string) string { return join(base, openAIBase, "chat/completions") }

func (chatAPI) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// message is one message of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// conversation is a request as messages, the system prompt not included.
func conversation(q Request) []message {
	out := []message{{"user", q.Input}}
	for _, e := range q.Earlier {
		answer := e.Answer
		if strings.TrimSpace(answer) == "" {
			answer = noWords
		}
		out = append(out, message{"assistant", answer}, message{"user", e.Objection})
	}
	return out
}

func (a chatAPI) body(c call) []field {
	messages := conversation(c.Request)
	if system := c.system("response_format"); system != "" {
		messages = append([]message{{"system", system}}, messages...)
	}
	fields := []field{{name: "model", value: c.model}, {name: "messages", value: messages}}
	if c.Schema != nil {
		fields = append(fields, field{"response_format", map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": c.name(), "strict": true, "schema": c.Schema}}, formatNames})
	}
	if limit := c.maxOutput(0); limit > 0 {
		fields = append(fields, a.limit(c, limit))
	}
	if c.o.Temperature != nil {
		fields = append(fields, field{name: "temperature", value: *c.o.Temperature})
	}
	if c.o.Effort != "" {
		fields = append(fields, field{name: "reasoning_effort", value: c.o.Effort})
	}
	fields = append(
		fields,
		field{"stream_options", map[string]any{"include_usage": true}, []string{"stream_options", "include_usage"}},
		field{"stream", true, []string{"stream", "streaming"}},
	)
	if c.refused["stream"] {
		c.refused["stream_options"] = true
	}
	return without(fields, c.refused)
}

// limit names the cap on the output as the server most likely does. OpenAI's newer
// models refuse max_tokens; others ignore what they do not know, and then nothing
// would bound the answer.
func (a chatAPI) limit(c call, limit int) field {
	names := []string{"max_tokens", "max_completion_tokens"}
	if u, err := url.Parse(a.base); a.base == "" || err == nil &&
		(strings.HasSuffix(u.Hostname(), ".openai.com") || strings.HasSuffix(u.Hostname(), ".azure.com")) {
		names[0], names[1] = names[1], names[0]
	}
	if c.refused[names[0]] {
		return field{name: names[1], value: limit}
	}
	return field{names[0], limit, []string{names[0]}}
}

func (chatAPI) whole(data []byte, r *received) error {
	if refused := refusalIn(data); refused != nil {
		return refused
	}
	said := gjson.ParseBytes(data)
	choice := said.Get("choices.0")
	if !choice.Exists() {
		return &unreadable{"it has no choices"}
	}
	r.begun = true
	return r.chat(said, choice, choice.Get("message"))
}

func (chatAPI) event(data []byte, r *received) error {
	said := gjson.ParseBytes(data)
	choice := said.Get("choices.#(index==0)")
	if !choice.Exists() {
		choice = said.Get("choices.0")
	}
	return r.chat(said, choice, choice.Get("delta"))
}

// chat adds one message, or a part of one.
func (r *received) chat(said, choice, message gjson.Result) error {
	r.report(said.Get("usage"), "prompt_tokens", "prompt_tokens_details.cached_tokens", "completion_tokens")
	// A router reports the failure of the provider behind it inside the choice.
	if refused := refusalIn([]byte(choice.Raw)); refused != nil {
		return refused
	}
	refusal := message.Get("refusal").String()
	r.text.WriteString(message.Get("content").String() + refusal)
	r.refused = r.refused || refusal != ""
	switch reason := choice.Get("finish_reason").String(); reason {
	case "":
	case "length":
		r.ended, r.cut = true, true
	case "content_filter":
		r.ended, r.refused = true, true
	default:
		r.ended = true
	}
	return nil
}

// report takes the tokens that a server reports; a report without tokens is none.
func (r *received) report(usage gjson.Result, input, cached, output string) {
	in, out := usage.Get(input).Int(), usage.Get(output).Int()
	if in+out > 0 {
		r.usage = &memoir.Usage{InputTokens: in, CachedTokens: min(usage.Get(cached).Int(), in), OutputTokens: out}
	}
}

// without drops the fields that the server has refused.
func without(fields []field, refused map[string]bool) []field {
	var out []field
	for _, f := range fields {
		if f.names == nil || !refused[f.name] {
			out = append(out, f)
		}
	}
	return out
}

// join adds a path to a base URL.
func join(base, usual, path string) string {
	if base == "" {
		base = usual
	}
	return strings.TrimRight(base, "/") + "/" + path
}
