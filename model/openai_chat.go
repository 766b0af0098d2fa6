package model

import (
	"fmt"
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

func (a chatAPI) body(c call) map[string]any {
	messages := conversation(c.Request)
	if system := c.system(); system != "" {
		messages = append([]message{{"system", system}}, messages...)
	}
	body := map[string]any{"model": c.model, "messages": messages}
	if limit := c.maxOutput(0); limit > 0 {
		body[a.limit()] = limit
	}
	if c.o.Temperature != nil {
		body["temperature"] = *c.o.Temperature
	}
	if c.o.Effort != "" {
		body["reasoning_effort"] = c.o.Effort
	}
	if c.Schema != nil && !c.plain {
		body["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": c.name(), "strict": true, "schema": c.Schema}}
	}
	return body
}

// limit names the cap on the output as the server does. OpenAI's newer models refuse
// max_tokens; others ignore what they do not know, and then nothing would bound the answer.
func (a chatAPI) limit() string {
	if u, err := url.Parse(a.base); a.base == "" || err == nil &&
		(strings.HasSuffix(u.Hostname(), ".openai.com") || strings.HasSuffix(u.Hostname(), ".azure.com")) {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

func (chatAPI) read(data []byte, r *received) error {
	said := gjson.ParseBytes(data)
	choice := said.Get("choices.0")
	if !choice.Exists() {
		return fmt.Errorf("%w: it has no choices", errUnreadable)
	}
	r.begun = true
	usage := said.Get("usage")
	in, out := usage.Get("prompt_tokens").Int(), usage.Get("completion_tokens").Int()
	if in+out > 0 { // a report without tokens is none
		r.usage = &memoir.Usage{InputTokens: in, OutputTokens: out,
			CachedTokens: min(usage.Get("prompt_tokens_details.cached_tokens").Int(), in)}
	}
	// A router reports the failure of the provider behind it inside the choice.
	if refused := refusalIn([]byte(choice.Raw)); refused != nil {
		return refused
	}
	refusal, ending := choice.Get("message.refusal").String(), choice.Get("finish_reason").String()
	r.text = choice.Get("message.content").String() + refusal
	r.refused = refusal != "" || ending == "content_filter"
	r.cut = ending == "length"
	return nil
}

// join adds a path to a base URL.
func join(base, usual, path string) string {
	if base == "" {
		base = usual
	}
	return strings.TrimRight(base, "/") + "/" + path
}
