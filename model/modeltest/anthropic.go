package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

// anthropic is Anthropic's Messages. It refuses what the API refuses: no cap on the
// output, an empty text. A forced tool is called if a step's text is a JSON object; any
// other text is written instead, as models do now and then.
func anthropic(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	body := gjson.ParseBytes(c.Body)
	wrong := anthropicWrong(c, body)
	switch {
	case wrong != "":
		return anthropicError(w, http.StatusBadRequest, "", wrong)
	case s.NoSchema && body.Get("tool_choice").Exists():
		return anthropicError(w, http.StatusBadRequest, "", "tool_choice: forced tool use is not supported for this model.")
	}
	used := tokens(c, s)
	blocks, stop := anthropicContent(body.Get("tool_choice.name").Str, s)
	usage := object{"input_tokens": used.InputTokens - used.CachedTokens, "output_tokens": used.OutputTokens,
		"cache_read_input_tokens": used.CachedTokens, "cache_creation_input_tokens": 0}
	message := object{"id": "msg_" + c.id(), "type": "message", "role": "assistant", "model": body.Get("model").Str,
		"content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !body.Get("stream").Bool() {
		writeJSON(w, http.StatusOK, message)
		return used
	}
	send := func(kind string, fields object) {
		fields["type"] = kind
		writeEvent(w, kind, fields)
	}
	begun := maps.Clone(usage)
	begun["output_tokens"] = 1
	message["content"], message["stop_reason"], message["usage"] = []object{}, nil, begun
	send("message_start", object{"message": message})
	send("ping", object{})
	for i, block := range blocks {
		start, kind, field, whole := maps.Clone(block), "text_delta", "text", s.Text
		if start["text"] = ""; block["type"] == "tool_use" {
			delete(start, "text")
			start["input"], kind, field, whole = object{}, "input_json_delta", "partial_json", compact(block["input"])
		}
		send("content_block_start", object{"index": i, "content_block": start})
		send("content_block_delta", object{"index": i, "delta": object{"type": kind, field: whole}})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", object{})
	return used
}

// anthropicWrong says what the API would refuse, or "".
func anthropicWrong(c Call, body gjson.Result) string {
	switch {
	case c.Header.Get("anthropic-version") == "":
		return "anthropic-version: header is required"
	case body.Get("model").Str == "":
		return "model: Field required"
	case body.Get("max_tokens").Int() < 1:
		return "max_tokens: Field required"
	case body.Get("messages.0.role").Str != "user":
		return "messages: the first must be the user's"
	}
	for i, m := range body.Get("messages").Array() {
		if first := m.Get("content.0"); first.Get("type").Str == "text" && strings.TrimSpace(first.Get("text").Str) == "" {
			return fmt.Sprintf("messages.%d: text content blocks must be non-empty", i)
		}
	}
	if name := body.Get("tool_choice.name"); name.Exists() && name.Str != body.Get("tools.0.name").Str {
		return fmt.Sprintf("Tool '%s' not found in provided tools", name.Str)
	}
	return ""
}

// anthropicContent is what a step answers with, and why it ends.
func anthropicContent(forced string, s Step) (blocks []object, stop string) {
	var input map[string]json.RawMessage
	blocks, stop = []object{}, "end_turn"
	switch {
	case s.Text == "":
	case forced != "" && json.Unmarshal([]byte(s.Text), &input) == nil:
		s.Calls = append(s.Calls, ToolCall{ID: "fake", Name: forced, Input: json.RawMessage(s.Text)})
	default:
		blocks = append(blocks, object{"type": "text", "text": s.Text})
	}
	for _, call := range s.Calls {
		stop = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": "toolu_" + call.ID, "name": call.Name, "input": call.Input})
	}
	switch s.Stop {
	case "length":
		stop = "max_tokens"
	case "refusal", "filter":
		stop = "refusal"
	case "":
	default:
		stop = s.Stop
	}
	return blocks, stop
}

// anthropicErrors are the types of errors, with the status that each comes with.
var anthropicErrors = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
	504: "timeout_error", 529: "overloaded_error",
}

// anthropicError answers with an error, whose kind may be left out.
func anthropicError(w http.ResponseWriter, status int, kind, message string) memoir.Usage {
	kind = cmp.Or(kind, anthropicErrors[status])
	writeJSON(w, status, object{"type": "error", "error": object{"type": kind, "message": message}})
	return memoir.Usage{}
}

// gemini is Google's generateContent and streamGenerateContent.
func gemini(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	parts, u := []object{}, tokens(c, s)
	if s.Text != "" {
		parts = append(parts, object{"text": s.Text})
	}
	for _, call := range s.Calls {
		parts = append(parts, object{"functionCall": object{"id": call.ID, "name": call.Name, "args": call.Input}})
	}
	answer := object{"responseId": c.id(),
		"candidates": []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}},
		"usageMetadata": object{"promptTokenCount": u.InputTokens, "candidatesTokenCount": u.OutputTokens,
			"totalTokenCount": u.InputTokens + u.OutputTokens}}
	if strings.HasSuffix(c.Path, ":streamGenerateContent") {
		writeEvent(w, "", answer)
	} else {
		writeJSON(w, http.StatusOK, answer)
	}
	return u
}
