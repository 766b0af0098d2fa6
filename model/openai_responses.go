package model

import (
	"net/http"

	"github.com/tidwall/gjson"
)

// responsesAPI is OpenAI's Responses.
type responsesAPI struct{}

func (responsesAPI) url(base string) string { return join(base, openAIBase, "responses") }

func (responsesAPI) authorize(h http.Header, key string) { chatAPI{}.authorize(h, key) }

func (responsesAPI) body(c call) []field {
	fields := []field{{name: "model", value: c.model}}
	if system := c.system("text"); system != "" {
		fields = append(fields, field{name: "instructions", value: system})
	}
	fields = append(fields, field{name: "input", value: conversation(c.Request)})
	if c.Schema != nil {
		fields = append(fields, field{"text", map[string]any{"format": map[string]any{
			"type": "json_schema", "name": c.name(), "strict": true, "schema": c.Schema}}, formatNames})
	}
	if limit := c.maxOutput(0); limit > 0 {
		fields = append(fields, field{name: "max_output_tokens", value: limit})
	}
	if c.o.Temperature != nil {
		fields = append(fields, field{name: "temperature", value: *c.o.Temperature})
	}
	if c.o.Effort != "" {
		fields = append(fields, field{name: "reasoning", value: map[string]any{"effort": c.o.Effort}})
	}
	fields = append(fields, field{"store", false, []string{"store"}}, // the server is to keep nothing
		field{"stream", true, []string{"stream", "streaming"}})
	return without(fields, c.refused)
}

func (responsesAPI) whole(data []byte, r *received) error {
	said := gjson.ParseBytes(data)
	if !said.Get("output").Exists() && !said.Get("status").Exists() {
		if refused := refusalIn(data); refused != nil {
			return refused
		}
		return &unreadable{"it has no output"}
	}
	r.begun = true
	return r.response(said)
}

func (responsesAPI) event(data []byte, r *received) error {
	e := gjson.ParseBytes(data)
	switch e.Get("type").String() {
	case "response.output_text.delta":
		r.text.WriteString(e.Get("delta").String())
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return r.response(e.Get("response"))
	}
	return nil
}

// response takes a finished response. A server may leave out of the last event what it
// streamed before, so a text that is already here is replaced only by another one.
func (r *received) response(said gjson.Result) error {
	r.report(said.Get("usage"), "input_tokens", "input_tokens_details.cached_tokens", "output_tokens")
	r.ended = true
	switch status := said.Get("status").String(); status {
	case "failed", "cancelled":
		if refused := refusalIn([]byte(said.Raw)); refused != nil {
			return refused
		}
		return &refusal{message: "the response is " + status}
	case "incomplete":
		r.refused = said.Get("incomplete_details.reason").String() == "content_filter"
		r.cut = !r.refused
	case "queued", "in_progress":
		return &unreadable{"the response is " + status}
	}
	var text, refusals string
	for _, item := range said.Get("output").Array() {
		if item.Get("type").String() != "message" { // reasoning
			continue
		}
		for _, part := range item.Get("content").Array() {
			text += part.Get("text").String()
			refusals += part.Get("refusal").String()
		}
	}
	r.refused = r.refused || refusals != ""
	if text == "" && r.text.Len() == 0 {
		text = refusals
	}
	if text != "" {
		r.text.Reset()
		r.text.WriteString(text)
	}
	return nil
}
