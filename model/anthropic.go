package model

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

const (
	anthropicVersion = "2023-06-01"
	// anthropicOutput is the default cap on an answer: this API requires one.
	anthropicOutput = 8192
)

type anthropicAPI struct{}

// path accepts base URLs with and without the version.
func (anthropicAPI) path(base string) string {
	if strings.HasSuffix(base, "/v1") {
		return "/messages"
	}
	return "/v1/messages"
}

func (anthropicAPI) authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", anthropicVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

// body puts the schema into the input of a tool that the model must call. It asks the server
// to cache the system prompt, which all calls of a kind share.
func (anthropicAPI) body(c call) map[string]any {
	block := func(text string) []any { return []any{map[string]any{"type": "text", "text": text}} }
	var messages []any
	for _, m := range conversation(c.Request) {
		messages = append(messages, map[string]any{"role": m.Role, "content": block(m.Content)})
	}
	body := map[string]any{"model": c.model, "messages": messages, "max_tokens": c.maxOutput(anthropicOutput)}
	if system := c.system(); system != "" {
		body["system"] = []any{map[string]any{
			"type": "text", "text": system, "cache_control": map[string]any{"type": "ephemeral"}}}
	}
	if c.o.Effort != "" {
		body["output_config"] = map[string]any{"effort": outputEffort(c.o.Effort)}
	}
	if c.o.Temperature != nil {
		body["temperature"] = *c.o.Temperature
	}
	if c.Schema != nil && !c.plain {
		body["tools"] = []any{map[string]any{
			"name":         schemaName,
			"description":  "Takes the answer. Call it once, with the whole answer, instead of writing it.",
			"input_schema": c.Schema,
		}}
		body["tool_choice"] = map[string]any{"type": "tool", "name": schemaName, "disable_parallel_tool_use": true}
	}
	return body
}

// outputEffort returns the API's word for an effort. The lowest one is "low".
func outputEffort(effort string) string {
	if effort == "none" || effort == "minimal" {
		return "low"
	}
	return effort
}

func (anthropicAPI) read(data []byte, r *received) *Error {
	reply := gjson.ParseBytes(data)
	if reply.Get("type").String() != "message" {
		return unreadable("it is not a message of this API")
	}
	r.begun = true
	if usage := reply.Get("usage"); usage.Exists() { // input counts whether read from the cache, written to it or neither
		cached := usage.Get("cache_read_input_tokens").Int()
		r.usage = &memoir.Usage{CachedTokens: cached, OutputTokens: usage.Get("output_tokens").Int(),
			InputTokens: usage.Get("input_tokens").Int() + cached + usage.Get("cache_creation_input_tokens").Int()}
	}
	switch reply.Get("stop_reason").String() {
	case "refusal":
		r.stop = StopRefusal
	case "max_tokens", "model_context_window_exceeded":
		r.stop = StopLength
	}
	for _, block := range reply.Get("content").Array() {
		if block.Get("type").String() == "tool_use" && r.stop != StopRefusal {
			r.text = block.Get("input").Raw // the only tool stands for the answer
			break
		}
		r.text += block.Get("text").String()
	}
	return nil
}
