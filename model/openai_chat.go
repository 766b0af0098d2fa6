package model

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

// chatAPI is OpenAI's Chat Completions API, which most other servers offer too.
type chatAPI struct{}

func (chatAPI) path(string) string { return "/chat/completions" }

func (chatAPI) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// conversation returns a request as messages, without the system prompt.
func conversation(q Request) []message {
	out := []message{{"user", q.Input}}
	for _, e := range q.Earlier {
		answer := cmp.Or(strings.TrimSpace(e.Answer), "(no answer)") // APIs reject an empty text
		out = append(out, message{"assistant", answer}, message{"user", e.Objection})
	}
	return out
}

func (chatAPI) body(c call) map[string]any {
	messages := conversation(c.Request)
	if system := c.system(); system != "" {
		messages = append([]message{{"system", system}}, messages...)
	}
	body := map[string]any{"model": c.model, "messages": messages}
	if limit := c.maxOutput(0); limit > 0 {
		body[limitName(c.o.BaseURL)] = limit
	}
	if c.o.Temperature != nil {
		body["temperature"] = *c.o.Temperature
	}
	if c.o.Effort != "" {
		body["reasoning_effort"] = c.o.Effort
	}
	if c.Schema != nil && !c.plain {
		body["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": schemaName, "strict": true, "schema": c.Schema}}
	}
	return body
}

// limitName returns the server's name of the cap on the output. OpenAI's newer models reject
// max_tokens; other servers ignore unknown names, which would leave the answer unbounded.
func limitName(base string) string {
	if u, err := url.Parse(base); err == nil &&
		(strings.HasSuffix(u.Hostname(), ".openai.com") || strings.HasSuffix(u.Hostname(), ".azure.com")) {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

func (chatAPI) read(data []byte, r *received) *Error {
	reply := gjson.ParseBytes(data)
	choice := reply.Get("choices.0")
	if !choice.Exists() {
		return unreadable("it has no choices")
	}
	r.begun = true
	usage := reply.Get("usage")
	in, out := usage.Get("prompt_tokens").Int(), usage.Get("completion_tokens").Int()
	if in+out > 0 { // otherwise the usage was not reported
		r.usage = &memoir.Usage{InputTokens: in, OutputTokens: out,
			CachedTokens: min(usage.Get("prompt_tokens_details.cached_tokens").Int(), in)}
	}
	refusal := choice.Get("message.refusal").String()
	r.text = choice.Get("message.content").String() + refusal
	switch ending := choice.Get("finish_reason").String(); {
	case refusal != "" || ending == "content_filter":
		r.stop = StopRefusal
	case ending == "length":
		r.stop = StopLength
	}
	// A router reports the failure of the provider behind it inside the choice.
	return refusalIn(0, []byte(choice.Raw))
}
