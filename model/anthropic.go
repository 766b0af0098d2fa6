package model

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

const (
	anthropicBase    = "https://api.anthropic.com"
	anthropicVersion = "2023-06-01"
	// anthropicOutput is the cap on an answer where none is set: this API demands one.
	anthropicOutput = 8192
)

// anthropicAPI is Anthropic's Messages API.
type anthropicAPI struct{}

// url accepts base URLs with and without the version.
func (anthropicAPI) url(base string) string {
	return join(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"), anthropicBase, "v1/messages")
}

func (anthropicAPI) authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", anthropicVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

// body puts the schema into the input of a tool that the model must call. The system prompt
// never varies for a kind of call, so it is what the server caches.
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
	if c.plain {
		return body
	}
	if c.Schema != nil {
		body["tools"] = []any{map[string]any{
			"name":         c.name(),
			"description":  "Takes the answer. Call it once, with the whole answer, instead of writing it.",
			"input_schema": c.Schema,
		}}
		body["tool_choice"] = map[string]any{"type": "tool", "name": c.name(), "disable_parallel_tool_use": true}
	}
	body["stream"] = true
	return body
}

// outputEffort is the API's word for an effort. It has none below low.
func outputEffort(effort string) string {
	if effort == "none" || effort == "minimal" {
		return "low"
	}
	return effort
}

func (anthropicAPI) whole(data []byte, r *received) error {
	if refused := refusalIn(data); refused != nil {
		return refused
	}
	said := gjson.ParseBytes(data)
	if said.Get("type").String() != "message" {
		return fmt.Errorf("%w: it is not a message of this API", errUnreadable)
	}
	r.begun = true
	r.tokensOf(said.Get("usage"))
	for _, block := range said.Get("content").Array() {
		r.text.WriteString(block.Get("text").String())
		if block.Get("type").String() == "tool_use" && r.object.Len() == 0 {
			r.object.WriteString(block.Get("input").Raw)
		}
	}
	r.stopped(said.Get("stop_reason").String())
	return nil
}

func (anthropicAPI) event(data []byte, r *received) error {
	e := gjson.ParseBytes(data)
	switch e.Get("type").String() {
	case "message_start":
		r.tokensOf(e.Get("message.usage"))
	case "content_block_start":
		r.text.WriteString(e.Get("content_block.text").String())
		if e.Get("content_block.type").String() == "tool_use" && r.tool == "" {
			r.tool = e.Get("index").Raw
		}
	case "content_block_delta":
		r.text.WriteString(e.Get("delta.text").String())
		if e.Get("index").Raw == r.tool {
			r.object.WriteString(e.Get("delta.partial_json").String())
		}
	case "message_delta":
		r.tokensOf(e.Get("usage"))
		r.stopped(e.Get("delta.stop_reason").String())
	case "message_stop":
		r.ended = true
	}
	return nil
}

// tokensOf takes a report of tokens. Input counts whether it was read from the cache,
// written to it or neither. A later report holds only what has changed.
func (r *received) tokensOf(usage gjson.Result) {
	if !usage.Exists() {
		return
	}
	if r.usage == nil {
		r.usage = &memoir.Usage{}
	}
	if usage.Get("input_tokens").Exists() {
		r.usage.CachedTokens = usage.Get("cache_read_input_tokens").Int()
		r.usage.InputTokens = usage.Get("input_tokens").Int() + r.usage.CachedTokens +
			usage.Get("cache_creation_input_tokens").Int()
	}
	if usage.Get("output_tokens").Exists() {
		r.usage.OutputTokens = usage.Get("output_tokens").Int()
	}
}

// stopped takes the reason for which the answer ended.
func (r *received) stopped(reason string) {
	switch reason {
	case "refusal":
		r.refused = true
	case "max_tokens", "model_context_window_exceeded":
		r.cut = true
	}
}
